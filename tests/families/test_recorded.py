"""Recorded values moved within their steps: uniform there, no further, and what that does to clusters."""

import numpy as np
import pytest
from scipy import stats

import bayesclust as bc
from bayesclust.families import FullGaussian


def test_values_are_uniform_within_their_steps(rng):
    X = np.round(rng.normal(size=(3000, 1)) * 3) * 0.2
    moved = (bc.families.dequantize(X, seed=1) - X)[:, 0] / 0.2
    assert stats.kstest(moved, stats.uniform(-0.5, 1).cdf).pvalue > 0.01
    np.testing.assert_array_equal(np.round((X[:, 0] + 0.2 * moved) / 0.2), np.round(X[:, 0] / 0.2))
    # nor do they depend on the value
    ties = [moved[X[:, 0] == value] for value in np.unique(X) if (X[:, 0] == value).sum() >= 100]
    assert len(ties) > 5
    np.testing.assert_allclose([own.var() * 12 for own in ties], 1.0, atol=0.03)


def test_single_items_are_spread_over_the_whole_step():
    x = np.arange(4.0)[:, None]
    places = np.concatenate(
        [bc.families.dequantize(x, steps=[0.5], seed=seed) - x for seed in range(400)]
    ).ravel()
    assert stats.kstest(places, stats.uniform(-0.25, 0.5).cdf).pvalue > 0.01


def test_the_bound_on_the_density_of_what_was_recorded(rng):
    """Jensen's inequality, tight where the step is small beside the spread."""
    for step, slack in ((0.1, 0.01), (3.0, 1.0)):
        x = np.round(rng.normal(size=200) / step) * step
        exact = np.log(
            np.diff(stats.norm.cdf(np.stack([x - step / 2, x + step / 2])), axis=0) / step
        ).mean()
        drawn = [
            stats.norm.logpdf(bc.families.dequantize(x[:, None], steps=[step], seed=seed)).mean()
            for seed in range(30)
        ]
        assert exact - slack < np.mean(drawn) < exact


def cluster_variance(X, among):
    """Posterior mean of a cluster's variance, in the data's units."""
    bound = FullGaussian(scale=0.001).bind(X)
    kappa0, nu0, psi0 = bound.parameters(bound.initial_hyper())
    own = bound.X[among]
    mean = own.mean(axis=0)
    scatter = (own - mean).T @ (own - mean) + kappa0 * len(own) / (kappa0 + len(own)) * np.outer(
        mean, mean
    )
    return (
        (psi0 + scatter) / (nu0 + len(own) - len(mean) - 1) * np.outer(bound.unit, bound.unit)
    ).diagonal()


def test_no_cluster_is_narrower_than_rounding(rng):
    step = 0.5
    X = np.round(np.r_[rng.normal(size=(400, 2)), rng.normal(5, 1, size=(400, 2))] / step) * step
    among = X[:, 0] == 0.0
    assert among.sum() > 60
    assert cluster_variance(X, among)[0] < 0.5 * step**2 / 12
    assert cluster_variance(bc.families.dequantize(X), among)[0] > 0.95 * step**2 / 12


def test_what_is_no_measurement_stays(rng):
    n = 300
    table = np.column_stack(
        [
            np.round(rng.normal(size=n), 1),
            np.where(rng.random(n) < 0.4, 0.0, np.round(rng.normal(9, 1, size=n), 1)),
            rng.poisson(5, size=n),
            rng.random(n) < 0.5,
            rng.normal(size=n),
        ]
    )
    table[3] = np.nan
    moved = bc.families.dequantize(table)
    assert np.array_equal(np.isnan(moved), np.isnan(table))
    changed = (moved != table) & ~np.isnan(table)
    assert changed.sum(axis=0).tolist() == [n - 1, (table[:, 1] > 0).sum(), 0, 0, 0]
    np.testing.assert_array_equal(moved, bc.families.dequantize(table))
    assert (bc.families.dequantize(table, seed=1)[:, 0] != moved[:, 0])[np.arange(n) != 3].all()


@pytest.mark.parametrize(
    ("steps", "error", "sentence"),
    [
        ([1.0], ValueError, r"steps=\[1.0\] must be 2 numbers"),
        (
            [1.0, -1.0],
            ValueError,
            "steps=.* must be 2 numbers, one for each column, finite and at least 0",
        ),
        ("rounded", TypeError, "steps='rounded' is neither 'data' nor a number for each column"),
    ],
)
def test_steps_that_are_none(steps, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        bc.families.dequantize(np.zeros((3, 2)), steps=steps)
