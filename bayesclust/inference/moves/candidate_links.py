"""Draws of links among candidates (Blei and Frazier 2011, Sec. 3): parts of clusters move whole.

Under `CandidateLinks` clusters are what the links c_1, ..., c_n connect. Without the link of item
i, the items that others connect with it are a part A, perhaps a whole cluster. Then

    p(c_i = i | rest)  is proportional to  alpha f(A),
    p(c_i = j | rest)  to f(A) if j is in A, and to f(A u B) / f(B) if j is in another cluster B,

where j are the candidates of i, and f is the likelihood of data and answers, times 1 - recall for
each pair within a cluster that is no candidate. What is within and between other clusters cancels.
As any link of any item can be drawn, every partition whose clusters are connected by candidates is
reached, and no other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.entailment import must_link_components
from bayesclust.constraints.factor_graph import UNPLACED, Rows, Sites, add_block_logits
from bayesclust.families import base
from bayesclust.inference.assignment import (
    OUT_OF_RANGE,
    Assignment,
    Target,
    close_slot,
    draw_index,
    open_slot,
)
from bayesclust.inference.chain import SPARE_SLOTS, Move, Noise, State, TVClustProblem
from bayesclust.partition_priors import DirichletProcess, Tables
from bayesclust.partition_priors.candidate_links import gather
from bayesclust.typing import FloatArray, IntArray


@device(fastmath=FAST, no_refcount=True)
def _take_out(state: Any, assignment: Assignment, items: IntArray, old: int) -> bool:
    """Take items out of their slot; returns whether nothing is left in it."""
    whole = len(items) == state.count[old]
    for j in items:
        assignment.z[j] = UNPLACED
        if not whole:
            base.remove_item(state, j, old)
    if whole:
        close_slot(assignment, old)
    return bool(whole)


@device(fastmath=FAST, no_refcount=True)
def _add_candidates(
    near: Rows, z: IntArray, items: IntArray, gain: float, site: FloatArray
) -> None:
    """Add the gain of each pair of candidates to the clusters of those of some items."""
    for i in items:
        for e in range(near.start[i], near.start[i + 1]):
            if z[near.value[e]] >= 0:
                site[z[near.value[e]]] += gain


@device(no_refcount=True)
def _clear_sites(near: Rows, sites: Sites, z: IntArray, items: IntArray, site: FloatArray) -> None:
    """Set to zero what the answers about some items, and their candidates, have added to."""
    if len(sites.labels.row) > 0 or len(sites.groups.start) > 0:
        for k in range(len(site)):
            site[k] = 0.0
    for i in items:
        for e in range(near.start[i], near.start[i + 1]):
            if z[near.value[e]] >= 0:
                site[z[near.value[e]]] = 0.0
        for entry in range(sites.start[i], sites.start[i + 1]):
            for place in range(3):
                j = sites.member[sites.factor[entry], place]
                if j >= 0 and z[j] >= 0:
                    site[z[j]] = 0.0


@kernel(fastmath=FAST)
def scan_links(
    target: Target,
    near: Rows,
    links: IntArray,
    log_alone: float,
    log_missed: float,
    order: IntArray,
    first: int,
    moved: IntArray,
    rng: Generator,
) -> int:
    """Draw the links of the items order[first:]; returns where slots ran out, or len(order)."""
    state, assignment, sites, table, _ = target
    z = assignment.z
    n = len(z)
    empty = len(state.count) - 1
    mark = np.zeros(n, np.int64)
    queue = np.zeros(n, np.int64)
    site = np.zeros(empty + 1)
    gain = np.zeros(empty + 1)
    gained_by = np.full(empty + 1, UNPLACED)
    logits = np.zeros(n + 1)
    for position in range(first, len(order)):
        if assignment.number[0] == empty:
            return position
        i = order[position]
        old = z[i]
        links[i] = i
        items = queue[: gather(near, links, i, mark, position + 1, queue)]
        whole = _take_out(state, assignment, items, old)
        block = assignment.slots[assignment.number[0]]
        base.set_items(state, items, block)
        add_block_logits(sites, table, z, items, False, site)
        _add_candidates(near, z, items, -log_missed, site)
        alone = base.log_marginal_joined(state, empty, block, items)
        logits[0] = log_alone + alone - base.log_marginal(state, empty)
        number = 1
        for e in range(near.start[i], near.start[i + 1]):
            k = z[near.value[e]]
            if k < 0:
                logits[number] = logits[0] - log_alone
            else:
                if gained_by[k] != i:
                    gained_by[k] = i
                    gain[k] = base.log_marginal_joined(state, k, block, items) + site[k]
                    gain[k] -= base.log_marginal(state, k)
                    gain[k] += log_missed * state.count[k] * len(items)
                logits[number] = gain[k]
            number += 1
        _clear_sites(near, sites, z, items, site)
        choice = draw_index(logits, number, rng)
        if choice > 0:
            links[i] = near.value[near.start[i] + choice - 1]
        k = z[links[i]]
        moved[0] += k >= 0 if whole else k != old
        if k < 0:
            k = open_slot(assignment)
            base.derive(state, k)
        else:
            for j in items:
                base.add_item(state, j, k)
        for j in items:
            z[j] = k
    return len(order)


@kernel
def link_up(near: Rows, z: IntArray, links: IntArray) -> int:
    """Link the items of each cluster as a tree of candidates; returns how many parts there are."""
    queue = np.zeros(len(z), np.int64)
    parts = 0
    for root in range(len(z)):
        if links[root] >= 0:
            continue
        links[root] = root
        queue[0] = root
        done = 0
        number = 1
        while done < number:
            i = queue[done]
            done += 1
            for e in range(near.start[i], near.start[i + 1]):
                j = near.value[e]
                if links[j] < 0 and z[j] == z[i]:
                    links[j] = i
                    queue[number] = j
                    number += 1
        parts += 1
    return parts


def linked_start(problem: TVClustProblem, chain: int) -> IntArray:
    """Labels of a start: parts that the best eighth, quarter, half or all of answers connect."""
    # Of those about candidates that speak for the same cluster, under the noise's prior mean.
    prior: Any = problem.partition_prior
    n = problem.n_items
    pairs = [np.sort(prior.pairs, axis=1) @ [n, 1]]
    strength = [np.zeros(len(prior.pairs))]
    for one in problem.constraints:
        if len(one.members) == 2:
            table = one.noise.log_table(one.noise.initial(one.n_sources))
            pairs.append(one.items @ [n, 1])
            strength.append((table[:, 0] - table[:, 1])[one.codes])
    known, where = np.unique(np.concatenate(pairs), return_inverse=True)
    total = np.bincount(where, np.concatenate(strength))
    total[~np.isin(known, pairs[0])] = 0.0
    least = np.quantile(total[total > 0], 1.0 - 0.5 ** (3 - chain % 4)) if total.max() > 0 else 0.0
    chosen = known[(total > 0) & (total >= least)]
    return must_link_components(np.stack(np.divmod(chosen, n), axis=1), n)


class LinkedState(State):
    """A state whose clusters follow from the item that each item links to."""

    links: IntArray  # (n,)
    tail: IntArray  # item of each entry of `near`

    def __init__(self, problem: TVClustProblem, z: NDArray[np.integer], rng: Generator) -> None:
        super().__init__(problem, z, rng)
        self.links = np.full(len(z), UNPLACED)
        self.tail = np.repeat(np.arange(len(z)), np.diff(self.near.start))
        if link_up(self.near, self.labels, self.links) > self.n_clusters:
            raise ValueError(
                "the starting partition has clusters that no candidates connect: leave init=None, "
                "or split these clusters."
            )

    @property
    def near(self) -> Rows:
        """The candidates of each item."""
        prior: Any = self.problem.partition_prior
        near: Rows = prior.candidates
        return near

    def prior_tables(self, capacity: int) -> Tables:
        return UNUSED

    def update_partition_prior(self) -> None:
        prior = self.problem.partition_prior
        self.values = prior.update(self.values, [self.tally()], self.rng)

    def log_partition(self) -> float:
        prior = self.problem.partition_prior
        return prior.log_prob(self.tally(), self.values) + prior.log_prior(self.values)

    def tally(self) -> IntArray:
        """Numbers of items that link to themselves, and of pairs within clusters not found."""
        sizes = self.sizes()
        z = self.labels
        found = int((z[self.tail] == z[self.near.value]).sum()) // 2
        alone = int((self.links == np.arange(self.n_items)).sum())
        return np.array([alone, int((sizes * (sizes - 1) // 2).sum()) - found])

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"links": self.links}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        super().restore(snapshot)
        links = snapshot["links"]
        if links.shape != (self.n_items,) or not 0 <= links.min() <= links.max() < len(links):
            raise ValueError(OUT_OF_RANGE)
        self.links = links


UNUSED = DirichletProcess().tables(1, 1, {"concentration": 1.0})
"""Tables of sizes, which links do not need."""


class LearnedNoise(Noise):
    """The draw of the noise, never frozen: starts are made of the answers, unlike other ones."""

    def __call__(self, state: Any, *, adapt: bool, freeze_noise: bool) -> None:
        super().__call__(state, adapt=adapt, freeze_noise=False)


class LinkScan(Move):
    """A draw of the link of every item, in random order."""

    def __init__(self) -> None:
        self.moved = np.zeros(1, np.int64)

    def __call__(self, state: LinkedState, *, adapt: bool, freeze_noise: bool) -> None:
        order = state.rng.permutation(state.n_items)
        prior: Any = state.problem.partition_prior
        logs = math.log(state.values["concentration"]), math.log1p(-prior.recall)
        position = 0
        self.moved[0] = 0
        while position < len(order):
            state.make_room(SPARE_SLOTS)
            given = state.target, state.near, state.links, *logs, order, position
            position = scan_links(*given, self.moved, state.uniforms)

    def statistics(self, state: LinkedState) -> dict[str, float]:
        return {"moved": self.moved[0] / state.n_items}
