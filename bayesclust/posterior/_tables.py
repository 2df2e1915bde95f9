"""Tables of the search for the partition of least expected loss, and the kernels that keep them.

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
from bayesclust.typing import FloatArray, NDArray

LANES = 8


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
def new_state(problem: Problem, capacity: int) -> State:
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
def copy_into(target: State, source: State) -> None:
    """Make `target`, of the same capacity, equal to `source`."""
    target.labels[:] = source.labels
    target.sizes[:] = source.sizes
    used = max(source.used[0], target.used[0])
    target.counts[:used] = source.counts[:used]
    chunks = (used + LANES - 1) // LANES
    target.gains[:chunks] = source.gains[:chunks]
    target.used[0] = source.used[0]


@kernel
def grown(problem: Problem, state: State) -> State:
    """Return the same state with room for twice as many clusters."""
    larger: State = new_state(problem, 2 * state.sizes.size)
    larger.labels[:] = state.labels
    larger.sizes[: state.sizes.size] = state.sizes
    larger.counts[: state.sizes.size] = state.counts
    larger.gains[: state.gains.shape[0]] = state.gains
    larger.used[0] = state.used[0]
    return larger


@kernel
def objective(problem: Problem, state: State) -> int:
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
def sum_gains(gains: FloatArray, rows: NDArray[np.uint32], sums: FloatArray) -> None:
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
def set_count(problem: Problem, state: State, i: int, k: int, step: int) -> None:
    """Count item i into (step = 1) or out of (step = -1) the tables of cluster k."""
    rows, gain = problem.rows[i], problem.gain
    counts, gains, lane = state.counts[k], state.gains[k // LANES], k % LANES
    for r in rows:
        count = counts[r] + step
        counts[r] = count
        gains[r, lane] = gain[count]
    state.sizes[k] += step


@kernel
def put(problem: Problem, state: State, i: int, k: int) -> None:
    """Allocate item i to cluster k; k = used opens a cluster."""
    if k == state.used[0]:
        state.used[0] += 1
    set_count(problem, state, i, k, 1)
    state.labels[i] = k


@kernel
def close(problem: Problem, state: State, k: int) -> None:
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
def take(problem: Problem, state: State, i: int) -> None:
    """Take item i out of its cluster, and close the cluster if that empties it."""
    k = state.labels[i]
    state.labels[i] = -1
    if state.sizes[k] == 1:
        close(problem, state, k)
    else:
        set_count(problem, state, i, k, -1)
