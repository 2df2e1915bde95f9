"""The two shapes of a metric A, weights of features or a full matrix, behind one set of operations."""

from __future__ import annotations

from typing import Any, Protocol, override

import numpy as np
from scipy.linalg import solve_triangular

from bayesclust.inference.limits.mpck.exchange import exchange_diagonal, exchange_full
from bayesclust.typing import FloatArray

# rounding adds up in an inverse that follows more exchanges than this
MOST_EXCHANGES = 200
# directions in which data spread less than this share of the widest are left out
NO_SPREAD = 1e-10


class Form(Protocol):
    """Operations on metrics and scatters of one shape; both are kept as (r,) or (r, r) arrays."""

    def coordinates(self, X: FloatArray) -> FloatArray:
        """Return T (d, r) with (X - mean) T of unit spread in every column, directions without spread left out."""

    def unit(self, T: FloatArray) -> FloatArray:
        """Return the metric that is Euclidean distance in the units of X."""

    def in_units(self, A: FloatArray, T: FloatArray) -> FloatArray:
        """Return the metric (d,) or (d, d) on X of a metric on the coordinates."""

    def one(self, r: int) -> FloatArray:
        """Return the identity."""

    def scatter(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum of weight x row row'."""

    def lengths(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        """Return row' A row of each row."""

    def stretched(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        """Return rows whose Euclidean distances are those under A."""

    def inverse(self, B: FloatArray) -> FloatArray:
        """Return the inverse of a positive definite scatter."""

    def log_det(self, A: FloatArray) -> float:
        """Return log det A; minus infinity if A is not positive definite."""

    def values(self, change: FloatArray, B: FloatArray) -> FloatArray:
        """Return the eigenvalues of B^(-1) change, for a positive definite B."""

    def exchange(
        self, B: FloatArray, rows: FloatArray, shares: FloatArray, c: float, tolerance: float
    ) -> None:
        """Move shares, in place, between the rows whose scatters B holds c x share of, to where log det B is largest."""

    def mended(self, B: FloatArray, eps: float) -> tuple[FloatArray, bool]:
        """Return the inverse of a scatter that need not be positive definite, made so; and whether it had to be."""


class Diagonal(Form):
    """Weights of features."""

    @override
    def coordinates(self, X: FloatArray) -> FloatArray:
        spread = X.std(axis=0)
        kept = np.flatnonzero(spread > NO_SPREAD * spread.max())
        T = np.zeros((X.shape[1], max(len(kept), 1)))
        T[kept, np.arange(len(kept))] = 1.0 / spread[kept]
        return T

    @override
    def unit(self, T: FloatArray) -> FloatArray:
        scale = T.sum(axis=0)
        return np.where(scale > 0, scale, 1.0) ** -2.0

    @override
    def in_units(self, A: FloatArray, T: FloatArray) -> FloatArray:
        return np.asarray(np.square(T) @ A)

    @override
    def one(self, r: int) -> FloatArray:
        return np.ones(r)

    @override
    def scatter(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        return np.asarray(weights @ np.square(rows))

    @override
    def lengths(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return np.asarray(np.square(rows) @ A)

    @override
    def stretched(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return rows * np.sqrt(A)

    @override
    def inverse(self, B: FloatArray) -> FloatArray:
        return 1.0 / B

    @override
    def log_det(self, A: FloatArray) -> float:
        return float(np.log(A).sum()) if A.min() > 0 else -np.inf

    @override
    def values(self, change: FloatArray, B: FloatArray) -> FloatArray:
        return change / B

    @override
    def exchange(
        self, B: FloatArray, rows: FloatArray, shares: FloatArray, c: float, tolerance: float
    ) -> None:
        exchange_diagonal(B.copy(), np.square(rows), shares, c, tolerance, MOST_EXCHANGES)

    @override
    def mended(self, B: FloatArray, eps: float) -> tuple[FloatArray, bool]:
        return _clipped(B, eps)


class Full(Form):
    """A symmetric positive definite matrix."""

    @override
    def coordinates(self, X: FloatArray) -> FloatArray:
        _, spread, axes = np.linalg.svd((X - X.mean(axis=0)) / np.sqrt(len(X)), full_matrices=False)
        kept = spread > NO_SPREAD**0.75 * spread.max()
        if not kept.any():
            return np.zeros((X.shape[1], 1))
        T: FloatArray = axes[kept].T / spread[kept]
        return T

    @override
    def unit(self, T: FloatArray) -> FloatArray:
        scale = np.square(T).sum(axis=0)
        return np.diag(1.0 / np.where(scale > 0, scale, 1.0))

    @override
    def in_units(self, A: FloatArray, T: FloatArray) -> FloatArray:
        return np.asarray(T @ A @ T.T)

    @override
    def one(self, r: int) -> FloatArray:
        return np.eye(r)

    @override
    def scatter(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        return np.asarray(rows.T @ (rows * weights[:, None]))

    @override
    def lengths(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return np.asarray(np.square(self.stretched(rows, A)).sum(axis=1))

    @override
    def stretched(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return np.ascontiguousarray(rows @ np.linalg.cholesky(A))

    @override
    def inverse(self, B: FloatArray) -> FloatArray:
        half = solve_triangular(np.linalg.cholesky(B), np.eye(len(B)), lower=True)
        return np.asarray(half.T @ half)

    @override
    def log_det(self, A: FloatArray) -> float:
        sign, value = np.linalg.slogdet(A)
        return float(value) if sign > 0 and np.linalg.eigvalsh(A)[0] > 0 else -np.inf

    @override
    def values(self, change: FloatArray, B: FloatArray) -> FloatArray:
        lower = np.linalg.cholesky(B)
        half = solve_triangular(lower, change, lower=True)
        return np.asarray(np.linalg.eigvalsh(solve_triangular(lower, half.T, lower=True)))

    @override
    def exchange(
        self, B: FloatArray, rows: FloatArray, shares: FloatArray, c: float, tolerance: float
    ) -> None:
        exchange_full(self.inverse(B), rows, shares, c, tolerance, MOST_EXCHANGES)

    @override
    def mended(self, B: FloatArray, eps: float) -> tuple[FloatArray, bool]:
        values, axes = np.linalg.eigh(B)
        weights, changed = _clipped(values, eps)
        return np.asarray((axes * weights) @ axes.T), changed


def _clipped(values: FloatArray, eps: float) -> tuple[FloatArray, bool]:
    """1 / values, where singular with eps x their sum added to all, and where negative clipped at eps x the largest."""
    largest = float(np.abs(values).max())
    singular = bool((np.abs(values) <= 1e-12 * largest).any()) or largest == 0
    if singular:
        values = values + eps * max(abs(float(values.sum())), np.finfo(float).tiny)
    weights: Any = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    floor = eps * (float(weights.max()) if weights.any() else 1.0)
    return np.where(values > 0, weights, floor), singular or bool((values <= 0).any())


FORMS: dict[str, Form] = {"diagonal": Diagonal(), "full": Full()}
