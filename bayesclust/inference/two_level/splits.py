"""Split-merge moves on two levels: components within a cluster, and clusters as sets of components.

Both follow `bayesclust.inference.split_merge`. Within a cluster no answer changes, so that anchors
may be drawn from one cluster, and a split of a component S into A and B is accepted with min(1, r),

    r = beta Gamma(n_A) Gamma(n_B) / Gamma(n_S)  *  m(x_A) m(x_B) / m(x_S)  /  q.

Between clusters no likelihood of items changes. The components of the anchors' clusters are
allocated in sequence (Dahl 2003), whole, to the anchors' sides, by the sizes and by the answers
about items already placed, and

    r = alpha w(n_A) w(n_B) / w(n_S)  *  p(answers | split) / p(answers | merged)  /  q.

As q <= 1, a merge that is refused with q = 1 is refused before anything is launched.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits, log_prob_touching
from bayesclust.families.base import add_item, clear_cluster, derive, log_marginal, set_items
from bayesclust.inference.proposals import Gain, Proposal, decide, hopeless
from bayesclust.inference.reseating import log_odds, reseat
from bayesclust.inference.seating import Seating, close_slot, members, seat_each, use_slot
from bayesclust.inference.split_merge import anchors_first, log_shares, order_by_answers
from bayesclust.inference.two_level.levels import Levels, log_cluster_weight


@device(fastmath=FAST, no_refcount=True)
def _restricted_scan(
    state: Any,
    items: NDArray[np.int64],
    side: NDArray[np.int64],
    a: int,
    b: int,
    target: NDArray[np.int64],
    rng: Generator,
) -> float:
    """Re-allocate items[2:] between slots a and b, or force them to `target`; the log probability of what was chosen."""
    log_prob = 0.0
    for t in range(2, len(items)):
        own = side[t]
        log_a, log_b = log_shares(log_odds(state, items[t], own, a, b))
        to_a = math.log(rng.random()) < log_a if target[t] == UNPLACED else target[t] == a
        log_prob += log_a if to_a else log_b
        side[t] = a if to_a else b
        reseat(state, items[t], own, side[t])
    return log_prob


@device(fastmath=FAST)
def _log_ratio(state: Any, a: int, b: int, merged: int, log_beta: float) -> float:
    """log of r of components, less q; slots a and b hold the split, `merged` the union."""
    n_a, n_b = state.count[a], state.count[b]
    ratio: float = log_beta + math.lgamma(n_a) + math.lgamma(n_b) - math.lgamma(n_a + n_b)
    ratio += log_marginal(state, a) + log_marginal(state, b) - log_marginal(state, merged)
    return ratio


@kernel(fastmath=FAST)
def split_merge_components(
    state: Any,
    components: Seating,
    levels: Levels,
    log_beta: float,
    anchor: int,
    other: int,
    scans: int,
    rng: Generator,
) -> bool:
    """Propose to part two items of one cluster, or to bring their components together; needs three free slots.

    Returns
    -------
    bool
        Whether the proposal was accepted.
    """
    z = components.z
    first, second = z[anchor], z[other]
    free = components.slots[components.number[0] : components.number[0] + 3].copy()
    a, b, merged = free[0], free[1], free[2]
    items, log_uniform = members(components, first, second), math.log(rng.random())
    set_items(state, items, merged)
    derive(state, merged)
    if first != second and log_uniform >= -_log_ratio(state, first, second, merged, log_beta):
        return False
    anchors_first(items, anchor, other, rng)
    drawn, side = np.full(len(items), UNPLACED), np.full(len(items), UNPLACED)
    forced = _where_it_is(z, items, first, a, b) if first != second else drawn
    for k in (a, b):
        clear_cluster(state, k)
    side[0], side[1] = a, b
    add_item(state, anchor, a)
    add_item(state, other, b)
    for _ in range(scans + 1):
        _restricted_scan(state, items, side, a, b, drawn, rng)
    log_q = _restricted_scan(state, items, side, a, b, forced, rng)
    ratio = _log_ratio(state, a, b, merged, log_beta) - log_q
    if log_uniform >= (ratio if first == second else -ratio):
        return False
    g = levels.owner[first]
    close_slot(components, first)
    if first == second:
        use_slot(components, a)
        use_slot(components, b)
        levels.owner[a], levels.owner[b] = g, g
        seat_each(z, items, side)
    else:
        close_slot(components, second)
        use_slot(components, merged)
        levels.owner[merged] = g
        z[items] = merged
    return True


@device(fastmath=FAST)
def _allocate(
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_beta: float,
    units: NDArray[np.int64],
    target: NDArray[np.int64],
    a: int,
    b: int,
    site: NDArray[np.float64],
    rng: Generator,
) -> float:
    """Seat the components units[2:] in cluster slots a and b, or force them; the log probability of what was chosen."""
    labels, size, log_prob = levels.clusters.z, levels.size, 0.0
    for t in range(2, len(units)):
        items = members(components, units[t], units[t])
        for i in items:
            add_site_logits(sites, table, labels, i, site)
        s = len(items)
        odds = site[a] - site[b]
        site[:] = 0.0
        odds += log_cluster_weight(size[a] + s, log_beta) - log_cluster_weight(size[a], log_beta)
        odds -= log_cluster_weight(size[b] + s, log_beta) - log_cluster_weight(size[b], log_beta)
        log_a, log_b = log_shares(odds)
        to_a = math.log(rng.random()) < log_a if target[t] == UNPLACED else target[t] == a
        log_prob += log_a if to_a else log_b
        g = a if to_a else b
        labels[items] = g
        size[g] += s
    return log_prob


@device(fastmath=FAST)
def _log_ratio_of_clusters(
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    items: NDArray[np.int64],
    a: int,
    b: int,
    merged: int,
) -> float:
    """log of r of clusters, less q; `items` are split between a and b, and seated in `merged` afterwards."""
    labels, size, mark = levels.clusters.z, levels.size, np.zeros(len(levels.clusters.z), np.int64)
    ratio: float = log_alpha - log_cluster_weight(len(items), log_beta)
    ratio += log_cluster_weight(size[a], log_beta) + log_cluster_weight(size[b], log_beta)
    ratio += log_prob_touching(sites, table, labels, items, mark)
    labels[items] = merged
    ratio -= log_prob_touching(sites, table, labels, items, mark)
    return ratio


@kernel(fastmath=FAST)
def bound_merge(
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    anchor: int,
    other: int,
) -> tuple[float, NDArray[np.int64]]:
    """log(1 / r) + log(1 / q) of a merge of the anchors' two clusters, and their items; needs a free cluster slot."""
    labels = levels.clusters.z
    first, second, merged = (
        labels[anchor],
        labels[other],
        levels.clusters.slots[levels.clusters.number[0]],
    )
    items = members(levels.clusters, first, second)
    before = labels[items].copy()
    ratio = _log_ratio_of_clusters(
        levels, sites, table, log_alpha, log_beta, items, first, second, merged
    )
    seat_each(labels, items, before)
    return -ratio, items


