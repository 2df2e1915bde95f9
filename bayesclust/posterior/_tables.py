"""Tables of the search under additive losses, and the kernels that keep them.

Expected losses differ between estimates only by  (2 - a) B sum_k f(n_k) - 2 sum_k sum_b sum_l
f(N_kbl),  where N_kbl counts the items of candidate cluster k with label l in draw b of B. Putting
item i into cluster k adds the price (2 - a) B d(n_k) - 2 sum_b d(N_kb[l_ib]),  d(x) = f(x + 1) -
f(x).

`gains` holds d(N) itself, eight clusters side by side, so that pricing an item is one vector
addition a draw. All of it is in fixed point, as whole numbers below 2^53: sums are exact in
doubles, every accepted move lowers the same integer, and runs repeat bit for bit on any processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust._numba import device, implements
from bayesclust.posterior._steps import forget, objective, put, set_count, take, visit
from bayesclust.posterior.labels import Labels, label_rows
from bayesclust.posterior.losses import AdditiveLoss
from bayesclust.typing import FloatArray, NDArray

LANES = 8
FIXED_POINT_BITS = 30


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

    def new_state(self, capacity: int) -> State:
        """Return a state without clusters; capacity is rounded up to whole vectors."""
        n, chunks = len(self.rows), -(-capacity // LANES)
        return State(
            np.full(n, -1, np.int32),
            np.zeros(chunks * LANES, np.int64),
            np.zeros((chunks * LANES, self.n_rows), np.int32),
            np.full((chunks, self.n_rows, LANES), self.gain[0]),
            np.zeros(chunks * LANES),
            np.zeros(1, np.int64),
        )


class State(NamedTuple):
    """An estimate under construction: clusters 0 .. used - 1, none of them empty."""

    labels: NDArray[np.int32]  # (n,), -1 where not yet allocated
    sizes: NDArray[np.int64]  # (capacity,)
    counts: NDArray[np.int32]  # (capacity, n_rows)
    gains: NDArray[np.float64]  # (capacity / LANES, n_rows, LANES)
    sums: NDArray[np.float64]  # (capacity,): work space of `visit`
    used: NDArray[np.int64]  # (1,)

    def copy_sums(self, source: State) -> None:
        """Copy the gains of the clusters of either."""
        chunks = -(-max(int(source.used[0]), int(self.used[0])) // LANES)
        self.gains[:chunks] = source.gains[:chunks]


@implements(objective, Problem, no_refcount=True)
def _objective(problem, state):  # type: ignore[no-untyped-def]
    """The part of the summed loss that depends on the estimate, in fixed point."""
    total = 0
    for k in range(state.used[0]):
        total += problem.size_potential[state.sizes[k]]
        inner = 0
        for r in range(problem.n_rows):
            inner += problem.potential[state.counts[k, r]]
        total -= 2 * inner
    return total


@implements(set_count, Problem, no_refcount=True)
def _set_count(problem, state, i, k, step):  # type: ignore[no-untyped-def]
    rows, gain = problem.rows[i], problem.gain
    counts, gains, lane = state.counts[k], state.gains[k // LANES], k % LANES
    for r in rows:
        count = counts[r] + step
        counts[r] = count
        gains[r, lane] = gain[count]
    state.sizes[k] += step


@implements(forget, Problem, no_refcount=True)
def _forget(problem, state, k, last):  # type: ignore[no-untyped-def]
    own, other = state.gains[k // LANES], state.gains[last // LANES]
    for row in range(problem.n_rows):
        own[row, k % LANES] = other[row, last % LANES]
        other[row, last % LANES] = problem.gain[0]


@device(no_refcount=True)
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


@device(no_refcount=True)
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


@implements(visit, Problem, no_refcount=True)
def _visit(problem, state, i):  # type: ignore[no-untyped-def]
    own = state.labels[i]
    used = state.used[0]
    for chunk in range((used + LANES - 1) // LANES):
        sum_gains(
            state.gains[chunk], problem.rows[i], state.sums[chunk * LANES : (chunk + 1) * LANES]
        )
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


def additive_problem(draws: Labels, loss: AdditiveLoss, limit: int) -> Problem:
    """Put canonical draws (B, n) and a loss into the tables of the search.

    The potentials go to fixed point with as many bits (30 at most) as keep sums over draws below
    2^52 and objectives below 2^60; Binder's are whole numbers anyway.
    """
    B, n = draws.shape
    f = loss.potential(np.arange(n + 1))
    d = np.diff(f)
    rows, first_row = label_rows(draws)
    room = min(2.0**52 / (B * max(d.max(), 1.0)), 2.0**60 / (4 * B * max(f.max(), 1.0)))
    unit = 2.0 ** min(FIXED_POINT_BITS, np.floor(np.log2(room)))
    potential = np.rint(f * unit).astype(np.int64)
    size_potential = np.rint((2 - loss.a) * B * unit * f).astype(np.int64)
    gain = np.diff(potential, append=potential[-1])
    return Problem(
        rows=rows,
        n_rows=int(first_row[-1]),
        gain=gain.astype(np.float64),
        potential=potential,
        size_gain=np.diff(size_potential, append=size_potential[-1]),
        size_potential=size_potential,
        steepest=int(np.diff(gain[:-1]).max(initial=0)),
        limit=limit,
    )
