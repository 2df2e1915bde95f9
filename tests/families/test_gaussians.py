"""Gaussian families against SciPy, integrals and Monte Carlo; what shifts, scales, ties and extremes do to them."""

import math

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import logsumexp
from scipy.stats import invgamma, invwishart, multivariate_normal, multivariate_t, norm, t

from bayesclust.families import DiagonalGaussian, FullGaussian, SphericalGaussian
from bayesclust.families.cells import resolution, standard_columns
from tests.exactness.cases import learned

ALL = (FullGaussian, DiagonalGaussian, SphericalGaussian)
HYPER = np.array([0.4, 2.5, 0.15])


def bound(family, X):
    return family(scale=HYPER[0], strength=HYPER[1], mean_precision=HYPER[2]).bind(X)


def chain_rule(X, log_predictive):
    return sum(log_predictive(X[:n], x) for n, x in enumerate(X))


def test_full_is_a_chain_of_multivariate_t(rng):
    family = bound(FullGaussian, rng.normal(size=(8, 3)) @ rng.normal(size=(3, 3)))
    kappa0, nu0, psi0 = family.parameters(HYPER)
    d = 3

    def log_predictive(past, x):
        n = len(past)
        kappa, nu, total = kappa0 + n, nu0 + n, past.sum(axis=0)
        mean = total / kappa
        psi = psi0 + past.T @ past - kappa * np.outer(mean, mean)
        shape = psi * (kappa + 1) / (kappa * (nu - d + 1))
        return multivariate_t(mean, shape, df=nu - d + 1).logpdf(x)

    assert family.log_marginal(family.X, HYPER) == pytest.approx(
        chain_rule(family.X, log_predictive), rel=1e-10
    )


def test_diagonal_is_a_chain_of_t_per_column(rng):
    family = bound(DiagonalGaussian, rng.normal(size=(8, 3)))
    kappa0, a0, b0 = family.parameters(HYPER)

    def log_predictive(past, x):
        kappa, a, mean = (
            kappa0 + len(past),
            a0 + len(past) / 2,
            past.sum(axis=0) / (kappa0 + len(past)),
        )
        b = b0 + 0.5 * ((past**2).sum(axis=0) - kappa * mean**2)
        return t(2 * a, loc=mean, scale=np.sqrt(b * (kappa + 1) / (a * kappa))).logpdf(x).sum()

    assert family.log_marginal(family.X, HYPER) == pytest.approx(
        chain_rule(family.X, log_predictive), rel=1e-10
    )


def test_spherical_is_a_chain_of_multivariate_t(rng):
    family = bound(SphericalGaussian, rng.normal(size=(8, 3)))
    kappa0, a0, b0 = family.parameters(HYPER)

    def log_predictive(past, x):
        kappa, a, mean = (
            kappa0 + len(past),
            a0 + past.size / 2,
            past.sum(axis=0) / (kappa0 + len(past)),
        )
        b = b0 + 0.5 * ((past**2).sum() - kappa * mean @ mean)
        return multivariate_t(mean, np.eye(3) * b * (kappa + 1) / (a * kappa), df=2 * a).logpdf(x)

    assert family.log_marginal(family.X, HYPER) == pytest.approx(
        chain_rule(family.X, log_predictive), rel=1e-10
    )


def test_one_column_by_integration(rng):
    model = bound(FullGaussian, rng.normal(size=(3, 1)))
    kappa0, nu0, psi0 = model.parameters(HYPER)
    x = model.X[:, 0]

    def joint(mean, log_variance):
        variance = math.exp(log_variance)
        density = norm.pdf(x, mean, math.sqrt(variance)).prod() * norm.pdf(
            mean, 0, math.sqrt(variance / kappa0)
        )
        # an inverse-Wishart of one column is an inverse-gamma with half its degrees and half its
        # scale
        return density * invgamma.pdf(variance, nu0 / 2, scale=psi0.item() / 2) * variance

    value, _ = dblquad(joint, -7, 7, -12, 12, epsabs=1e-12, epsrel=1e-6)
    assert model.log_marginal(model.X, HYPER) == pytest.approx(math.log(value), abs=1e-4)


