"""Where chains start: over-dispersed partitions, so that agreement between chains means something.

From one single cluster every single-site sampler stays there in many dimensions, so chain c starts
from a k-means++ partition with a number of clusters that grows with c.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FIRST, RATIO = 3.0, 2.0
# seeds are drawn among at most so many items; items are seated in chunks of so many
SEEDED_FROM, CHUNK = 50_000, 8192


def dispersed_number(chain: int, n_items: int) -> int:
    """Number of clusters that chain number `chain` starts from: 3, 6, 12, 24, 3, ... and never over n / 4."""
    return int(min(FIRST * RATIO ** (chain % 4), max(n_items // 4, 1)))


def seeded_partition(X: NDArray[np.float64], number: int, rng: Generator) -> NDArray[np.int64]:
    """Partition by the nearest of `number` seeds drawn as in k-means++ (Arthur and Vassilvitskii 2007).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    number : int
        Seeds to draw; fewer clusters result where points coincide. Among more than `SEEDED_FROM`
        items they are drawn from a random subset.
    rng : Generator

    Returns
    -------
    ndarray of shape (n,)
        Labels without gaps.
    """
    n = len(X)
    if n <= SEEDED_FROM:
        labels, _ = _nearest_seeds(X, number, rng)
    else:
        subset = X[rng.choice(n, SEEDED_FROM, replace=False)]
        labels = _nearest(X, subset[_nearest_seeds(subset, number, rng)[1]])
    compact: NDArray[np.int64] = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return compact


def _nearest_seeds(
    X: NDArray[np.float64], number: int, rng: Generator
) -> tuple[NDArray[np.int64], list[int]]:
    """(the nearest seed of each item, the items that are seeds)."""
    n = len(X)
    labels = np.zeros(n, dtype=np.int64)
    seeds = [int(rng.integers(n))]
    nearest = ((X - X[seeds[0]]) ** 2).sum(axis=1)
    for k in range(1, number):
        total = nearest.sum()
        if not total > 0:
            break
        seeds.append(int(np.searchsorted(np.cumsum(nearest), rng.random() * total).clip(0, n - 1)))
        distance = ((X - X[seeds[-1]]) ** 2).sum(axis=1)
        closer = distance < nearest
        labels[closer] = k
        nearest = np.where(closer, distance, nearest)
    return labels, seeds


def _nearest(X: NDArray[np.float64], seeds: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest seed of each item, without an array of distances between all of them."""
    labels = np.empty(len(X), dtype=np.int64)
    squares = (seeds**2).sum(axis=1)
    for begin in range(0, len(X), CHUNK):
        part = slice(begin, begin + CHUNK)
        labels[part] = (squares - 2 * X[part] @ seeds.T).argmin(axis=1)
    return labels
