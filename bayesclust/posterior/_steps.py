"""What the search for the best partition asks of its tables: one set of compiled functions for every kind of loss.

A kind of loss has two named tuples, a *problem*, which all runs share, and a *state*, an estimate under construction. Both
need some fields in common. A problem: `rows` (n, B), the row of the label of item i in draw b, where every label of every
draw has a row of its own; `n_rows`; `limit`, the largest number of clusters. A state: `labels` (n,), -1 where not yet
allocated; `sizes` (capacity,); `counts` (capacity, n_rows), the items of each cluster by row; `used` (1,), clusters 0 to
used - 1 being not empty. Each kind registers its own version of the functions below by `bayesclust._jit.implements`.
"""

from __future__ import annotations

from typing import Any

from bayesclust._jit import kernel


def new_state(problem: Any, capacity: int) -> Any:
    """Return a state without clusters and with no item allocated."""
    raise TypeError("new_state runs in compiled code only")


def copy_sums(target: Any, source: Any) -> None:
    """Copy what a state holds beside labels, sizes, counts and used; `target` may have larger capacity."""
    raise TypeError("copy_sums runs in compiled code only")


def objective(problem: Any, state: Any) -> Any:
    """Return what the allocated items cost, up to what no estimate changes; lower is better."""
    raise TypeError("objective runs in compiled code only")


def set_count(problem: Any, state: Any, i: int, k: int, step: int) -> None:
    """Count item i into (step = 1) or out of (step = -1) cluster k."""
    raise TypeError("set_count runs in compiled code only")


def forget(problem: Any, state: Any, k: int, last: int) -> None:
    """Take cluster k out of what a state holds beside labels, sizes and counts, and let `last` take its place there."""
    raise TypeError("forget runs in compiled code only")


def visit(problem: Any, state: Any, i: int) -> bool:
    """Put item i where it costs least, and tell whether that moved it; ties keep it where it is."""
    raise TypeError("visit runs in compiled code only")


@kernel
def copy_into(target: Any, source: Any) -> None:
    """Make `target`, of at least the same capacity, equal to `source`."""
    used, capacity = max(source.used[0], target.used[0]), source.sizes.size
    target.labels[:] = source.labels
    target.sizes[:capacity] = source.sizes
    target.counts[:used] = source.counts[:used]
    copy_sums(target, source)
    target.used[0] = source.used[0]


@kernel
def grown(problem: Any, state: Any) -> Any:
    """Return the same state with room for twice as many clusters."""
    larger = new_state(problem, 2 * state.sizes.size)
    copy_into(larger, state)
    return larger


@kernel
def put(problem: Any, state: Any, i: int, k: int) -> None:
    """Allocate item i to cluster k; k = used opens a cluster."""
    if k == state.used[0]:
        state.used[0] += 1
    set_count(problem, state, i, k, 1)
    state.labels[i] = k


@kernel
def close(problem: Any, state: Any, k: int) -> None:
    """Drop cluster k, whose items have left it; the last cluster takes its number."""
    last = state.used[0] - 1
    forget(problem, state, k, last)
    if k != last:
        state.sizes[k] = state.sizes[last]
        state.counts[k] = state.counts[last]
        for i in range(state.labels.size):
            if state.labels[i] == last:
                state.labels[i] = k
    state.sizes[last] = 0
    state.counts[last] = 0
    state.used[0] = last


@kernel
def take(problem: Any, state: Any, i: int) -> None:
    """Take item i out of its cluster, and close the cluster if that empties it."""
    k = state.labels[i]
    state.labels[i] = -1
    if state.sizes[k] == 1:
        close(problem, state, k)
    else:
        set_count(problem, state, i, k, -1)
