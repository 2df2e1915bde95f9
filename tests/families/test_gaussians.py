"""Gaussian families: what shifts, scales, rounding and ties do."""

import math

import numpy as np
import pytest

from bayesclust.families import DiagonalGaussian, FullGaussian, SphericalGaussian
from bayesclust.families.columns import standard_columns
from tests.exactness.cases import learned
from tests.families.drive import Driver

ALL = (FullGaussian, DiagonalGaussian, SphericalGaussian)
HYPER = np.array([0.4, 2.5, 0.15])
each_family = pytest.mark.parametrize("family", ALL)


def bound(family, X):
    return family(scale=HYPER[0], strength=HYPER[1], mean_precision=HYPER[2]).bind(X)


def test_many_columns_are_the_product_of_single_ones(rng):
    """Of 600 columns the rates multiply to numbers beyond what floats can hold."""
    X = rng.normal(size=(12, 600)) * 10.0 ** rng.integers(-3, 4, size=600)
    whole = DiagonalGaussian().bind(X)
    columns = [DiagonalGaussian().bind(X[:, [j]]) for j in range(600)]
    hyper = whole.initial_hyper()
    few, more = (sum(one.log_marginal(one.X[:n], hyper) for one in columns) for n in (7, 8))
    assert whole.log_marginal(whole.X[:7], hyper) == pytest.approx(few, rel=1e-10)
    driver = Driver(whole, hyper)
    for i in range(7):
        driver.add(i, 0)
    assert driver.marginal(0) == pytest.approx(few, rel=1e-10)
    assert driver.predictive(7, 0) == pytest.approx(more - few, rel=1e-8)


@each_family
def test_expected_covariance_is_scale_times_variance_and_rounding(family, rng):
    X = np.round(rng.normal(size=(400, 2)) * [5.0, 50.0])
    model = bound(family, X)
    _, degrees, scale = model.parameters(HYPER)
    expected = np.diag(scale) / (degrees - 3) if family is FullGaussian else scale / (degrees - 1)
    variance = X.var(axis=0)
    if family is SphericalGaussian:
        variance = variance.mean(keepdims=True)
    np.testing.assert_allclose(expected * variance, HYPER[0] * variance + 1 / 12, rtol=1e-9)


def log_ratios(family, X):
    """log p(X | two clusters) - log p(X | one) in the user's units, and the latter."""
    model = learned(family).bind(X)
    hyper = model.initial_hyper()
    whole = model.log_marginal(model.X, hyper)
    cuts = [
        model.log_marginal(model.X[:m], hyper) + model.log_marginal(model.X[m:], hyper) - whole
        for m in range(1, len(X))
    ]
    return np.array(cuts), whole + model.log_constant


@pytest.mark.parametrize("family", [FullGaussian, DiagonalGaussian])
@pytest.mark.parametrize(
    ("factor", "shift"),
    [([-1, 2, -7], [1, 1e3, -1]), ([1e6, 1e-6, 1], [0, 0, 1e4]), ([1e-150, 1e150, 1], [0, 0, 0])],
)
def test_columns_may_be_shifted_and_rescaled(family, factor, shift, rng):
    X = rng.normal(size=(12, 3))
    ratios, density = log_ratios(family, X)
    moved, moved_density = log_ratios(family, X * factor + shift)
    np.testing.assert_allclose(moved, ratios, rtol=1e-6, atol=1e-6)
    assert moved_density == pytest.approx(density - 12 * np.log(np.abs(factor)).sum(), rel=1e-6)


def test_spherical_data_may_be_rescaled_only_together(rng):
    X = rng.normal(size=(12, 3))
    ratios, density = log_ratios(SphericalGaussian, X)
    moved, moved_density = log_ratios(SphericalGaussian, 7.0 * X + [1, 2, 3])
    np.testing.assert_allclose(moved, ratios, rtol=1e-8, atol=1e-8)
    assert moved_density == pytest.approx(density - 3 * len(X) * math.log(7), rel=1e-8)
    other, _ = log_ratios(SphericalGaussian, X * [1, 1, 5])
    assert np.abs(other - ratios).max() > 0.1, "columns have no private units"


@each_family
def test_constant_columns_are_left_out(family, rng):
    X = rng.normal(size=(10, 2))
    more = np.column_stack([np.full(10, 3.7), X[:, 0], np.zeros(10), X[:, 1], np.full(10, -1e9)])
    ratios, density = log_ratios(family, X)
    with_constants, same_density = log_ratios(family, more)
    np.testing.assert_array_equal(family().bind(more).kept, [1, 3])
    np.testing.assert_allclose(with_constants, ratios, rtol=1e-10, atol=1e-10)
    assert same_density == pytest.approx(density, rel=1e-10)


@each_family
@pytest.mark.parametrize("value", [0.0, -3e7])
def test_identical_items_leave_finite_numbers(family, value):
    model = family().bind(np.full((6, 2), value))
    assert model.X.shape == (6, 1)
    assert (model.X == 0).all()
    assert np.isfinite(model.log_marginal(model.X, model.initial_hyper()))
    assert np.isfinite(model.log_constant)


@each_family
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e150])
def test_units_may_have_any_size(family, size, rng):
    X = rng.normal(size=(10, 2))
    scaled, density = log_ratios(family, X * size)
    np.testing.assert_allclose(scaled, log_ratios(family, X)[0], rtol=1e-9, atol=1e-9)
    assert np.isfinite(density)


@each_family
def test_outliers_leave_finite_numbers(family, rng):
    X = rng.normal(size=(10, 2))
    X[3] = 1e150
    ratios, density = log_ratios(family, X)
    assert np.isfinite(ratios).all()
    assert np.isfinite(density)


@pytest.mark.parametrize(("offset", "kept"), [(1e10, True), (1e14, False)])
def test_variation_below_rounding_counts_as_none(offset, kept, rng):
    X = np.column_stack([rng.normal(size=20), offset + rng.normal(size=20)])
    assert (1 in standard_columns(X)[3]) == kept


@each_family
def test_ties_do_not_have_unbounded_density(family, rng):
    X = np.where(rng.random(60) < 0.7, 0.0, rng.normal(size=60))[:, None]
    model = learned(family).bind(X)
    ties = model.X[X[:, 0] == 0]
    lowest = np.array([prior.lower for prior in model.hyper_priors])
    for hyper in (model.initial_hyper(), lowest):
        assert -np.inf < model.log_marginal(ties, hyper) / len(ties) < 5
