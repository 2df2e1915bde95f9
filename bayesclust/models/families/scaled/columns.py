"""Distributions, side by side, that weigh gamma each: the families whose limits are sums of Kullback-Leibler divergences.

    theta_kj ~ Dirichlet(1, ..., 1),    p(x_ij | theta_kj) ~ prod_l theta_kjl^(gamma x_ijl)

for every column j, x_ij being a distribution over its L_j values, or all zeros where the cell is
missing. With the sums c_jl = gamma sum_i x_ijl over a cluster, and their sums C_j,

    p(X) ~ prod_j  Gamma(L_j) / Gamma(L_j + C_j)  prod_l Gamma(1 + c_jl).

Shares of counts are one such column, and a column of zeros and ones is the distribution (1 - x, x).
The multinomial coefficients of gamma x pseudo-counts, continued by Gamma functions, do not depend
on the partition and are kept out of the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bayesclust._numba import FAST, device
from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components.coded import CodedComponents
from bayesclust.models.families import base
from bayesclust.models.families.scaled.base import Points, ReadPoints, ScaledFamily
from bayesclust.typing import ArrayLike


class ColumnsState(NamedTuple):
    """Clusters of pseudo-counts; C slots and the prior slot, d columns with F values in all."""

    X: NDArray[np.float64]  # (n, F) gamma x
    mass: NDArray[np.float64]  # (n, d) their sums in each column
    begin: NDArray[np.int64]  # (d,) where a column's values begin
    end: NDArray[np.int64]  # (d,) and end
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,) items
    total: NDArray[np.float64]  # (C + 1, F) c
    whole: NDArray[np.float64]  # (C + 1, d) C


@base.implements(base.clear_cluster, ColumnsState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.whole[k] = 0.0


@device(fastmath=FAST, no_refcount=True)
def _shift(state: ColumnsState, i: int, k: int, sign: float) -> None:
    """Put an item's pseudo-counts into the sums of a cluster, or take them out, never below zero."""
    for value in range(state.X.shape[1]):
        state.total[k, value] = max(state.total[k, value] + sign * state.X[i, value], 0.0)
    for j in range(state.mass.shape[1]):
        state.whole[k, j] = max(state.whole[k, j] + sign * state.mass[i, j], 0.0)


@base.implements(base.add_item, ColumnsState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, 1.0)
    state.count[k] += 1


@base.implements(base.remove_item, ColumnsState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, -1.0)
    state.count[k] -= 1


