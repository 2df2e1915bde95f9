"""The contract of families; a new one in `FAMILIES` is under test at once."""

import importlib
import inspect
import pkgutil
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pytest

from bayesclust import families
from bayesclust.families import (
    COMPOSED,
    FAMILIES,
    BoundFamily,
    Family,
    HyperPrior,
    Product,
    get_family,
)
from bayesclust.families.base import hard_statistics
from bayesclust.families.discrete import Recoded
from bayesclust.families.gaussian import GaussianFamily
from tests.exactness.cases import (
    HOLES,
    HURDLE,
    SCALED,
    VARIANTS,
    bound_case,
    data_for,
    fixed,
    learned,
    with_holes,
)
from tests.families.drive import (
    Driver,
    assert_compiled_functions,
    assert_parameters_in_hand,
    random_walk,
    slots_of,
)
from tests.families.reference import DATA

NAMES = (*FAMILIES, *VARIANTS)


def bind(name, n=12, d=3, seed=0, make=None):
    return bound_case(name, n, d, np.random.default_rng(seed), make)


def test_every_family_is_listed():
    defined = set()
    for module in pkgutil.iter_modules(families.__path__, families.__name__ + "."):
        members = vars(importlib.import_module(module.name)).values()
        classes = [m for m in members if inspect.isclass(m) and issubclass(m, Family)]
        defined |= {kind for kind in classes if not inspect.isabstract(kind)}
    # a product has no name: it needs its parts; the others are parts of "mixed", and what Gaussian
    # families have in common
    others = {Product, Recoded, GaussianFamily}
    assert defined == {*FAMILIES.values(), *COMPOSED.values(), *others}


def test_families_are_found_by_name():
    for name, kind in (FAMILIES | COMPOSED).items():
        family = kind()
        assert type(get_family(name)) is kind
        assert get_family(family) is family
    with pytest.raises(ValueError, match="family='gauss' is not known; choose one of 'gaussian', "):
        get_family("gauss")
    with pytest.raises(TypeError, match="family is a int; give a name"):
        get_family(3)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SCALED])
def test_hyper_parameters_are_drawn_where_their_priors_are_positive(name, rng):
    family = bind(name)
    labels = [prior.name for prior in family.hyper_priors]
    assert len(set(labels)) == len(labels)
    assert all(label.startswith("base_") for label in labels)
    assert list(family.free) == list(range(len(labels)))
    for hyper in (family.initial_hyper(), *(family.sample_hyper(rng) for _ in range(20))):
        assert (hyper[: len(labels)] > 0).all()
        assert len(hyper) == len(labels) + family.n_shared
        assert np.isfinite(family.log_hyper_prior(hyper))
        assert np.isfinite(family.log_marginal(family.X, hyper))


@pytest.mark.parametrize("name", FAMILIES)
def test_hyper_parameters_can_be_fixed_or_given_a_prior(name):
    X, kind = bind(name).X, FAMILIES[name]
    names = [field.name for field in fields(kind)]
    family = kind(**dict.fromkeys(names, 0.7)).bind(X)
    assert len(family.free) == 0
    for hyper in (family.initial_hyper(), family.sample_hyper(np.random.default_rng(0))):
        np.testing.assert_array_equal(hyper[: len(names)], 0.7)
    assert family.log_hyper_prior(family.initial_hyper()) == 0
    first = kind(**{names[0]: HyperPrior("mine", 2.0, 0.3)}).bind(X).hyper_priors[0]
    assert (first.name, first.median, first.log_sd) == (f"base_{names[0]}", 2.0, 0.3)


@pytest.mark.parametrize("name", FAMILIES)
def test_bad_settings_are_refused_in_a_sentence(name):
    X = bind(name).X
    for field in fields(FAMILIES[name]):
        sentence = f"^{field.name}.*; give 'learn', a positive number or a HyperPrior.$"
        for value in (0.0, -1.0, np.nan, np.inf, "guess", None, [1.0], True):
            number = isinstance(value, (float, str)) and value is not True
            with pytest.raises(ValueError if number else TypeError, match=sentence):
                FAMILIES[name](**{field.name: value}).bind(X)


