"""Where chains start: over-dispersed partitions, so that agreement between chains means something.

From one single cluster every single-site sampler stays there in many dimensions, so chain c starts from a k-means++
partition with a number of clusters that grows with c.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FIRST, RATIO = 3.0, 2.0


def dispersed_number(chain: int, n_items: int) -> int:
    """Number of clusters that chain number `chain` starts from: 3, 6, 12, 24, 3, ... and never over n / 4."""
    return int(min(FIRST * RATIO ** (chain % 4), max(n_items // 4, 1)))


def seeded_partition(X: NDArray[np.float64], number: int, rng: Generator) -> NDArray[np.int64]:
    """Partition by the nearest of `number` seeds drawn as in k-means++ (Arthur and Vassilvitskii 2007).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    number : int
        Seeds to draw; fewer clusters result where points coincide.
    rng : Generator

    Returns
    -------
    ndarray of shape (n,)
        Labels without gaps.
    """
    n = len(X)
    labels = np.zeros(n, dtype=np.int64)
    nearest = ((X - X[rng.integers(n)]) ** 2).sum(axis=1)
    for k in range(1, number):
        total = nearest.sum()
        if not total > 0:
            break
        seed = X[np.searchsorted(np.cumsum(nearest), rng.random() * total).clip(0, n - 1)]
        distance = ((X - seed) ** 2).sum(axis=1)
        closer = distance < nearest
        labels[closer] = k
        nearest = np.where(closer, distance, nearest)
    compact: NDArray[np.int64] = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return compact
