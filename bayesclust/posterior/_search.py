"""Search for the partition of least expected loss: allocate, visit until nothing moves, destroy and rebuild.

Only what is done for every item is compiled (`_steps`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.posterior._steps import allocate, close, cost, go_round
from bayesclust.typing import IntArray, NDArray

ENDLESS = 2**62
FIRST_CAPACITY = 16


def copy_into(target: Any, source: Any) -> None:
    """Make `target`, of at least the same capacity, equal to `source`."""
    used, capacity = max(int(source.used[0]), int(target.used[0])), source.sizes.size
    target.labels[:] = source.labels
    target.sizes[:capacity] = source.sizes
    target.counts[:used] = source.counts[:used]
    target.copy_sums(source)
    target.used[0] = source.used[0]


def settle(problem: Any, state: Any, items: IntArray, last: int = ENDLESS) -> Any:
    """Visit items in turn, round and round, until none of them would move, or for a number of visits.

    The first round allocates those that are new.
    """
    at, quiet = go_round(problem, state, items, 0, last, 0)
    while at < last:
        larger = problem.new_state(2 * state.sizes.size)
        copy_into(larger, state)
        state = larger
        at, quiet = go_round(problem, state, items, at, last, quiet)
    return state


def rebuild(problem: Any, state: Any, orders: IntArray, attempts: int) -> tuple[Any, bool]:
    """Try to destroy clusters and allocate their items anew, one by one; keep what lowers the loss."""
    value, gained = cost(problem, state), False
    spare = problem.new_state(state.sizes.size)
    _, first = np.unique(state.labels[orders[0]], return_index=True)
    for attempt, item in enumerate(
        orders[0][np.sort(first)][:attempts]
    ):  # one item of each cluster
        if spare.sizes.size != state.sizes.size:
            spare = problem.new_state(state.sizes.size)
        copy_into(spare, state)
        order, k = orders[(attempt + 1) % len(orders)], int(spare.labels[item])
        members = order[spare.labels[order] == k]
        spare.labels[members] = -1
        close(problem, spare, k)
        spare = settle(problem, spare, members, members.size)
        if cost(problem, spare) == value:
            continue  # back in the same place, as a rule
        spare = settle(problem, spare, members)
        trial = cost(problem, spare)
        if trial < value:
            state, spare, value, gained = spare, state, trial, True
    return state, gained


def run(
    problem: Any, start: NDArray[np.int32], orders: IntArray, attempts: int, persist: bool
) -> tuple[NDArray[np.int32], Any]:
    """Search once, from the labels of `start` (-1 for items to be allocated in turn), and return labels and objective.

    With `persist`, clusters are rebuilt round after round until none of them gains.
    """
    state = problem.new_state(min(problem.limit, max(int(start.max()) + 1, FIRST_CAPACITY)))
    allocate(problem, state, start)
    state = settle(problem, state, orders[0])
    again = attempts > 0
    while again:
        state, gained = rebuild(problem, state, orders, attempts)
        if gained:
            state = settle(problem, state, orders[1 % len(orders)])
        again = gained and persist
    return state.labels, cost(problem, state)
