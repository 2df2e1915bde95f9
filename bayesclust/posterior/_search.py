"""Compiled search for the partition of least expected loss: allocate, visit until nothing moves, destroy and rebuild."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._jit import kernel
from bayesclust.posterior._steps import close, copy_into, grown, new_state, objective, set_count, visit
from bayesclust.typing import IntArray, NDArray

ENDLESS = 2**62
FIRST_CAPACITY = 16


@kernel
def settle(problem: Any, state: Any, items: IntArray, rounds: int) -> Any:
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
def rebuild(problem: Any, state: Any, orders: IntArray, attempts: int) -> tuple[Any, bool]:
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
    problem: Any, start: NDArray[np.int32], orders: IntArray, attempts: int, persist: bool
) -> tuple[NDArray[np.int32], Any]:
    """Search once, from the labels of `start` (-1 for items to be allocated in turn), and return labels and objective.

    With `persist`, clusters are rebuilt round after round until none of them gains.
    """
    state = new_state(problem, min(problem.limit, max(start.max() + 1, FIRST_CAPACITY)))
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
