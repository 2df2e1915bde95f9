"""Features of DCRC's classifier: standardised columns, or coordinates of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesclust.checks import check_choice, check_memory
from bayesclust.typing import FloatArray

KERNELS = {"rbf": "rbf", "polynomial": "poly"}
LANDMARKS = 500
"""Kernels are exact for so many items, and approximated from so many drawn ones beyond."""
SPREAD = 10.0
"""Total variance of kernel features, as of ten standardised columns: one penalty suits both."""
RADIAL, SCALED_BY = 100, 1000
"""Landmarks of radial basis functions, and items whose median distance is their scale."""


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
    if kernel is not None and not hasattr(kernel, "transform"):
        check_choice(kernel, "kernel", KERNELS)


def fit_features(X: FloatArray, kernel: Any, rng: Generator) -> FeatureMap:
    """Learn features: standardised columns, coordinates of a kernel, or those of a transformer."""
    # Inner products of kernel features are values of the centred kernel, from landmarks (Nystroem;
    # Williams and Seeger 2001).
    if kernel is None:
        return FeatureMap(StandardScaler().fit(X))
    if not isinstance(kernel, str):
        return FeatureMap(clone(kernel).fit(X))
    n = len(X)
    number = min(n, LANDMARKS)
    check_memory(
        16 * n * number + 24 * number**2,
        f"a kernel of {number:,} landmarks for {n:,} items",
        "pass a transformer with fewer components as kernel",
    )
    seed = int(rng.integers(2**31))
    landmarks = Nystroem(KERNELS[kernel], n_components=number, random_state=seed)
    return _kernel_features(X, landmarks, SPREAD)


def radial_features(X: FloatArray) -> FeatureMap:
    """Learn exp(-|x - x'|^2 / median of it), of the total variance of the standardised columns."""
    some = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(0)
    if len(some) > SCALED_BY:
        some = some[rng.choice(len(some), SCALED_BY, replace=False)]
    median = float(np.median(pdist(some, "sqeuclidean"))) or 1.0  # 0 where most items are the same
    landmarks = Nystroem("rbf", gamma=1 / median, n_components=min(len(X), RADIAL), random_state=0)
    return _kernel_features(X, landmarks, float(some.var(axis=0).sum()))


def _kernel_features(X: FloatArray, landmarks: Any, spread: float) -> FeatureMap:
    """Centred coordinates of a kernel of standardised columns, of this total variance."""
    transformer = make_pipeline(StandardScaler(), landmarks, StandardScaler(with_std=False))
    variance = float(transformer.fit_transform(X).var(axis=0).sum())
    return FeatureMap(transformer, float(np.sqrt(spread / variance)) if variance > 0 else 1.0)
