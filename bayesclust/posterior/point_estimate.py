"""The partition of least posterior expected loss, by SALSO (Dahl, Johnson and Müller 2022).

Expected additive losses differ between estimates only by

    (2 - a) B sum_k f(n_k) - 2 sum_k sum_b sum_l f(N_kbl),

where N_kbl counts the items of candidate cluster k with label l in draw b of B. Putting item i into
cluster k adds  (2 - a) B d(n_k) - 2 sum_b d(N_kb[l_ib]),  d(x) = f(x + 1) - f(x). `gains` holds
d(N) itself, eight clusters side by side, so that an item costs one vector addition a draw. All is
in whole numbers below 2^53: sums are exact, and runs repeat bit for bit on any processor.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesclust._numba import device, kernel
from bayesclust.checks import check_int, check_memory, check_random_state, n_threads
from bayesclust.posterior.losses import Loss, as_loss
from bayesclust.posterior.tree import (
    Labels,
    by_size,
    evenly_spread,
    partition_sizes,
    stacked_partitions,
    tree_of,
)
from bayesclust.typing import FloatArray, IntArray, NDArray, Seed

ATTEMPTS = 10
"""Clusters destroyed and rebuilt per run, as in the R package salso."""
ORDERS = 4
"""Random orders of the items per run."""
ENDLESS = 2**62
FIRST_CAPACITY = 16
LANES = 8
FIXED_POINT_BITS = 30
SETTLED = "point_estimate"
"""The group of a tree that keeps `labels_` of the fit."""
# labels of all draws; the ratio is of clusters to the items that each is with
MANY_ROWS, SPARSE, AT_ONCE, NEARBY_RUNS = 20_000, 16, 50, 4
"""Labels and ratio from which clusters are small, draws listed at a time, searches of these."""


def point_estimate(
    posterior: Any,
    loss: str | Loss = "vi",
    *,
    n_runs: int = 16,
    max_clusters: int = 0,
    max_draws: int = 1000,
    seed: Seed = 0,
    n_jobs: int | None = None,
) -> IntArray:
    """Return the partition of least posterior expected loss that a stochastic search finds.

    The search is SALSO (Dahl, Johnson and Müller 2022): items are allocated one by one in random
    order, each where it costs least; then visited again until none would move ("sweetening"); then
    clusters are destroyed and their items allocated again, where that lowers the loss ("zealous
    updates"). Half of the runs start from a draw, and one more from a single cluster; the best one
    gets zealous updates, and two clusters become one, for as long as that helps. A pass takes O(n K
    draws) time; memory is 4 n draws bytes and 12 K for every cluster of every draw. Where clusters
    are many and small, an item is compared with those alone that it is with in some draw, in memory
    of 4 n draws bytes: four runs from no clusters, every cluster being rebuilt, and no limit on
    their number.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition.
    loss : "vi", "binder" or Loss, default "vi"
        Or a value such as ``losses.VI(a=0.5)``. Binder's loss tends to leave small spurious
        clusters (Wade and Ghahramani 2018).
    n_runs : int, default 16
        Independent searches; 16 is the default of the R package salso.
    max_clusters : int, default 0
        Most clusters of the estimate; 0 stands for the largest number in any draw.
    max_draws : int, default 1000
        More draws than these are thinned to so many, at even distances.
    seed : int, Generator or None, default 0
        The same integer gives the same estimate, whatever `n_jobs` is.
    n_jobs : int or None, default None
        Threads; None takes one per processor.

    Returns
    -------
    (n,) array of int64
        Labels 0 .. K-1, the largest cluster first, ties by first item. Their expected loss is
        ``losses.VI().expected(labels, draws)``.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> bc.point_estimate(draws)
    array([0, 0, 1, 1])
    >>> bc.point_estimate(draws, loss="binder", max_clusters=1)
    array([0, 0, 0, 0])
    """
    value = as_loss(loss)
    draws = stacked_partitions(posterior)
    draws = draws[evenly_spread(check_int(max_draws, "max_draws"), len(draws))]
    check_int(n_runs, "n_runs")
    limit = check_int(max_clusters, "max_clusters", least=0) or int(draws.max()) + 1
    workers = n_threads(n_jobs)
    n = draws.shape[1]
    sparse = max_clusters == 0 and is_sparse(draws)
    problem = make_problem(draws, value, min(limit, n), dense=not sparse)
    generators = check_random_state(seed).spawn(n_runs)
    if sparse:
        start = nearby(problem, draws)

        def run_nearby(rng: np.random.Generator) -> tuple[int, Labels]:
            own = Nearby(*start[:2], *(part.copy() for part in start[2:]))
            return int(search_nearby(problem, own, rng.permutation(n))), own.labels

        with ThreadPoolExecutor(min(workers, NEARBY_RUNS)) as pool:
            runs = list(pool.map(run_nearby, generators[:NEARBY_RUNS]))
        return by_size(min(runs, key=lambda result: result[0])[1])[1]

    def run(number: int) -> tuple[Labels, int]:
        if number == n_runs:
            in_turn = np.tile(np.arange(n), (ORDERS, 1))
            return search(problem, np.zeros(n, np.int32), in_turn, ATTEMPTS)
        rng = generators[number]
        start = np.full(n, -1, dtype=np.int32)
        if number % 2 == 1:
            draw = draws[rng.integers(len(draws))]
            if draw.max() < problem.limit:
                start = draw.astype(np.int32)
        return search(problem, start, _orders(n, rng), ATTEMPTS)

    with ThreadPoolExecutor(min(workers, n_runs)) as pool:
        found = list(pool.map(run, range(n_runs + 1)))
    best = min(found, key=lambda result: result[1])[0]
    polished = search(problem, best, _orders(n, generators[0]), n, persist=True)[0]
    return by_size(polished)[1]


def keep_labels(tree: Any, labels: IntArray) -> None:
    """Keep the partition that a fit settled on with its draws, for whatever reports on them."""
    kept = xr.Dataset({"labels": ("item", labels)}, {"item": tree["posterior"]["item"].values})
    tree[SETTLED] = xr.DataTree(kept)


def settled_labels(posterior: Any) -> IntArray:
    """The partition that a fit settled on, `labels_`; the point estimate of other draws."""
    kept = getattr(tree_of(posterior), "children", {}).get(SETTLED)
    return point_estimate(posterior) if kept is None else kept["labels"].values.astype(np.int64)


def _orders(n: int, rng: np.random.Generator) -> IntArray:
    return np.stack([rng.permutation(n) for _ in range(ORDERS)])


def search(
    problem: Problem, start: Labels, orders: IntArray, attempts: int, *, persist: bool = False
) -> tuple[Labels, int]:
    """Search from labels (n,), -1 for new items; with `persist` until nothing gains, merges too."""
    state = new_state(problem, min(problem.limit, max(int(start.max()) + 1, FIRST_CAPACITY)))
    allocate(problem, state, start)
    state = _sweeten(problem, state, orders[0])
    again = attempts > 0
    while again:
        state, gained = _rebuild(problem, state, orders, attempts)
        if persist:
            gained = _merge(problem, state) or gained
        if gained:
            state = _sweeten(problem, state, orders[1 % len(orders)])
        again = gained and persist
    return state.labels, objective(problem, state)


def _sweeten(problem: Problem, state: State, items: IntArray, last: int = ENDLESS) -> State:
    """Visit items in turn until none of them would move, or `last` times; allocate new ones."""
    at, quiet = visit_in_turn(problem, state, items, 0, last, 0)
    while at < last:
        larger = new_state(problem, 2 * state.sizes.size)
        _copy_into(larger, state)
        state = larger
        at, quiet = visit_in_turn(problem, state, items, at, last, quiet)
    return state


def _rebuild(problem: Problem, state: State, orders: IntArray, attempts: int) -> tuple[State, bool]:
    """Destroy clusters and allocate their items again, one by one; keep what lowers the loss."""
    value = objective(problem, state)
    gained = False
    spare = new_state(problem, state.sizes.size)
    _, first = np.unique(state.labels[orders[0]], return_index=True)
    one_of_each = orders[0][np.sort(first)][:attempts]
    for attempt, item in enumerate(one_of_each):
        if spare.sizes.size != state.sizes.size:
            spare = new_state(problem, state.sizes.size)
        _copy_into(spare, state)
        order = orders[(attempt + 1) % len(orders)]
        k = int(spare.labels[item])
        members = order[spare.labels[order] == k]
        spare.labels[members] = -1
        close(problem, spare, k)
        spare = _sweeten(problem, spare, members, members.size)
        if objective(problem, spare) == value:
            continue  # back in the same place, as a rule
        spare = _sweeten(problem, spare, members)
        trial = objective(problem, spare)
        if trial < value:
            state, spare = spare, state
            value = trial
            gained = True
    return state, gained


def _merge(problem: Problem, state: State) -> bool:
    """Make one cluster of the two that gain most by it, if any do; items alone cannot cross."""
    gain, k, other = best_merge(problem, state)
    if gain <= 0:
        return False
    state.labels[state.labels == other] = k
    state.sizes[k] += state.sizes[other]
    state.counts[k] += state.counts[other]
    state.gains[k // LANES, :, k % LANES] = problem.gain[state.counts[k]]
    close(problem, state, other)
    return True


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
    sums: NDArray[np.float64]  # (capacity,): work space of `_visit`
    used: NDArray[np.int64]  # (1,)


def make_problem(draws: Labels, loss: Loss, limit: int, *, dense: bool = True) -> Problem:
    """Put canonical draws (B, n) and a loss into tables."""
    B, n = draws.shape
    n_rows = int(draws.max(axis=1).sum(dtype=np.int64)) + B
    check_memory(
        4 * draws.size + 12 * dense * int(draws.max() + 1) * n_rows,
        f"the search over {B:,} draws of {n:,} items",
        "pass fewer draws, for instance every tenth",
    )
    f = loss.potential(np.arange(n + 1))
    d = np.diff(f)
    # every label of every draw has a row of its own
    first = np.concatenate([[0], np.cumsum(draws.max(axis=1).astype(np.int64) + 1)])
    rows = np.ascontiguousarray((draws + first[:-1, None]).T.astype(np.uint32))
    room = min(2.0**52 / (B * max(d.max(), 1.0)), 2.0**60 / (4 * B * max(f.max(), 1.0)))
    unit = 2.0 ** min(FIXED_POINT_BITS, np.floor(np.log2(room)))
    potential = np.rint(f * unit).astype(np.int64)
    size_potential = np.rint((2 - loss.a) * B * unit * f).astype(np.int64)
    gain = np.diff(potential, append=potential[-1])
    return Problem(
        rows=rows,
        n_rows=n_rows,
        gain=gain.astype(np.float64),
        potential=potential,
        size_gain=np.diff(size_potential, append=size_potential[-1]),
        size_potential=size_potential,
        steepest=int(np.diff(gain[:-1]).max(initial=0)),
        limit=limit,
    )


def new_state(problem: Problem, capacity: int) -> State:
    """Return a state without clusters; capacity is rounded up to whole vectors."""
    n = len(problem.rows)
    chunks = -(-capacity // LANES)
    return State(
        labels=np.full(n, -1, np.int32),
        sizes=np.zeros(chunks * LANES, np.int64),
        counts=np.zeros((chunks * LANES, problem.n_rows), np.int32),
        gains=np.full((chunks, problem.n_rows, LANES), problem.gain[0]),
        sums=np.zeros(chunks * LANES),
        used=np.zeros(1, np.int64),
    )


def _copy_into(target: State, source: State) -> None:
    """Make `target`, of at least the same capacity, equal to `source`."""
    used = max(int(source.used[0]), int(target.used[0]))
    chunks = -(-used // LANES)
    target.labels[:] = source.labels
    target.sizes[: source.sizes.size] = source.sizes
    target.counts[:used] = source.counts[:used]
    target.gains[:chunks] = source.gains[:chunks]
    target.used[0] = source.used[0]


@kernel
def objective(problem: Problem, state: State) -> int:
    """Return the part of the summed loss that depends on the estimate, in fixed point."""
    total = 0
    for k in range(state.used[0]):
        total += problem.size_potential[state.sizes[k]]
        shared = 0
        for r in range(problem.n_rows):
            shared += problem.potential[state.counts[k, r]]
        total -= 2 * shared
    return total


@kernel
def best_merge(problem: Problem, state: State) -> tuple[int, int, int]:
    """How much the objective falls if two clusters become one, and which; 0 if it never does."""
    most: Any = np.int64(0)
    first, second = 0, 0
    rows = np.zeros(problem.n_rows, np.int64)
    for k in range(state.used[0]):
        number = 0
        for r in range(problem.n_rows):
            if state.counts[k, r] > 0:
                rows[number] = r
                number += 1
        for other in range(k):
            joint = 0
            for r in rows[:number]:
                a, b = state.counts[k, r], state.counts[other, r]
                joint += problem.potential[a + b] - problem.potential[a] - problem.potential[b]
            a, b = state.sizes[k], state.sizes[other]
            own = problem.size_potential[a] + problem.size_potential[b]
            gain = 2 * joint + own - problem.size_potential[a + b]
            if gain > most:
                most = gain
                first, second = k, other
    return most, first, second


@kernel
def allocate(problem: Problem, state: State, labels: NDArray[Any]) -> None:
    """Fill a state without clusters; items labelled -1 are left out."""
    for i in range(labels.size):
        if labels[i] >= 0:
            k = np.int64(labels[i])
            state.used[0] = max(state.used[0], k + 1)
            _count(problem, state, i, k, 1)
            state.labels[i] = k


@kernel(no_refcount=True)
def close(problem: Problem, state: State, k: int) -> None:
    """Drop cluster k, whose items have left it; the last cluster takes its number."""
    last = state.used[0] - 1
    own = state.gains[k // LANES]
    other = state.gains[last // LANES]
    for row in range(problem.n_rows):
        own[row, k % LANES] = other[row, last % LANES]
        other[row, last % LANES] = problem.gain[0]
    if k != last:
        state.sizes[k] = state.sizes[last]
        for row in range(state.counts.shape[1]):
            state.counts[k, row] = state.counts[last, row]
        for i in range(state.labels.size):
            if state.labels[i] == last:
                state.labels[i] = k
    state.sizes[last] = 0
    state.counts[last] = 0
    state.used[0] = last


@kernel
def visit_in_turn(
    problem: Problem, state: State, items: NDArray[Any], first: int, last: int, quiet: int
) -> tuple[int, int]:
    """Make visits first to last - 1; return the next, and how many in a row moved nothing."""
    for number in range(first, last):
        if state.used[0] == state.sizes.size and state.used[0] < problem.limit:
            return number, quiet
        quiet = 0 if _visit(problem, state, items[number % items.size]) else quiet + 1
        if quiet == items.size:
            break
    return last, quiet


@device(no_refcount=True)
def _visit(problem: Problem, state: State, i: int) -> bool:
    """Put item i where it costs least, and tell whether that moved it; ties keep it."""
    own = np.int64(state.labels[i])
    used = state.used[0]
    for chunk in range((used + LANES - 1) // LANES):
        _sum_gains(
            state.gains[chunk], problem.rows[i], state.sums[chunk * LANES : (chunk + 1) * LANES]
        )
    best: Any = np.int64(-1)
    least: Any = np.iinfo(np.int64).max
    for k in range(used):
        cost = problem.size_gain[state.sizes[k]] - 2 * np.int64(state.sums[k])
        if k != own and cost < least:
            best = k
            least = cost
    alone = own >= 0 and state.sizes[own] == 1
    if used < problem.limit and not alone:
        cost = problem.size_gain[0] - 2 * problem.rows.shape[1] * np.int64(problem.gain[0])
        if cost < least:
            best = used
            least = cost
    if best < 0:
        return False
    if own >= 0:
        if _cost_of_staying(problem, state, i, least) <= least:
            return False
        if alone and best == used - 1:
            best = own  # closing the item's cluster renumbers the last one
        state.labels[i] = -1
        if alone:
            close(problem, state, own)
        else:
            _count(problem, state, i, own, -1)
    if best == state.used[0]:
        state.used[0] += 1
    _count(problem, state, i, best, 1)
    state.labels[i] = best
    return True


@device(no_refcount=True)
def _count(problem: Problem, state: State, i: int, k: int, step: int) -> None:
    """Count item i into (step = 1) or out of (step = -1) cluster k."""
    rows = problem.rows[i]
    gain = problem.gain
    counts = state.counts[k]
    gains = state.gains[k // LANES]
    lane = k % LANES
    for r in rows:
        count = counts[r] + step
        counts[r] = count
        gains[r, lane] = gain[count]
    state.sizes[k] += step


@device(no_refcount=True)
def _sum_gains(gains: FloatArray, rows: NDArray[np.uint32], sums: FloatArray) -> None:
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
def _cost_of_staying(problem: Problem, state: State, i: int, rival: int) -> Any:
    """Return the cost of item i where it is or, where it surely beats `rival`, an upper bound."""
    k = state.labels[i]
    rows = problem.rows[i]
    gain = problem.gain
    size_cost = problem.size_gain[state.sizes[k] - 1]
    bound = size_cost - 2 * (np.int64(state.sums[k]) - rows.size * problem.steepest)
    if bound <= rival:
        return bound
    counts = state.counts[k]
    total = 0.0
    for r in rows:
        total += gain[counts[r] - 1]
    return size_cost - 2 * np.int64(total)


# --- the same search where clusters are many and small: an item is compared with those it is with
# in some draw, since joining a cluster without any of them costs more than opening one


class Nearby(NamedTuple):
    """An estimate under construction; items that are together in some draw are near each other."""

    start: IntArray  # (n + 1,) those near item i are near[start[i] : start[i + 1]]
    near: IntArray
    labels: IntArray  # (n,), -1 where not yet allocated
    sizes: IntArray  # (n,)
    visit: IntArray  # (n,) number of the visit that last weighed each cluster
    shared: IntArray  # (B,) work space
    turn: IntArray  # (2,) number of the visit, and where to look for a label that is not in use


def is_sparse(draws: Labels) -> bool:
    """Whether canonical draws (B, n) have so many small clusters that `Nearby` is the way."""
    number = int(draws.max()) + 1
    together = np.square(partition_sizes(draws)).sum(axis=1).mean()
    return number * len(draws) > MANY_ROWS and SPARSE * together < draws.shape[1] * number


def nearby(problem: Problem, draws: Labels) -> Nearby:
    """An estimate without clusters."""
    n = draws.shape[1]
    found = [
        np.unique(shared_pairs(draws[at : at + AT_ONCE])) for at in range(0, len(draws), AT_ONCE)
    ]
    known = np.unique(np.concatenate(found))
    arcs = np.sort(np.concatenate([known, known % n * n + known // n]))
    start = np.searchsorted(arcs, np.arange(n + 1) * n).astype(np.int64)
    visit, sizes, turn = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(2, np.int64)
    shared = np.zeros(len(draws), np.int64)
    return Nearby(start, arcs % n, np.full(n, -1), sizes, visit, shared, turn)


@kernel
def shared_pairs(draws: Labels) -> IntArray:
    """i n + j of the pairs i < j that share a cluster, draw after draw."""
    n = draws.shape[1]
    last = np.full(n, -1)
    before = np.zeros(n, np.int64)
    pairs = np.zeros(0, np.int64)
    number = 0
    for write in range(2):
        if write:
            pairs = np.zeros(number, np.int64)
            number = 0
        for b in range(draws.shape[0]):
            for k in range(n):
                last[k] = -1
            for j in range(n):
                i = last[draws[b, j]]
                before[j] = i
                last[draws[b, j]] = j
                while i >= 0:
                    if write:
                        pairs[number] = i * n + j
                    number += 1
                    i = before[i]
    return pairs


@kernel
def search_nearby(problem: Problem, state: Nearby, order: IntArray) -> Any:
    """Allocate in order, sweeten and rebuild all clusters until nothing gains; the objective."""
    n = len(order)
    value = np.int64(0)
    for i in order:
        value += _settle(problem, state, i)
    gained = True
    while gained:
        quiet = 0
        at = 0
        while quiet < n:
            change = _settle(problem, state, order[at % n])
            value += change
            quiet = 0 if change < 0 else quiet + 1
            at += 1
        gained = False
        done = np.zeros(n, np.int64)
        for i in order:
            if done[state.labels[i]] == 0:
                done[state.labels[i]] = 1
                change = _rebuild_nearby(problem, state, i)
                value += change
                gained = gained or change < 0
    return value


@device(no_refcount=True)
def _cost(problem: Problem, state: Nearby, i: int, k: int) -> Any:
    """The cost of item i, not allocated, in cluster k."""
    shared = state.shared
    shared[:] = 0
    rows = problem.rows
    for e in range(state.start[i], state.start[i + 1]):
        j = state.near[e]
        if state.labels[j] == k:
            for b in range(len(shared)):
                shared[b] += rows[i, b] == rows[j, b]
    total = 0.0
    for b in range(len(shared)):
        total += problem.gain[shared[b]]
    return problem.size_gain[state.sizes[k]] - 2 * np.int64(total)


@device(no_refcount=True)
def _leave(problem: Problem, state: Nearby, i: int) -> Any:
    """Take item i out of its cluster; returns what it cost there."""
    k = state.labels[i]
    state.labels[i] = -1
    state.sizes[k] -= 1
    return _cost(problem, state, i, k)


@device(no_refcount=True)
def _settle(problem: Problem, state: Nearby, i: int) -> Any:
    """Put item i where it costs least; ties keep it. Returns the change of the objective."""
    own = state.labels[i]
    best = own
    least = np.int64(0)
    before = np.int64(0)
    if own >= 0:
        least = before = _leave(problem, state, i)
    # a cluster of its own
    if own < 0 or state.sizes[own] > 0:
        cost = problem.size_gain[0] - 2 * len(state.shared) * np.int64(problem.gain[0])
        if own < 0 or cost < least:
            while state.sizes[state.turn[1]] > 0:
                state.turn[1] = (state.turn[1] + 1) % len(state.sizes)
            best = state.turn[1]
            least = cost
    state.turn[0] += 1
    for e in range(state.start[i], state.start[i + 1]):
        k = state.labels[state.near[e]]
        if k >= 0 and k != own and state.visit[k] != state.turn[0]:
            state.visit[k] = state.turn[0]
            cost = _cost(problem, state, i, k)
            if cost < least:
                best = k
                least = cost
    state.labels[i] = best
    state.sizes[best] += 1
    return least - before


@device
def _rebuild_nearby(problem: Problem, state: Nearby, i: int) -> Any:
    """Allocate item i and those near it in its cluster again, if that gains; returns the change."""
    own = state.labels[i]
    items = np.full(state.start[i + 1] - state.start[i] + 1, i)
    number = 1
    for e in range(state.start[i], state.start[i + 1]):
        if state.labels[state.near[e]] == own:
            items[number] = state.near[e]
            number += 1
    change = np.int64(0)
    for t in range(number):
        change -= _leave(problem, state, items[t])
    for t in range(number):
        change += _settle(problem, state, items[t])
    if change >= 0:
        for t in range(number):
            state.sizes[state.labels[items[t]]] -= 1
        for t in range(number):
            state.labels[items[t]] = own
        state.sizes[own] += number
        return np.int64(0)
    return change
