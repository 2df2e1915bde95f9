"""The paper's Gibbs sampler: parameters drawn, items assigned given them (TVClust Eq. 13).

It is Algorithm 2 of Neal (2000): theta_k of every cluster is drawn from its conjugate posterior,
and the items are updated one by one given the parameters. For item i, taken out of its cluster,

    log w_k   = log W(n_k + 1) - log W(n_k)          + log p(x_i | theta_k) + site logits of k
    log w_new = log V(n, K + 1) - log V(n, K) + log W(1) + log p(x_i)

The likelihoods are a table, for many items and all clusters at once, so that one kernel serves
every family. An item that stays alone in its cluster keeps its parameters, which have the
distribution that new ones would be drawn from. What follows in a sweep has the parameters
integrated out; they are drawn again before anything else is conditioned on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.families.base import Terms, hard_statistics, log_predictive
from bayesclust.inference.assignment import Assignment, Target, draw_index, new_assignment, refresh
from bayesclust.inference.chain import SPARE_SLOTS, Move, State
from bayesclust.inference.moves.scan import place, take_out, weigh_options
from bayesclust.typing import FloatArray, IntArray

CHUNK = 1 << 17  # numbers of a chunk's likelihood, to stay in the processor's cache
LEAST_CHUNK = 256  # items of a chunk at least
NONE_OPENED = -1


class Sizes(NamedTuple):
    """In place of the clusters' state, which a scan given the parameters does not read."""

    count: IntArray  # type: ignore[assignment]  # (C,)


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
    density: FloatArray,
    items: IntArray,
    first: int,
    moved: IntArray,
    rng: Generator,
) -> tuple[int, int]:
    """Update items[first:] until one opens a cluster; where to go on, and the slot opened."""
    # Needs one free slot, and a state of `Sizes`. Row t of `density`, with a column for each slot
    # and log p(x_i) in the last one, belongs to items[t].
    count = target.state.count
    assignment = target.assignment
    logits = np.empty(len(count) + 1)
    site = np.zeros(len(count))
    for t in range(first, len(items)):
        i = items[t]
        old = assignment.z[i]
        alone = count[old] == 1
        number = assignment.number[0]
        take_out(target, i, alone)
        count[old] -= 1
        options = weigh_options(target, i, density[t], site, logits)
        choice = draw_index(logits, options, rng)
        k = place(target, i, choice, old, alone)
        moved[0] += k != old
        count[k] += 1
        if choice == number and not alone:
            return t + 1, k
    return len(items), NONE_OPENED


class ParameterScan(Move):
    """Draws the parameters of all clusters, and then a cluster for every item given them."""

    def __init__(self) -> None:
        self.moved = np.zeros(1, np.int64)
        self.family: Any = None
        self.hyper = b""
        self.log_alone = np.zeros(0)

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.make_room(SPARE_SLOTS)
        family = state.problem.family
        hyper = state.hyper.tobytes()
        # most proposals for the base measure are refused, which leaves it as it was
        if self.family is not family or self.hyper != hyper:
            self.family = family
            self.hyper = hyper
            self.log_alone = prior_predictive(state.clusters, state.n_items)
        number = state.n_clusters
        capacity = len(state.assignment.slots)
        state.assignment = new_assignment(state.assignment.place[state.assignment.z], capacity)
        statistics = hard_statistics(family, state.assignment.z, number)
        terms = family.terms(statistics, state.hyper, state.rng)
        count = np.bincount(state.assignment.z, minlength=capacity)
        order = state.rng.permutation(state.n_items)
        self.moved[0] = 0
        step = max(LEAST_CHUNK, CHUNK // (number * family.X.shape[1]))
        for begin in range(0, len(order), step):
            items = order[begin : begin + step]
            terms, count = self._assign(state, items, self.log_alone[items], terms, count)
        if len(state.assignment.slots) < len(state.clusters.count):
            refresh(state.clusters, state.assignment)
        else:
            state.assign(state.assignment.place[state.assignment.z])

    def statistics(self, state: State) -> dict[str, float]:
        return {"moved": self.moved[0] / state.n_items}

    def _assign(
        self, state: State, items: IntArray, log_alone: FloatArray, terms: Terms, count: IntArray
    ) -> tuple[Terms, IntArray]:
        """Update some items; returns parameters and sizes of the slots, perhaps more of them."""
        family = state.problem.family
        rows = tuple(row[items] for row in family.own_rows)
        density = np.column_stack([family.log_likelihood(np, rows, terms), log_alone])
        position = 0
        while position < len(items):
            target = state.target._replace(state=Sizes(count))
            position, k = scan_given(target, density, items, position, self.moved, state.uniforms)
            if k == NONE_OPENED:
                break
            alone = tuple(row[position - 1 : position] for row in rows)
            drawn = self.draw_alone(state, alone)
            # slot k is new or was left: slots are opened in an order that leaves no gap
            pairs = zip(terms, drawn, strict=True)
            terms = tuple(np.concatenate([old[:k], new, old[k + 1 :]]) for old, new in pairs)
            after = density[:, min(k + 1, density.shape[1] - 1) :]
            new = family.log_likelihood(np, rows, drawn)
            density = np.concatenate([density[:, :k], new, after], axis=1)
            if state.assignment.number[0] == len(count):
                z, slots, places, used = state.assignment
                more = np.arange(len(count), 2 * len(count))
                widened = np.append(slots, more), np.append(places, more)
                state.assignment = Assignment(z, *widened, used)
                count = np.append(count, np.zeros_like(count))
        return terms, count

    def draw_alone(self, state: State, rows: Terms) -> Terms:
        """Parameters of a cluster that one item has just opened."""
        family = state.problem.family
        statistics = family.weighted(family.statistics(np, rows, np.ones((1, 1))))
        return family.terms(statistics, state.hyper, state.rng)
