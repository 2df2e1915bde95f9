"""Posterior similarity: how often two items are together."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._jit import kernel
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import FloatArray


def similarity_matrix(posterior: Any) -> FloatArray:
    """Return the posterior probability that two items belong together.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of shape (draws, n)

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, ones on the diagonal.

    Examples
    --------
    >>> similarity_matrix([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    z = stacked_partitions(posterior)
    together = np.zeros((z.shape[1], z.shape[1]), dtype=np.int64)
    _count_together(np.ascontiguousarray(z), together)
    similarity: FloatArray = together / len(z)
    return similarity


@kernel
def _count_together(z, together):  # type: ignore[no-untyped-def]
    draws, n = z.shape
    for i in range(n):
        together[i, i] = draws
    for b in range(draws):
        row = z[b]
        for i in range(n):
            label = row[i]
            for j in range(i):
                together[i, j] += row[j] == label
    for i in range(n):
        for j in range(i):
            together[j, i] = together[i, j]
