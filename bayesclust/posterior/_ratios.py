"""Tables of the search under losses that are ratios, and the kernels that keep them.

The loss is no sum over clusters: what a step costs depends on the whole sums A_b of draw b, B of
the estimate and C_b of their intersections. They are kept for the allocated items alone, as whole
numbers in fixed point, and every choice of an item is priced by summing the exact ratios over the
draws, as `objective` sums them: so every accepted move lowers the same number, and the search ends.
A visit takes O(K B) time like that of an additive loss, at some times its cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust._numba import device, implements
from bayesclust.posterior._steps import forget, objective, put, set_count, take, visit
from bayesclust.posterior.labels import Labels, label_rows
from bayesclust.posterior.losses import RatioLoss
from bayesclust.typing import FloatArray, IntArray, NDArray

FIXED_POINT_BITS = 30
LARGER, CONSTANT, AVERAGE, PRODUCT, SMALLER, SHARED = range(6)
ITEMS, ESTIMATE = range(2)


class RatioProblem(NamedTuple):
    """What all runs share."""

    rows: NDArray[np.uint32]  # (n, B)
    n_rows: int
    first: NDArray[np.int64]  # (B + 1,): first row of each draw
    gain: NDArray[np.int64]  # (n + 1,): f(x + 1) - f(x)
    potential: NDArray[np.int64]  # (n + 1,): f
    forms: NDArray[
        np.float64
    ]  # (n + 1, 6): coefficients of `RatioForm` for that many items, in units of the fixed point
    limit: int

    def new_state(self, capacity: int) -> RatioState:
        """Return a state without clusters."""
        n, n_draws = self.rows.shape
        return RatioState(
            np.full(n, -1, np.int32),
            np.zeros(capacity, np.int64),
            np.zeros((capacity, self.n_rows), np.int32),
            np.zeros(1, np.int64),
            np.zeros(2, np.int64),
            np.zeros(n_draws, np.int64),
            np.zeros(n_draws, np.int64),
            np.zeros(self.n_rows, np.int64),
            np.zeros(n_draws, np.int64),
            np.zeros(n_draws, np.int64),
        )


class RatioState(NamedTuple):
    """An estimate under construction."""

    labels: NDArray[np.int32]  # (n,)
    sizes: NDArray[np.int64]  # (capacity,)
    counts: NDArray[np.int32]  # (capacity, n_rows)
    used: NDArray[np.int64]  # (1,)
    totals: NDArray[np.int64]  # (2,): allocated items, and B
    truth: NDArray[np.int64]  # (B,): A of the allocated items
    shared: NDArray[np.int64]  # (B,): C
    tally: NDArray[np.int64]  # (n_rows,): allocated items by row
    trial_truth: NDArray[np.int64]  # (B,): work space of `visit`
    trial_shared: NDArray[np.int64]  # (B,)

    def copy_sums(self, source: RatioState) -> None:
        """Copy the sums of the draws and of the estimate."""
        self.totals[:] = source.totals
        self.truth[:] = source.truth
        self.shared[:] = source.shared
        self.tally[:] = source.tally


@device(no_refcount=True)
def ratio(form: FloatArray, truth: int, estimate: int, shared: int) -> float:
    """Return (M - C) / D."""
    mean = 0.5 * truth + 0.5 * estimate
    above = form[LARGER] * max(truth, estimate) + (1.0 - form[LARGER]) * mean - shared
    if above <= 0.0:
        return 0.0
    below = form[CONSTANT] + form[AVERAGE] * mean + form[PRODUCT] * truth * estimate
    value: float = above / (below + form[SMALLER] * min(truth, estimate) + form[SHARED] * shared)
    return value


@implements(objective, RatioProblem, no_refcount=True)
def _objective(problem, state):  # type: ignore[no-untyped-def]
    """The summed loss of the allocated items, to the last bit what `visit` found it to be."""
    form, estimate = problem.forms[state.totals[ITEMS]], state.totals[ESTIMATE]
    total = 0.0
    for b in range(state.truth.size):
        total += ratio(form, state.truth[b], estimate, state.shared[b])
    return total


@implements(set_count, RatioProblem, no_refcount=True)
def _set_count(problem, state, i, k, step):  # type: ignore[no-untyped-def]
    rows, gain, counts = problem.rows[i], problem.gain, state.counts[k]
    before = 0 if step == 1 else -1  # f(x + 1) - f(x) is the gain at x, the smaller of the two
    for b in range(rows.size):
        r = rows[b]
        state.shared[b] += step * gain[counts[r] + before]
        state.truth[b] += step * gain[state.tally[r] + before]
        counts[r] += step
        state.tally[r] += step
    state.totals[ESTIMATE] += step * gain[state.sizes[k] + before]
    state.totals[ITEMS] += step
    state.sizes[k] += step


@implements(forget, RatioProblem, no_refcount=True)
def _forget(problem, state, k, last):  # type: ignore[no-untyped-def]
    potential = problem.potential
    for b in range(state.truth.size):
        for r in range(problem.first[b], problem.first[b + 1]):
            count = state.counts[k, r]
            if count > 0:
                state.shared[b] -= potential[count]
                state.truth[b] += potential[state.tally[r] - count] - potential[state.tally[r]]
                state.tally[r] -= count
    state.totals[ESTIMATE] -= potential[state.sizes[k]]
    state.totals[ITEMS] -= state.sizes[k]


@device(no_refcount=True)
def _price(
    problem: RatioProblem,
    state: RatioState,
    i: int,
    k: int,
    at_home: int,
    form: FloatArray,
    others: int,
    dear: float,
) -> float:
    """Return the summed loss with item i in cluster k, or any number of at least `dear` if it is as much."""
    rows, gain, counts = problem.rows[i], problem.gain, state.counts[k]
    estimate = others + gain[state.sizes[k] - at_home]
    total = 0.0
    for b in range(rows.size):
        total += ratio(
            form,
            state.trial_truth[b],
            estimate,
            state.trial_shared[b] + gain[counts[rows[b]] - at_home],
        )
        if total >= dear:
            break
    return total


@implements(visit, RatioProblem, no_refcount=True)
def _visit(problem, state, i):  # type: ignore[no-untyped-def]
    own, used, gain, rows = state.labels[i], state.used[0], problem.gain, problem.rows[i]
    allocated = own >= 0
    alone = allocated and state.sizes[own] == 1
    others = state.totals[ESTIMATE] - (gain[state.sizes[own] - 1] if allocated else 0)
    for b in range(rows.size):
        r = rows[b]
        # the draws know of the item either way, the estimate does not
        state.trial_truth[b] = state.truth[b] + (0 if allocated else gain[state.tally[r]])
        state.trial_shared[b] = state.shared[b] - (
            gain[state.counts[own, r] - 1] if allocated else 0
        )
    form = problem.forms[state.totals[ITEMS] + (0 if allocated else 1)]
    best, least = -1, np.inf
    if allocated:
        least = _price(problem, state, i, own, 1, form, others, np.inf)
    for k in range(used):
        if k != own:
            price = _price(problem, state, i, k, 0, form, others, least)
            if price < least:
                best, least = k, price
    if used < problem.limit and not alone:  # there is room for one more
        price = _price(problem, state, i, used, 0, form, others, least)
        if price < least:
            best, least = used, price
    if best < 0:
        return False
    if allocated:
        if alone and best == used - 1:
            best = own  # closing the item's cluster renumbers the last one
        take(problem, state, i)
    put(problem, state, i, best)
    return True


def ratio_problem(draws: Labels, loss: RatioLoss, limit: int) -> RatioProblem:
    """Put canonical draws (B, n) and a loss into the tables of the search.

    The potential goes to fixed point with as many bits (30 at most) as keep its sums below 2^52;
    that of pairs is whole anyway.
    """
    n = draws.shape[1]
    f = loss.potential(np.arange(n + 1))
    unit = 2.0 ** min(FIXED_POINT_BITS, np.floor(np.log2(2.0**52 / max(f.max(), 1.0))))
    potential: IntArray = np.rint(f * unit).astype(np.int64)
    forms = np.array([loss.form(m) for m in range(n + 1)])
    if (forms[:, CONSTANT] != 0).any() and (forms[:, [SMALLER, SHARED]] != 0).any():
        # the constant is a multiple of f(m), which the sums reach, so it must be rounded as they
        # are
        share = forms[-1, CONSTANT] / max(f[-1], 1e-300)
        forms[:, CONSTANT] = share * potential
    else:
        forms[:, CONSTANT] *= unit
    forms[:, PRODUCT] /= unit
    rows, first = label_rows(draws)
    return RatioProblem(
        rows,
        int(first[-1]),
        first,
        np.diff(potential, append=potential[-1]),
        potential,
        forms,
        limit,
    )