@pytest.mark.parametrize("name", NAMES)
def test_marginal_is_exchangeable_and_one_without_items(name, rng):
    family = bind(name)
    hyper = family.sample_hyper(rng)
    value = family.log_marginal(family.X, hyper)
    assert family.log_marginal(rng.permutation(family.X), hyper) == pytest.approx(value, rel=1e-9)
    assert family.log_marginal(family.X[:0], hyper) == pytest.approx(0, abs=1e-12)
    points = family.embedding()
    assert points.ndim == 2
    assert len(points) == len(family.X)
    assert np.isfinite(points).all()


@pytest.mark.parametrize("name", NAMES)
def test_compiled_functions_are_ratios_of_marginals(name):
    family = bind(name)
    rng = np.random.default_rng(1)
    for hyper in (family.initial_hyper(), family.sample_hyper(rng)):
        assert_compiled_functions(family, hyper, rng)


@pytest.mark.parametrize("name", NAMES)
def test_setting_items_equals_adding_them(name):
    family, rng = bind(name), np.random.default_rng(6)
    driver = Driver(family, family.initial_hyper())
    for _ in range(3):
        items = rng.permutation(len(family.X))[: rng.integers(1, len(family.X))]
        driver.clear(0)
        for i in items:
            driver.add(i, 0)
        driver.set_items(items, 1)
        driver.derive(1)
        for field, array in slots_of(driver.state).items():
            np.testing.assert_allclose(array[0], array[1], rtol=1e-8, atol=1e-8, err_msg=field)
    random_walk(driver, 30, rng)
    driver.clear(1)
    for field, array in slots_of(driver.state).items():
        np.testing.assert_array_equal(array[1], array[driver.empty], err_msg=field)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("gaussian_tied")])
