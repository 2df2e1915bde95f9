"""Gaussian clusters with independent columns some cells of which are missing: `gaussian_diagonal` with counts per column.

The base measure and the formulas are those of `gaussian_diagonal`, with n the number of items of a
cluster that have a value in the column. Cells are missing at random: that one is missing tells
nothing about its value. A cluster caches what does not depend on the item, so that a predictive
costs one logarithm per cell seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.models.components.base import Components, cells_and_seen
from bayesclust.models.components.gaussian_missing import MissingComponents
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import BoundIndependentColumns
from bayesclust.models.families.discrete import marked_cells


class MissingState(NamedTuple):
    """Clusters with independent columns; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), centred at m0
    start: NDArray[np.int64]  # (n + 1,) where an item's columns with a value begin
    column: NDArray[np.int64]
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,) items
    seen: NDArray[np.float64]  # (C + 1, d) n of each column, weighted as the sums below
    total: NDArray[np.float64]  # (C + 1, d) sum of x
    square: NDArray[np.float64]  # (C + 1, d) sum of x^2
    mean: NDArray[np.float64]  # (C + 1, d) m_n
    rate: NDArray[np.float64]  # (C + 1, d) b_n
    height: NDArray[np.float64]  # (C + 1, d) log predictive of a cell at m_n
    curve: NDArray[
        np.float64
    ]  # (C + 1, d) the predictive falls as (1 + curve (x - m_n)^2)^-(a_n + 1/2)
    rate0: NDArray[np.float64]  # (d,)
    kappa0: NDArray[np.float64]  # (1,)
    shape0: NDArray[np.float64]  # (1,) a0
    power: NDArray[np.float64]  # (2,) weight of an item in a cluster, and of one that is judged


