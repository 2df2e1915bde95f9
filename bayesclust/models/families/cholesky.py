"""Positive definite matrices in compiled code, by plain loops: they compile in a fraction of the time of LAPACK's wrappers.

Half the multiplications of a general inverse, and rows are read in order, so that they are no
slower either.
"""

from __future__ import annotations

import math

import numpy as np

from bayesclust._numba import FAST, device
from bayesclust.typing import FloatArray


@device(fastmath=FAST, no_refcount=True)
def factorise(matrix: FloatArray) -> float:
    """Put the Cholesky factor L into the lower triangle of a symmetric matrix, which alone is read; returns log|L L'|."""
    log_det = 0.0
    for i in range(len(matrix)):
        for j in range(i + 1):
            left = matrix[i, j]
            for t in range(j):
                left -= matrix[i, t] * matrix[j, t]
            if j < i:
                matrix[i, j] = left / matrix[j, j]
            elif left > 0.0:
                matrix[i, i] = math.sqrt(left)
                log_det += math.log(left)
            else:
                raise np.linalg.LinAlgError("Matrix is not positive definite.")
    return log_det


@device(fastmath=FAST, no_refcount=True)
def invert(lower: FloatArray, inverse: FloatArray) -> None:
    """Write the inverse of L L' from the lower triangle L, whose matrix serves as work space."""
    d = len(lower)
    for i in range(d):  # row by row M = L^(-1), in the lower triangle of `inverse`
        pivot = 1.0 / lower[i, i]
        for j in range(i):
            inverse[i, j] = 0.0
        for t in range(i):
            weight = pivot * lower[i, t]
            for j in range(t + 1):
                inverse[i, j] -= weight * inverse[t, j]
        inverse[i, i] = pivot
    for i in range(d):
        for j in range(i + 1):
            lower[i, j] = 0.0
    for t in range(d):  # M' M
        for i in range(t + 1):
            weight = inverse[t, i]
            for j in range(i + 1):
                lower[i, j] += weight * inverse[t, j]
    for i in range(d):
        for j in range(i + 1):
            inverse[i, j] = inverse[j, i] = lower[i, j]
