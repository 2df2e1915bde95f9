"""Sums of logarithms over columns, as logarithms of products: of columns that are cheap they are most of the cost."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import FAST, device

TOGETHER = 8
"""Columns under one logarithm, as many as a processor multiplies at once."""
LEAST, MOST = 1e-200, 1e200
"""Products beyond which the logarithms are taken one by one."""


@device(fastmath=FAST, no_refcount=True)
def sum_of_logs(table: NDArray[np.float64], k: int) -> float:
    """Sum over j of log table[k, j], of positive numbers."""
    total, first = 0.0, 0
    while first < table.shape[1]:
        last, product = min(first + TOGETHER, table.shape[1]), 1.0
        for j in range(first, last):
            product *= table[k, j]
        if LEAST < product < MOST:
            total += math.log(product)
        else:
            for j in range(first, last):
                total += math.log(table[k, j])
        first = last
    return total


@device(fastmath=FAST, no_refcount=True, forceinline=True)
def sum_of_tails(
    X: NDArray[np.float64],
    i: int,
    mean: NDArray[np.float64],
    rate: NDArray[np.float64],
    k: int,
    g: float,
) -> float:
    """Sum over j of log(1 + g (X[i, j] - mean[k, j])^2 / rate[k, j])."""
    total, first = 0.0, 0
    while first < X.shape[1]:
        last, product = min(first + TOGETHER, X.shape[1]), 1.0
        for j in range(first, last):
            difference = X[i, j] - mean[k, j]
            product *= 1.0 + g * difference * difference / rate[k, j]
        if product < MOST:
            total += math.log(product)
        else:
            for j in range(first, last):
                difference = X[i, j] - mean[k, j]
                total += math.log1p(g * difference * difference / rate[k, j])
        first = last
    return total


__all__ = ["sum_of_logs", "sum_of_tails"]
