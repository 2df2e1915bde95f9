"""K-means with any Bregman divergence, and the loop that LCVQE shares with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayesclust.checks import check_int, check_n_clusters, check_random_state
from bayesclust.families import Divergence, Family, as_divergence
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed

__all__ = ["k_means", "means", "nearest", "numbered", "partition", "spread_out"]


Visit = Callable[[FloatArray], tuple[IntArray, float]]
"""Turns the distances of items from centres, (n, K), into labels (n,) and the error to be made small."""


def k_means(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    divergence: str | Divergence | Family = "euclidean",
    n_init: int = 10,
    max_iter: int = 300,
) -> IntArray:
    """Cluster by Lloyd's algorithm.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : ignored
    n_clusters : int
    seed : int, Generator or None
    divergence : str, Divergence or Family, default "euclidean"
        As in `bayesclust.RDPMeans`; "kl" is what TVClust's Table 4 calls multinomial k-means.
    n_init : int, default 10
        Starts by k-means++ (Arthur and Vassilvitskii 2007, with the divergence in place of the
        squared distance), of which the one with the least sum of divergences is kept.
    max_iter : int, default 300
        Most passes of a start.

    Returns
    -------
    ndarray of int, shape (n,)
        At most `n_clusters` labels, without gaps.

    Raises
    ------
    TypeError, ValueError
        If data or numbers are not what they should be, in one sentence.

    Examples
    --------
    >>> k_means([[0.0], [1.0], [10.0], [11.0]], None, 2, 0)
    array([0, 0, 1, 1])
    """
    divergence = as_divergence(divergence).bind(X)
    points = divergence.points(X)
    k = check_n_clusters(n_clusters, len(points))
    return partition(points, divergence, k, nearest, seed, n_init, max_iter)


def nearest(distances: FloatArray) -> tuple[IntArray, float]:
    """Return the nearest centre of each item, and the sum of the distances.

    Parameters
    ----------
    distances : (n, K) array

    Returns
    -------
    labels : (n,) array of int
    total : float
    """
    return distances.argmin(axis=1), float(distances.min(axis=1).sum())


def partition(
    points: FloatArray,
    divergence: Divergence,
    k: int,
    visit: Visit,
    seed: Seed,
    n_init: int,
    max_iter: int,
) -> IntArray:
    """Alternate visits of the items and means of the clusters, and keep the best of some starts.

    Parameters
    ----------
    points : (n, d) array
    divergence : Divergence
    k : int
    visit : callable
        Gives labels and error for the distances of items from centres.
    seed : int, Generator or None
    n_init, max_iter : int

    Returns
    -------
    (n,) array of int
        Of the start whose last visit had the least error; numbered by first items.
    """
    rng = check_random_state(seed)
    check_int(n_init, "n_init")
    check_int(max_iter, "max_iter")
    starts = (
        _descend(points, divergence, spread_out(points, divergence, k, rng), visit, max_iter)
        for _ in range(n_init)
    )
    return numbered(min(starts, key=lambda end: end[1])[0])


def numbered(labels: IntArray) -> IntArray:
    """Number clusters 0, 1, ... in the order of their first items.

    Parameters
    ----------
    labels : (n,) array of int

    Returns
    -------
    (n,) array of int

    Examples
    --------
    >>> numbered(np.array([7, 7, 2, 7]))
    array([0, 0, 1, 0])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    renumbered: IntArray = np.argsort(np.argsort(first))[inverse]
    return renumbered


def _descend(
    points: FloatArray, divergence: Divergence, centers: FloatArray, visit: Visit, max_iter: int
) -> tuple[IntArray, float]:
    """Return labels and error where a visit changes no label, or after `max_iter` visits."""
    labels, error = np.full(len(points), -1), np.inf
    for _ in range(max_iter):
        before = labels
        labels, error = visit(divergence.between(points, centers))
        if (labels == before).all():
            break
        centers = means(points, labels, centers)
    return labels, error


def means(points: FloatArray, labels: IntArray, centers: FloatArray) -> FloatArray:
    """Return the mean of each cluster; an empty one keeps its centre.

    Parameters
    ----------
    points : (n, d) array
    labels : (n,) array of int
    centers : (K, d) array

    Returns
    -------
    (K, d) array
    """
    k, n = len(centers), len(points)
    sizes = np.bincount(labels, minlength=k)[:, None]
    sums = csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n)) @ points
    found: FloatArray = np.where(sizes > 0, sums / np.maximum(sizes, 1), centers)
    return found


def spread_out(
    points: FloatArray, divergence: Divergence, k: int, rng: np.random.Generator
) -> FloatArray:
    """Draw k points, each in proportion to its divergence from the nearest drawn before.

    Parameters
    ----------
    points : (n, d) array
    divergence : Divergence
    k : int
    rng : Generator

    Returns
    -------
    (k, d) array
    """
    chosen = [int(rng.integers(len(points)))]
    nearest = divergence.between(points, points[chosen])[:, 0]
    while len(chosen) < k:
        total = nearest.sum()
        chosen.append(int(rng.choice(len(points), p=nearest / total if total > 0 else None)))
        nearest = np.minimum(nearest, divergence.between(points, points[chosen[-1:]])[:, 0])
    return points[chosen]
