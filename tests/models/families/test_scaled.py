"""Families at gamma against SciPy, their programs, and rows that come later; the contract of all families holds them too."""

import numpy as np
import numpyro
import pytest
from numpyro.infer.util import log_density
from scipy import stats

from bayesclust.families import Multinomial, ScaledColumns, ScaledPoisson
from bayesclust.families.multinomial import KullbackLeibler
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.bridge import family_at
from tests.judges.cases import SCALED

GAMMAS = [1e-3, 0.7, 50.0]


@pytest.mark.parametrize("gamma", GAMMAS)
def test_gaussian_is_one_normal_distribution(gamma, rng):
    """A cluster's items, column by column, are jointly normal: variance 1 / (2 gamma), and rho^2 in common."""
    X = rng.normal(3.0, 2.0, size=(5, 2))
    family = family_at(gamma, X, SquaredEuclidean())
    spread = X.var(axis=0).mean()
    covariance = np.eye(5) / (2 * gamma) + spread * np.ones((5, 5))
    expected = sum(
        stats.multivariate_normal(np.full(5, x.mean()), covariance).logpdf(x) for x in X.T
    )
    value = family.log_marginal(family.X, family.initial_hyper()) + family.log_constant
    assert value == pytest.approx(expected, rel=1e-9)


def test_multinomial_of_whole_weights_is_the_multinomial_of_counts(rng):
    counts = rng.multinomial(8, rng.dirichlet(np.ones(3)), size=4).astype(float)
    divergence = KullbackLeibler(smoothing=0.5)
    points = divergence.points(counts)
    # 2 x the counts and their smoothing are whole: every item weighs 8 + 3 / 2 of them
    scaled = family_at(2 * 9.5, points, divergence)
    plain = Multinomial(concentration=1.0).bind((2 * counts + 1).round())
    hyper = plain.initial_hyper()
    assert scaled.log_marginal(scaled.X, hyper) == pytest.approx(
        plain.log_marginal(plain.X, hyper), rel=1e-12
    )
    assert scaled.log_constant == pytest.approx(plain.log_constant, rel=1e-12)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("gamma", [1e-6, 1e9])
def test_items_of_any_weight_stay_finite(name, gamma, rng):
    family = SCALED[name](6, 3, rng, gamma)
    value = family.log_marginal(family.X, family.initial_hyper())
    assert np.isfinite(value)
    # below the sum of the items' divergences from their mean there is nothing to be had
    assert value + family.log_constant <= family.log_peaks(family.X).sum()


def test_items_that_are_all_alike_have_a_base_measure():
    family = family_at(2.0, np.ones((3, 2)), SquaredEuclidean())
    assert family.variance == 1.0
    assert np.isfinite(family.log_marginal(family.X, family.initial_hyper()))


@pytest.mark.parametrize(
    ("divergence", "X"),
    [
        (SquaredEuclidean(), 100 + np.arange(12.0).reshape(4, 3) ** 1.5),
        (KullbackLeibler(), np.array([[3.0, 0, 1], [0, 0, 5], [2, 2, 2], [9, 1, 0]])),
    ],
    ids=["euclidean", "kl"],
)
def test_further_rows_come_in_the_coordinates_of_the_first(divergence, X):
    family = family_at(3.0, divergence.points(X), divergence)
    np.testing.assert_allclose(family.transform(X), family.X, atol=1e-10)
    np.testing.assert_allclose(family.transform(X[1:2]), family.X[1:2], atol=1e-10)
    few = family.with_rows(family.transform(X[:2]))
    assert few.log_constant == pytest.approx(family.row_constants(family.X)[:2].sum())
    assert family.row_constants(family.X).sum() == pytest.approx(family.log_constant)
    np.testing.assert_array_equal(few.transform(X), family.transform(X))
    with pytest.raises(ValueError, match="X has infinity in row 0"):
        family.transform(np.where(np.arange(len(X))[:, None] == 0, np.inf, X))


def density_of_program(family, rows, z, **values):
    """log p(parameters, rows) of the family's NumPyro program, two components."""

    def program():
        with numpyro.plate("component", 2):
            likelihood = family.component_sites(family.initial_hyper())
        with numpyro.plate("item", len(rows)):
            numpyro.sample("x", likelihood(z), obs=rows)

    return float(log_density(program, (), {}, values)[0])


