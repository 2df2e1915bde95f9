"""Moves of whole components: alone, in groups that constraints tie, in splits and merges.

A group of c components with s items, taken out of its cluster, joins cluster g or opens one, by
the prior (`bayesclust.partition_priors.nested`) and the constraints about its items:

    log v_g    = log c(n_g + s) / c(n_g) + log A(m_g + c) / A(m_g) + log p(answers | group in g)
    log v_new  = log V(n, K + 1) / V(n, K) + log c(s) A(c)         + log p(answers | group alone)

Components with a bond between their items (`bayesclust.inference.moves.link_blocks`) move as one.

Split-merge proposals are those of `bayesclust.inference.moves.split_merge`: on the components of
one cluster as they are, and on clusters as sets of components. There the components of the anchors'
clusters are allocated in sequence (Dahl 2003), whole, to the anchors' sides, by the prior and by
the answers about items already placed, and a split of S into A and B is accepted with min(1, r),

    r = V(n, K + 1) / V(n, K) c(n_A) A(m_A) c(n_B) A(m_B) / (c(n_S) A(m_S))
        *  p(answers | split) / p(answers | merged)  /  q.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, implements, kernel
from bayesclust.constraints import factor_graph
from bayesclust.constraints.factor_graph import UNPLACED, Dirichlets, Sites
from bayesclust.inference import assignment as partition
from bayesclust.inference.chain import SPARE_SLOTS
from bayesclust.inference.moves import split_merge
from bayesclust.inference.moves.link_blocks import LinkBlocks, draw_bonds, find_root
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.two_level.state import TwoLevelState, TwoLevelTarget
from bayesclust.partition_priors.nested import NestedTables
from bayesclust.typing import FloatArray, IntArray


@device(fastmath=FAST)
def _groups(target: TwoLevelTarget, bonded: bool, rng: Generator) -> IntArray:
    """The group of each component in use, in random order; without bonds every one is a group."""
    components = target.assignment
    number = components.number[0]
    parent = np.arange(number)
    if bonded:
        own = components.place[components.z]
        root = draw_bonds(target.sites, target.table, target.levels.clusters.z, rng)
        for i in range(len(own)):
            parent[find_root(parent, own[i])] = find_root(parent, own[root[i]])
    group = np.arange(number)
    partition.shuffle(group, rng)
    order = group.copy()
    for a in range(number):
        group[a] = order[find_root(parent, a)]
    return group


@device(fastmath=FAST, no_refcount=True)
def _log_growth(prior: NestedTables, size: int, parts: int, s: int, c: int) -> float:
    """log c(size + s) A(parts + c) - log c(size) A(parts)."""
    grown = prior.log_cluster[size + s]
    if size > 0:
        grown -= prior.log_cluster[size]
    opened = 0.0
    for m in range(max(parts, 1), parts + c):
        opened += prior.within.log_open[m]
    return float(grown + opened)


@device(fastmath=FAST)
def _move_group(
    target: TwoLevelTarget, items: IntArray, c: int, bonded: bool, rng: Generator
) -> int:
    """Draw a cluster for one group of c components; returns it."""
    _, _, levels, sites, table, prior = target
    clusters = levels.clusters
    size = levels.size
    parts = levels.parts
    s = len(items)
    old = clusters.z[items[0]]
    size[old] -= s
    parts[old] -= c
    if size[old] == 0:
        partition.close_slot(clusters, old)
    number = clusters.number[0]
    logits = np.zeros(number + 1)
    site = np.zeros(len(clusters.slots))
    clusters.z[items] = UNPLACED
    factor_graph.add_block_logits(sites, table, clusters.z, items, bonded, site)
    for a in range(number):
        g = clusters.slots[a]
        logits[a] = _log_growth(prior, size[g], parts[g], s, c) + site[g]
    logits[number] = prior.among.log_open[number] + _log_growth(prior, 0, 0, s, c)
    choice = partition.draw_index(logits, number + 1, rng)
    g = clusters.slots[choice]
    if choice == number:
        partition.use_slot(clusters, g)
        size[g] = 0
        parts[g] = 0
    clusters.z[items] = g
    size[g] += s
    parts[g] += c
    return int(g)


@kernel(fastmath=FAST)
def move_components(target: TwoLevelTarget, bonded: bool, rng: Generator) -> tuple[int, int]:
    """Pass over all components, or all groups that fresh bonds make: (groups moved, groups)."""
    # Needs a free cluster slot for each.
    components = target.assignment
    levels = target.levels
    group = _groups(target, bonded, rng)
    every, start = partition.sort_by_group(group[components.place[components.z]], len(group))
    parts = np.zeros(len(group), np.int64)
    for a in range(len(group)):
        parts[group[a]] += 1
    changed = 0
    number = 0
    for first in range(len(group)):
        items = every[start[first] : start[first + 1]]
        if len(items) == 0:  # components with a bond between them have one number
            continue
        old = levels.clusters.z[items[0]]
        alone = levels.size[old] == len(items)
        g = _move_group(target, items, parts[first], bonded, rng)
        for i in items:
            levels.owner[components.z[i]] = g
        if not (g == old or (alone and levels.size[g] == len(items))):
            changed += 1
        number += 1
    return changed, number


@implements(split_merge.unite, TwoLevelTarget, fastmath=FAST)
def _unite(target, items, merged):  # type: ignore[no-untyped-def]
    levels = target.levels
    first = levels.clusters.z[items[0]]
    parts = levels.parts[first]
    for i in items:
        g = levels.clusters.z[i]
        if g != first:
            parts += levels.parts[g]
            break
    levels.size[merged] = len(items)
    levels.parts[merged] = parts


@implements(split_merge.log_split, TwoLevelTarget, fastmath=FAST)
def _log_split(target, items, a, b, merged, number):  # type: ignore[no-untyped-def]
    prior = target.prior
    size = target.levels.size
    parts = target.levels.parts
    ratio = prior.among.log_open[number] + _log_growth(prior, 0, 0, size[a], parts[a])
    ratio += _log_growth(prior, 0, 0, size[b], parts[b])
    return ratio - _log_growth(prior, 0, 0, size[merged], parts[merged])


@device(fastmath=FAST)
def _put(target: TwoLevelTarget, unit: int, g: int) -> None:
    """Put component `unit` into cluster g."""
    levels = target.levels
    own = partition.members(target.assignment, unit, unit)
    levels.clusters.z[own] = g
    levels.size[g] += len(own)
    levels.parts[g] += 1


@implements(split_merge.launch, TwoLevelTarget, fastmath=FAST)
def _launch(target, items, before, slots, scans, rng):  # type: ignore[no-untyped-def]
    """Allocate the components of the items in sequence, each where its first item stands."""
    components = target.assignment
    prior = target.prior
    size = target.levels.size
    parts = target.levels.parts
    z = target.levels.clusters.z
    a = slots[0]
    b = slots[1]
    z[items] = UNPLACED
    for t in range(2):
        size[slots[t]] = 0
        parts[slots[t]] = 0
        _put(target, components.z[items[t]], slots[t])
    site = np.zeros(len(size))
    log_q = 0.0
    for t in range(2, len(items)):
        if z[items[t]] != UNPLACED:
            continue
        unit = components.z[items[t]]
        own = partition.members(components, unit, unit)
        s = len(own)
        site[:] = 0.0
        for i in own:
            factor_graph.add_site_logits(target.sites, target.table, z, i, site)
        factor_graph.add_block_set_logits(target.sites, target.table, z, own, site)
        odds = site[a] - site[b] + _log_growth(prior, size[a], parts[a], s, 1)
        odds -= _log_growth(prior, size[b], parts[b], s, 1)
        log_a, log_b = split_merge.log_shares(odds)
        to_a = before[t] == before[0]
        if before[0] == before[1]:
            to_a = math.log(rng.random()) < log_a
        log_q += log_a if to_a else log_b
        _put(target, unit, a if to_a else b)
    return log_q


@kernel(fastmath=FAST)
def split_merge_clusters(
    target: TwoLevelTarget, rows: Dirichlets, integrated: bool, pair: IntArray, rng: Generator
) -> bool:
    """One proposal by `split_merge.attempt`; whether accepted. `owner` must follow."""
    clusters = target.levels.clusters
    number = clusters.number[0]
    accepted, _ = split_merge.attempt(target, clusters, rows, integrated, pair, 0, number, rng)
    return accepted


class TwoLevelScan(Scan):
    """A pass over all items, and one over all components."""

    def __call__(self, state: Any, *, adapt: bool, freeze_noise: bool) -> None:
        super().__call__(state, adapt=adapt, freeze_noise=freeze_noise)
        move_components(state.target, False, state.uniforms)


class ComponentBlocks(LinkBlocks):
    """Passes over the groups of components that constraints hold together."""

    def run(self, state: TwoLevelState) -> tuple[int, int]:  # type: ignore[override]
        moved, number = move_components(state.target, True, state.uniforms)
        return moved, number


@lru_cache(maxsize=4)
def _no_answers(n_items: int) -> tuple[Sites, FloatArray]:
    """Sites and table of no answers about so many items."""
    return factor_graph.compile_sites((), n_items), factor_graph.stack_tables((), [])


class TwoLevelSplitMerge(split_merge.SplitMerge):
    """Split-merge proposals on both levels: of clusters, and of components within a cluster."""

    def propose(  # type: ignore[override]
        self, state: TwoLevelState, number: int, drawn: split_merge.DrawnNoise, *, noting: bool
    ) -> float:
        accepted = 0
        for own in range(len(drawn.table) - number, len(drawn.table)):
            state.make_room(SPARE_SLOTS)
            pair = np.full((1, 2), split_merge.NOBODY)
            split_merge.draw_pairs(pair, self.places(state), state.uniforms)
            first, second = pair[0]
            target = state.target
            if own >= 0:
                target = target._replace(table=drawn.table[own])
            components = state.assignment.z
            if components[first] != components[second] and split_merge_clusters(
                target, drawn.rows, own >= 0, pair[0], state.uniforms
            ):
                accepted += 1
                state.levels.owner[components] = state.labels
            mates = np.flatnonzero(state.labels == state.labels[first])
            second = mates[state.rng.integers(len(mates))]
            if second != first:
                accepted += self.propose_components(state, np.array([[first, second]]))
        return accepted / 2

    def propose_components(self, state: TwoLevelState, pair: IntArray) -> int:
        """Propose to part or to join the components of two items of one cluster, by data alone."""
        sites, table = _no_answers(state.n_items)
        levels = state.levels
        before = state.n_components
        cluster = state.labels[pair[0, 0]]
        prior = state.prior.within
        within = partition.Target(state.clusters, state.assignment, sites, table, prior)
        outside = before - int(levels.parts[cluster])
        _, accepted = self.attempt(
            state, within, pair, split_merge.NONE_DRAWN, np.zeros(1), outside
        )
        if accepted:
            levels.owner[state.assignment.z[pair[0]]] = cluster
            levels.parts[cluster] += state.n_components - before
        return accepted
