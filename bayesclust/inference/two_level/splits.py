"""Split-merge moves of clusters as sets of components.

As `bayesclust.inference.moves.split_merge`, but no likelihood of items changes. The components of
the anchors' clusters are allocated in sequence (Dahl 2003), whole, to the anchors' sides, by the
prior and by the answers about items already placed. With c and A of
`bayesclust.partition_priors.nested`, a split of S, of m components, into A and B is accepted with
min(1, r),

    r = V(n, K + 1) / V(n, K) c(n_A) A(m_A) c(n_B) A(m_B) / (c(n_S) A(m_S))
        *  p(answers | split) / p(answers | merged)  /  q.

As q <= 1, a merge that is refused with q = 1 is refused before anything is launched.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Dirichlets, add_site_logits
from bayesclust.inference.assignment import Assignment, members, set_labels
from bayesclust.inference.moves.split_merge import (
    log_ratio_of_constraints,
    log_shares,
    order_by_constraints,
    settle,
)
from bayesclust.inference.noise import gain_of_split
from bayesclust.inference.two_level.component_moves import log_openings
from bayesclust.inference.two_level.levels import TwoLevelTarget
from bayesclust.partition_priors import NestedTables
from bayesclust.typing import IntArray


@device(fastmath=FAST, no_refcount=True)
def _log_weight(prior: NestedTables, size: int, parts: int) -> float:
    """log c(size) A(parts)."""
    return float(prior.log_cluster[size] + log_openings(prior.within.log_open, 0, parts))


@device(fastmath=FAST)
def _in_order_of(items: IntArray, components: Assignment) -> IntArray:
    """The components of items, each once, by the first item of each."""
    units, number = np.empty(len(items), np.int64), 0
    seen = np.zeros(len(components.slots), np.bool_)
    for i in items:
        k = components.z[i]
        if not seen[k]:
            seen[k] = True
            units[number] = k
            number += 1
    return units[:number]


@device(fastmath=FAST)
def _place(target: TwoLevelTarget, unit: int, g: int) -> None:
    """Put component `unit` into cluster g."""
    components, levels = target.components, target.levels
    own = members(components, unit, unit)
    levels.clusters.z[own] = g
    levels.size[g] += len(own)
    levels.parts[g] += 1


@device(fastmath=FAST)
def _allocate(
    target: TwoLevelTarget, units: IntArray, forced: IntArray, a: int, b: int, rng: Generator
) -> float:
    """Put the components units[2:] into cluster slots a and b, or where they are forced; returns the log probability."""
    levels, prior, log_prob = target.levels, target.prior, 0.0
    size, parts, log_open = levels.size, levels.parts, target.prior.within.log_open
    site = np.zeros(len(size))
    for t in range(2, len(units)):
        items = members(target.components, units[t], units[t])
        s = len(items)
        site[:] = 0.0
        for i in items:
            add_site_logits(target.sites, target.table, levels.clusters.z, i, site)
        odds = site[a] - site[b]
        odds += prior.log_cluster[size[a] + s] - prior.log_cluster[size[a]]
        odds -= prior.log_cluster[size[b] + s] - prior.log_cluster[size[b]]
        odds += log_openings(log_open, parts[a], 1) - log_openings(log_open, parts[b], 1)
        log_a, log_b = log_shares(odds)
        to_a = math.log(rng.random()) < log_a if forced[t] == UNPLACED else forced[t] == a
        log_prob += log_a if to_a else log_b
        _place(target, units[t], a if to_a else b)
    return log_prob


@device(fastmath=FAST)
def _log_ratio(
    target: TwoLevelTarget, items: IntArray, a: int, b: int, merged: int, number: int
) -> float:
    """log of r above, less q; `items` are split between a and b, `merged` is free, and `number` is K."""
    levels, prior = target.levels, target.prior
    size, parts = levels.size, levels.parts
    ratio: float = prior.among.log_open[number]
    ratio += _log_weight(prior, size[a], parts[a]) + _log_weight(prior, size[b], parts[b])
    ratio -= _log_weight(prior, size[a] + size[b], parts[a] + parts[b])
    z = levels.clusters.z
    ratio += log_ratio_of_constraints(target.sites, target.table, z, items, merged)
    return ratio


@kernel(fastmath=FAST)
def split_merge_clusters(
    target: TwoLevelTarget,
    rows: Dirichlets,
    integrated: bool,
    anchor: int,
    other: int,
    rng: Generator,
) -> bool:
    """Propose to part the clusters of two components or to bring them together; returns whether it was accepted.

    False where both anchors are in one component, or less than three cluster slots are free. If
    `integrated`, the noise of `rows` is.
    """
    _, components, levels, sites, table, _ = target
    clusters, size, parts, k, m = (
        levels.clusters,
        levels.size,
        levels.parts,
        components.z[anchor],
        components.z[other],
    )
    z, number = clusters.z, clusters.number[0]
    if k == m or number + 3 > len(clusters.slots):
        return False
    first, second = z[anchor], z[other]
    a, b, merged = clusters.slots[number], clusters.slots[number + 1], clusters.slots[number + 2]
    items, log_uniform, ratio = members(clusters, first, second), math.log(rng.random()), 0.0
    if first != second:
        ratio = -_log_ratio(target, items, first, second, merged, number - 1)
        if integrated:
            ratio -= gain_of_split(rows, sites, table, z, items, merged)
        if log_uniform >= ratio:
            return False
    order_by_constraints(sites, items, anchor, other, rng)
    units = _in_order_of(items, components)
    before, forced = z[items], np.full(len(units), UNPLACED)
    if first != second:
        for t in range(len(units)):
            forced[t] = a if levels.owner[units[t]] == first else b
    z[items] = UNPLACED
    for g in (a, b):
        size[g] = 0
        parts[g] = 0
    _place(target, k, a)
    _place(target, m, b)
    log_q = _allocate(target, units, forced, a, b, rng)
    if first == second:
        ratio = _log_ratio(target, items, a, b, merged, number) - log_q
        if integrated:
            ratio += gain_of_split(rows, sites, table, z, items, merged)
    else:
        ratio += log_q
        z[items] = merged
        size[merged] = len(items)
        parts[merged] = len(units)
    if log_uniform >= ratio:
        set_labels(z, items, before)
        return False
    settle(clusters, items, before)
    for t in range(len(items)):
        levels.owner[components.z[items[t]]] = z[items[t]]
    return True
