"""Split-merge moves: whole clusters in one step (Jain and Neal 2004), with launches allocated in sequence (Dahl 2003).

Two anchors i and j are chosen with a probability that depends on the data and the questions asked,
never on z. With S the items of their one or two clusters:

1. launch: the rest of S joins i's or j's side one by one, then `scans` restricted Gibbs scans over
   the two sides;
2. one more restricted scan makes the split (its probability is q), or, if i and j sit apart, is
   forced to the state that exists, to learn the probability q with which a split would have made
   it;
3. a split of S into A and B is accepted with probability min(1, r), its undoing with min(1, 1 / r),
   where

    r = alpha Gamma(n_A) Gamma(n_B) / Gamma(n_S)  *  m(x_A) m(x_B) / m(x_S)  *  p(s | split) / p(s |
    merged)  /  q.

As q <= 1, the uniform number that decides is drawn first, and where it refuses a merge with q = 1
nothing is launched: most merges join what has nothing to do with each other. Every allocation
weighs size, predictive density and the answers about items already placed; only r has to be exact.
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
from bayesclust.inference.anchors import NOWHERE, Places, fill_pairs
from bayesclust.inference.joint_moves import NONE_DRAWN, Drawn, gain_of_split
from bayesclust.inference.proposals import Gain, Proposal, decide, hopeless, settle
from bayesclust.inference.reseating import log_odds, reseat
from bayesclust.inference.seating import Seating, members, seat_each, shuffle

BOUND, PROPOSE, DECIDE = range(3)
"""Stages of a proposal: what is known of a merge before anything is launched; the proposal; all of it."""


@device(fastmath=FAST)
def anchors_first(items: NDArray[np.int64], anchor: int, other: int, rng: Generator) -> None:
    """Shuffle items, the two anchors to the front."""
    shuffle(items, rng)
    for position, which in ((0, anchor), (1, other)):
        for t in range(len(items)):
            if items[t] == which:
                items[t], items[position] = items[position], items[t]


@kernel(fastmath=FAST)
def order_by_answers(
    sites: Sites, items: NDArray[np.int64], anchor: int, other: int, rng: Generator
) -> None:
    """Bring items into random order, the two anchors first, and after each those that answers name together with it.

    So most items are allocated when others of which answers speak have been placed, instead of by
    the data alone.
    """
    anchors_first(items, anchor, other, rng)
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


@device(fastmath=FAST, inline="always")
def log_shares(odds: float) -> tuple[float, float]:
    """(log p, log(1 - p)) of log odds."""
    log_a = -math.log1p(math.exp(-odds)) if odds > -700.0 else odds
    return log_a, log_a - odds


@device(fastmath=FAST, no_refcount=True)
def _restricted_scan(
    state: Any,
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    a: int,
    b: int,
    site: NDArray[np.float64],
    target: NDArray[np.int64],
    rng: Generator,
) -> float:
    """Re-allocate items[2:] between slots a and b; returns the log probability of what was chosen.

    Where target[t] is a slot, item t is forced there; -1 lets it be drawn. `site` is scratch, one
    for each slot.
    """
    log_prob = 0.0
    for t in range(2, len(items)):
        i = items[t]
        own = z[i]
        z[i] = UNPLACED
        site[a] = site[b] = 0.0
        add_site_logits(sites, table, z, i, site)
        log_a, log_b = log_shares(log_odds(state, i, own, a, b) + site[a] - site[b])
        to_a = math.log(rng.random()) < log_a if target[t] == UNPLACED else target[t] == a
        log_prob += log_a if to_a else log_b
        z[i] = a if to_a else b
        reseat(state, i, own, z[i])
    return log_prob


@device(fastmath=FAST)
def _log_ratio(
    state: Any,
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    a: int,
    b: int,
    merged: int,
    log_alpha: float,
    mark: NDArray[np.int64],
) -> float:
    """log of r above, less q; slots a and b hold the split, `merged` the union."""
    n_a, n_b = state.count[a], state.count[b]
    ratio: float = log_alpha + math.lgamma(n_a) + math.lgamma(n_b) - math.lgamma(n_a + n_b)
    ratio += log_marginal(state, a) + log_marginal(state, b) - log_marginal(state, merged)
    ratio += log_prob_touching(sites, table, z, items, mark)
    split = z[items]
    z[items] = merged
    ratio -= log_prob_touching(sites, table, z, items, mark)
    seat_each(z, items, split)
    return ratio


@device(fastmath=FAST)
def _launch(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    a: int,
    b: int,
    items: NDArray[np.int64],
    before: NDArray[np.int64],
    scans: int,
    rng: Generator,
) -> float:
    """Leave the items, the anchors first, formerly in slots `before`, split between a and b; returns log q."""
    z, first, apart = seating.z, before[0], before[0] != before[1]
    target, site = np.zeros(len(items), np.int64), np.zeros(len(state.count), np.float64)
    target[:] = UNPLACED
    z[items] = UNPLACED
    for i, k in ((items[0], a), (items[1], b)):
        clear_cluster(state, k)
        z[i] = k
        add_item(state, i, k)
    log_q = 0.0
    for scan in range(scans + 2):
        if scan == scans + 1 and apart:
            for t in range(len(items)):
                target[t] = a if before[t] == first else b
        log_q = _restricted_scan(state, sites, table, z, items, a, b, site, target, rng)
    return log_q


@device(fastmath=FAST, no_refcount=True)
def smaller_side(z: NDArray[np.int64], items: NDArray[np.int64], before: NDArray[np.int64]) -> int:
    """Items of the smaller of the two clusters that were, or that are proposed; the anchors come first."""
    number, apart = 0, before[0] != before[1]
    for t in range(len(items)):
        number += before[t] == before[0] if apart else z[items[t]] == z[items[0]]
    return min(number, len(items) - number)


@kernel(fastmath=FAST)
def attempt(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    places: Places,
    drawn: Drawn,
    anchors: NDArray[np.int64],
    chance: NDArray[np.float64],
    scans: int,
    stage: int,
    rng: Generator,
) -> tuple[int, int, float, NDArray[np.int64], NDArray[np.int64]]:
    """Proposals for pairs of anchors, shape (P, 2), one after another, or for the first of them one stage of it.

    One kernel for all stages, since each would be compiled with nearly all of this. Pairs of
    `NOBODY` are drawn first, from `places`. The last pairs, as many as there are tables in `drawn`,
    have the noise integrated out. `chance`, shape (P,) and all 0, is given the probability with
    which each was accepted, but where one item parts or joins, which other moves do too, and where
    a merge was refused by its bound.

    Returns
    -------
    position : int
        The number of pairs, or the one that was not decided: `stage` is not `DECIDE`, or less than
        three slots were free.
    accepted : int
        How many proposals were.
    log_ratio : float
        Of the last proposal. Of a merge in stages, its parts: log(1 / r) + log(1 / q) from `BOUND`,
        log q from `PROPOSE`.
    items, before : ndarray of int
        What it was about, and where the items were.
    """
    z, slots, accepted, ratio = seating.z, seating.slots, 0, 0.0
    items = before = np.zeros(0, np.int64)
    mark = np.zeros(len(z), np.int64)
    fill_pairs(anchors, places, rng)
    for position in range(len(anchors)):
        number = seating.number[0]
        if number + 3 > len(slots):
            return position, accepted, ratio, items, before
        anchor, other = anchors[position, 0], anchors[position, 1]
        unheard = position - len(anchors) + len(drawn.table)
        by = drawn.table[unheard] if unheard >= 0 else table
        first, second = z[anchor], z[other]
        a, b, merged = slots[number], slots[number + 1], slots[number + 2]
        items = members(seating, first, second)
        log_uniform = math.log(rng.random()) if stage == DECIDE else 0.0
        if first == second or stage != PROPOSE:
            set_items(state, items, merged)
            derive(state, merged)
        if first != second and stage != PROPOSE:
            ratio = -_log_ratio(state, sites, by, z, items, first, second, merged, log_alpha, mark)
            if unheard >= 0:
                ratio -= gain_of_split(drawn.rows, sites, by, z, items, merged)
            if stage == BOUND:
                return position, accepted, ratio, items, before
            if log_uniform >= ratio:
                continue
        order_by_answers(sites, items, anchor, other, rng)
        before = z[items]
        log_q = _launch(state, seating, sites, by, a, b, items, before, scans, rng)
        if first == second:
            ratio = _log_ratio(state, sites, by, z, items, a, b, merged, log_alpha, mark) - log_q
            if unheard >= 0:
                ratio += gain_of_split(drawn.rows, sites, by, z, items, merged)
        else:
            z[items] = merged
            ratio += log_q
        if stage == PROPOSE:
            return position, accepted, ratio, items, before
        chance[position] = math.exp(min(ratio, 0.0)) if smaller_side(z, items, before) > 1 else 0.0
        if log_uniform < ratio:
            accepted += 1
            settle(seating, items, before)
        else:
            seat_each(z, items, before)
    return len(anchors), accepted, ratio, items, before


def _check_room(seating: Seating) -> None:
    if seating.number[0] + 3 > len(seating.slots):
        raise RuntimeError(
            "less than three slots are free for a split-merge proposal: make room first."
        )


def bound_merge(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    anchor: int,
    other: int,
    rng: Generator,
) -> tuple[float, NDArray[np.int64]]:
    """log(1 / r) + log(1 / q) of a merge of the anchors' two clusters, and their items; needs three free slots."""
    pair = np.array([[anchor, other]])
    _check_room(seating)
    answers = sites, table, log_alpha
    _, _, bound, items, _ = attempt(
        state, seating, *answers, NOWHERE, NONE_DRAWN, pair, np.zeros(1), 0, BOUND, rng
    )
    return bound, items


