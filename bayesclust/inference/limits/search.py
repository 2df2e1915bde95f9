"""Better local minima of the RDP-means objective: merges, moves of single items, and restarts.

Passes over single items rarely undo a cluster too many, since no member gains by leaving alone.
Making one cluster of two changes J by

    n_a D(m_a, m) + n_b D(m_b, m) - xi1 #{may-links between a and b} + xi2 #{may-not-links
    between} - lambda,

m their common mean, so good merges are found without a look at the data. Of clusters with several
centres, making one component of a and b, where b is, changes J by

    n_a D(m_a, m) + n_b D(m_b, m) - lambda_within + answers(a in the cluster of b) - answers(a where
    it is),

where a's cost includes lambda if it is alone in its cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.entailment import by_first
from bayesclust.inference.limits.answers import Xi, answer_costs, is_additive, largest
from bayesclust.inference.limits.rdp_means import (
    Problem,
    Schedule,
    Solution,
    descend,
    means,
    pose_components,
)
from bayesclust.typing import FloatArray, IntArray

MOST_TO_MERGE = 2000
"""The table of all pairs of clusters is made up to this many clusters."""
CELLS = 2**16
"""Coordinates of merged clusters that are in memory at a time."""
ROUNDING = 1e-9
"""Changes of J by less than this share of the penalty are rounding."""
MOST_TO_REFINE = 1000
"""Items are moved with their means up to this many items: each move looks at all points."""

Grouped = tuple[IntArray, IntArray]
"""Centres of the items without gaps, (n,), and clusters of the centres without gaps, (M,)."""


def compact(labels: IntArray, clusters: IntArray) -> Grouped:
    """Number centres and clusters without gaps."""
    there = np.bincount(labels) > 0
    owner = np.zeros(len(there), dtype=np.int64)
    owner[labels] = clusters
    return (np.cumsum(there) - 1)[labels], np.unique(owner[there], return_inverse=True)[1]


def merge(
    problem: Problem, labels: IntArray, centers: FloatArray, xi: Xi, apart: FloatArray | None = None
) -> IntArray:
    """Merge the two clusters whose merging lowers J most, again and again while one does."""
    # Labels get gaps. Of merges that lower J alike, that of the nearest by `apart` (K, K) is made,
    # merged clusters being as near as their nearest parts.
    count = len(centers)
    if not 1 < count <= MOST_TO_MERGE:
        return labels
    centers = centers.copy()
    into = np.arange(count)
    sizes = np.bincount(labels, minlength=count).astype(np.float64)
    links = problem.graph.between(labels, count, xi)
    # what a triplet of three clusters costs after two merges is not the sum of what it costs after
    # either
    additive = is_additive(problem.graph)
    rounding = ROUNDING * abs(problem.penalty)
    change = merge_table(problem, centers, sizes) + links
    np.fill_diagonal(change, np.inf)
    while True:
        best = int(np.argmin(change))
        if apart is not None:
            as_good = change <= change.flat[best] + rounding
            best = int(np.argmin(np.where(as_good, apart, np.inf)))
        a, b = sorted(divmod(best, count))
        if not change[a, b] < -rounding:
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
        row = merge_with(problem, centers, sizes, slice(a, a + 1))[0] + links[a]
        row[gone | (np.arange(count) == a)] = np.inf
        change[a] = change[:, a] = row
        change[b] = change[:, b] = np.inf


def merge_with(problem: Problem, centers: FloatArray, sizes: FloatArray, a: slice) -> FloatArray:
    """How merges of the centres a with each one change J, answers left out, (A, K)."""
    weighted = sizes[:, None] * centers
    both = sizes[a, None] + sizes
    middle = (weighted[a, None] + weighted) / both[:, :, None]
    middle = middle.reshape(both.size, centers.shape[1])
    own = problem.divergence.paired(np.repeat(centers[a], len(centers), axis=0), middle)
    theirs = problem.divergence.paired(np.tile(centers, (len(both), 1)), middle)
    change: FloatArray = sizes[a, None] * own.reshape(both.shape)
    return change + sizes * theirs.reshape(both.shape) - problem.penalty


def merge_table(problem: Problem, centers: FloatArray, sizes: FloatArray) -> FloatArray:
    """How a merge of every two centres changes J, answers left out, (K, K)."""
    step = 1 + CELLS // (centers.size + 1)
    slices = [slice(a, a + step) for a in range(0, len(centers), step)]
    return np.concatenate([merge_with(problem, centers, sizes, part) for part in slices])


class Walls(NamedTuple):
    """Stand for answers where merges within a cluster are free, and others are ruled out."""

    clusters: IntArray  # (n,)

    def between(self, labels: IntArray, n_components: int, xi: Any) -> FloatArray:
        """0 for components of one cluster and infinity for others, (M, M)."""
        of = np.full(n_components, -1)
        of[labels] = self.clusters
        return np.where(of[:, None] == of, 0.0, np.inf)


def merge_centres(problem: Problem, solution: Solution, xi: Xi) -> Grouped:
    """Merge clusters of one centre, or components of one cluster, while that lowers J."""
    if not problem.several:
        # with gaps, which a descent closes where every centre is a cluster
        return merge(problem, solution.labels, solution.centers, xi), solution.owner
    walls: Any = Walls(solution.clusters)
    inside = problem._replace(graph=walls)
    return compact(merge(inside, solution.labels, solution.centers, xi), solution.clusters)


def regroup(problem: Problem, labels: IntArray, owner: IntArray, xi: Xi) -> IntArray:
    """Move components between clusters and merge clusters until neither lowers J; their owners."""
    above, costs = pose_components(problem, xi, labels, len(owner))
    return improve(above, owner, np.arange(int(owner.max()) + 1), costs).labels


def options(above: Problem, costs: FloatArray, owner: IntArray) -> FloatArray:
    """What J has of each component in every cluster, and last in one of its own, (M, K + 1)."""
    # Of a component that is alone, the cost of its cluster counts where it is.
    count = int(owner.max()) + 1
    found = np.full((len(owner), count + 1), above.penalty)
    for component in range(len(owner)):
        found[component, :count] = answer_costs(above.graph, costs, owner, component, count)
    alone = np.flatnonzero(np.bincount(owner)[owner] == 1)
    found[alone, owner[alone]] = above.penalty
    return found


def join(problem: Problem, solution: Solution, xi: Xi) -> Grouped:
    """Make one of the two components, of whatever clusters, for which J falls most, if it falls."""
    labels, owner, centers = solution.labels, solution.owner, solution.centers
    count = len(centers)
    if not 1 < count <= MOST_TO_MERGE:
        return labels, owner
    sizes = np.bincount(labels).astype(np.float64)
    costs = options(*pose_components(problem, xi, labels, count), owner)
    change = costs[:, owner] - costs[np.arange(count), owner][:, None]
    change += merge_table(problem, centers, sizes)
    np.fill_diagonal(change, np.inf)
    a, b = divmod(int(np.argmin(change)), count)
    if not change[a, b] < -ROUNDING * problem.penalty:
        return labels, owner
    joined = labels == a
    return compact(np.where(joined, b, labels), np.where(joined, owner[b], solution.clusters))


def refine(problem: Problem, solution: Solution, xi: Xi, max_iter: int = 300) -> Grouped:
    """Move single items where J falls most, all means at their best before and after."""
    # A pass misses moves that lower J, as m_k is drawn towards the items of the cluster. Here an
    # item is taken out, as a cluster of its own, and merged to where J falls most.
    labels, clusters = solution.labels, solution.clusters
    for _ in range(max_iter):
        moved = False
        for item in range(len(labels)):
            # the item as a centre that comes last, in a cluster that comes last
            apart, single = labels.copy(), clusters.copy()
            apart[item] = labels.max() + 1
            single[item] = clusters.max() + 1
            numbers, centers = means(problem.points, apart)
            change, chosen = _choices(problem, numbers, single, centers, item, xi)
            now = len(change) - 1
            if (apart == labels[item]).any():
                now = numbers[np.argmax(apart == labels[item])]
            elif problem.several and (single == clusters[item]).any():
                now = numbers[item] + clusters[item]
            best = int(np.argmin(change))
            if change[best] < change[now] - ROUNDING * abs(problem.penalty):
                moved = True
                numbers[item], single[item] = chosen[:, best]
                labels, clusters = numbers, np.unique(single, return_inverse=True)[1]
        if not moved:
            break
    return compact(labels, clusters)


def _choices(
    problem: Problem, labels: IntArray, clusters: IntArray, centers: FloatArray, item: int, xi: Xi
) -> tuple[FloatArray, IntArray]:
    """J of an item taken out for each centre and cluster it may have, and these, (2, choices)."""
    # J is less a centre's penalty. Choices are all other centres, then one of its own in each
    # cluster where there are several, and last one by itself.
    last = len(centers) - 1
    count = int(clusters[item])
    owner = np.empty(len(centers), dtype=np.int64)
    owner[labels] = clusters
    sizes = np.bincount(labels).astype(np.float64)
    joined = merge_with(problem, centers, sizes, slice(last, last + 1))[0, :last]
    answers = answer_costs(problem.graph, xi, clusters, item, count + 1)[:count]
    beside = np.where(problem.several & (np.bincount(clusters)[:count] > 0), answers, np.inf)
    change = np.concatenate([joined + answers[owner[:last]], beside, [problem.per_cluster]])
    centre = np.minimum(np.arange(len(change)), last)
    return change, np.stack([centre, np.append(owner[:last], np.arange(count + 1))])


def free_components(problem: Problem, solution: Solution, xi: Xi) -> IntArray:
    """Bring components that could be in several clusters at equal J to the nearest; the owners."""
    # Two components are as near as an item is to their boundary: the least, over the items of
    # either, of D from the other's centre less D from their own.
    labels, owner, count = solution.labels, solution.owner, len(solution.centers)
    least = ROUNDING * problem.penalty
    above, weights = pose_components(problem, xi, labels, count)
    costs = options(above, weights, owner)
    now = costs[np.arange(count), owner][:, None]
    # as cheap in several clusters, and not cheaper alone
    free = ((costs[:, :-1] <= now + least).sum(axis=1) > 1) & (costs[:, -1] >= now[:, 0] - least)
    if not free.any() or count > MOST_TO_MERGE:
        return owner
    apart_from_all = np.where(free, owner.max() + 1 + np.arange(count), owner)
    taken_out = np.unique(apart_from_all, return_inverse=True)[1]
    divergences = problem.divergence.between(problem.points, solution.centers)
    divergences -= divergences[np.arange(len(labels)), labels][:, None]
    near = np.full((count, count), np.inf)
    np.minimum.at(near, labels, divergences)
    near = np.minimum(near, near.T)
    number = int(taken_out.max()) + 1
    apart = np.full((number, number), np.inf)
    np.minimum.at(apart, (taken_out[:, None], taken_out[None, :]), near)
    merged = merge(above, taken_out, np.zeros((number, 0)), weights, apart)
    return descend(above, merged, Schedule(weights)).labels


def begin(problem: Problem, labels: IntArray, schedule: Schedule, max_iter: int = 300) -> Solution:
    """Descend from centres that answers group first, where a cluster may have several."""
    owner = None
    if problem.several:
        labels = means(problem.points, labels)[0]
        owner = regroup(problem, labels, np.arange(int(labels.max()) + 1), schedule.xi)
    return descend(problem, labels, schedule, max_iter, owner)


def improve(
    problem: Problem,
    labels: IntArray,
    owner: IntArray | None,
    xi: Xi,
    max_iter: int = 300,
    finely: bool = False,
) -> Solution:
    """Go down at fixed xi until no step lowers J; centres without owners are grouped first."""
    # If `finely`, also by single items with all means at their best; last, by `free_components`.
    fixed = Schedule(xi)
    if owner is None:
        solution = begin(problem, labels, fixed, max_iter)
    else:
        solution = descend(problem, labels, fixed, max_iter, owner)
    path = [solution.path]
    least = ROUNDING * abs(problem.penalty)
    settled = not problem.several
    while True:
        for numbers, owners in _proposals(problem, solution, xi, finely):
            if (numbers == solution.labels).all() and (owners == solution.owner).all():
                continue
            better = descend(problem, numbers, fixed, max_iter, owners)
            if better.objective < solution.objective - least:
                break
        else:
            if settled:
                return solution._replace(path=np.concatenate(path))
            settled = True
            owners = free_components(problem, solution, xi)
            better = descend(problem, solution.labels, fixed, max_iter, owners)
            if not better.objective <= solution.objective + least:
                return solution._replace(path=np.concatenate(path))
        solution = better
        path.append(solution.path)


def _proposals(problem: Problem, solution: Solution, xi: Xi, finely: bool) -> Iterator[Grouped]:
    """Centres and their clusters from which to descend."""
    labels, owner = solution.labels, solution.owner
    if problem.several:
        yield labels, regroup(problem, labels, owner, xi)
        yield labels, regroup(problem, labels, np.arange(len(owner)), xi)
    yield merge_centres(problem, solution, xi)
    if problem.several:
        yield join(problem, solution, xi)
    if finely:
        yield refine(problem, solution, xi)


def search(
    problem: Problem,
    schedule: Schedule,
    n_init: int = 1,
    max_iter: int = 300,
    rng: Generator | None = None,
    *,
    start: IntArray | None = None,
    finely: bool = True,
) -> Solution:
    """The best solution of several starts, clusters in the order of their first items."""
    # The first start is `start`, or TVClust's: one cluster, items in the order given. A quarter of
    # the others are partitions by the nearest of some random items, visited in random order. Their
    # ends are brought to the largest final xi, for J compares only at one xi. The remaining starts
    # are the best solution so far, disturbed at that xi. With several starts of up to a thousand
    # items every end is refined, if `finely`.
    n = len(problem.points)
    first = np.zeros(n, dtype=np.int64) if start is None else start
    ends = [begin(problem, first, schedule, max_iter)]
    others = n_init - 1 if rng is not None else 0
    finely = finely and others > 0 and n <= MOST_TO_REFINE
    if rng is not None:
        most = 2 * len(ends[0].centers)
        drawn = range((others + 3) // 4)
        ends += [_from_random_items(problem, most, schedule, max_iter, rng) for _ in drawn]
    final = max((end.xi for end in ends), key=largest)
    best: Solution | None = None
    for end in ends:
        best = _better(best, _improved(problem, end, final, max_iter, finely))
    assert best is not None
    if rng is not None:
        for _ in range(others - len(ends) + 1):
            end = _disturbed(problem, best.labels, final, max_iter, rng)
            best = _better(best, _improved(problem, end, final, max_iter, finely))
    rank, labels = by_first(best.labels)
    owner = by_first(best.owner[rank])[1]
    return best._replace(labels=labels, centers=best.centers[rank], owner=owner)


def _improved(problem: Problem, end: Solution, xi: Xi, max_iter: int, finely: bool) -> Solution:
    found = improve(problem, end.labels, end.owner, xi, max_iter, finely)
    path = np.concatenate([end.path, found.path])
    return found._replace(path=path, converged=end.converged and found.converged)


def _better(best: Solution | None, other: Solution) -> Solution:
    if best is None or other.objective < best.objective - 1e-9 * abs(best.objective):
        return other
    return best


def _in_order(
    problem: Problem, labels: IntArray, schedule: Schedule, max_iter: int, order: IntArray
) -> Solution:
    """Descend, visiting the items in the order given."""
    # items are walked in the order of memory: shuffling them once is faster than visiting them out
    # of order
    graph = problem.graph.reordered(order)
    shuffled = problem._replace(points=problem.points[order], phi=problem.phi[order], graph=graph)
    end = begin(shuffled, labels[order], schedule, max_iter)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = end.labels
    return end._replace(labels=back)


def _from_random_items(
    problem: Problem, most: int, schedule: Schedule, max_iter: int, rng: Generator
) -> Solution:
    n = len(problem.points)
    order = rng.permutation(n)
    seeds = problem.points[order[: rng.integers(1, min(n, most) + 1)]]
    labels = problem.divergence.between(problem.points, seeds).argmin(axis=1)
    return _in_order(problem, labels, schedule, max_iter, order)


def _disturbed(
    problem: Problem, labels: IntArray, xi: Xi, max_iter: int, rng: Generator
) -> Solution:
    n = len(labels)
    count = int(labels.max()) + 1
    few = rng.permutation(n)[: rng.integers(1, min(n, 2 * count + 8) + 1)]
    start = labels.copy()
    start[few] = rng.integers(0, count + max(1, len(few) // 2), len(few))
    return _in_order(problem, start, Schedule(xi), max_iter, rng.permutation(n))
