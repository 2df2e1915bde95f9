"""Compiled search for the partition of least expected loss: allocate, visit until nothing moves, destroy and rebuild."""

from __future__ import annotations

import numpy as np

from bayesclust._jit import kernel
from bayesclust.posterior._tables import (
    LANES,
    Problem,
    State,
    close,
    copy_into,
    grown,
    new_state,
    objective,
    put,
    set_count,
    sum_gains,
    take,
)
from bayesclust.typing import IntArray, NDArray

ENDLESS = 2**62


@kernel
def _price_of_staying(problem: Problem, state: State, i: int, rival: int) -> int:
    """Return the price of item i in its own cluster or, where that is certain to beat `rival`, a bound from above."""
    k = state.labels[i]
    rows, gain = problem.rows[i], problem.gain
    size_price: int = problem.size_gain[state.sizes[k] - 1]
    bound: int = size_price - 2 * (int(state.sums[k]) - rows.size * problem.steepest)
    if bound <= rival:
        return bound
    counts = state.counts[k]
    total = 0.0
    for r in rows:
        total += gain[counts[r] - 1]
    exact: int = size_price - 2 * int(total)
    return exact


@kernel
def visit(problem: Problem, state: State, i: int) -> bool:
    """Put item i where it costs least, and tell whether that moved it; ties keep it where it is."""
    own = state.labels[i]
    used = state.used[0]
    for chunk in range((used + LANES - 1) // LANES):
        sum_gains(state.gains[chunk], problem.rows[i], state.sums[chunk * LANES : (chunk + 1) * LANES])
    best, least = -1, np.iinfo(np.int64).max
    for k in range(used):
        price = problem.size_gain[state.sizes[k]] - 2 * np.int64(state.sums[k])
        if k != own and price < least:
            best, least = k, price
    alone = own >= 0 and state.sizes[own] == 1
    if used < problem.limit and not alone:
        price = problem.size_gain[0] - 2 * problem.rows.shape[1] * np.int64(problem.gain[0])
        if price < least:
            best, least = used, price
    if best < 0:
        return False
    if own >= 0:
        if _price_of_staying(problem, state, i, least) <= least:
            return False
        if alone and best == used - 1:
            best = own  # closing the item's cluster renumbers the last one
        take(problem, state, i)
    put(problem, state, i, best)
    return True


@kernel
def settle(problem: Problem, state: State, items: IntArray, rounds: int) -> State:
    """Visit items in turn, round and round, until none of them would move, or for a number of rounds.

    The first round allocates those that are new.
    """
    quiet = 0
    for _ in range(rounds):
        for i in items:
            if state.used[0] == state.sizes.size and state.used[0] < problem.limit:
                state = grown(problem, state)
            quiet = 0 if visit(problem, state, i) else quiet + 1
            if quiet == items.size:
                return state
    return state


@kernel
def _members(labels: NDArray[np.int32], k: int, order: IntArray) -> IntArray:
    """Return the items of cluster k in the given order."""
    members = np.empty(order.size, np.int64)
    count = 0
    for i in order:
        if labels[i] == k:
            members[count] = i
            count += 1
    return members[:count]


@kernel
def _representatives(labels: NDArray[np.int32], order: IntArray, used: int) -> IntArray:
    """Return one item of each cluster, the clusters in order of first appearance."""
    found = np.full(used, -1, np.int64)
    items = np.empty(used, np.int64)
    count = 0
    for i in order:
        if found[labels[i]] < 0:
            found[labels[i]] = i
            items[count] = i
            count += 1
    return items


@kernel
def rebuild(problem: Problem, state: State, orders: IntArray, attempts: int) -> tuple[State, bool]:
    """Try to destroy clusters and allocate their items anew, one by one; keep what lowers the loss."""
    value = objective(problem, state)
    spare = new_state(problem, state.sizes.size)
    gained = False
    items = _representatives(state.labels, orders[0], state.used[0])
    for attempt in range(min(attempts, items.size)):
        if spare.sizes.size != state.sizes.size:
            spare = new_state(problem, state.sizes.size)
        copy_into(spare, state)
        k = spare.labels[items[attempt]]
        members = _members(spare.labels, k, orders[(attempt + 1) % orders.shape[0]])
        spare.labels[members] = -1
        close(problem, spare, k)
        spare = settle(problem, spare, members, 1)
        if objective(problem, spare) == value:
            continue  # back in the same place, as a rule
        spare = settle(problem, spare, members, ENDLESS)
        trial = objective(problem, spare)
        if trial < value:
            state, spare, value, gained = spare, state, trial, True
    return state, gained


@kernel
def run(
    problem: Problem, start: NDArray[np.int32], orders: IntArray, attempts: int, persist: bool
) -> tuple[NDArray[np.int32], int]:
    """Search once, from the labels of `start` (-1 for items to be allocated in turn), and return labels and objective.

    With `persist`, clusters are rebuilt round after round until none of them gains.
    """
    state = new_state(problem, min(problem.limit, max(start.max() + 1, 2 * LANES)))
    for i in range(start.size):
        if start[i] >= 0:
            state.used[0] = max(state.used[0], start[i] + 1)
            set_count(problem, state, i, start[i], 1)
            state.labels[i] = start[i]
    state = settle(problem, state, orders[0], ENDLESS)
    again = attempts > 0
    while again:
        state, gained = rebuild(problem, state, orders, attempts)
        if gained:
            state = settle(problem, state, orders[1 % orders.shape[0]], ENDLESS)
        again = gained and persist
    return state.labels, objective(problem, state)
