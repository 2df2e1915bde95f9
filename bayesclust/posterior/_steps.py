"""What the search for the best partition asks of its tables: one set of compiled functions for every kind of loss.

A kind of loss has two named tuples, a *problem*, which all runs share, and a *state*, an estimate
under construction. Both need some fields in common. A problem: `rows` (n, B), the row of the label
of item i in draw b, where every label of every draw has a row of its own; `n_rows`; `limit`, the
largest number of clusters; and a method `new_state(capacity)`, which gives a state without clusters
and with no item allocated. A state: `labels` (n,), -1 where not yet allocated; `sizes` (capacity,);
`counts` (capacity, n_rows), the items of each cluster by row; `used` (1,), clusters 0 to used - 1
being not empty; and a method `copy_sums(source)`, which copies what a state holds beside these from
one of at most the same capacity. Each kind registers its own version of the functions below by
`bayesclust._numba.implements`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import device, generic, kernel
from bayesclust.typing import NDArray


@generic
def objective(problem: Any, state: Any) -> Any:
    """Return what the allocated items cost, up to what no estimate changes; lower is better."""


@generic
def set_count(problem: Any, state: Any, i: int, k: int, step: int) -> None:
    """Count item i into (step = 1) or out of (step = -1) cluster k."""


@generic
def forget(problem: Any, state: Any, k: int, last: int) -> None:
    """Take cluster k out of what a state holds beside labels, sizes and counts, and let `last` take its place there."""


@generic
def visit(problem: Any, state: Any, i: int) -> Any:
    """Put item i where it costs least, and tell whether that moved it; ties keep it where it is."""


@kernel
def allocate(problem: Any, state: Any, labels: NDArray[Any]) -> None:
    """Fill a state without clusters; items labelled -1 are left out."""
    for i in range(labels.size):
        if labels[i] >= 0:
            k: Any = np.int64(labels[i])
            state.used[0] = max(state.used[0], k + 1)
            set_count(problem, state, i, k, 1)
            state.labels[i] = k


@device(no_refcount=True)
def put(problem: Any, state: Any, i: int, k: int) -> None:
    """Allocate item i to cluster k; k = used opens a cluster."""
    if k == state.used[0]:
        state.used[0] += 1
    set_count(problem, state, i, k, 1)
    state.labels[i] = k


@kernel(no_refcount=True)
def close(problem: Any, state: Any, k: int) -> None:
    """Drop cluster k, whose items have left it; the last cluster takes its number."""
    last = state.used[0] - 1
    forget(problem, state, k, last)
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


@device(no_refcount=True)
def take(problem: Any, state: Any, i: int) -> None:
    """Take item i out of its cluster, and close the cluster if that empties it."""
    k: Any = np.int64(state.labels[i])
    state.labels[i] = -1
    if state.sizes[k] == 1:
        close(problem, state, k)
    else:
        set_count(problem, state, i, k, -1)


@kernel
def go_round(
    problem: Any, state: Any, items: NDArray[Any], first: int, last: int, quiet: int
) -> tuple[int, int]:
    """Make visits number first to last - 1, to items in turn, until none would move or a cluster has no room.

    Returns the number of the next visit, which is `last` when all is done, and how many in a row
    have moved nothing.
    """
    for number in range(first, last):
        if state.used[0] == state.sizes.size and state.used[0] < problem.limit:
            return number, quiet
        quiet = 0 if visit(problem, state, items[number % items.size]) else quiet + 1
        if quiet == items.size:
            break
    return last, quiet


@kernel
def cost(problem: Any, state: Any) -> Any:
    """Return `objective`."""
    return objective(problem, state)