def test_new_hyper_parameters_reach_every_slot(name, rng):
    family = bind(name)
    driver = Driver(family, family.initial_hyper())
    for i in range(5):
        driver.add(i, 0)
    driver.hyper = family.sample_hyper(rng)
    family.set_hyper(driver.state, driver.hyper)
    for k in (driver.empty, 0):
        driver.derive(k)
    assert driver.marginal(0) == pytest.approx(driver.plain(range(5)), rel=1e-9, abs=1e-9)
    assert driver.predictive(7, driver.empty) == pytest.approx(driver.plain([7]), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_whole_items_are_predicted_under_coarsened_clusters(name):
    family = bind(name)
    if family.reader is not None:
        assert family.for_prediction() is family
        return
    asked, hyper = family.for_prediction(), family.initial_hyper()
    driver = Driver(asked, hyper)
    for i in range(6):
        driver.add(i, 0)
    z = (np.arange(len(family.X)) >= 6).astype(np.int64)
    statistics = hard_statistics(family, z, 2)
    many = tuple(np.repeat(part[:1], 20_000, axis=0) for part in statistics)
    terms = family.terms(many, hyper, np.random.default_rng(0))
    rows = tuple(row[8:9] for row in family.own_rows)
    ratio = np.exp(family.log_density(np, rows, terms)[0] - driver.predictive(8, 0))
    assert abs(ratio.mean() - 1) < 4.5 * ratio.std() / np.sqrt(len(ratio)) + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_parameters_in_hand_agree_with_the_marginals(name):
    family = bind(name, d=2, make=fixed)
    assert_parameters_in_hand(family, family.initial_hyper(), np.random.default_rng(4))


@pytest.mark.parametrize("name", NAMES)
def test_expected_log_density_is_the_slope_of_the_marginal(name):
    """At the optimal q(theta) the bound depends on a weight by the expected log density alone."""
    family = bind(name, make=fixed)
    hyper, step = family.initial_hyper(), 1e-5
    weight = np.random.default_rng(0).dirichlet(np.ones(3), size=len(family.X))
    statistics = family.statistics(np, family.own_rows, weight)
    slope = family.log_density(np, family.own_rows, family.terms(statistics, hyper))
    for i, k in [(0, 0), (3, 1), (7, 2)]:
        values = []
        for sign in (1, -1):
            moved = weight.copy()
            moved[i, k] += sign * step
            own = family.statistics(np, family.own_rows, moved)
            values.append(family.log_marginals(own, hyper).sum())
        expected = pytest.approx(slope[i, k], rel=1e-5, abs=1e-6)
        assert (values[0] - values[1]) / (2 * step) == expected


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES, HURDLE])
def test_jax_computes_what_numpy_does(name):
    import jax
    import jax.numpy as jnp

    family = bind(name, make=fixed)
    weight = np.random.default_rng(0).dirichlet(np.ones(3), size=len(family.X))
    statistics = family.statistics(np, family.own_rows, weight)
    terms = family.terms(statistics, family.initial_hyper())
    with jax.enable_x64(True):
        found = family.statistics(jnp, family.own_rows, jnp.asarray(weight))
        density = family.log_density(jnp, family.own_rows, terms)
    for one, other in zip(found, statistics, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    expected = family.log_density(np, family.own_rows, terms)
    np.testing.assert_allclose(density, expected, rtol=1e-10, atol=1e-10)


def user_data(name, n=9, d=3, seed=0):
    """The family bound to data in units of their own, and those data."""
    rng = np.random.default_rng(seed)
    family = learned(HOLES.get(name) or FAMILIES[name])
    X = data_for(family, n, d, rng)
    X = with_holes(X, rng) if name in HOLES else X
    if type(family) not in DATA:
        X = 100 + X * [3.0, 0.02, 50.0]
    return family.bind(X), X


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES])
def test_further_rows_come_in_the_coordinates_of_the_first(name, rng):
    family, X = user_data(name)
    np.testing.assert_allclose(family.transform(X), family.X, atol=1e-10)
    np.testing.assert_allclose(family.transform(X[3:4]), family.X[3:4], atol=1e-10)
    constants = family.row_constants(family.X)
    assert constants.sum() == pytest.approx(family.log_constant)
    few = family.with_rows(family.transform(X[:4]))
    hyper = family.sample_hyper(rng)
    driver = Driver(few, hyper)
    driver.set_items(np.arange(4), 0)
    driver.derive(0)
    assert driver.marginal(0) == pytest.approx(family.log_marginal(family.X[:4], hyper), rel=1e-8)
    assert few.log_constant == pytest.approx(constants[:4].sum())
    np.testing.assert_array_equal(few.transform(X), family.transform(X))
    with pytest.raises(ValueError, match="X has infinity in row 0"):
        family.transform(np.where(np.arange(len(X))[:, None] == 0, np.inf, X))


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES])
def test_powers_multiply_the_statistics(name):
    """Two copies of every item, each of weight a half, are the item."""
    family = bind(name)
    hyper = family.initial_hyper()
    twice = family.with_rows(np.repeat(family.X, 2, axis=0)).coarsened(0.5)
    value = family.log_marginal(family.X, hyper)
    assert twice.log_marginal(twice.X, hyper) == pytest.approx(value, rel=1e-10)
    assert twice.log_constant == pytest.approx(family.log_constant)
    assert family.coarsened(1.0) is family


class Lone(NamedTuple):
    """A prior without a normaliser."""

    rate: np.ndarray


class Unfinished(BoundFamily):
    Prior = Lone

    def parameters(self, hyper):
        return (1.0,)

    def rows(self, X):
        return (X,)

    def component_sites(self, hyper):
        raise NotImplementedError


def test_a_family_without_a_normaliser_says_what_is_missing():
    family = Unfinished(np.zeros((2, 1)), ())
    missing = r"^Lone has no normaliser: write @implements\(log_normaliser, Lone\)"
    for use in (
        lambda: family.new_state(1, np.zeros(0)),
        lambda: family.log_marginal(family.X, ()),
    ):
        with pytest.raises(TypeError, match=missing):
            use()
