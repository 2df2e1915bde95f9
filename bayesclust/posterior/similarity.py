"""How often each two items share a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._jit import kernel
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import FloatArray, NDArray

__all__ = ["similarity_matrix"]

TILE = 32
"""Items compared with each other while their labels stay in the processor's cache."""
BLOCK = 1024
"""Draws compared at a time."""


def similarity_matrix(posterior: Any) -> FloatArray:
    """Return the posterior probability that each two items are in the same cluster.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.

    Returns
    -------
    (n, n) array of float64
        Symmetric, with ones on the diagonal; each entry a whole number of draws over their number.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions.

    Examples
    --------
    >>> similarity_matrix([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    draws = stacked_partitions(posterior)
    together = _count_together(np.ascontiguousarray(draws.T))
    value: FloatArray = together / len(draws)
    return value


@kernel
def _count_together(z: Labels) -> NDArray[np.int32]:
    """Count draws with equal labels for items of z (n, draws)."""
    n, n_draws = z.shape
    out = np.zeros((n, n), np.int32)
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            for first in range(0, n_draws, BLOCK):
                last = min(first + BLOCK, n_draws)
                for i in range(top, min(top + TILE, n)):
                    a = z[i, first:last]
                    for j in range(max(left, i), min(left + TILE, n)):
                        b = z[j, first:last]
                        count = np.int16(0)
                        for t in range(a.size):
                            count = np.int16(count + (a[t] == b[t]))
                        out[i, j] += count
    for i in range(n):
        for j in range(i):
            out[i, j] = out[j, i]
    return out