def test_programs_have_the_densities_of_the_first_lines(rng):
    z = np.array([0, 1, 1, 0, 1])
    gaussian = SCALED["gaussian at gamma"](5, 3, rng, 0.8)
    rows, mean = gaussian.X + gaussian.centre, rng.normal(size=(2, 3))
    prior = stats.norm(0, np.sqrt(gaussian.variance)).logpdf(mean).sum()
    items = stats.norm(gaussian.centre + mean[z], np.sqrt(0.5 / gaussian.gamma)).logpdf(rows).sum()
    assert density_of_program(gaussian, rows, z, mean=mean) == pytest.approx(
        prior + items, rel=1e-9
    )
    binary = SCALED["bernoulli at gamma"](5, 3, rng, 0.8)
    shares = {f"probability_{j}": rng.dirichlet(np.ones(2), size=2) for j in range(3)}
    logs = np.log(np.concatenate(list(shares.values()), axis=1))
    items = (binary.X * logs[z]).sum() + binary.row_constants(binary.X).sum()
    # a uniform prior of two shares has density 1
    assert density_of_program(binary, binary.X, z, **shares) == pytest.approx(items, rel=1e-9)
    poisson, rate = SCALED["poisson at gamma"](5, 3, rng, 0.8), rng.gamma(2.0, size=(2, 3))
    prior = stats.expon(scale=poisson.X.mean(axis=0)).logpdf(rate).sum()
    items = (poisson.X * np.log(rate[z]) - rate[z]).sum() + poisson.row_constants(poisson.X).sum()
    assert density_of_program(poisson, poisson.X, z, rate=rate) == pytest.approx(
        prior + items, rel=1e-9
    )


@pytest.mark.parametrize("name", SCALED)
def test_peaks_are_the_largest_densities(name, rng):
    """With parameters at the item itself, as endless copies of it would have them, an item is at its likeliest."""
    family = SCALED[name](6, 3, rng, 40.0)
    components, hyper = family.components(), family.initial_hyper()
    copies = tuple(1e9 * part for part in components.statistics(np, components.rows, np.eye(6)))
    density = components.log_density(np, components.rows, components.expected(copies, hyper))
    density += family.row_constants(family.X)[:, None]
    np.testing.assert_allclose(np.diag(density), family.log_peaks(family.X), rtol=1e-6, atol=1e-6)
    assert (density <= np.diag(density)[:, None] + 1e-6).all()


def test_missing_cells_of_columns_say_nothing(rng):
    rows = SCALED["categorical at gamma"](4, 2, rng, 1.0).X
    holed = rows.copy()
    holed[1, :3] = 0.0
    family = ScaledColumns.at(holed, 5.0, np.asarray, np.full(2, 3))
    alone = ScaledColumns.at(holed[1:2, 3:], 5.0, np.asarray, np.full(1, 3))
    none = np.empty(0)
    assert family.log_marginal(family.X[1:2], none) == pytest.approx(
        alone.log_marginal(alone.X, none), rel=1e-12
    )
    assert family.row_constants(family.X)[1] == pytest.approx(alone.log_constant, rel=1e-12)
    assert family.log_peaks(family.X)[1] == pytest.approx(alone.log_peaks(alone.X)[0], rel=1e-12)


def test_poisson_of_whole_weights_is_negative_binomial(rng):
    """Poisson at gamma against SciPy's negative binomial, item by item, where gamma x is whole."""
    counts = rng.poisson(4.0, size=(5, 2)).astype(float) + 1.0
    family = ScaledPoisson.at(counts / 2, 2.0, np.asarray)
    mean, expected = counts.mean(axis=0), 0.0
    for i, x in enumerate(counts):
        shape, rate = 1 + counts[:i].sum(axis=0), 1 / mean + i
        expected += stats.nbinom(shape, rate / (rate + 1)).logpmf(x).sum()
    value = family.log_marginal(family.X, family.initial_hyper()) + family.log_constant
    assert value == pytest.approx(expected, rel=1e-10)
