"""Features of DCRC's classifier, by scikit-learn: standardised columns, or coordinates of a kernel.

An inner product of kernel features is a value of the centred kernel: exactly by kernel PCA, or from
landmarks (Nystroem; Williams and Seeger 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesclust.checks import check_choice, check_memory
from bayesclust.typing import FloatArray

KERNELS = {"rbf": "rbf", "polynomial": "poly", "precomputed": "precomputed"}
EXACT_UP_TO = 2000
LANDMARKS = 500
"""Kernels are exact for so many items, and approximated from so many landmarks beyond."""
SPREAD = 10.0
"""Total variance of kernel features: that of ten standardised columns, so that one default penalty
suits both."""


@dataclass(frozen=True)
class FeatureMap:
    """From items (n, d) to features (n, r): a fitted transformer, its values times a factor."""

    transformer: Any
    factor: float = 1.0

    def __call__(self, X: FloatArray) -> FloatArray:
        features = self.factor * np.asarray(self.transformer.transform(X), dtype=np.float64)
        return np.ascontiguousarray(features)


def check_kernel(kernel: Any) -> None:
    """Refuse what is neither a kernel nor a transformer."""
    if kernel is None or hasattr(kernel, "transform"):
        return
    if not isinstance(kernel, str):
        raise TypeError(
            f"kernel is a {type(kernel).__name__}: "
            "pass a name, a transformer of scikit-learn, or None."
        )
    check_choice(kernel, "kernel", KERNELS)


def fit_features(X: FloatArray, kernel: Any, rng: Generator) -> FeatureMap:
    """Learn features: standardised columns, coordinates of a kernel, or those of a transformer."""
    if kernel is None:
        return FeatureMap(StandardScaler().fit(X))
    if not isinstance(kernel, str):
        return FeatureMap(clone(kernel).fit(X))
    n = len(X)
    name = KERNELS[kernel]
    number = n if n <= EXACT_UP_TO else LANDMARKS
    check_memory(
        16 * n * number + 24 * number**2,
        f"a kernel of {number:,} landmarks for {n:,} items",
        "pass a transformer with fewer components as kernel",
    )
    if kernel == "precomputed":
        _check_gram(X)
        transformer: Any = KernelPCA(number, kernel=name)
    elif n <= EXACT_UP_TO:
        transformer = make_pipeline(
            StandardScaler(), KernelPCA(n, kernel=name, remove_zero_eig=True)
        )
    else:
        seed = int(rng.integers(2**31))
        landmarks = Nystroem(name, n_components=number, random_state=seed)
        transformer = make_pipeline(StandardScaler(), landmarks, StandardScaler(with_std=False))
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            features = transformer.fit_transform(X)
    except ValueError as error:
        raise ValueError(
            f"the kernel {kernel!r} is not positive semi-definite on these items: "
            "choose another kernel."
        ) from error
    variance = float(features.var(axis=0).sum())
    return FeatureMap(transformer, float(np.sqrt(SPREAD / variance)) if variance > 0 else 1.0)


def _check_gram(X: FloatArray) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed kernel must have shape (n, n); got {X.shape}: "
            "pass k(x_i, x_j) of all items."
        )
    worst = np.abs(X - X.T).max()
    if worst > 1e-8 * np.abs(X).max():
        raise ValueError(
            "the precomputed kernel is not symmetric: X and its transpose differ by up to "
            f"{worst:g}; pass (X + X.T) / 2."
        )
