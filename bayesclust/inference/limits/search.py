"""Better local minima of the RDP-means objective: merges of clusters, and restarts.

Passes over single items rarely undo a cluster too many, since no member gains by leaving alone.
Making one cluster of two changes J by

    n_a D(m_a, m) + n_b D(m_b, m) - xi1 #{may-links between a and b} + xi2 #{may-not-links
    between} - lambda,

m their common mean, so good merges are found without a look at the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesclust.constraints.factor_graph import Sites
from bayesclust.inference.limits.answers import Xi, largest
from bayesclust.inference.limits.links import LinkGraph
from bayesclust.inference.limits.passes import answer_costs
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution, descend, means
from bayesclust.typing import FloatArray, IntArray

# the table of all pairs of clusters is made up to this many clusters
MOST_TO_MERGE = 2000
# changes of J by less than this share of the penalty are rounding
ROUNDING = 1e-9
# items are moved with their means up to this many items: each move looks at all points
MOST_TO_REFINE = 1000


def merge(
    problem: Problem, labels: IntArray, centers: FloatArray, xi: Xi, apart: FloatArray | None = None
) -> IntArray:
    """Merge the two clusters whose merging lowers J most, again and again while one does.

    Parameters
    ----------
    problem : Problem
    labels : (n,) array of int
    centers : (K, d) array
        The means of the clusters.
    xi : (float, float) or (codes, 5) array
    apart : (K, K) array, optional
        How far clusters are from one another. Of merges that lower J alike, that of the nearest is
        made; merged clusters are as near as their nearest parts.

    Returns
    -------
    (n,) array of int
        Labels, with gaps where clusters were merged; the labels given if no merge lowers J.
    """
    count = len(centers)
    if not 1 < count <= MOST_TO_MERGE:
        return labels
    centers, into = centers.copy(), np.arange(count)
    sizes = np.bincount(labels, minlength=count).astype(np.float64)
    links = problem.graph.between(labels, count, xi)
    # what a triplet of three clusters costs after two merges is not the sum of what it costs after
    # either
    additive = isinstance(problem.graph, LinkGraph)
    if isinstance(problem.graph, Sites):
        additive = bool((problem.graph.member[:, 2] < 0).all())
    change = np.full((count, count), np.inf)
    for a in range(1, count):
        change[a, :a] = change[:a, a] = merge_with(problem, centers, sizes, a)[:a] + links[a, :a]
    while True:
        best = int(np.argmin(change))
        if apart is not None:
            best = int(
                np.argmin(
                    np.where(
                        change <= change.flat[best] + ROUNDING * abs(problem.penalty), apart, np.inf
                    )
                )
            )
        a, b = sorted(divmod(best, count))
        if not change[a, b] < -ROUNDING * abs(problem.penalty):
            return into[labels]
        if apart is not None:
            apart = apart.copy()
            apart[a] = apart[:, a] = np.minimum(apart[a], apart[b])
        centers[a] = (sizes[a] * centers[a] + sizes[b] * centers[b]) / (sizes[a] + sizes[b])
        sizes[a] += sizes[b]
        into[into == b] = a
        if additive:
            links[a] += links[b]
            links[:, a] = links[a]
        else:
            links = problem.graph.between(into[labels], count, xi)
        gone = np.isin(np.arange(count), into, invert=True)
        row = merge_with(problem, centers, sizes, a) + links[a]
        row[gone | (np.arange(count) == a)] = np.inf
        change[a] = change[:, a] = row
        change[b] = change[:, b] = np.inf


def merge_with(problem: Problem, centers: FloatArray, sizes: FloatArray, a: int) -> FloatArray:
    """How a merge of cluster a with each other one changes J, links left out."""
    divergence, both = problem.divergence, (sizes + sizes[a])[:, None]
    middle = (sizes[:, None] * centers + sizes[a] * centers[a]) / both
    mine = divergence.paired(np.broadcast_to(centers[a], centers.shape), middle)
    change: FloatArray = (
        sizes[a] * mine + sizes * divergence.paired(centers, middle) - problem.penalty
    )
    return change


def refine(problem: Problem, labels: IntArray, xi: Xi, max_iter: int = 300) -> IntArray:
    """Move single items where J falls most, all means at their best before and after.

    A pass compares D(x, m_k), and m_k is drawn towards the items of the cluster, so that it misses
    moves that lower J. Here an item is taken out, as a cluster of its own, and merged to where J
    falls most, as `merge` has it.

    Parameters
    ----------
    problem : Problem
    labels : (n,) array of int
        Without gaps.
    xi : (float, float) or (codes, 5) array
    max_iter : int, default 300
        Most passes over the items.

    Returns
    -------
    (n,) array of int
        Labels, with gaps where clusters were emptied.
    """
    labels = labels.copy()
    for _ in range(max_iter):
        _, labels = np.unique(labels, return_inverse=True)
        moved = False
        for item in range(len(labels)):
            own, count = labels[item], int(labels.max()) + 1
            labels[item] = count
            numbers, centers = means(problem.points, labels)
            change = merge_with(
                problem, centers, np.bincount(numbers).astype(np.float64), numbers[item]
            )
            change += answer_costs(problem.graph, xi, numbers, item, len(centers))
            change[numbers[item]] = 0.0
            # where the item was; alone, it was where it is now
            was = numbers[item] if own not in labels else own
            best = int(np.argmin(change))
            if change[best] < change[was] - ROUNDING * abs(problem.penalty):
                was, moved = best, True
            labels = numbers
            labels[item] = was
        if not moved:
            break
    return labels


class Steps(NamedTuple):
    """How a search goes down: for plain clusters `PLAIN`, for clusters of several centres those of `two_level`."""

    descend: Callable[[Problem, IntArray, Schedule, int], Solution]  # from labels, along a schedule
    improve: Callable[
        [Problem, Solution, Xi, int, bool], Solution
    ]  # from an end, at fixed xi; item by item if told so


def improve(problem: Problem, labels: IntArray, xi: Xi, max_iter: int = 300) -> Solution:
    """Alternate passes over items and merges of clusters until neither lowers J at fixed xi."""
    solution = descend(problem, labels, Schedule(xi), max_iter)
    path = solution.path
    while True:
        merged = merge(problem, solution.labels, solution.centers, xi)
        if (merged == solution.labels).all():
            return solution._replace(path=path)
        better = descend(problem, merged, Schedule(xi), max_iter)
        if not better.objective < solution.objective:  # the gain of the merge was rounding
            return solution._replace(path=path)
        solution, path = better, np.concatenate([path, better.path])


def search(
    problem: Problem,
    schedule: Schedule,
    n_init: int = 1,
    max_iter: int = 300,
    rng: np.random.Generator | None = None,
    *,
    start: IntArray | None = None,
    shuffle: bool = False,
    steps: Steps | None = None,
) -> Solution:
    """Return the best solution of several starts.

    The first start is `start`, or TVClust's: one cluster, items in the order given. A quarter of
    the others visit the items in random order from the partition by the nearest of up to twice as
    many random items as the first solution has clusters. Where xi grows, the ends of all these are
    brought to the largest final xi, for J compares only at one xi. The remaining starts are the
    best solution so far, disturbed at that xi: a few random items are dealt anew to its clusters
    and to new ones, and passes in random order follow. With more than one start, and up to a
    thousand items, every end is refined. In random problems of up to ten items, twenty starts find
    the best of all partitions in more than 95 of 100.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule
    n_init : int, default 1
        Number of starts.
    max_iter : int, default 300
        Most passes of a descent.
    rng : numpy Generator, optional
        Needed for more than one start, and to shuffle.
    start : (n,) array of int, optional
        Labels 0 to K - 1 for the first start; by default all items are in one cluster.
    shuffle : bool, default False
        Visit the items in one random order, in the first start too.
    steps : Steps, optional
        How each start goes down; None is `PLAIN`.

    Returns
    -------
    Solution
        With clusters in the order of their first items, and a path that joins the descent and the
        improvements.
    """
    n, steps = len(problem.points), PLAIN if steps is None else steps
    first = np.zeros(n, dtype=np.int64) if start is None else start
    order = rng.permutation(n) if shuffle and rng is not None else None
    ends = [_in_random_order(problem, first, schedule, max_iter, order, steps)]
    others = n_init - 1 if rng is not None else 0
    finely = others > 0 and n <= MOST_TO_REFINE
    if rng is not None:
        most = 2 * len(ends[0].centers)
        ends += [
            _from_random_items(problem, most, schedule, max_iter, rng, steps)
            for _ in range((others + 3) // 4)
        ]
    final = max((end.xi for end in ends), key=largest)
    best: Solution | None = None
    for end in ends:
        best = _better(best, steps.improve(problem, end, final, max_iter, finely))
    assert best is not None
    if rng is not None:
        for _ in range(others - len(ends) + 1):
            end = _disturbed(problem, best.labels, final, max_iter, rng, steps)
            best = _better(best, steps.improve(problem, end, final, max_iter, finely))
    return _in_order(best)


def _improved(problem: Problem, end: Solution, xi: Xi, max_iter: int, finely: bool) -> Solution:
    solution = improve(problem, end.labels, xi, max_iter)
    while finely:
        refined = refine(problem, solution.labels, xi, max_iter)
        better = improve(problem, means(problem.points, refined)[0], xi, max_iter)
        if not better.objective < solution.objective - ROUNDING * problem.penalty:
            break
        solution = better._replace(path=np.concatenate([solution.path, better.path]))
    converged = end.converged and solution.converged
    return solution._replace(path=np.concatenate([end.path, solution.path]), converged=converged)


PLAIN = Steps(descend, _improved)


def _better(best: Solution | None, other: Solution) -> Solution:
    return (
        best
        if best is not None and other.objective >= best.objective - 1e-9 * abs(best.objective)
        else other
    )


def _in_random_order(
    problem: Problem,
    labels: IntArray,
    schedule: Schedule,
    max_iter: int,
    order: IntArray | None,
    steps: Steps,
) -> Solution:
    """Descend, visiting the items in the order given."""
    if order is None:
        return steps.descend(problem, labels, schedule, max_iter)
    # items are walked in the order of memory: shuffling them once is faster than visiting them out
    # of order
    graph = problem.graph.reordered(order)
    shuffled = problem._replace(points=problem.points[order], phi=problem.phi[order], graph=graph)
    end = steps.descend(shuffled, labels[order], schedule, max_iter)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = end.labels
    return end._replace(labels=back)


def _from_random_items(
    problem: Problem,
    most: int,
    schedule: Schedule,
    max_iter: int,
    rng: np.random.Generator,
    steps: Steps,
) -> Solution:
    n = len(problem.points)
    order = rng.permutation(n)
    seeds = problem.points[order[: rng.integers(1, min(n, most) + 1)]]
    labels = problem.divergence.between(problem.points, seeds).argmin(axis=1)
    return _in_random_order(problem, labels, schedule, max_iter, order, steps)


def _disturbed(
    problem: Problem,
    labels: IntArray,
    xi: Xi,
    max_iter: int,
    rng: np.random.Generator,
    steps: Steps,
) -> Solution:
    n, count = len(labels), int(labels.max()) + 1
    few = rng.permutation(n)[: rng.integers(1, min(n, 2 * count + 8) + 1)]
    start = labels.copy()
    start[few] = rng.integers(0, count + max(1, len(few) // 2), len(few))
    return _in_random_order(problem, start, Schedule(xi), max_iter, rng.permutation(n), steps)


def _in_order(solution: Solution) -> Solution:
    """Number clusters, and components where there are such, by their first items."""
    rank, labels = _by_first(solution.labels)
    solution = solution._replace(labels=labels, centers=solution.centers[rank])
    return (
        solution
        if solution.owner is None
        else solution._replace(owner=_by_first(solution.owner[rank])[1])
    )


def _by_first(labels: IntArray) -> tuple[IntArray, IntArray]:
    """The labels there are, by their first appearance, and the labels in that order's numbers."""
    there, first, number = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(first)
    return there[rank], np.argsort(rank)[number]
