"""How much a cluster costs: the penalty lambda, from a guess of the number of clusters or from the data."""

from __future__ import annotations

import numpy as np

from bayesclust.families import Divergence
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution
from bayesclust.inference.limits.search import search
from bayesclust.typing import FloatArray, IntArray

MOST_CLUSTERS = 50


def furthest_first(
    points: FloatArray, divergence: Divergence, k: int
) -> tuple[IntArray, FloatArray]:
    """Visit the point farthest from the mean, then k - 1 times the one farthest from all visited and the mean.

    Parameters
    ----------
    points : (n, d) array
    divergence : Divergence
    k : int
        How many points to visit, at most n.

    Returns
    -------
    visited : (k,) array of int
    distances : (k,) array of float
        How far each visited point was from the nearest of the mean and the points visited before.
        It never rises.

    Examples
    --------
    >>> from bayesclust.families.squared_distance import SquaredEuclidean
    >>> furthest_first(np.array([[0.0], [1.0], [11.0]]), SquaredEuclidean(), k=2)
    (array([2, 0]), array([49., 16.]))
    """
    visited, distances = np.empty(k, dtype=np.int64), np.empty(k)
    nearest = divergence.between(points, points.mean(axis=0, keepdims=True))[:, 0]
    for step in range(k):
        farthest = int(np.argmax(nearest))
        visited[step], distances[step] = farthest, nearest[farthest]
        nearest = np.minimum(
            nearest, divergence.between(points, points[farthest : farthest + 1])[:, 0]
        )
    return visited, distances


def penalties(points: FloatArray, divergence: Divergence, k: int) -> FloatArray:
    """Return the penalties that 1 to k wanted clusters suggest, the distances of `furthest_first`.

    Kulis and Jordan (2012), section 3.2; TVClust section 5. The number of clusters found may differ
    from the one asked for: the penalty is the largest divergence from its centre at which an item
    without answers stays. Where fewer than k points differ, the penalty is as good as zero but not
    zero.
    """
    distances = furthest_first(points, divergence, k)[1]
    floor = 1e-9 * distances[0] if distances[0] > 0 else 1.0
    return np.maximum(distances, floor)


def candidates(points: FloatArray, divergence: Divergence) -> FloatArray:
    """Return the penalties of 1 to about sqrt(n) clusters, at most 50, thinned above 10, without repeats."""
    most = min(len(points) - 1, max(2, int(np.sqrt(len(points)))), MOST_CLUSTERS)
    all_of_them = penalties(points, divergence, most)
    wanted = np.unique(
        np.concatenate([np.arange(1, 11), np.geomspace(10, MOST_CLUSTERS, 8).round()]).astype(int)
    )
    return np.unique(all_of_them[wanted[wanted <= most] - 1])[::-1]


def information_criterion(points: FloatArray, divergence: Divergence, solution: Solution) -> float:
    """Return minus the log likelihood of points and labels plus log(n) / 2 for each free coordinate of a centre.

    The likelihood is that of the exponential family whose limit the divergence is, with the
    dispersion at its best, in the saddlepoint approximation (exact for spherical Gaussians): -(n f
    / 2) log(sum of D) + sum_k n_k log(n_k / n), f the number of free coordinates.
    """
    n, f = len(points), divergence.n_free(points)
    sizes = np.bincount(solution.labels)
    inside = float(divergence.paired(points, solution.centers[solution.labels]).sum())
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum())
    share = max(inside, 1e-12 * total) / total if total > 0 else 1.0
    fit = n * f / 2 * np.log(share) - float((sizes * np.log(sizes / n)).sum())
    return float(fit) + len(sizes) * (f + 1) / 2 * float(np.log(n))


def penalty_from_data(points: FloatArray, divergence: Divergence) -> float:
    """Return the penalty whose DP-means solution has the smallest `information_criterion`."""
    graph = link_graph([], len(points))

    def criterion(penalty: float) -> float:
        problem = Problem.of(points, divergence, graph, penalty)
        return information_criterion(points, divergence, search(problem, Schedule((0.0, 0.0))))

    return float(min(candidates(points, divergence), key=criterion))
