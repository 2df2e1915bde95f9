"""How much a cluster costs: the penalty lambda from a guess of the number of clusters."""

from __future__ import annotations

import numpy as np

from bayesclust.inference.limits.divergences import Divergence
from bayesclust.typing import FloatArray, IntArray


def furthest_first(points: FloatArray, divergence: Divergence, k: int) -> tuple[IntArray, FloatArray]:
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
        How far each visited point was from the nearest of the mean and the points visited before. It never rises.

    Examples
    --------
    >>> from bayesclust.inference.limits.divergences import SquaredEuclidean
    >>> furthest_first(np.array([[0.0], [1.0], [11.0]]), SquaredEuclidean(), k=2)
    (array([2, 0]), array([49., 16.]))
    """
    visited, distances = np.empty(k, dtype=np.int64), np.empty(k)
    nearest = divergence.between(points, points.mean(axis=0, keepdims=True))[:, 0]
    for step in range(k):
        farthest = int(np.argmax(nearest))
        visited[step], distances[step] = farthest, nearest[farthest]
        nearest = np.minimum(nearest, divergence.between(points, points[farthest : farthest + 1])[:, 0])
    return visited, distances


def penalty_for(points: FloatArray, divergence: Divergence, n_clusters: int) -> float:
    """Return the penalty that a wanted number of clusters suggests, the last distance of `furthest_first`.

    Kulis and Jordan (2012), section 3.2; TVClust section 5. The number of clusters found may differ from the one asked
    for: the penalty is the largest divergence from its centre at which an item without answers stays.
    """
    return float(furthest_first(points, divergence, n_clusters)[1][-1])