@base.implements(base.log_predictive, ColumnsState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value = 0.0
    for j in range(state.mass.shape[1]):
        if state.mass[i, j] == 0.0:
            continue
        whole = state.end[j] - state.begin[j] + state.whole[k, j]
        value += math.lgamma(whole) - math.lgamma(whole + state.mass[i, j])
        for at in range(state.begin[j], state.end[j]):
            weight = 1.0 + state.total[k, at]
            value += math.lgamma(weight + state.X[i, at]) - math.lgamma(weight)
    return value


@device(fastmath=FAST, no_refcount=True)
def _union(state: ColumnsState, a: int, b: int) -> float:
    value = 0.0
    for j in range(state.mass.shape[1]):
        size = state.end[j] - state.begin[j]
        value += math.lgamma(size) - math.lgamma(size + state.whole[a, j] + state.whole[b, j])
    for at in range(state.X.shape[1]):
        value += math.lgamma(1.0 + state.total[a, at] + state.total[b, at])
    return value


@base.implements(base.log_marginal, ColumnsState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return _union(state, k, len(state.count) - 1)


@base.implements(base.log_marginal_union, ColumnsState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    return _union(state, a, b)


@base.implements(base.set_items, ColumnsState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.whole[k] = 0.0
    for i in items:
        _shift(state, i, k, 1.0)


@base.implements(base.derive, ColumnsState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    pass


def _both_shares(points: Points) -> Points:
    """Shares of zeros beside those of ones: (n, d) to (n, 2 d)."""
    return np.stack([1.0 - points, points], axis=2).reshape(len(points), -1)


def _read_both(read: ReadPoints, X: Any) -> Points:
    return _both_shares(read(X))


@dataclass(frozen=True)
class ScaledColumns(ScaledFamily):
    """Dirichlet columns of gamma x pseudo-counts, whose base measures are uniform; there are no hyper-parameters.

    Attributes
    ----------
    sizes : ndarray of shape (d,)
        Numbers of values of the columns.
    """

    sizes: NDArray[np.int64]

    @classmethod
    def at(
        cls, points: Points, gamma: float, read: ReadPoints, sizes: NDArray[np.int64]
    ) -> ScaledColumns:
        """Bind to distributions side by side, shape (n, F); a missing cell is zeros."""
        bound = cls(gamma * points, 0.0, (), gamma, read, sizes)
        return bound.with_rows(bound.X)

    @classmethod
    def shares_at(cls, points: Points, gamma: float, read: ReadPoints) -> ScaledColumns:
        """Bind to one distribution an item, shape (n, d)."""
        return cls.at(points, gamma, read, np.full(1, points.shape[1]))

    @classmethod
    def binary_at(cls, points: Points, gamma: float, read: ReadPoints) -> ScaledColumns:
        """Bind to shares of ones, shape (n, d)."""
        return cls.at(
            _both_shares(points), gamma, partial(_read_both, read), np.full(points.shape[1], 2)
        )

    @property
    def first(self) -> NDArray[np.int64]:
        """Where each column's values begin, and their number."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def in_columns(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the values of each column: (m, F) to (m, d)."""
        sums: NDArray[np.float64] = np.add.reduceat(rows, self.first[:-1], axis=1)
        return sums

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        constants: NDArray[np.float64] = gammaln(self.in_columns(rows) + 1).sum(axis=1) - gammaln(
            rows + 1
        ).sum(axis=1)
        return constants

    def log_peaks(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        mass = np.repeat(self.in_columns(rows), self.sizes, axis=1)
        peaks: NDArray[np.float64] = self.row_constants(rows) + (
            xlogy(rows, rows) - xlogy(rows, mass)
        ).sum(axis=1)
        return peaks

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.gamma * self.read(X)

    def embedding(self) -> NDArray[np.float64]:
        """Square roots of the probabilities: Euclidean distance is then Hellinger's."""
        return np.sqrt(self.X / self.gamma)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Sites "probability_0" and so on, by column; the density of pseudo-counts is given, none can be drawn from it."""
        jnp, numpyro, dist = numpyro_modules()
        columns = [
            numpyro.sample(f"probability_{j}", dist.Dirichlet(jnp.ones(size)))
            for j, size in enumerate(self.sizes)
        ]
        logs, constants = jnp.log(jnp.concatenate(columns, axis=-1)), self.row_constants(self.X)
        return lambda z: dist.Delta(
            self.X, constants + (self.X * logs[z]).sum(axis=-1), event_dim=1
        )

    def components(self) -> CodedComponents:
        return CodedComponents((self.X,), lambda hyper: np.ones(self.X.shape[1]), self.first)

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> ColumnsState:
        """Cluster state with empty slots."""
        slots, first = capacity + 1, self.first
        return ColumnsState(
            self.X,
            self.in_columns(self.X),
            first[:-1],
            first[1:],
            np.zeros(slots, np.int64),
            np.zeros((slots, self.X.shape[1])),
            np.zeros((slots, len(self.sizes))),
        )

    def set_hyper(self, state: ColumnsState, hyper: NDArray[np.float64]) -> None:
        """Nothing to write: there are no hyper-parameters."""

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X) less the coefficients, column by column."""
        value = 0.0
        for column in np.split(X.sum(axis=0), self.first[1:-1]):
            value += (
                gammaln(len(column))
                - gammaln(len(column) + column.sum())
                + gammaln(1 + column).sum()
            )
        return float(value)