@pytest.mark.parametrize("family", ALL)
def test_predictive_density_integrates_to_one(family, rng):
    model = bound(family, rng.normal(size=(4, 1)))
    known = model.log_marginal(model.X, HYPER)

    def density(x):
        return math.exp(model.log_marginal(np.append(model.X, [[x]], axis=0), HYPER) - known)

    assert quad(density, -np.inf, np.inf)[0] == pytest.approx(1, abs=1e-6)


def monte_carlo(X, means, covariances):
    """(log of the mean likelihood, its relative standard error)."""
    logs = np.array(
        [multivariate_normal(m, c).logpdf(X).sum() for m, c in zip(means, covariances, strict=True)]
    )
    weights = np.exp(logs - logs.max())
    return logsumexp(logs) - math.log(len(logs)), weights.std() / weights.mean() / math.sqrt(
        len(logs)
    )


@pytest.mark.parametrize("family", ALL)
def test_two_columns_by_monte_carlo(family, rng):
    model = bound(family, rng.normal(size=(3, 2)))
    kappa0, degrees, scale = model.parameters(HYPER)
    number = 4000
    if family is FullGaussian:
        covariances = invwishart(degrees, scale).rvs(number, random_state=rng)
    else:
        columns = 2 if family is DiagonalGaussian else 1
        draws = invgamma(degrees, scale=np.broadcast_to(scale, columns)).rvs(
            (number, columns), random_state=rng
        )
        covariances = np.eye(2) * draws[:, :, None]
    means = [rng.multivariate_normal(np.zeros(2), c / kappa0) for c in covariances]
    value, error = monte_carlo(model.X, means, covariances)
    assert error < 0.15
    assert model.log_marginal(model.X, HYPER) == pytest.approx(value, abs=4 * error)


def test_one_column_is_the_same_for_all(rng):
    X = rng.normal(size=(7, 1)) * 3 + 1
    values = [bound(family, X).log_marginal(bound(family, X).X, HYPER) for family in ALL]
    assert values == pytest.approx([values[0]] * 3, rel=1e-10)


@pytest.mark.parametrize("family", ALL)
def test_expected_covariance_is_scale_times_variance_and_rounding(family, rng):
    X = np.round(rng.normal(size=(400, 2)) * [5.0, 50.0])
    model = bound(family, X)
    _, degrees, scale = model.parameters(HYPER)
    expected = np.diag(scale) / (degrees - 3) if family is FullGaussian else scale / (degrees - 1)
    if family is SphericalGaussian:
        in_units = HYPER[0] * X.var(axis=0).mean() + 1 / 12
        assert np.asarray(expected) * model.unit[0] ** 2 == pytest.approx(in_units, rel=1e-9)
    else:
        np.testing.assert_allclose(
            expected * X.var(axis=0), HYPER[0] * X.var(axis=0) + 1 / 12, rtol=1e-9
        )


def log_ratios(family, X):
    """log p(X | partition) in the user's units, less that of one cluster, for a few partitions."""
    model = learned(family).bind(X)
    hyper = model.initial_hyper()
    n = len(X)
    whole = model.log_marginal(model.X, hyper)
    cuts = [
        model.log_marginal(model.X[:m], hyper) + model.log_marginal(model.X[m:], hyper) - whole
        for m in range(1, n)
    ]
    return np.array(cuts), whole + model.log_constant


@pytest.mark.parametrize("family", [FullGaussian, DiagonalGaussian])
@pytest.mark.parametrize(
    ("factor", "shift"),
    [
        ([1, 1, 1], [5, -3, 100]),
        ([10, 0.01, 3], [0, 0, 0]),
        ([-1, 2, -7], [1, 1e3, -1]),
        ([1e6, 1e-6, 1], [0, 0, 1e4]),
    ],
)
def test_columns_may_be_shifted_and_rescaled(family, factor, shift, rng):
    X = rng.normal(size=(12, 3))
    ratios, density = log_ratios(family, X)
    moved, moved_density = log_ratios(family, X * factor + shift)
    np.testing.assert_allclose(moved, ratios, rtol=1e-6, atol=1e-6)
    assert moved_density == pytest.approx(density - len(X) * np.log(np.abs(factor)).sum(), rel=1e-6)


