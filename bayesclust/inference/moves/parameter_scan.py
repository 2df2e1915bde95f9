"""The paper's Gibbs sampler: parameters drawn, items assigned given them (TVClust Eq. 13).

It is Algorithm 2 of Neal (2000).
theta_k of every cluster is drawn from its conjugate posterior, and the items are updated one by one
given the parameters. For item i, taken out of its cluster,

    log w_k   = log W(n_k + 1) - log W(n_k)          + log p(x_i | theta_k) + site logits of k
    log w_new = log V(n, K + 1) - log V(n, K) + log W(1) + log p(x_i)

The likelihoods come from matrix products, for many items and all clusters at once, and as a table,
so that one kernel serves every family. An item alone in its cluster is taken out with the cluster:
to stay alone is "new", once. Where it does stay, the cluster keeps its parameters. They have the
distribution that new ones would be drawn from, so either way the posterior stays in place, and no
column of the table need be made again.

The parameters are then forgotten: what follows in a sweep has them integrated out, and they are
drawn again before anything else is conditioned on them. That order makes mixing the two valid.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_site_logits
from bayesclust.families.base import Terms, hard_statistics, log_predictive
from bayesclust.inference.assignment import (
    Assignment,
    Target,
    close_slot,
    new_assignment,
    open_slot,
    refresh,
)
from bayesclust.inference.chain import SPARE_SLOTS, Move, State
from bayesclust.typing import FloatArray, IntArray

CHUNK = 1 << 17
LEAST_CHUNK = 256
"""Numbers of a chunk's likelihood, to stay in the processor's cache; least items of a chunk."""
NONE_OPENED = -1


@kernel(fastmath=FAST)
def prior_predictive(state: Any, n_items: int) -> FloatArray:
    """log p(x_i) of every item, from the slot that stays empty: (n,)."""
    empty = len(state.count) - 1
    values = np.empty(n_items)
    for i in range(n_items):
        values[i] = log_predictive(state, i, empty)
    return values


@kernel(fastmath=FAST)
def scan_given(
    target: Target,
    count: IntArray,
    density: FloatArray,
    log_alone: FloatArray,
    items: IntArray,
    first: int,
    moved: IntArray,
    rng: Generator,
) -> tuple[int, int]:
    """Update items[first:] until one opens a cluster; returns where to go on, and the slot opened.

    Needs one free slot. `count` (C,) are the sizes of the slots; row t of `density`, one column per
    slot, and of `log_alone` = log p(x_i) belong to items[t]. The cluster state is not read.
    """
    _, assignment, sites, table, prior = target
    z = assignment.z
    weight = np.empty(len(count) + 1)
    site = np.zeros(len(count))
    for t in range(first, len(items)):
        i = items[t]
        old = z[i]
        z[i] = UNPLACED
        count[old] -= 1
        alone = count[old] == 0
        add_site_logits(sites, table, z, i, site)
        number = assignment.number[0]
        weight[number] = prior.log_open[number - alone] + log_alone[t]
        largest = weight[number]
        for a in range(number):
            k = assignment.slots[a]
            possible = prior.log_join[count[k]] + density[t, k] + site[k]
            weight[a] = possible if count[k] > 0 else -math.inf
            largest = max(largest, weight[a])
            site[k] = 0.0
        total = 0.0
        for a in range(number + 1):
            weight[a] = math.exp(weight[a] - largest)
            total += weight[a]
        left = rng.random() * total
        choice = 0
        while choice < number and left >= weight[choice]:
            left -= weight[choice]
            choice += 1
        if choice < number:
            k = assignment.slots[choice]
            if alone:
                close_slot(assignment, old)
        else:
            k = old if alone else open_slot(assignment)
        moved[0] += k != old
        z[i] = k
        count[k] += 1
        if choice == number and not alone:
            return t + 1, k
    return len(items), NONE_OPENED


class ParameterScan(Move):
    """Draws the parameters of all clusters, and then a cluster for every item given them."""

    def __init__(self) -> None:
        self.moved = np.zeros(1, np.int64)
        self.hyper_of_prior: FloatArray | None = None
        self.log_alone: FloatArray = np.zeros(0)
        self.family: Any = None

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.make_room(SPARE_SLOTS)
        family = state.problem.family
        if self.family is not family:
            self.family = family
            self.hyper_of_prior = None
        number = state.n_clusters
        state.assignment = new_assignment(
            state.assignment.place[state.assignment.z], len(state.assignment.slots)
        )
        statistics = hard_statistics(family, state.assignment.z, number)
        terms = family.terms(statistics, state.hyper, state.rng)
        count = np.bincount(state.assignment.z, minlength=len(state.assignment.slots))
        order = state.rng.permutation(state.n_items)
        log_alone = self._prior_predictive(state)
        self.moved[0] = 0
        step = max(LEAST_CHUNK, CHUNK // (number * family.X.shape[1]))
        for begin in range(0, len(order), step):
            items = order[begin : begin + step]
            terms, count = self._assign(state, items, log_alone[items], terms, count)
        if len(state.assignment.slots) < len(state.clusters.count):
            refresh(state.clusters, state.assignment)
        else:
            state.assign(state.assignment.place[state.assignment.z])

    def statistics(self, state: State) -> dict[str, float]:
        return {"moved": self.moved[0] / state.n_items}

    def _assign(
        self,
        state: State,
        items: IntArray,
        log_alone: FloatArray,
        terms: Terms,
        count: IntArray,
    ) -> tuple[Terms, IntArray]:
        """Update some items; returns parameters and sizes of the slots, perhaps more of them."""
        family = state.problem.family
        rows = tuple(row[items] for row in family.own_rows)
        density = np.ascontiguousarray(family.log_likelihood(np, rows, terms))
        position = 0
        while position < len(items):
            target = state.target._replace(state=None)
            position, k = scan_given(
                target, count, density, log_alone, items, position, self.moved, state.rng
            )
            if k == NONE_OPENED:
                break
            alone = tuple(row[position - 1 : position] for row in rows)
            drawn = self.draw_alone(state, alone)
            terms = tuple(_put(part, k, new) for part, new in zip(terms, drawn, strict=True))
            density = _put(density.T, k, family.log_likelihood(np, rows, drawn).T).T.copy()
            if state.assignment.number[0] == len(count):
                state.assignment = _widen(state.assignment)
                count = np.append(count, np.zeros(len(count), np.int64))
        return terms, count

    def draw_alone(self, state: State, rows: Terms) -> Terms:
        """Parameters of a cluster that one item has just opened."""
        family = state.problem.family
        statistics = family.weighted(family.statistics(np, rows, np.ones((1, 1))))
        return family.terms(statistics, state.hyper, state.rng)

    def _prior_predictive(self, state: State) -> FloatArray:
        """log p(x_i) of every item, kept until the base measure changes."""
        if self.hyper_of_prior is None or not np.array_equal(self.hyper_of_prior, state.hyper):
            self.log_alone = prior_predictive(state.clusters, state.n_items)
            self.hyper_of_prior = state.hyper.copy()
        return self.log_alone


def _put(parts: FloatArray, k: int, new: FloatArray) -> FloatArray:
    """Replace slice k, or append it; slots are opened in an order that leaves no gap."""
    return np.concatenate([parts[:k], new, parts[k + 1 :]])


def _widen(assignment: Assignment) -> Assignment:
    """The same assignment with twice as many slots."""
    more = np.arange(len(assignment.slots), 2 * len(assignment.slots))
    return assignment._replace(
        slots=np.append(assignment.slots, more), place=np.append(assignment.place, more)
    )


__all__ = ["ParameterScan", "prior_predictive", "scan_given"]