@base.implements(base.clear_cluster, MissingState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    empty = len(state.count) - 1
    state.count[k] = 0
    state.seen[k] = 0.0
    state.total[k] = 0.0
    state.square[k] = 0.0
    state.mean[k] = 0.0
    base.copy_row(state.rate, k, empty)
    base.copy_row(state.height, k, empty)
    base.copy_row(state.curve, k, empty)


@device(fastmath=FAST, no_refcount=True)
def _prepare(state: MissingState, k: int, j: int) -> None:
    """Cache what the predictive of a column takes from the cluster alone."""
    weight = state.power[1]
    kappa = state.kappa0[0] + state.seen[k, j]
    shape = state.shape0[0] + 0.5 * state.seen[k, j]
    state.curve[k, j] = 0.5 * weight * kappa / ((kappa + weight) * state.rate[k, j])
    height = (
        math.lgamma(shape + 0.5 * weight)
        - math.lgamma(shape)
        + 0.5 * math.log(kappa / (kappa + weight))
    )
    state.height[k, j] = height - 0.5 * weight * math.log(2.0 * math.pi * state.rate[k, j])


@base.implements(base.add_item, MissingState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x = state.X[i, j]
        kappa = state.kappa0[0] + state.seen[k, j]
        difference = x - state.mean[k, j]
        share = power / (kappa + power)
        state.rate[k, j] += 0.5 * share * kappa * difference * difference
        state.mean[k, j] += share * difference
        state.total[k, j] += power * x
        state.square[k, j] += power * x * x
        state.seen[k, j] += power
        _prepare(state, k, j)
    state.count[k] += 1


@base.implements(base.remove_item, MissingState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x = state.X[i, j]
        kappa = state.kappa0[0] + state.seen[k, j]
        difference = x - state.mean[k, j]
        share = power / (kappa - power)
        rate = state.rate[k, j] - 0.5 * share * kappa * difference * difference
        state.rate[k, j] = max(rate, state.rate0[j])
        state.mean[k, j] -= share * difference
        state.total[k, j] -= power * x
        state.square[k, j] -= power * x * x
        state.seen[k, j] -= power
        _prepare(state, k, j)
    state.count[k] -= 1


@base.implements(base.log_predictive, MissingState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    shape0 = state.shape0[0] + 0.5 * state.power[1]
    value = 0.0
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        difference = state.X[i, j] - state.mean[k, j]
        tail = math.log1p(state.curve[k, j] * difference * difference)
        value += state.height[k, j] - (shape0 + 0.5 * state.seen[k, j]) * tail
    return value


@device(fastmath=FAST, no_refcount=True)
def _column(state: MissingState, j: int, n: float, rate: float) -> float:
    """Log marginal likelihood of n cells of a column that bring b_n to `rate`."""
    if n <= 0.0:
        return 0.0
    kappa0: float = state.kappa0[0]
    shape0: float = state.shape0[0]
    shape = shape0 + 0.5 * n
    value = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * math.log(kappa0 / (kappa0 + n))
    value += shape0 * math.log(state.rate0[j]) - shape * math.log(rate)
    return value - 0.5 * n * math.log(2.0 * math.pi)


@base.implements(base.log_marginal, MissingState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    value = 0.0
    for j in range(state.X.shape[1]):
        value += _column(state, j, state.seen[k, j], state.rate[k, j])
    return value


@base.implements(base.log_marginal_union, MissingState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    value = 0.0
    for j in range(state.X.shape[1]):
        n = state.seen[a, j] + state.seen[b, j]
        total = state.total[a, j] + state.total[b, j]
        scatter = max(
            state.square[a, j] + state.square[b, j] - total * total / (state.kappa0[0] + n), 0.0
        )
        value += _column(state, j, n, state.rate0[j] + 0.5 * scatter)
    return value


@base.implements(base.set_items, MissingState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.seen[k] = 0.0
    state.total[k] = 0.0
    state.square[k] = 0.0
    power = state.power[0]
    for i in items:
        for entry in range(state.start[i], state.start[i + 1]):
            j = state.column[entry]
            x = state.X[i, j]
            state.seen[k, j] += power
            state.total[k, j] += power * x
            state.square[k, j] += power * x * x


@base.implements(base.derive, MissingState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    for j in range(state.X.shape[1]):
        kappa = state.kappa0[0] + state.seen[k, j]
        mean = state.total[k, j] / kappa
        scatter = max(state.square[k, j] - kappa * mean * mean, 0.0)
        state.mean[k, j] = mean
        state.rate[k, j] = state.rate0[j] + 0.5 * scatter
        _prepare(state, k, j)


@dataclass(frozen=True)
class BoundMissingGaussian(BoundIndependentColumns):
    """Normal-inverse-gamma columns with missing cells (NaN); hyper = (scale, strength, mean precision)."""

    def embedding(self) -> NDArray[np.float64]:
        """The items in standard units; missing cells have the mean of the data, zero."""
        return np.where(np.isnan(self.X), 0.0, self.X)

    def components(self) -> Components:
        return self.weighed(MissingComponents(cells_and_seen(self.X), self.parameters))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> MissingState:
        """Cluster state with empty slots."""
        d, slots = self.X.shape[1], capacity + 1
        seen, total, square, mean, rate, height, curve = (np.zeros((slots, d)) for _ in range(7))
        start, column = marked_cells(~np.isnan(self.X))
        state = MissingState(
            self.X,
            start,
            column,
            np.zeros(slots, np.int64),
            seen,
            total,
            square,
            mean,
            rate,
            height,
            curve,
            np.zeros(d),
            np.zeros(1),
            np.zeros(1),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X), by the formula of `gaussian_diagonal` for each column's cells."""
        kappa0, a0, b0 = self.parameters(hyper)
        value = 0.0
        for x, rate0 in zip(X.T, b0, strict=True):
            cells = x[~np.isnan(x)]
            if len(cells) == 0:
                continue
            mean, n = cells.mean(), self.power * len(cells)
            scatter = n * cells.var()
            kappa, a = kappa0 + n, a0 + n / 2
            b = rate0 + 0.5 * scatter + 0.5 * kappa0 * n / kappa * mean**2
            value += (
                gammaln(a)
                - gammaln(a0)
                + 0.5 * math.log(kappa0 / kappa)
                - 0.5 * n * math.log(2 * math.pi)
            )
            value += a0 * math.log(rate0) - a * math.log(b)
        return float(value)
