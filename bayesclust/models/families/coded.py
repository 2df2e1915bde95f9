"""Columns of codes: independent categorical columns, each with a Dirichlet base measure; `Bernoulli` and `Categorical`.

    theta_kj ~ Dirichlet(beta_j1, ..., beta_jL),    x_ij | theta_kj ~ theta_kj

With c_l items of a cluster that show code l in column j, s those that show any, and B_j = sum_l
beta_jl:

    p(X) = prod_j  Gamma(B_j) / Gamma(B_j + s)  prod_l Gamma(beta_jl + c_l) / Gamma(beta_jl)

and the predictive of code l is (beta_jl + c_l) / (B_j + s). Missing cells count in neither c nor s,
as if they had not been asked for (missing at random). With items that weigh w < 1, c and s are
multiplied by w, and the predictive is Gamma(beta_jl + c_l + w) / Gamma(beta_jl + c_l) Gamma(B_j +
s) / Gamma(B_j + s + w).

All columns' codes are numbered through, so that a cluster is one row of a table. Most cells of a
column show one and the same code, its *reference*: a cluster caches the log predictive of an item
that shows the references alone, and what each other code, or none, changes of it. A predictive
costs one addition per cell that differs, and no logarithm.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.models.components.base import Components
from bayesclust.models.components.coded import CodedComponents
from bayesclust.models.families import base
from bayesclust.models.families.discrete import BoundDiscrete, marked_cells


class CodedState(NamedTuple):
    """Clusters of codes; C slots and the prior slot, d columns, F codes. Code F + j is a missing cell of column j."""

    code: NDArray[np.int64]  # (n, d) the code that a cell shows, numbered through
    start: NDArray[np.int64]  # (n + 1,) where an item's other codes begin
    other: NDArray[np.int64]  # codes that are not their column's reference
    begin: NDArray[np.int64]  # (d,) where a column's codes begin
    end: NDArray[np.int64]  # (d,) and end
    reference: NDArray[np.int64]  # (d,)
    beta: NDArray[np.float64]  # (F,)
    beta_sum: NDArray[np.float64]  # (d,) B_j
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,) items
    total: NDArray[np.float64]  # (C + 1, F) c_l
    seen: NDArray[np.float64]  # (C + 1, d) s
    log_weight: NDArray[
        np.float64
    ]  # (C + 1, F) log(beta + c_l), or its like for items that weigh less than one
    log_mass: NDArray[np.float64]  # (C + 1, d) log(B_j + s), likewise
    usual: NDArray[np.float64]  # (C + 1,) log predictive of an item of references
    change: NDArray[np.float64]  # (C + 1, F + d) what another code changes of it
    powers: NDArray[
        np.float64
    ]  # (2,) weight of an item in a cluster, and of one that the predictive is asked about


@base.implements(base.clear_cluster, CodedState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    empty = len(state.count) - 1
    state.count[k] = 0
    state.total[k] = 0.0
    state.seen[k] = 0.0
    base.copy_row(state.log_weight, k, empty)
    base.copy_row(state.log_mass, k, empty)
    state.usual[k] = state.usual[empty]
    base.copy_row(state.change, k, empty)


@device(fastmath=FAST, no_refcount=True)
def _log_rise(a: float, weight: float) -> float:
    """log Gamma(a + weight) - log Gamma(a)."""
    return math.log(a) if weight == 1.0 else math.lgamma(a + weight) - math.lgamma(a)


@device(fastmath=FAST, no_refcount=True)
def _compare(state: CodedState, k: int, j: int) -> float:
    """Write what the codes of one column change; returns the log predictive of its reference."""
    reference = state.log_weight[k, state.reference[j]]
    usual: float = reference - state.log_mass[k, j]
    for code in range(state.begin[j], state.end[j]):
        state.change[k, code] = state.log_weight[k, code] - reference
    state.change[k, len(state.beta) + j] = -usual
    return usual


@device(fastmath=FAST, no_refcount=True)
def _shift(state: CodedState, i: int, k: int, sign: int) -> None:
    """Add an item's cells to a cluster, or take them out."""
    missing, usual = len(state.beta), 0.0
    for j in range(len(state.reference)):
        code = state.code[i, j]
        if code >= missing:
            usual -= state.change[k, missing + j]
            continue
        state.total[k, code] += sign * state.powers[0]
        state.seen[k, j] += sign * state.powers[0]
        state.log_weight[k, code] = _log_rise(
            state.beta[code] + state.total[k, code], state.powers[1]
        )
        state.log_mass[k, j] = _log_rise(state.beta_sum[j] + state.seen[k, j], state.powers[1])
        usual += _compare(state, k, j)
    state.usual[k] = usual
    state.count[k] += sign


@base.implements(base.add_item, CodedState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, 1)


@base.implements(base.remove_item, CodedState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, -1)


