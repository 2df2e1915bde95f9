"""Hurdles: the density is that of the formula, and how columns are read is all there is."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln

from bayesclust.families import (
    Bernoulli,
    DiagonalGaussian,
    FullGaussian,
    HurdleGaussian,
    Mixed,
    Product,
    Recoded,
    get_family,
    mixed_family,
)

ATOMS = [[0.0], [1.0, -1.0], []]


@pytest.fixture
def X(rng):
    values = rng.normal(size=(40, 3))
    values[rng.random(40) < 0.4, 0] = 0.0
    values[:, 1] = values[:, 1].clip(-1, 1)
    values[3, 0] = values[5, 1] = np.nan
    return values


def one_cluster(x, strength, hyper):
    """log p of one column with one atom at 0 in one cluster, mean and variance integrated out numerically."""
    scale, weight, kappa0 = hyper
    x = x[~np.isnan(x)]
    rest, zeros = x[x != 0], (x == 0).sum()
    centre, spread = rest.mean(), rest.std()
    share = (zeros + 1) / (len(x) + 2)
    value = betaln(strength * share + zeros, strength * (1 - share) + len(rest))
    value -= betaln(strength * share, strength * (1 - share))
    floor = np.median(np.diff(np.unique(rest))) ** 2 / 12
    v = spread**2 * np.exp(np.linspace(-5, 5, 601))
    means = centre + spread * np.linspace(-6, 6, 601)[:, None]
    log_joint = stats.invgamma(
        1 + weight / 2, scale=weight / 2 * (scale * spread**2 + floor)
    ).logpdf(v)
    log_joint = log_joint + stats.norm.logpdf(means, centre, np.sqrt(v / kappa0))
    log_joint += sum(stats.norm.logpdf(x_i, means, np.sqrt(v)) for x_i in rest)
    top = log_joint.max()
    return (
        value
        + top
        + np.log(
            integrate.trapezoid(
                integrate.trapezoid(np.exp(log_joint - top), means[:, 0], axis=0), v
            )
        )
    )


def test_the_density_is_that_of_the_formula(rng):
    x = np.where(rng.random(12) < 0.4, 0.0, rng.normal(2, 1, size=12))
    x[4] = np.nan
    family = HurdleGaussian(0.0, scale=0.5, strength=4.0, mean_precision=0.3, atom_strength=3.0)
    bound = family.bind(x[:, None])
    exact = bound.log_marginal(bound.X, bound.initial_hyper()) + bound.log_constant
    assert exact == pytest.approx(one_cluster(x, 3.0, (0.5, 4.0, 0.3)), abs=1e-3)


def test_what_is_asked_of_whom(X):
    bound = HurdleGaussian(ATOMS).bind(X)
    values, indicators = np.split(bound.columns(X), [3], axis=1)
    assert np.array_equal(np.isnan(values[:, 0]), np.isnan(X[:, 0]) | (X[:, 0] == 0))
    assert np.array_equal(np.isnan(values[:, 1]), np.isnan(X[:, 1]) | (np.abs(X[:, 1]) == 1))
    assert np.nansum(indicators, axis=0).tolist() == [
        (X[:, 0] == 0).sum(),
        (X[:, 1] == 1).sum(),
        (X[:, 1] == -1).sum(),
    ]
    # an item at the first atom is not asked for the second
    assert np.isnan(indicators[X[:, 1] == 1, 2]).all()
    np.testing.assert_allclose(bound.transform(X), bound.X)
    np.testing.assert_allclose(bound.row_constants(bound.X).sum(), bound.log_constant)
    assert [prior.name for prior in bound.hyper_priors][-1] == "base_atom_strength"


def test_units_and_origin_of_the_values_do_not_matter(X):
    moved = 5 - 3 * X
    atoms = [[5 - 3 * atom for atom in own] for own in ATOMS]
    first, second = HurdleGaussian(ATOMS).bind(X), HurdleGaussian(atoms).bind(moved)
    hyper = first.sample_hyper(np.random.default_rng(0))
    for rows in (slice(0, 9), slice(9, 40)):
        value = second.log_marginal(second.X[rows], hyper)
        assert first.log_marginal(first.X[rows], hyper) == pytest.approx(value, rel=1e-8)


def test_what_does_not_vary_is_left_out():
    two = np.tile([0.48, 1.0, 0.48, 0.48], 10)[:, None]
    bound, plain = HurdleGaussian().bind(two), Bernoulli().bind((two == 0.48).astype(float))
    hyper = np.array([1.7])
    assert bound.log_marginal(bound.X[:9], hyper) == pytest.approx(
        plain.log_marginal(plain.X[:9], hyper)
    )
    none = HurdleGaussian([[]]).bind(np.arange(9.0)[:, None])
    plain = DiagonalGaussian().bind(np.arange(9.0)[:, None])
    hyper = plain.initial_hyper()
    assert none.log_marginal(none.X[:4], hyper) == plain.log_marginal(plain.X[:4], hyper)


@pytest.mark.parametrize(
    ("atoms", "error", "sentence"),
    [
        ([[0.0]], ValueError, "atoms has lists for 1 columns, but there are 3: give one for each"),
        ("zero", TypeError, "atoms='zero' is no list of lists: give 'data', a number, or"),
        ([0.0, 1.0, 2.0], TypeError, r"atoms=\[0.0, 1.0, 2.0\] is no list of lists"),
        (
            [["a"], [], []],
            TypeError,
            r"atoms=\[\['a'\], \[\], \[\]\] holds something else than numbers",
        ),
    ],
)
def test_atoms_that_are_none(X, atoms, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        HurdleGaussian(atoms).bind(X)


def test_mixed_is_the_sum_of_its_parts(X, rng):
    table = np.column_stack(
        [X, rng.normal(size=(40, 2)), rng.choice([0.5, 2.0, 9.0], size=40), rng.random(40) < 0.4]
    )
    parts = [
        ("gaussian", [4, 3]),
        (HurdleGaussian(ATOMS), [0, 1, 2]),
        ("recoded", 5),
        ("bernoulli", 6),
    ]
    family = Product(parts).bind(table)
    alone = [
        FullGaussian().bind(table[:, [4, 3]]),
        HurdleGaussian(ATOMS).bind(X),
        Recoded().bind(table[:, [5]]),
        Bernoulli().bind(table[:, [6]]),
    ]
    hyper = family.sample_hyper(rng)
    hypers = np.split(hyper, np.cumsum([len(part.hyper_priors) for part in alone])[:-1])
    for rows in (slice(0, 40), slice(3, 11)):
        expected = sum(
            part.log_marginal(part.X[rows], own) for part, own in zip(alone, hypers, strict=True)
        )
        assert family.log_marginal(family.X[rows], hyper) == pytest.approx(expected)
    assert family.log_constant == pytest.approx(sum(part.log_constant for part in alone))
    np.testing.assert_allclose(family.transform(table[:5]), family.X[:5])
    names = [prior.name for prior in family.hyper_priors]
    assert len(set(names)) == len(names)


def test_mixed_family_gives_every_column_the_family_of_its_kind(rng):
    n = 300
    table = np.column_stack(
        [
            rng.normal(size=n),
            rng.random(n) < 0.3,
            rng.poisson(6, size=n),
            rng.normal(size=n).clip(min=0),
            rng.normal(size=n),
            rng.choice([1.0, 2.0, 3.0, 7.5], size=n),
            np.where(rng.random(n) < 0.5, 2.0, 3.0),
        ]
    )
    found = {type(family).__name__: columns for family, columns in mixed_family(table).parts}
    expected = {
        "FullGaussian": [0, 4],
        "HurdleGaussian": [3, 6],
        "Poisson": [2],
        "Bernoulli": [1],
        "Recoded": [5],
    }
    assert found == expected
    hole = np.where(np.arange(n * 7).reshape(n, 7) == 4, np.nan, table)
    assert {type(family).__name__: columns for family, columns in mixed_family(hole).parts}[
        "HurdleGaussian"
    ] == [0, 3, 4, 6]
    assert mixed_family(table[:, [0, 4]]) == FullGaussian()
    assert mixed_family(table[:, [0, 4]], covariance="diagonal") == DiagonalGaussian()
    chosen, spelled = Mixed().bind(table), mixed_family(table).bind(table)
    np.testing.assert_array_equal(chosen.X, spelled.X)


def test_what_mixed_refuses(X):
    with pytest.raises(ValueError, match=r"^the columns \[2\] of X are used by no part"):
        Product([("hurdle", [0, 1])]).bind(X)
    with pytest.raises(TypeError, match=r"^parts=\(\) is no list of pairs"):
        Product(()).bind(X)
    with pytest.raises(
        ValueError, match=r"^X has missing values in column 0, row 3: FullGaussian takes none"
    ):
        Product([("gaussian", [0, 1, 2])]).bind(X)
    with pytest.raises(ValueError, match='covariance must be "full" or "diagonal"'):
        mixed_family(X, covariance="spherical")


def test_values_never_seen_have_no_code(rng):
    bound = get_family("recoded").bind(rng.choice([0.5, 2.0, 9.0], size=(30, 1)))
    assert bound.transform([[9.0], [np.nan]])[0].tolist() == [2.0]
    with pytest.raises(
        ValueError, match=r"^X has values that the first data have not in column 0, row 1: leave"
    ):
        bound.transform([[0.5], [0.6]])
