"""Divergences against their definitions."""

import numpy as np
import pytest
from scipy.stats import entropy

from bayesclust.inference.limits.divergences import Divergence, KullbackLeibler, SquaredEuclidean, as_divergence
from tests.inference.limits.twins import DIVERGENCES, distance


def some_points(rng, name, n=12):
    X = rng.normal(size=(n, 3)) if name == "euclidean" else rng.poisson(2.0, size=(n, 3)) + np.array([1, 0, 0])
    return DIVERGENCES[name].points(X)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_between_and_paired_are_the_definition(rng, name):
    divergence, points = DIVERGENCES[name], some_points(rng, name)
    centers = points[:4]
    expected = np.array([[distance(name, x, m) for m in centers] for x in points])
    np.testing.assert_allclose(divergence.between(points, centers), expected, atol=1e-14)
    np.testing.assert_allclose(divergence.paired(points[4:8], centers), np.diag(expected[4:8]), atol=1e-14)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_they_are_bregman_divergences_of_phi(rng, name):
    """D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, the gradient by differences along the space of points."""
    divergence, points = DIVERGENCES[name], some_points(rng, name)
    for x, m in zip(points[:6], points[6:], strict=True):
        step = 1e-6 * (x - m)
        slope = (divergence.phi((m + step)[None]) - divergence.phi((m - step)[None]))[0] / 2e-6
        gap = (divergence.phi(x[None]) - divergence.phi(m[None]))[0] - slope
        assert gap == pytest.approx(distance(name, x, m), abs=1e-7)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_mean_minimises_the_sum(rng, name):
    divergence, points = DIVERGENCES[name], some_points(rng, name)
    middle = points.mean(axis=0)
    least = divergence.between(points, middle[None]).sum()
    for other in some_points(rng, name, n=50):
        for share in (1e-3, 0.1, 1.0):
            moved = (1 - share) * middle + share * other
            assert divergence.between(points, moved[None]).sum() >= least - 1e-12


def test_kl_smooths_counts_and_weighs_every_item_the_same():
    counts = np.array([[4, 0, 1], [40, 0, 10]])
    points = KullbackLeibler().points(counts)
    np.testing.assert_allclose(points[0], np.array([4.3, 0.3, 1.3]) / 5.9)
    np.testing.assert_allclose(points.sum(axis=1), 1.0)
    assert KullbackLeibler().between(points[:1], points[1:])[0, 0] == pytest.approx(entropy(points[0], points[1]))


def test_squared_distances_do_not_cancel_far_from_the_origin():
    points = 1e9 + np.array([[0.0], [3.0]])
    assert SquaredEuclidean().between(points, points[:1])[1, 0] == 9.0


@pytest.mark.parametrize(("given", "error"), [("cosine", ValueError), (3, TypeError)])
def test_unknown_divergences(given, error):
    with pytest.raises(error, match=r'^divergence must be "euclidean" or "kl"'):
        as_divergence(given)


def test_a_divergence_may_be_given_as_an_object():
    mine = KullbackLeibler(smoothing=1.0)
    assert as_divergence(mine) is mine
    assert isinstance(as_divergence("kl"), Divergence)


@pytest.mark.parametrize("smoothing", [0.0, -1.0, float("nan"), float("inf")])
def test_smoothing_must_be_positive(smoothing):
    with pytest.raises(ValueError, match=r"^smoothing must lie in \(0, inf\)"):
        KullbackLeibler(smoothing)
