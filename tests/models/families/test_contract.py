"""What every family owes the samplers, for all in `FAMILIES`: a new one is under test before its author writes one."""

import importlib
import inspect
import pkgutil
from dataclasses import fields

import numpy as np
import pytest

from bayesclust.families import COMPOSED, FAMILIES, Family, HyperPrior, Product, get_family
from bayesclust.models import families
from tests.judges.cases import HOLES, SCALED, VARIANTS, bound_case, data_for, learned, with_holes
from tests.models.families.drive import Driver, random_walk, slots_of

NAMES = (*FAMILIES, *VARIANTS)


def bind(name, n=9, d=3, seed=0):
    return bound_case(name, n, d, np.random.default_rng(seed))


@pytest.fixture(params=[f"{name}, {hyper}" for name in NAMES for hyper in ("initial", "sampled")])
def driver(request):
    name, kind = request.param.split(", ")
    family = bind(name)
    hyper = (
        family.initial_hyper()
        if kind == "initial"
        else family.sample_hyper(np.random.default_rng(1))
    )
    return Driver(family, hyper)


def test_every_file_is_listed():
    defined = set()
    for module in pkgutil.iter_modules(families.__path__, families.__name__ + "."):
        members = vars(importlib.import_module(module.name)).values()
        defined |= {
            m
            for m in members
            if inspect.isclass(m) and issubclass(m, Family) and not inspect.isabstract(m)
        }
    # a product has no name: it needs its parts
    assert defined == {*FAMILIES.values(), *COMPOSED.values(), Product}


@pytest.mark.parametrize("name", FAMILIES)
def test_found_by_name(name):
    assert isinstance(get_family(name), FAMILIES[name])
    family = FAMILIES[name]()
    assert get_family(family) is family


def test_unknown_names_and_kinds():
    with pytest.raises(ValueError, match="family='gauss' is not known; choose one of 'gaussian', "):
        get_family("gauss")
    with pytest.raises(TypeError, match="family is a int; give a name"):
        get_family(3)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SCALED])
def test_hyper_priors(name, rng):
    family = bind(name)
    labels = [prior.name for prior in family.hyper_priors]
    assert len(set(labels)) == len(labels)
    assert all(label.startswith("base_") for label in labels)
    assert list(family.free) == list(range(len(labels)))
    assert np.isfinite(family.log_hyper_prior(family.initial_hyper()))
    for _ in range(20):
        hyper = family.sample_hyper(rng)
        assert (hyper[: len(labels)] > 0).all()
        assert len(hyper) == len(labels) + family.n_shared
        assert np.isfinite(family.log_hyper_prior(hyper))
        assert np.isfinite(family.log_marginal(family.X, hyper))


@pytest.mark.parametrize("name", FAMILIES)
def test_hyper_parameters_can_be_fixed(name):
    X = bind(name).X
    given = {field.name: 0.7 for field in fields(FAMILIES[name])}
    family = FAMILIES[name](**given).bind(X)
    assert len(family.free) == 0
    for hyper in (family.initial_hyper(), family.sample_hyper(np.random.default_rng(0))):
        np.testing.assert_array_equal(hyper[: len(given)], 0.7)
    assert family.log_hyper_prior(family.initial_hyper()) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_hyper_parameters_can_have_another_prior(name):
    field = fields(FAMILIES[name])[0].name
    prior = HyperPrior("mine", 2.0, 0.3)
    first = FAMILIES[name](**{field: prior}).bind(bind(name).X).hyper_priors[0]
    assert (first.name, first.median, first.log_sd) == (f"base_{field}", 2.0, 0.3)


def bad_settings():
    for name, family in FAMILIES.items():
        for field in fields(family):
            for value in (0.0, -1.0, np.nan, np.inf, "guess"):
                yield pytest.param(
                    name, field.name, value, ValueError, id=f"{name}-{field.name}-{value}"
                )
            for value in (None, [1.0], True):
                yield pytest.param(
                    name, field.name, value, TypeError, id=f"{name}-{field.name}-{value}"
                )


@pytest.mark.parametrize(("name", "field", "value", "error"), list(bad_settings()))
def test_bad_settings_are_refused_in_a_sentence(name, field, value, error):
    family = FAMILIES[name](**{field: value})
    with pytest.raises(
        error, match=f"^{field}.*; give 'learn', a positive number or a HyperPrior.$"
    ):
        family.bind(bind(name).X)


@pytest.mark.parametrize("name", NAMES)
def test_plain_marginal_is_exchangeable(name, rng):
    family = bind(name)
    hyper = family.sample_hyper(rng)
    value = family.log_marginal(family.X, hyper)
    for _ in range(3):
        assert family.log_marginal(rng.permutation(family.X), hyper) == pytest.approx(
            value, rel=1e-10
        )


@pytest.mark.parametrize("name", NAMES)
def test_no_items_have_probability_one(name):
    family = bind(name)
    assert family.log_marginal(family.X[:0], family.initial_hyper()) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_embedding_keeps_the_items(name):
    family = bind(name)
    points = family.embedding()
    assert points.ndim == 2
    assert len(points) == len(family.X)
    assert np.isfinite(points).all()


