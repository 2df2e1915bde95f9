"""Compiled kernels of the search for the partition of least expected loss.

Expected losses differ between estimates only by  (2 - a) B sum_k f(n_k) - 2 sum_k sum_b sum_l f(N_kbl),  where N_kbl counts
the items of candidate cluster k with label l in draw b of B. Putting item i into cluster k adds the price
(2 - a) B d(n_k) - 2 sum_b d(N_kb[l_ib]),  d(x) = f(x + 1) - f(x).

`gains` holds d(N) itself, eight clusters side by side, so that pricing an item is one vector addition a draw. All of it is
in fixed point, as whole numbers below 2^53: sums are exact in doubles, every accepted move lowers the same integer, and runs
repeat bit for bit on any processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust._jit import kernel
from bayesclust.typing import NDArray

LANES = 8
ENDLESS = 2**62


class Problem(NamedTuple):
    """What all runs share. A row stands for one label of one draw."""

    rows: NDArray[np.uint32]  # (n, B): row of the label of item i in draw b
    n_rows: int
    gain: NDArray[np.float64]  # (n + 1,): d, whole numbers
    potential: NDArray[np.int64]  # (n + 1,): f
    size_gain: NDArray[np.int64]  # (n + 1,): (2 - a) B d
    size_potential: NDArray[np.int64]  # (n + 1,): (2 - a) B f
    steepest: int  # largest increase of d
    limit: int  # largest number of clusters


class State(NamedTuple):
    """An estimate under construction: clusters 0 .. used - 1, none of them empty."""

    labels: NDArray[np.int32]  # (n,), -1 where not yet allocated
    sizes: NDArray[np.int64]  # (capacity,)
    counts: NDArray[np.int32]  # (capacity, n_rows)
    gains: NDArray[np.float64]  # (capacity / LANES, n_rows, LANES)
    sums: NDArray[np.float64]  # (capacity,): work space of `visit`
    used: NDArray[np.int64]  # (1,)


@kernel
def new_state(problem, capacity):  # type: ignore[no-untyped-def]
    """Return a state without clusters and with no item allocated; capacity is rounded up to whole vectors."""
    n = problem.rows.shape[0]
    chunks = (capacity + LANES - 1) // LANES
    return State(
        np.full(n, -1, np.int32),
        np.zeros(chunks * LANES, np.int64),
        np.zeros((chunks * LANES, problem.n_rows), np.int32),
        np.full((chunks, problem.n_rows, LANES), problem.gain[0]),
        np.zeros(chunks * LANES),
        np.zeros(1, np.int64),
    )


@kernel
def copy_into(target, source):  # type: ignore[no-untyped-def]
    """Make `target`, of the same capacity, equal to `source`."""
    target.labels[:] = source.labels
    target.sizes[:] = source.sizes
    used = max(source.used[0], target.used[0])
    target.counts[:used] = source.counts[:used]
    chunks = (used + LANES - 1) // LANES
    target.gains[:chunks] = source.gains[:chunks]
    target.used[0] = source.used[0]


@kernel
def _grown(problem, state):  # type: ignore[no-untyped-def]
    """Return the same state with room for twice as many clusters."""
    larger = new_state(problem, 2 * state.sizes.size)
    larger.labels[:] = state.labels
    larger.sizes[: state.sizes.size] = state.sizes
    larger.counts[: state.sizes.size] = state.counts
    larger.gains[: state.gains.shape[0]] = state.gains
    larger.used[0] = state.used[0]
    return larger


@kernel
def objective(problem, state):  # type: ignore[no-untyped-def]
    """Return the part of the summed loss that depends on the estimate, in fixed point."""
    total = 0
    for k in range(state.used[0]):
        total += problem.size_potential[state.sizes[k]]
        inner = 0
        for r in range(problem.n_rows):
            inner += problem.potential[state.counts[k, r]]
        total -= 2 * inner
    return total


@kernel
def _sum_gains(gains, rows, sums):  # type: ignore[no-untyped-def]
    """Write sum_b d(N_kb[l_ib]) for the eight clusters of one chunk."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for r in rows:
        s0 += gains[r, 0]
        s1 += gains[r, 1]
        s2 += gains[r, 2]
        s3 += gains[r, 3]
        s4 += gains[r, 4]
        s5 += gains[r, 5]
        s6 += gains[r, 6]
        s7 += gains[r, 7]
    sums[0] = s0
    sums[1] = s1
    sums[2] = s2
    sums[3] = s3
    sums[4] = s4
    sums[5] = s5
    sums[6] = s6
    sums[7] = s7