@kernel(fastmath=FAST)
def propose_clusters(
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    anchor: int,
    other: int,
    rng: Generator,
) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
    """The fields of a `Proposal` to part the clusters of two components or to bring them together.

    Needs three free cluster slots, and anchors of different components.
    """
    clusters, size = levels.clusters, levels.size
    labels, k, m = clusters.z, components.z[anchor], components.z[other]
    first, second = labels[anchor], labels[other]
    free = clusters.slots[clusters.number[0] : clusters.number[0] + 3].copy()
    a, b, merged = free[0], free[1], free[2]
    items = members(clusters, first, second)
    order_by_answers(sites, items, anchor, other, rng)
    units = _in_order_of(items, components)
    before = labels[items].copy()
    target = np.full(len(units), UNPLACED)
    if first != second:
        target = _where_it_is(levels.owner, units, first, a, b)
    labels[items] = UNPLACED
    size[a], size[b] = 0, 0
    for unit, g in ((k, a), (m, b)):
        own = members(components, unit, unit)
        labels[own] = g
        size[g] = len(own)
    log_q = _allocate(
        components, levels, sites, table, log_beta, units, target, a, b, np.zeros(len(size)), rng
    )
    split = labels[items].copy()
    ratio = (
        _log_ratio_of_clusters(levels, sites, table, log_alpha, log_beta, items, a, b, merged)
        - log_q
    )
    if first != second:
        size[merged] = len(items)
        return -ratio, items, before
    seat_each(labels, items, split)
    return ratio, items, before


@device(fastmath=FAST)
def _where_it_is(
    slot: NDArray[np.int64], members: NDArray[np.int64], first: int, a: int, b: int
) -> NDArray[np.int64]:
    """a where a member is in slot `first`, b elsewhere."""
    side = np.empty(len(members), np.int64)
    for t in range(len(members)):
        side[t] = a if slot[members[t]] == first else b
    return side


@device(fastmath=FAST)
def _in_order_of(items: NDArray[np.int64], components: Seating) -> NDArray[np.int64]:
    """The components of items, each once, by the first item of each."""
    units, number, seen = (
        np.empty(len(items), np.int64),
        0,
        np.zeros(len(components.slots), np.bool_),
    )
    for i in items:
        k = components.z[i]
        if not seen[k]:
            seen[k] = True
            units[number] = k
            number += 1
    return units[:number]


def split_merge_clusters(
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    anchor: int,
    other: int,
    rng: Generator,
    gain: Gain | None = None,
) -> bool:
    """Propose to part the clusters of two components or to bring them together, and decide.

    Returns
    -------
    bool
        Whether the proposal was accepted; False where both anchors are in one component.
    """
    if components.z[anchor] == components.z[other]:
        return False
    log_uniform, labels = math.log(rng.random()), levels.clusters.z
    if labels[anchor] != labels[other]:
        bound, items = bound_merge(levels, sites, table, log_alpha, log_beta, anchor, other)
        if hopeless(levels.clusters, bound, items, log_uniform, gain):
            return False
    proposal = Proposal(
        *propose_clusters(components, levels, sites, table, log_alpha, log_beta, anchor, other, rng)
    )
    accepted = decide(levels.clusters, proposal, log_uniform, gain)
    if accepted:
        levels.owner[components.z[proposal.items]] = levels.clusters.z[proposal.items]
    return accepted