def test_spherical_data_may_be_shifted_and_rescaled_together(rng):
    X = rng.normal(size=(12, 3))
    ratios, density = log_ratios(SphericalGaussian, X)
    moved, moved_density = log_ratios(SphericalGaussian, 7.0 * X + [1, 2, 3])
    np.testing.assert_allclose(moved, ratios, rtol=1e-8, atol=1e-8)
    assert moved_density == pytest.approx(density - 3 * len(X) * math.log(7), rel=1e-8)
    other, _ = log_ratios(SphericalGaussian, X * [1, 1, 5])
    assert np.abs(other - ratios).max() > 0.1, "columns have no private units"


@pytest.mark.parametrize("family", ALL)
def test_constant_columns_are_left_out(family, rng):
    X = rng.normal(size=(10, 2))
    more = np.column_stack([np.full(10, 3.7), X[:, 0], np.zeros(10), X[:, 1], np.full(10, -1e9)])
    ratios, density = log_ratios(family, X)
    with_constants, same_density = log_ratios(family, more)
    np.testing.assert_array_equal(family().bind(more).kept, [1, 3])
    np.testing.assert_allclose(with_constants, ratios, rtol=1e-10, atol=1e-10)
    assert same_density == pytest.approx(density, rel=1e-10)


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("value", [0.0, 1.0, -3e7])
def test_identical_items(family, value):
    model = family().bind(np.full((6, 2), value))
    assert model.X.shape == (6, 1)
    assert (model.X == 0).all()
    assert np.isfinite(model.log_marginal(model.X, model.initial_hyper()))
    assert np.isfinite(model.log_constant)


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-30, 1e30, 1e150])
def test_units_of_any_size(family, size, rng):
    X = rng.normal(size=(10, 2))
    ratios, _ = log_ratios(family, X)
    scaled, density = log_ratios(family, X * size)
    np.testing.assert_allclose(scaled, ratios, rtol=1e-9, atol=1e-9)
    assert np.isfinite(density)


@pytest.mark.parametrize("family", [FullGaussian, DiagonalGaussian])
def test_columns_of_very_different_sizes(family, rng):
    X = rng.normal(size=(10, 2))
    np.testing.assert_allclose(
        log_ratios(family, X * [1e-150, 1e150])[0], log_ratios(family, X)[0], rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("family", ALL)
def test_a_far_outlier_leaves_finite_numbers(family, rng):
    X = rng.normal(size=(10, 2))
    X[3] = 1e150
    ratios, density = log_ratios(family, X)
    assert np.isfinite(ratios).all()
    assert np.isfinite(density)


@pytest.mark.parametrize(("offset", "kept"), [(1e6, True), (1e10, True), (1e14, False)])
def test_variation_below_rounding_counts_as_none(offset, kept, rng):
    X = np.column_stack([rng.normal(size=20), offset + rng.normal(size=20)])
    assert (1 in standard_columns(X).kept) == kept


@pytest.mark.parametrize("family", ALL)
def test_ties_do_not_have_unbounded_density(family, rng):
    # a column that is mostly zero: a cluster of the zeros has no variance, but the density stays
    # below the floor's
    X = np.where(rng.random(60) < 0.7, 0.0, rng.normal(size=60))[:, None]
    model = learned(family).bind(X)
    ties = model.X[X[:, 0] == 0]
    least = np.array([prior.lower for prior in model.hyper_priors])
    values = [
        model.log_marginal(ties, hyper) / len(ties) for hyper in (model.initial_hyper(), least)
    ]
    assert np.isfinite(values).all()
    assert max(values) < 5


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1.0, 3.0, 2.0, 2.0], 1.0),
        ([5.0, 5.0], 0.0),
        ([0.0, 0.1, 0.2, 5.0], 0.1),
        ([2.0, -2.0], 4.0),
    ],
)
def test_resolution(column, expected):
    assert resolution(np.array(column)) == pytest.approx(expected)


def test_standard_columns_go_back(rng):
    X = rng.normal(size=(15, 3)) * [1, 100, 1e-3] + [0, 1e4, 5]
    for common in (False, True):
        columns = standard_columns(X, common_unit=common)
        np.testing.assert_allclose(
            columns.X * columns.unit + columns.centre, X, rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(columns.X.mean(axis=0), 0, atol=1e-9)
        if common:
            assert columns.X.var(axis=0).mean() == pytest.approx(1)
            assert len(set(columns.unit)) == 1
        else:
            np.testing.assert_allclose(columns.X.std(axis=0), 1)