def user_data(name, n=9, d=3, seed=0):
    """The family bound to data in units of their own, and those data."""
    rng = np.random.default_rng(seed)
    family = learned(HOLES.get(name) or FAMILIES[name])
    X = data_for(family, n, d, rng)
    X = with_holes(X, rng) if name in HOLES else X
    if (X % 1 > 0).any():
        X = 100 + X * [3.0, 0.02, 50.0]
    return family.bind(X), X


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES])
def test_further_rows_come_in_the_coordinates_of_the_first(name):
    family, X = user_data(name)
    np.testing.assert_allclose(family.transform(X), family.X, atol=1e-10)
    np.testing.assert_allclose(family.transform(X[3:4]), family.X[3:4], atol=1e-10)
    assert family.row_constants(family.X).shape == (len(X),)
    assert family.row_constants(family.X).sum() == pytest.approx(family.log_constant)


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES])
def test_other_rows_under_the_same_base_measure(name, rng):
    """A family bound to other rows is judged by its kernels: they must give the plain marginal of the first."""
    family, X = user_data(name)
    few = family.with_rows(family.transform(X[:4]))
    hyper = family.sample_hyper(rng)
    driver = Driver(few, hyper)
    driver.set_items(np.arange(4), 0)
    driver.derive(0)
    assert driver.marginal(0) == pytest.approx(family.log_marginal(family.X[:4], hyper), rel=1e-8)
    assert few.log_constant == pytest.approx(family.row_constants(family.X)[:4].sum())
    np.testing.assert_array_equal(few.transform(X), family.transform(X))


@pytest.mark.parametrize("name", [*FAMILIES, *HOLES])
def test_further_rows_must_be_possible(name):
    family, X = user_data(name)
    with pytest.raises(ValueError, match="X has infinity in row 0"):
        family.transform(np.where(np.arange(len(X))[:, None] == 0, np.inf, X))


def test_predictives_multiply_to_the_marginal(driver):
    total = 0.0
    for i in range(len(driver.family.X)):
        total += driver.predictive(i, 0)
        driver.add(i, 0)
        assert total == pytest.approx(driver.plain(range(i + 1)), rel=1e-9, abs=1e-9)
        assert driver.marginal(0) == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_predictive_of_a_new_cluster_is_the_marginal_of_one(driver):
    for i in range(len(driver.family.X)):
        assert driver.predictive(i, driver.empty) == pytest.approx(
            driver.plain([i]), rel=1e-9, abs=1e-9
        )


def test_kernels_equal_the_plain_twin_after_many_moves(driver):
    rng = np.random.default_rng(5)
    n = len(driver.family.X)
    for _ in range(8):
        where = random_walk(driver, 40, rng)
        for k, items in enumerate(where):
            assert driver.state.count[k] == len(items)
            assert driver.marginal(k) == pytest.approx(driver.plain(items), rel=1e-8, abs=1e-8)
            for i in set(range(n)) - set(items):
                expected = driver.plain([*items, i]) - driver.plain(items)
                assert driver.predictive(i, k) == pytest.approx(expected, rel=1e-8, abs=1e-8)
        for a, b in ((0, 1), (2, 0), (1, driver.empty), (driver.empty, driver.empty)):
            joined = [i for k in {a, b} - {driver.empty} for i in where[k]]
            assert driver.union(a, b) == pytest.approx(driver.plain(joined), rel=1e-8, abs=1e-8)
        for k, items in enumerate(where):
            for i in items:
                driver.remove(i, k)
            driver.clear(k)


def test_set_items_then_derive_equals_adding(driver):
    rng = np.random.default_rng(6)
    for _ in range(5):
        items = rng.permutation(len(driver.family.X))[: rng.integers(1, len(driver.family.X))]
        driver.clear(0)
        for i in items:
            driver.add(i, 0)
        driver.set_items(items, 1)
        driver.derive(1)
        assert driver.state.count[0] == driver.state.count[1]
        for name, array in slots_of(driver.state).items():
            np.testing.assert_allclose(array[0], array[1], rtol=1e-8, atol=1e-8, err_msg=name)


def test_cleared_slot_is_the_prior_slot(driver):
    random_walk(driver, 30, np.random.default_rng(7))
    driver.clear(1)
    for name, array in slots_of(driver.state).items():
        np.testing.assert_array_equal(array[1], array[driver.empty], err_msg=name)


def test_new_hyper_parameters_reach_every_slot(driver):
    rng = np.random.default_rng(8)
    where = random_walk(driver, 30, rng)
    driver.hyper = driver.family.sample_hyper(rng)
    driver.family.set_hyper(driver.state, driver.hyper)
    driver.derive(driver.empty)
    # unions read sufficient statistics alone: right before the slots are derived, as proposals need
    # it
    if (
        driver.family.n_shared
    ):  # no proposal is made for what clusters share: they are set from their items anew
        for k, items in enumerate(where):
            driver.set_items(items, k)
    for k, items in enumerate(where):
        assert driver.union(k, driver.empty) == pytest.approx(
            driver.plain(items), rel=1e-8, abs=1e-8
        )
    for k, items in enumerate(where):
        driver.derive(k)
        assert driver.marginal(k) == pytest.approx(driver.plain(items), rel=1e-8, abs=1e-8)
    fresh = slots_of(driver.family.new_state(driver.capacity, driver.hyper))
    again = Driver(driver.family, driver.hyper)
    assert again.predictive(0, 0) == driver.predictive(0, driver.empty)
    assert [array.shape for array in fresh.values()] == [
        array.shape for array in slots_of(driver.state).values()
    ]


def test_slots_do_not_leak_into_each_other(driver):
    driver.add(0, 0)
    before = driver.predictive(1, 0), driver.marginal(0), driver.predictive(1, driver.empty)
    driver.add(2, 1)
    driver.remove(2, 1)
    driver.set_items([3, 4], 2)
    driver.derive(2)
    assert (
        driver.predictive(1, 0),
        driver.marginal(0),
        driver.predictive(1, driver.empty),
    ) == before