def propose_split_merge(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    anchor: int,
    other: int,
    scans: int,
    rng: Generator,
    bound: float | None = None,
) -> Proposal:
    """Seat the anchors' items as proposed; `bound` is what `bound_merge` just said of a merge. Needs three free slots."""
    _check_room(seating)
    pair, apart = np.array([[anchor, other]]), seating.z[anchor] != seating.z[other]
    if apart and bound is None:
        bound, _ = bound_merge(state, seating, sites, table, log_alpha, anchor, other, rng)
    _, _, ratio, items, before = attempt(
        state,
        seating,
        sites,
        table,
        log_alpha,
        NOWHERE,
        NONE_DRAWN,
        pair,
        np.zeros(1),
        scans,
        PROPOSE,
        rng,
    )
    return Proposal(ratio + (bound or 0.0) * apart, items, before)


def split_merge(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    anchor: int,
    other: int,
    scans: int,
    rng: Generator,
    gain: Gain | None = None,
) -> bool:
    """Propose to part the two anchors or to bring them together, and decide; needs three free slots.

    Without a `gain` it is what `attempt` does by itself with one pair and `DECIDE`: its plain twin.

    Returns
    -------
    bool
        Whether the proposal was accepted.
    """
    log_uniform, bound = math.log(rng.random()), None
    if seating.z[anchor] != seating.z[other]:
        bound, items = bound_merge(state, seating, sites, table, log_alpha, anchor, other, rng)
        if hopeless(seating, bound, items, log_uniform, gain):
            return False
    proposed = propose_split_merge(
        state, seating, sites, table, log_alpha, anchor, other, scans, rng, bound
    )
    return decide(seating, proposed, log_uniform, gain)
