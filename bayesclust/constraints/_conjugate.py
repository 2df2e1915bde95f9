"""Beta and Dirichlet arithmetic of the noise models, and the checks of their priors."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import betaln, gammaln

from bayesclust.constraints._checks import number_between
from bayesclust.typing import ArrayLike, FloatArray, IntArray

TINY = float(np.finfo(np.float64).tiny)
ALMOST_ONE = 1.0 - 2.0**-53

Beta = tuple[float, float]


def beta_or_fixed(value: Any, what: str, interval: str) -> Beta | float:
    """Return a Beta prior as a pair of floats, or a known value inside `interval` as a float."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return number_between(value, what, interval)
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)) or len(value) != 2:
        raise TypeError(f"{what} must be a Beta prior (a, b) or a known number in {interval}; got {value!r}.")
    for weight in value:
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(f"both numbers of the Beta prior {what} must be positive and finite; got {value!r}.")
    return float(value[0]), float(value[1])


def dirichlet_rows(weights: ArrayLike, size: int) -> FloatArray:
    """Return (size, size) Dirichlet weights, one row per true answer."""
    array = np.array(weights, dtype=np.float64)
    if array.shape != (size, size):
        raise ValueError(
            f"prior must have shape ({size}, {size}); got {array.shape}: "
            "pass one row of Dirichlet weights per true answer."
        )
    bad = ~((array > 0) & np.isfinite(array))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(f"prior[{row}, {column}] is {array[row, column]}: Dirichlet weights must be positive and finite.")
    array.setflags(write=False)
    return array


def confusion_matrix(matrix: ArrayLike, size: int, what: str) -> FloatArray:
    """Return a (size, size) matrix of p(answer | truth) whose rows sum to one."""
    array = np.array(matrix, dtype=np.float64)
    if array.shape != (size, size):
        raise ValueError(
            f"{what} must have shape ({size}, {size}); got {array.shape}: pass one row of probabilities per true answer."
        )
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(f"{what}[{row}, {column}] is {array[row, column]}: probabilities lie in [0, 1].")
    sums = array.sum(axis=1)
    if not np.allclose(sums, 1.0, rtol=0, atol=1e-8):
        row = int(np.argmax(np.abs(sums - 1)))
        raise ValueError(f"row {row} of {what} sums to {sums[row]:.6g}: each row must sum to one.")
    array.setflags(write=False)
    return array


def scalar(value: Any) -> Any:
    """Return a float for a single number and the array otherwise."""
    return float(value) if np.ndim(value) == 0 else value


def beta_mean(prior: Beta | float) -> float:
    """Return the mean of the prior, or the known value."""
    return prior[0] / (prior[0] + prior[1]) if isinstance(prior, tuple) else prior


def draw_beta(prior: Beta, ones: IntArray, zeros: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw from Beta(a + ones, b + zeros), kept off 0 and 1 so that logarithms stay finite."""
    return np.clip(rng.beta(prior[0] + ones, prior[1] + zeros), TINY, ALMOST_ONE)


def log_beta(prior: Beta, value: ArrayLike) -> Any:
    """Return the log density of Beta(a, b) at `value`, summed over the last axis."""
    x = np.clip(np.asarray(value, dtype=np.float64), TINY, ALMOST_ONE)
    a, b = prior
    return scalar(((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - betaln(a, b)).sum(axis=-1))


def log_beta_marginal(prior: Beta | float, ones: IntArray, zeros: IntArray) -> Any:
    """Return the log probability of a sequence of ones and zeros, summed over the last axis."""
    if isinstance(prior, tuple):
        a, b = prior
        terms = betaln(a + ones, b + zeros) - betaln(a, b)
    else:
        terms = ones * np.log(max(prior, TINY)) + zeros * np.log1p(-prior)
    return scalar(np.sum(terms, axis=-1))


def log_dirichlet_norm(weights: FloatArray) -> FloatArray:
    """Return the log of the multivariate beta function over the last axis."""
    norm: FloatArray = gammaln(weights).sum(axis=-1) - gammaln(weights.sum(axis=-1))
    return norm
