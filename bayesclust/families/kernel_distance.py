"""Squared distance in the feature space of a kernel: K in place of X X' (TVClust, Eq. 21).

With features phi(x), K_ij = <phi(x_i), phi(x_j)>, and clusters of sizes n_k, the distances of the
items from the means of their clusters sum to

    sum_i |phi(x_i) - m_{z_i}|^2 = tr K - sum_k (1 / n_k) sum_{i, j in k} K_ij,

and J needs nothing else of the items. With the eigenvalues L and eigenvectors U of K, the rows of U
L^(1/2) have these inner products, so that they serve as points of an ordinary squared distance. A
new item has the coordinates k(x) U L^(-1/2), k(x) its similarities to the items: what it has beside
them is as far from every centre. The same with landmarks in place of all items is Nystroem's
approximation (Williams and Seeger 2001).

A K with smallest eigenvalue -s is not a kernel; K + s I is, and J of it at a penalty of lambda +
s is J of K at lambda, as far as it can be written, plus n s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.metrics.pairwise import pairwise_kernels

from bayesclust import checks
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.typing import FloatArray

COSINE, PRECOMPUTED = "cosine", "precomputed"
SETTINGS: dict[str, dict[str, str]] = {
    "rbf": {"gamma": "(0, inf)"},
    "polynomial": {"gamma": "(0, inf)", "degree": "(0, inf)", "coef0": "[0, inf)"},
    COSINE: {},
    PRECOMPUTED: {},
}
"""The kernels with a name, and the intervals of their settings."""
EXACT, LANDMARKS = 2000, 500
"""Up to so many items all of K is used, beyond so many landmarks or leading eigenvectors."""
RANK = 1e-11
"""Eigenvalues below this share of the largest are rounding."""
INDEFINITE = 1e-8
SLACK = 1e-4
"""Eigenvalues further below zero, as a share of the largest, are refused; SLACK if by iteration."""


@dataclass(frozen=True, eq=False)
class KernelDistance(SquaredEuclidean):
    """D(x, m) = |phi(x) - m|^2, from K alone; `bind` finds the coordinates of the items."""

    kernel: Any
    settings: Mapping[str, Any]
    landmarks: FloatArray | None = None  # (L, d) items, if kernel is a function
    projection: FloatArray | None = None  # (L, r)

    name = "kernel"

    def bind(self, X: Any) -> KernelDistance:
        if self.kernel == COSINE:
            return self
        given = similarities(X) if self.kernel == PRECOMPUTED else checks.check_items(X)
        n = given.shape[0]
        few = n if n <= EXACT else LANDMARKS
        checks.check_memory(
            8 * (4 * few**2 + 3 * n * few),
            f"a kernel of {n:,} items",
            "cluster fewer items, or the rows of a factor of the kernel, without kernel",
        )
        landmarks, K, bound = None, given, self
        if isinstance(self.kernel, str) and "gamma" in SETTINGS[self.kernel]:
            apart = 2.0 * float(given.var(axis=0).sum())  # mean squared distance of two items
            bound = replace(self, settings={"gamma": 1.0 / (apart or 1.0), **self.settings})
        if self.kernel != PRECOMPUTED:
            # always the same ones: nothing is random in what follows from the data
            drawn = np.sort(np.random.default_rng(0).choice(n, few, replace=False))
            landmarks = given[drawn]
            K = bound._values(landmarks, landmarks)
        values, vectors = eigenpairs(K, few, self.kernel)
        return replace(bound, landmarks=landmarks, projection=vectors / np.sqrt(values))

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        large = self.kernel == PRECOMPUTED and is_large(X)
        rows: Any = X if large else checks.check_items(X, least=least)
        if self.kernel == COSINE:
            advice = "compares directions: remove these items, or choose another kernel."
            return checks.rows_of_length_one(rows, f'and kernel="cosine" {advice}')
        if self.projection is None:
            raise self._unbound()
        known = len(self.projection) if self.landmarks is None else self.landmarks.shape[1]
        if rows.shape[1] != known:
            what = "similarities to each item of these" if self.landmarks is None else "the same"
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the fit was to {known}: pass {what}."
            )
        if self.landmarks is not None:
            rows = self._values(rows, self.landmarks)
        return np.ascontiguousarray(rows @ self.projection)

    def n_free(self, points: FloatArray) -> int:
        """(sum v)^2 / sum v^2 of the variances v along principal axes: few of many coordinates."""
        some = points[:: max(len(points) // LANDMARKS, 1)]
        some = some - some.mean(axis=0)
        gram = some @ some.T
        square = float(np.square(gram).sum())
        return max(round(float(np.trace(gram)) ** 2 / square), 1) if square > 0 else 1

    def _values(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        K = np.asarray(pairwise_kernels(X, Y, metric=self.kernel, **self.settings), np.float64)
        if not np.isfinite(K).all():
            raise ValueError(
                "kernel has values that are not finite for these items: correct the function."
            )
        return K


def kernel_distance(kernel: Any, settings: Any) -> KernelDistance:
    """The distance of a kernel that is not bound to data yet; refuses what is none."""
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(
            "kernel_params must be a dict of settings of the kernel or None; got "
            f"{checks.shown(settings)}."
        )
    given = dict(settings or {})
    if callable(kernel):
        return KernelDistance(kernel, given)
    if kernel is None:
        raise ValueError("kernel_params are settings of a kernel, and kernel is None: name one.")
    known = SETTINGS[checks.check_choice(kernel, "kernel", SETTINGS)]
    for name, value in given.items():
        if name not in known:
            has = " and ".join(known) or "none"
            raise ValueError(
                f"kernel_params has {name!r}, and the settings of kernel={kernel!r} are {has}: "
                "leave it out."
            )
        given[name] = checks.number_between(value, f"kernel_params[{name!r}]", known[name])
    return KernelDistance(kernel, given)


def is_large(X: Any) -> bool:
    """Whether X is sparse, and too large to be made dense."""
    return hasattr(X, "tocsr") and bool(X.shape[0] > EXACT)


def similarities(X: Any) -> Any:
    """A symmetric matrix (n, n), sparse only if it is large."""
    K: Any = X.tocsr() if is_large(X) else checks.check_items(X)
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f'kernel="precomputed" takes similarities of all pairs of items, and X has shape '
            f"{K.shape}: pass a square matrix, or name a kernel for items."
        )
    gap: Any = abs(K - K.T)
    if not np.isfinite(gap.sum()):
        raise ValueError("X has similarities that are not finite: correct them.")
    i, j = np.unravel_index(int(gap.argmax()), K.shape)
    if gap[i, j] > INDEFINITE * abs(K).max():
        raise ValueError(
            f"X[{i}, {j}] is {K[i, j]:.4g} and X[{j}, {i}] is {K[j, i]:.4g}, but similarities must "
            "be symmetric: pass for instance (X + X.T) / 2."
        )
    return K


def eigenpairs(K: Any, most: int, kernel: Any) -> tuple[FloatArray, FloatArray]:
    """The positive eigenvalues of K (n, n), at most so many leading ones, and the eigenvectors."""
    found: Any
    n = K.shape[0]
    if n == most:
        found = np.linalg.eigh((K + K.T) / 2)
        lowest = float(found[0][0])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        found = eigsh(K, most, which="LA", v0=start)
        shift = float(found[0][-1])
        raised: Any = LinearOperator((n, n), matvec=lambda v: K @ v + shift * v, dtype=np.float64)
        low = eigsh(raised, 1, which="SA", v0=start, tol=SLACK / 10, return_eigenvectors=False)
        lowest = float(low[0]) - shift
    values, vectors = found
    top = float(values[-1])
    if lowest < -(INDEFINITE if n == most else SLACK) * max(top, -lowest):
        name = "X" if kernel == PRECOMPUTED else "the matrix of the kernel's values"
        raise ValueError(
            f"{name} is not positive semidefinite: its smallest eigenvalue is {lowest:.3g}. Choose "
            f"another kernel, or precompute the matrix and add {-1.01 * lowest:.3g} to its "
            "diagonal and to penalty, which adds a constant to the objective."
        )
    if not top > 0:  # all items are alike
        return np.ones(1), vectors[:, -1:]
    kept = values > RANK * top
    return values[kept], vectors[:, kept]
