"""The penalty from a number of clusters, by hand, and from the data."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import (
    candidates,
    furthest_first,
    information_criterion,
    penalties,
    penalty_from_data,
)
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.inference.limits.search import search
from tests.inference.limits.reference import DIVERGENCES

SQUARED = DIVERGENCES["euclidean"]


def test_furthest_first_by_hand():
    """Points 0, 2, 12, 14, 32, mean 12: 32 is 20 off; then 0 is 12 off; then 2 and 14 are 2 off from 0 and 12."""
    points = np.array([[0.0], [2.0], [12.0], [14.0], [32.0]])
    visited, distances = furthest_first(points, SQUARED, 4)
    assert visited.tolist() == [4, 0, 1, 3]
    assert distances.tolist() == [400.0, 144.0, 4.0, 4.0]


def test_penalties_stay_positive_where_points_repeat():
    points = np.array([[0.0], [0.0], [4.0], [4.0]])
    assert penalties(points, SQUARED, 4).tolist() == [4.0, 4.0, 4e-9, 4e-9]
    assert penalties(np.ones((3, 2)), SQUARED, 2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [2, 3, 30, 4000])
def test_candidates_fall_and_stay_few(rng, n):
    tried = candidates(rng.normal(size=(n, 2)), SQUARED)
    assert 1 <= len(tried) <= min(n, 20)
    assert (np.diff(tried) < 0).all()
    assert tried[-1] > 0


def test_the_criterion_is_that_of_spherical_gaussians(rng):
    """Differences between two partitions of the same points, against SciPy's density at the maximum likelihood."""
    points = np.concatenate([rng.normal(0, 1, (20, 3)), rng.normal(4, 1, (30, 3))])

    def plain(labels, centers):
        variance = np.square(points - centers[labels]).mean()
        shares = np.bincount(labels) / len(labels)
        log_lik = sum(
            multivariate_normal(centers[k], variance).logpdf(x) + np.log(shares[k])
            for x, k in zip(points, labels, strict=True)
        )
        return -log_lik + len(centers) * 4 / 2 * np.log(50)

    graph = link_graph([], 50)
    ends = [
        search(Problem.of(points, SQUARED, graph, penalty), Schedule((0.0, 0.0)))
        for penalty in (300.0, 20.0, 6.0)
    ]
    assert len({len(end.centers) for end in ends}) == 3
    got = [information_criterion(points, SQUARED, end) for end in ends]
    expected = [plain(end.labels, end.centers) for end in ends]
    np.testing.assert_allclose(np.diff(got), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_separated_clusters_are_counted(rng, k):
    points = np.concatenate([rng.normal(12 * number, 1, size=(40, 2)) for number in range(k)])
    penalty = penalty_from_data(points, SQUARED)
    end = search(
        Problem.of(points, SQUARED, link_graph([], len(points)), penalty), Schedule((0.0, 0.0))
    )
    assert len(end.centers) == k