@base.implements(base.log_predictive, CodedState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value = state.usual[k]
    for entry in range(state.start[i], state.start[i + 1]):
        value += state.change[k, state.other[entry]]
    return value


@device(fastmath=FAST, no_refcount=True)
def _union(state: CodedState, a: int, b: int) -> float:
    value = 0.0
    for j in range(len(state.reference)):
        value += math.lgamma(state.beta_sum[j]) - math.lgamma(
            state.beta_sum[j] + state.seen[a, j] + state.seen[b, j]
        )
        for code in range(state.begin[j], state.end[j]):
            total = state.total[a, code] + state.total[b, code]
            if total > 0:
                value += math.lgamma(state.beta[code] + total) - math.lgamma(state.beta[code])
    return value


@base.implements(base.log_marginal, CodedState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return _union(state, k, len(state.count) - 1)


@base.implements(base.log_marginal_union, CodedState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    return _union(state, a, b)


@base.implements(base.set_items, CodedState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    missing = len(state.beta)
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.seen[k] = 0.0
    for i in items:
        for j in range(len(state.reference)):
            code = state.code[i, j]
            if code < missing:
                state.total[k, code] += state.powers[0]
                state.seen[k, j] += state.powers[0]


@base.implements(base.derive, CodedState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    usual = 0.0
    for j in range(len(state.reference)):
        state.log_mass[k, j] = _log_rise(state.beta_sum[j] + state.seen[k, j], state.powers[1])
        for code in range(state.begin[j], state.end[j]):
            state.log_weight[k, code] = _log_rise(
                state.beta[code] + state.total[k, code], state.powers[1]
            )
        usual += _compare(state, k, j)
    state.usual[k] = usual


@dataclass(frozen=True)
class BoundCoded(BoundDiscrete, ABC):
    """Dirichlet-categorical columns; hyper = (one factor of all pseudo-counts,).

    Attributes
    ----------
    sizes : ndarray of shape (d,)
        Numbers of codes.
    shares : ndarray of shape (F,)
        Pseudo-counts of all columns' codes, one column after the other, where the factor is one.
    """

    sizes: NDArray[np.int64]
    shares: NDArray[np.float64]

    takes_power = True

    @property
    def first(self) -> NDArray[np.int64]:
        """Where each column's codes begin, and their number."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def parameters(self, hyper: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pseudo-counts of all columns' codes, shape (F,)."""
        pseudo_counts: NDArray[np.float64] = hyper[0] * self.shares
        return pseudo_counts

    def numbered(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """The cells' codes, numbered through; F + j for a missing one of column j."""
        missing = np.isnan(X)
        first = self.first
        return np.where(
            missing,
            first[-1] + np.arange(X.shape[1]),
            np.where(missing, 0.0, X).astype(np.int64) + first[:-1],
        )

    def shown(self) -> NDArray[np.float64]:
        """Which codes each item shows: zeros and ones, shape (n, F)."""
        code, F = self.numbered(self.X), int(self.first[-1])
        table = np.zeros((len(code), F + code.shape[1]))
        np.put_along_axis(table, code, 1.0, axis=1)
        return np.ascontiguousarray(table[:, :F])

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros(len(rows))

    def components(self) -> Components:
        return self.weighed(CodedComponents((self.shown(),), self.parameters, self.first))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> CodedState:
        """Cluster state with empty slots."""
        code, first = self.numbered(self.X), self.first
        d, F, slots = len(self.sizes), int(first[-1]), capacity + 1
        often = np.bincount(code.ravel(), minlength=F)
        reference = np.array([a + often[a:b].argmax() for a, b in pairwise(first)])
        different = code != reference
        state = CodedState(
            code,
            marked_cells(different)[0],
            code[different],
            first[:-1],
            first[1:],
            reference,
            np.zeros(F),
            np.zeros(d),
            np.zeros(slots, np.int64),
            np.zeros((slots, F)),
            np.zeros((slots, d)),
            np.zeros((slots, F)),
            np.zeros((slots, d)),
            np.zeros(slots),
            np.zeros((slots, F + d)),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: CodedState, hyper: NDArray[np.float64]) -> None:
        """Write the pseudo-counts into a state."""
        state.beta[:] = self.parameters(hyper)
        state.beta_sum[:] = np.add.reduceat(state.beta, state.begin)

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X), by the formula in this file's first lines."""
        value = 0.0
        for x, beta in zip(X.T, np.split(self.parameters(hyper), self.first[1:-1]), strict=True):
            total = self.power * np.bincount(x[~np.isnan(x)].astype(np.int64), minlength=len(beta))
            value += (
                gammaln(beta.sum())
                - gammaln(beta.sum() + total.sum())
                + (gammaln(beta + total) - gammaln(beta)).sum()
            )
        return float(value)
