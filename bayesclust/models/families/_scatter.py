"""First and second moments of a few items: what a cluster with a full covariance is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import FAST, device

NARROW, FEW = 8, 500
"""Columns, and numbers in all, up to which sums of products are faster than a matrix product, as was measured."""


@device(fastmath=FAST)
def _by_matrix_product(
    X: NDArray[np.float64], items: NDArray[np.int64], outer: NDArray[np.float64]
) -> None:
    rows = np.zeros((len(items), X.shape[1]), np.float64)
    for i in range(len(items)):
        for a in range(X.shape[1]):
            rows[i, a] = X[items[i], a]
    np.dot(rows.T, rows, outer)


@device(fastmath=FAST, no_refcount=True)
def write_moments(
    X: NDArray[np.float64],
    items: NDArray[np.int64],
    total: NDArray[np.float64],
    outer: NDArray[np.float64],
) -> None:
    """Write sum x, shape (d,), and sum x x', shape (d, d), over these rows of X."""
    d = X.shape[1]
    few = d <= NARROW or d * len(items) < FEW
    for a in range(d):
        total[a] = 0.0
        for b in range(d):
            outer[a, b] = 0.0
    for i in items:
        for a in range(d):
            x = X[i, a]
            total[a] += x
            if few:
                for b in range(d):
                    outer[a, b] += x * X[i, b]
    if not few:
        _by_matrix_product(X, items, outer)


__all__ = ["write_moments"]