@kernel
def _set_count(problem, state, i, k, step):  # type: ignore[no-untyped-def]
    """Count item i into (step = 1) or out of (step = -1) the tables of cluster k."""
    rows, gain = problem.rows[i], problem.gain
    counts, gains, lane = state.counts[k], state.gains[k // LANES], k % LANES
    for r in rows:
        count = counts[r] + step
        counts[r] = count
        gains[r, lane] = gain[count]
    state.sizes[k] += step


@kernel
def put(problem, state, i, k):  # type: ignore[no-untyped-def]
    """Allocate item i to cluster k; k = used opens a cluster."""
    if k == state.used[0]:
        state.used[0] += 1
    _set_count(problem, state, i, k, 1)
    state.labels[i] = k


@kernel
def _close(problem, state, k):  # type: ignore[no-untyped-def]
    """Drop cluster k, whose items have left it; the last cluster takes its number."""
    last = state.used[0] - 1
    lane, last_lane = k % LANES, last % LANES
    if k != last:
        state.sizes[k] = state.sizes[last]
        state.counts[k] = state.counts[last]
        state.gains[k // LANES, :, lane] = state.gains[last // LANES, :, last_lane]
        for i in range(state.labels.size):
            if state.labels[i] == last:
                state.labels[i] = k
    state.sizes[last] = 0
    state.counts[last] = 0
    state.gains[last // LANES, :, last_lane] = problem.gain[0]
    state.used[0] = last


@kernel
def take(problem, state, i):  # type: ignore[no-untyped-def]
    """Take item i out of its cluster, and close the cluster if that empties it."""
    k = state.labels[i]
    state.labels[i] = -1
    if state.sizes[k] == 1:
        _close(problem, state, k)
    else:
        _set_count(problem, state, i, k, -1)


@kernel
def _price_of_staying(problem, state, i, rival):  # type: ignore[no-untyped-def]
    """Return the price of item i in its own cluster or, where that is certain to beat `rival`, a bound from above."""
    k = state.labels[i]
    rows, gain = problem.rows[i], problem.gain
    size_price = problem.size_gain[state.sizes[k] - 1]
    bound = size_price - 2 * (np.int64(state.sums[k]) - rows.size * problem.steepest)
    if bound <= rival:
        return bound
    counts = state.counts[k]
    total = 0.0
    for r in rows:
        total += gain[counts[r] - 1]
    return size_price - 2 * np.int64(total)


@kernel
def visit(problem, state, i):  # type: ignore[no-untyped-def]
    """Put item i where it costs least, and tell whether that moved it; ties keep it where it is."""
    own = state.labels[i]
    used = state.used[0]
    for chunk in range((used + LANES - 1) // LANES):
        _sum_gains(state.gains[chunk], problem.rows[i], state.sums[chunk * LANES : (chunk + 1) * LANES])
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
def settle(problem, state, items, rounds):  # type: ignore[no-untyped-def]
    """Visit items in turn, round and round, until none of them would move, or for a number of rounds.

    The first round allocates those that are new.
    """
    quiet = 0
    for _ in range(rounds):
        for i in items:
            if state.used[0] == state.sizes.size and state.used[0] < problem.limit:
                state = _grown(problem, state)
            quiet = 0 if visit(problem, state, i) else quiet + 1
            if quiet == items.size:
                return state
    return state


@kernel
def _members(labels, k, order):  # type: ignore[no-untyped-def]
    """Return the items of cluster k in the given order."""
    members = np.empty(order.size, np.int64)
    count = 0
    for i in order:
        if labels[i] == k:
            members[count] = i
            count += 1
    return members[:count]


@kernel
def _representatives(labels, order, used):  # type: ignore[no-untyped-def]
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
def rebuild(problem, state, orders, attempts):  # type: ignore[no-untyped-def]
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
        _close(problem, spare, k)
        spare = settle(problem, spare, members, 1)
        if objective(problem, spare) == value:
            continue  # back in the same place, as a rule
        spare = settle(problem, spare, members, ENDLESS)
        trial = objective(problem, spare)
        if trial < value:
            state, spare, value, gained = spare, state, trial, True
    return state, gained


@kernel
def run(problem, start, orders, attempts, persist):  # type: ignore[no-untyped-def]
    """Search once, from the labels of `start` (-1 for items to be allocated in turn), and return labels and objective.

    With `persist`, clusters are rebuilt round after round until none of them gains.
    """
    state = new_state(problem, min(problem.limit, max(start.max() + 1, 2 * LANES)))
    for i in range(start.size):
        if start[i] >= 0:
            state.used[0] = max(state.used[0], start[i] + 1)
            _set_count(problem, state, i, start[i], 1)
            state.labels[i] = start[i]
    state = settle(problem, state, orders[0], ENDLESS)
    again = attempts > 0
    while again:
        state, gained = rebuild(problem, state, orders, attempts)
        if gained:
            state = settle(problem, state, orders[1 % orders.shape[0]], ENDLESS)
        again = gained and persist
    return state.labels, objective(problem, state)
