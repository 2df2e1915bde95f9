"""Features of items: standardised columns, or coordinates in which a kernel is an inner product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.metrics.pairwise import pairwise_kernels

from bayesclust.typing import FloatArray, IntArray

KERNELS = ("rbf", "polynomial", "precomputed")
EXACT_UP_TO, LANDMARKS = 2000, 500
"""With so many items all are landmarks, and the kernel is exact; beyond, so many are drawn (Nystroem)."""
NEGLIGIBLE = 1e-8
"""Eigenvalues below this share of the largest are noise."""
SPREAD = 10.0
"""Total variance of kernel features: that of ten standardised columns, so that one default penalty suits both."""


@dataclass(frozen=True)
class FeatureMap:
    """From items to features.

    Parameters
    ----------
    center, scale : ndarray of shape (d,)
        What is subtracted from columns, and what they are then divided by.
    kernel : str or None
        One of `KERNELS`; None stays with the columns.
    options : dict
        Options of the kernel.
    landmarks : ndarray
        Items in scaled columns, or for "precomputed" their row numbers.
    basis : ndarray of shape (landmarks, r)
        Takes kernel values to features.
    mean : ndarray of shape (r,)
        What is subtracted from kernel features.
    """

    center: FloatArray
    scale: FloatArray
    kernel: str | None
    options: dict[str, Any]
    landmarks: FloatArray | IntArray
    basis: FloatArray
    mean: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Features of items (m, d), or of rows (m, n) of a precomputed kernel; shape (m, r)."""
        if self.kernel == "precomputed":
            return X[:, self.landmarks] @ self.basis - self.mean
        scaled: FloatArray = (X - self.center) / self.scale
        if self.kernel is None:
            return scaled
        return self._values(scaled) @ self.basis - self.mean

    def _values(self, scaled: FloatArray) -> FloatArray:
        values: FloatArray = pairwise_kernels(
            scaled, self.landmarks, metric=self.kernel, **self.options
        )
        return values


def feature_map(
    X: FloatArray,
    kernel: str | None,
    options: dict[str, Any],
    standardize: bool,
    n_landmarks: int | None,
    rng: Generator,
) -> FeatureMap:
    """Learn features from the data.

    Parameters
    ----------
    X : ndarray of shape (n, d), or (n, n) for "precomputed"
    kernel : str or None
    options : dict
    standardize : bool
        Bring columns to mean 0 and standard deviation 1 first; not for "precomputed".
    n_landmarks : int or None
        Landmarks of Nystroem's approximation (Williams and Seeger 2001); None chooses by n.
    rng : Generator

    Returns
    -------
    FeatureMap

    Raises
    ------
    ValueError
        If a precomputed kernel is not square and symmetric, or no kernel has a positive eigenvalue.
    """
    n, d = X.shape
    center, scale = np.zeros(d), np.ones(d)
    if kernel == "precomputed":
        _check_gram(X)
    elif standardize:
        center, spread = X.mean(axis=0), X.std(axis=0)
        # the spread of a constant column is rounding, which division would make noise of
        scale = np.where(spread > 1e-12 * np.abs(X).max(axis=0), spread, np.inf)
    none = np.zeros((0, 0))
    linear = FeatureMap(center, scale, None, {}, none, none, np.zeros(0))
    if kernel is None:
        return linear
    number = n_landmarks if n_landmarks is not None else (n if n <= EXACT_UP_TO else LANDMARKS)
    chosen = np.arange(n) if number >= n else np.sort(rng.choice(n, number, replace=False))
    landmarks: FloatArray | IntArray = chosen
    if kernel == "precomputed":
        gram = X[np.ix_(chosen, chosen)]
    else:
        landmarks = linear(X[chosen])
        gram = pairwise_kernels(landmarks, metric=kernel, **options)
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > NEGLIGIBLE * max(values[-1], 0.0)
    if not kept.any() or values[-1] <= 0:
        raise ValueError(
            f"the kernel {kernel!r} has no positive eigenvalue on these items: choose another kernel."
        )
    basis = vectors[:, kept] / np.sqrt(values[kept])
    raw = FeatureMap(center, scale, kernel, options, landmarks, basis, np.zeros(basis.shape[1]))
    features = raw(X)
    variance = float(features.var(axis=0).sum())
    factor = np.sqrt(SPREAD / variance) if variance > 0 else 1.0
    return FeatureMap(
        center, scale, kernel, options, landmarks, factor * basis, factor * features.mean(axis=0)
    )


def _check_gram(X: FloatArray) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed kernel must have shape (n, n); got {X.shape}: pass k(x_i, x_j) of all items."
        )
    worst = np.abs(X - X.T).max()
    if worst > 1e-8 * np.abs(X).max():
        raise ValueError(
            f"the precomputed kernel is not symmetric: X and its transpose differ by up to {worst:g}; pass (X + X.T) / 2."
        )


__all__ = ["KERNELS", "FeatureMap", "feature_map"]
