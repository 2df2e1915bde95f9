"""Beta and Dirichlet arithmetic of the noise models, and the checks of their priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln

from bayesclust.constraints._checks import number_between, plain_array, real_array, shown
from bayesclust.typing import ArrayLike, Counts, FloatArray

TINY = float(np.finfo(np.float64).tiny)
ALMOST_ONE = 1.0 - 2.0**-53

FEW = 8
"""Variables up to which one by one is faster than as an array."""

Beta = tuple[float, float]


def beta_or_known(value: Any, what: str, interval: str) -> Beta | float:
    """Return a Beta prior as a pair of floats, or a known value inside `interval` as a float."""
    if isinstance(value, Real):
        return number_between(value, what, interval)
    if (
        isinstance(value, str)
        or not isinstance(value, (Sequence, np.ndarray))
        or plain_array(value, what).shape != (2,)
    ):
        raise TypeError(
            f"{what} must be a Beta prior (a, b) or a known number in {interval}; got {shown(value)}."
        )
    for weight in value:
        if (
            isinstance(weight, bool)
            or not isinstance(weight, Real)
            or not 0 < float(weight) < np.inf
        ):
            raise ValueError(
                f"both numbers of the Beta prior {what} must be positive and finite; got {shown(value)}."
            )
    return float(value[0]), float(value[1])


def check_flag(value: Any, what: str) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{what} must be True or False; got {shown(value)} of type {type(value).__name__}."
        )


def check_mass(log_mass: Any, priors: str, region: str) -> None:
    """Refuse priors of which a cut leaves less than a thousandth."""
    if log_mass < np.log(1e-3):
        raise ValueError(
            f"informative=True keeps {region} alone, but {priors} leaves {np.exp(log_mass):.2g} of its probability there: "
            "choose values for which answers are more likely right than wrong."
        )


def dirichlet_rows(weights: ArrayLike, size: int) -> FloatArray:
    """Return (size, size) Dirichlet weights, one row per true answer."""
    array = real_array(weights, "prior")
    if array.shape != (size, size):
        raise ValueError(
            f"prior must have shape ({size}, {size}); got {array.shape}: "
            "pass one row of Dirichlet weights per true answer."
        )
    bad = ~((array > 0) & np.isfinite(array))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"prior[{row}, {column}] is {array[row, column]:g}: weights must be positive and finite."
        )
    return array


def confusion_matrix(matrix: ArrayLike, size: int, what: str) -> FloatArray:
    """Return a (size, size) matrix of p(answer | truth), whose rows sum to one."""
    array = real_array(matrix, what)
    if array.shape != (size, size):
        raise ValueError(
            f"{what} must have shape ({size}, {size}); got {array.shape}: "
            "pass one row of probabilities per true answer."
        )
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{what}[{row}, {column}] is {array[row, column]:g}: probabilities lie in [0, 1]."
        )
    sums = array.sum(axis=1)
    row = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[row] - 1) > 1e-8:
        raise ValueError(f"row {row} of {what} sums to {sums[row]:.6g}: each row must sum to one.")
    return array


def confusion_per_source(matrix: ArrayLike, size: int, n_sources: int, what: str) -> FloatArray:
    """Return (n_sources, size, size) confusion matrices, given as one for all or one for each."""
    array = real_array(matrix, what)
    if array.ndim < 3:
        return np.tile(confusion_matrix(array, size, what), (n_sources, 1, 1))
    if len(array) != n_sources:
        raise ValueError(
            f"{what} must be one matrix or one per source ({n_sources}); got {len(array)}: "
            "set n_sources to the number of matrices."
        )
    return np.stack([confusion_matrix(rows, size, f"{what}[{s}]") for s, rows in enumerate(array)])


def scalar(value: Any) -> Any:
    """Return a single number as a float, and an array as it is."""
    return float(value) if np.ndim(value) == 0 else value


def beta_mean(prior: Beta | float) -> float:
    """Return the mean of the prior, or the known value."""
    return prior[0] / (prior[0] + prior[1]) if isinstance(prior, tuple) else prior


def draw_beta(prior: Beta, ones: Counts, zeros: Counts, rng: np.random.Generator) -> FloatArray:
    """Draw from Beta(a + ones, b + zeros), kept off 0 and 1 so that logarithms stay finite."""
    if ones.size > FEW:
        return off_the_ends(rng.beta(prior[0] + ones, prior[1] + zeros))
    # the same numbers, for which a chain of a few sources asks in every sweep
    pairs = zip(ones.ravel().tolist(), zeros.ravel().tolist(), strict=True)
    drawn = [
        min(max(rng.beta(prior[0] + one, prior[1] + zero), TINY), ALMOST_ONE) for one, zero in pairs
    ]
    return np.array(drawn).reshape(ones.shape)


def off_the_ends(probability: FloatArray) -> FloatArray:
    """Keep probabilities off 0 and 1."""
    kept: FloatArray = np.minimum(
        np.maximum(probability, TINY), ALMOST_ONE
    )  # half the time of `np.clip`
    return kept


def draw_dirichlet(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw from Dirichlet distributions over the last axis, as normalised gammas kept off 0."""
    gammas = np.maximum(rng.standard_gamma(weights), TINY)
    drawn: FloatArray = gammas / gammas.sum(axis=-1, keepdims=True)
    return drawn


@cache
def log_beta_norm(prior: Beta) -> float:
    """Return the log of the beta function."""
    return float(betaln(*prior))


def log_beta(prior: Beta, value: ArrayLike) -> Any:
    """Return the log density of Beta(a, b), summed over the last axis of `value`."""
    x, (a, b) = np.asarray(value, dtype=np.float64), prior
    if x.ndim == 1 and len(x) <= FEW:
        kept = [min(max(one, TINY), ALMOST_ONE) for one in x.tolist()]
        return sum((a - 1) * math.log(one) + (b - 1) * math.log1p(-one) for one in kept) - len(
            kept
        ) * log_beta_norm(prior)
    x = off_the_ends(x)
    return scalar(
        ((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - log_beta_norm(prior)).sum(axis=-1)
    )


def log_beta_marginal(prior: Beta | float, ones: Counts, zeros: Counts) -> Any:
    """Return the log probability of a sequence of ones and zeros, summed over the last axis."""
    if isinstance(prior, tuple):
        a, b = prior
        return scalar((betaln(a + ones, b + zeros) - betaln(a, b)).sum(axis=-1))
    return scalar((ones * np.log(max(prior, TINY)) + zeros * np.log1p(-prior)).sum(axis=-1))


def log_dirichlet_norm(weights: FloatArray) -> FloatArray:
    """Return the log of the multivariate beta function over the last axis."""
    norm: FloatArray = gammaln(weights).sum(axis=-1) - gammaln(weights.sum(axis=-1))
    return norm


def expected_logs(
    prior: Beta | float, ones: Counts, zeros: Counts
) -> tuple[FloatArray, FloatArray]:
    """Return E[log x] and E[log(1 - x)] under Beta(a + ones, b + zeros), or at the known value."""
    if isinstance(prior, tuple):
        a, b = prior[0] + ones, prior[1] + zeros
        return digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
    return np.full(np.shape(ones), np.log(max(prior, TINY))), np.full(
        np.shape(ones), np.log1p(-prior)
    )


def expected_log_rows(weights: FloatArray) -> FloatArray:
    """Return E[log] of each entry under Dirichlet distributions over the last axis."""
    expected: FloatArray = digamma(weights) - digamma(weights.sum(axis=-1, keepdims=True))
    return expected
