"""Split-merge moves: whole clusters in one step (Jain and Neal 2004), with launches allocated in sequence (Dahl 2003).

Two anchors i and j are chosen with a probability that depends on the data and the questions asked,
never on z. With S the items of their one or two clusters:

1. launch: the rest of S joins i's or j's side one by one, then `scans` restricted Gibbs scans over
   the two sides;
2. one more restricted scan makes the split (its probability is q), or, if i and j sit apart, is
   forced to the state that exists, to learn the probability q with which a split would have made
   it;
3. a split of S into A and B is accepted with probability min(1, r), its undoing with min(1, 1 / r),
   where, K being the number of clusters after the merge,

    r = V(n, K + 1) / V(n, K) W(n_A) W(n_B) / W(n_S)  *  m(x_A) m(x_B) / m(x_S)
        *  p(s | split) / p(s | merged)  /  q.

As q <= 1, the uniform number that decides is drawn first, and where it refuses a merge with q = 1
nothing is launched: most merges join what has nothing to do with each other. Every allocation
weighs size, predictive density and the answers about items already placed; only r has to be exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, generic, implements, kernel
from bayesclust.constraints.factor_graph import (
    UNPLACED,
    Dirichlets,
    Sites,
    add_site_logits,
    log_prob_touching,
)
from bayesclust.families.base import (
    add_item,
    clear_cluster,
    derive,
    log_marginal,
    log_predictive,
    remove_item,
    set_items,
)
from bayesclust.families.gaussian import FullState, quadratic_form
from bayesclust.inference.assignment import (
    Assignment,
    Target,
    close_slot,
    members,
    set_labels,
    shuffle,
    use_slot,
)
from bayesclust.inference.moves.anchors import Places, fill_pairs
from bayesclust.inference.moves.scan_full import predictive_by_form
from bayesclust.inference.noise import DrawnNoise, gain_of_split
from bayesclust.partition_priors import Tables
from bayesclust.typing import FloatArray, IntArray


@generic
def log_odds(state: Any, prior: Tables, i: int, own: int, a: int, b: int) -> Any:
    """log odds of slots a and b for item i given all other items; `own` is its slot, if any, and `reassign` must follow.

    For full covariances the predictive without an item follows from the one with it, and a cluster
    is touched only when an item moves. Any other family takes the item out, and puts it back.
    """


@generic
def reassign(state: Any, i: int, own: int, chosen: int) -> None:
    """Leave item i in slot `chosen`, after `log_odds`."""


@implements(log_odds, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_any(state, prior, i, own, a, b):  # type: ignore[no-untyped-def]
    if own != UNPLACED:
        remove_item(state, i, own)
    sizes = prior.log_join[state.count[a]] - prior.log_join[state.count[b]]
    return sizes + log_predictive(state, i, a) - log_predictive(state, i, b)


@implements(reassign, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _reassign_any(state, i, own, chosen):  # type: ignore[no-untyped-def]
    add_item(state, i, chosen)


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def _by_form(state: FullState, prior: Tables, i: int, k: int, own: bool) -> float:
    predictive = predictive_by_form(state, k, quadratic_form(state, i, k), own)
    return float(prior.log_join[state.count[k] - own] + predictive)


@implements(log_odds, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_full(state, prior, i, own, a, b):  # type: ignore[no-untyped-def]
    return _by_form(state, prior, i, a, own == a) - _by_form(state, prior, i, b, own == b)


@implements(reassign, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _reassign_full(state, i, own, chosen):  # type: ignore[no-untyped-def]
    if chosen != own:
        if own != UNPLACED:
            remove_item(state, i, own)
        add_item(state, i, chosen)


@kernel(fastmath=FAST)
def order_by_constraints(
    sites: Sites, items: IntArray, anchor: int, other: int, rng: Generator
) -> None:
    """Shuffle items, the two anchors first, and after each those that constraints name together with it.

    So most items are allocated when others that constraints name with them have been placed,
    instead of by the data alone.
    """
    shuffle(items, rng)
    for position, which in ((0, anchor), (1, other)):
        for t in range(len(items)):
            if items[t] == which:
                items[t], items[position] = items[position], items[t]
    shuffled, waiting = items.copy(), np.zeros(len(sites.start) - 1, np.bool_)
    waiting[items] = True
    waiting[anchor] = waiting[other] = False
    head, end = 0, 2
    for i in shuffled:
        if waiting[i]:
            waiting[i] = False
            items[end] = i
            end += 1
        while head < end:
            j = items[head]
            head += 1
            for entry in range(sites.start[j], sites.start[j + 1]):
                for column in range(3):
                    near = sites.member[sites.factor[entry], column]
                    if near >= 0 and waiting[near]:
                        waiting[near] = False
                        items[end] = near
                        end += 1


@device(fastmath=FAST, no_refcount=True)
def log_shares(odds: float) -> tuple[float, float]:
    """(log p, log(1 - p)) of log odds."""
    log_a = -math.log1p(math.exp(-odds)) if odds > -700.0 else odds
    return log_a, log_a - odds


@kernel(fastmath=FAST, no_refcount=True)
def restricted_scan(
    target: Target,
    items: IntArray,
    a: int,
    b: int,
    forced: IntArray,
    site: FloatArray,
    rng: Generator,
) -> float:
    """Re-allocate items[2:] between slots a and b; returns the log probability of what was chosen.

    Where forced[t] is a slot, item t goes there; -1 lets it be drawn. `site` is scratch, (C,).
    """
    state, z, log_prob = target.state, target.assignment.z, 0.0
    for t in range(2, len(items)):
        i = items[t]
        own = z[i]
        z[i] = UNPLACED
        site[a] = site[b] = 0.0
        add_site_logits(target.sites, target.table, z, i, site)
        odds = log_odds(state, target.prior, i, own, a, b) + site[a] - site[b]
        log_a, log_b = log_shares(odds)
        to_a = math.log(rng.random()) < log_a if forced[t] == UNPLACED else forced[t] == a
        log_prob += log_a if to_a else log_b
        z[i] = a if to_a else b
        reassign(state, i, own, z[i])
    return log_prob


@kernel(fastmath=FAST)
def log_ratio_of_constraints(
    sites: Sites, table: FloatArray, z: IntArray, items: IntArray, merged: int
) -> float:
    """log p(s | z) less the same where `items` share the free slot `merged`; z is left as it was."""
    mark, split = np.zeros(len(z), np.int64), z[items]
    ratio: float = log_prob_touching(sites, table, z, items, mark)
    z[items] = merged
    ratio -= log_prob_touching(sites, table, z, items, mark)
    set_labels(z, items, split)
    return ratio


@device(fastmath=FAST)
def log_ratio(
    target: Target, table: FloatArray, items: IntArray, a: int, b: int, merged: int, number: int
) -> float:
    """log of r above, less q; slots a and b hold the split, `merged` the union, and `number` is K."""
    state, assignment, sites, _, prior = target
    n_a, n_b = state.count[a], state.count[b]
    ratio: float = prior.log_open[number]
    ratio += prior.log_w[n_a] + prior.log_w[n_b] - prior.log_w[n_a + n_b]
    ratio += log_marginal(state, a) + log_marginal(state, b) - log_marginal(state, merged)
    ratio += log_ratio_of_constraints(sites, table, assignment.z, items, merged)
    return ratio


@device(fastmath=FAST)
def _launch(
    target: Target, items: IntArray, before: IntArray, a: int, b: int, scans: int, rng: Generator
) -> float:
    """Leave the items, anchors first, formerly in slots `before`, split between a and b; returns log q."""
    state, z = target.state, target.assignment.z
    forced, site = np.full(len(items), UNPLACED), np.zeros(len(state.count))
    z[items] = UNPLACED
    for i, k in ((items[0], a), (items[1], b)):
        clear_cluster(state, k)
        z[i] = k
        add_item(state, i, k)
    log_q = 0.0
    for scan in range(scans + 2):
        if scan == scans + 1 and before[0] != before[1]:
            for t in range(len(items)):
                forced[t] = a if before[t] == before[0] else b
        log_q = restricted_scan(target, items, a, b, forced, site, rng)
    return log_q


@kernel(fastmath=FAST)
def settle(assignment: Assignment, items: IntArray, before: IntArray) -> None:
    """Accept a proposal: give back the slots that the anchors left, and take those that they have now into use."""
    first, second = assignment.z[items[0]], assignment.z[items[1]]
    close_slot(assignment, before[0])
    if before[1] != before[0]:
        close_slot(assignment, before[1])
    use_slot(assignment, first)
    if second != first:
        use_slot(assignment, second)


@device(fastmath=FAST, no_refcount=True)
def _smaller_side(z: IntArray, items: IntArray, before: IntArray) -> int:
    """Items of the smaller of the two clusters that were, or that are proposed."""
    number, apart = 0, before[0] != before[1]
    for t in range(len(items)):
        number += before[t] == before[0] if apart else z[items[t]] == z[items[0]]
    return min(number, len(items) - number)


@device(fastmath=FAST)
def _attempt(
    target: Target,
    rows: Dirichlets,
    integrated: bool,
    anchor: int,
    other: int,
    scans: int,
    number: int,
    rng: Generator,
) -> tuple[bool, float]:
    """One proposal from K = `number` clusters: whether it was accepted, and how probable that was."""
    state, assignment, sites, table, _ = target
    z, slots, used = assignment.z, assignment.slots, assignment.number[0]
    first, second = z[anchor], z[other]
    a, b, merged = slots[used], slots[used + 1], slots[used + 2]
    items, log_uniform = members(assignment, first, second), math.log(rng.random())
    set_items(state, items, merged)
    derive(state, merged)
    ratio = 0.0
    if first != second:
        ratio = -log_ratio(target, table, items, first, second, merged, number - 1)
        if integrated:
            ratio -= gain_of_split(rows, sites, table, z, items, merged)
        if log_uniform >= ratio:
            return False, 0.0
    order_by_constraints(sites, items, anchor, other, rng)
    before = z[items]
    log_q = _launch(target, items, before, a, b, scans, rng)
    if first == second:
        ratio = log_ratio(target, table, items, a, b, merged, number) - log_q
        if integrated:
            ratio += gain_of_split(rows, sites, table, z, items, merged)
    else:
        z[items] = merged
        ratio += log_q
    chance = math.exp(min(ratio, 0.0)) if _smaller_side(z, items, before) > 1 else 0.0
    if log_uniform < ratio:
        settle(assignment, items, before)
        return True, chance
    set_labels(z, items, before)
    return False, chance


@kernel(fastmath=FAST)
def split_merge(
    target: Target,
    pairs: IntArray,
    places: Places,
    drawn: DrawnNoise,
    chance: FloatArray,
    scans: int,
    outside: int,
    rng: Generator,
) -> tuple[int, int]:
    """Propose to part or to join pairs of anchors, (P, 2), one after another; returns where it stopped, and how many were accepted.

    Pairs of `NOBODY` are drawn first, from `places`. The last pairs, as many as there are tables in
    `drawn`, have the noise integrated out. `chance`, (P,), all 0, is given the probability with
    which each was accepted, but where one item parts or joins, which other moves do too, and where
    a merge was refused by its bound. `outside` clusters do not count to the prior's K. It stops
    where less than three slots are free.
    """
    assignment, accepted = target.assignment, 0
    fill_pairs(pairs, places, rng)
    for position in range(len(pairs)):
        number = assignment.number[0]
        if number + 3 > len(assignment.slots):
            return position, accepted
        integrated = position - len(pairs) + len(drawn.table)
        by = target
        if integrated >= 0:
            by = Target(
                target.state, assignment, target.sites, drawn.table[integrated], target.prior
            )
        taken, probability = _attempt(
            by,
            drawn.rows,
            integrated >= 0,
            pairs[position, 0],
            pairs[position, 1],
            scans,
            number - outside,
            rng,
        )
        accepted += taken
        chance[position] = probability
    return len(pairs), accepted
