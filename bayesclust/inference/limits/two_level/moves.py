"""Moves on two levels beyond passes: components merge, single items move with all centres at their best, ties are broken.

Making one component of a and b, where b is, changes J by

    n_a D(m_a, m) + n_b D(m_b, m) - lambda_within + answers(a in the cluster of b) - answers(a where
    it is),

m their common mean; what a costs where it is includes lambda where it is alone in its cluster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust.inference.limits import rdp_means
from bayesclust.inference.limits.answers import Xi
from bayesclust.inference.limits.passes import answer_costs
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution, means
from bayesclust.inference.limits.search import MOST_TO_MERGE, ROUNDING, merge, merge_with
from bayesclust.inference.limits.two_level.components import options, pose_components
from bayesclust.typing import BoolArray, FloatArray, IntArray


class Walls(NamedTuple):
    """In the place of answers: merges within a cluster change nothing for them, and others are ruled out."""

    clusters: IntArray  # (n,)

    def between(self, labels: IntArray, n_components: int, xi: Any) -> FloatArray:
        """Return 0 for components of one cluster and infinity for others, shape (M, M)."""
        of = np.full(n_components, -1)
        of[labels] = self.clusters
        return np.where(of[:, None] == of, 0.0, np.inf)


def merge_within(problem: Problem, solution: Solution, xi: Xi) -> tuple[IntArray, IntArray]:
    """Merge components of one cluster while that lowers J; returns components without gaps and their owners."""
    # all that merges ask of answers
    walls: Any = Walls(solution.clusters)
    inside = problem._replace(graph=walls)
    return compact(merge(inside, solution.labels, solution.centers, xi), solution.clusters)


def compact(labels: IntArray, clusters: IntArray) -> tuple[IntArray, IntArray]:
    """Number components and clusters without gaps; returns the components of the items and the owners of components."""
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    return numbers, np.unique(clusters[first], return_inverse=True)[1]


def join(problem: Problem, price: float, solution: Solution, xi: Xi) -> tuple[IntArray, IntArray]:
    """Make one component of the two, of whatever clusters, for which J falls most, if it falls at all."""
    labels, owner, centers = solution.labels, solution.owner, solution.centers
    assert owner is not None
    count = len(centers)
    if not 1 < count <= MOST_TO_MERGE:
        return labels, owner
    sizes = np.bincount(labels).astype(np.float64)
    costs = options(*pose_components(problem.graph, xi, labels, count, price), owner)
    change = costs[:, owner] - costs[np.arange(count), owner][:, None]
    for a in range(count):
        change[a] += merge_with(problem, centers, sizes, a)
    np.fill_diagonal(change, np.inf)
    a, b = divmod(int(np.argmin(change)), count)
    if not change[a, b] < -ROUNDING * problem.penalty:
        return labels, owner
    return compact(
        np.where(labels == a, b, labels), np.where(labels == a, owner[b], solution.clusters)
    )


def refine(
    problem: Problem, price: float, solution: Solution, xi: Xi, max_iter: int = 300
) -> tuple[IntArray, IntArray]:
    """Move single items where J falls most, all centres at their best, as `bayesclust.inference.limits.search.refine`.

    Parameters
    ----------
    problem : Problem
    price : float
    solution : Solution
    xi : (float, float) or (codes, 5) array
    max_iter : int, default 300
        Most passes over the items.

    Returns
    -------
    labels : (n,) array of int
        Components without gaps.
    owner : (M,) array of int
        Their clusters, without gaps.
    """
    labels, clusters = solution.labels.copy(), solution.clusters.copy()
    for _ in range(max_iter):
        moved = False
        for item in range(len(labels)):
            # the item as a component that comes last, in a cluster that comes last
            was, here = labels[item], clusters[item]
            labels[item], clusters[item] = labels.max() + 1, clusters.max() + 1
            numbers, centers = means(problem.points, labels)
            change = _choices(problem, price, numbers, clusters, centers, item, xi)
            last = len(centers) - 1
            there = np.flatnonzero(labels == was)
            where = (
                numbers[there[0]]
                if len(there)
                else last + here
                if (clusters == here).any()
                else len(change) - 1
            )
            best = int(np.argmin(change))
            if change[best] < change[where] - ROUNDING * problem.penalty:
                where, moved = best, True
            if where < last:
                clusters[item] = clusters[np.flatnonzero(numbers == where)[0]]
            elif where < len(change) - 1:
                clusters[item] = where - last
            numbers[item] = min(where, last)
            labels, clusters = numbers, np.unique(clusters, return_inverse=True)[1]
        if not moved:
            break
    return compact(labels, clusters)


def _choices(
    problem: Problem,
    price: float,
    labels: IntArray,
    clusters: IntArray,
    centers: FloatArray,
    item: int,
    xi: Xi,
) -> FloatArray:
    """What J has of an item, less lambda_within, in each component, as one of its own in each cluster, and by itself."""
    last, count = len(centers) - 1, int(clusters[item])
    owner = np.empty(len(centers), dtype=np.int64)
    owner[labels] = clusters
    answers = answer_costs(problem.graph, xi, clusters, item, count + 1)[:count]
    there = np.isin(np.arange(count), clusters)
    joined = (
        merge_with(problem, centers, np.bincount(labels).astype(np.float64), last)[:last]
        + answers[owner[:last]]
    )
    return np.concatenate([joined, np.where(there, answers, np.inf), [price]])


def free_components(problem: Problem, price: float, solution: Solution, xi: Xi) -> IntArray:
    """Bring components that could be in several clusters at the same J to the nearest; returns the owners.

    Two components are as near as the boundary between them is to an item: the least, over the items
    of either, of D from the other's centre less D from their own. It is nearly 0 where the data run
    on from one to the other.

    Parameters
    ----------
    problem : Problem
    price : float
    solution : Solution
    xi : (float, float) or (codes, 5) array

    Returns
    -------
    (M,) array of int
        Clusters of the components, without gaps; those of the solution if no component is free.
    """
    labels, owner, count = solution.labels, solution.owner, len(solution.centers)
    assert owner is not None
    above, costs = pose_components(problem.graph, xi, labels, count, price)
    free = _free(options(above, costs, owner), owner, ROUNDING * problem.penalty)
    if not free.any() or count > MOST_TO_MERGE:
        return owner
    taken_out = np.unique(
        np.where(free, owner.max() + 1 + np.arange(count), owner), return_inverse=True
    )[1]
    divergences = problem.divergence.between(problem.points, solution.centers)
    divergences -= divergences[np.arange(len(labels)), labels][:, None]
    near = np.full((count, count), np.inf)
    np.minimum.at(near, labels, divergences)
    near = np.minimum(near, near.T)
    number = int(taken_out.max()) + 1
    apart = np.full((number, number), np.inf)
    np.minimum.at(apart, (taken_out[:, None], taken_out[None, :]), near)
    merged = merge(above, taken_out, np.zeros((number, 0)), costs, apart)
    return rdp_means.descend(above, merged, Schedule(costs)).labels


def _free(costs: FloatArray, owner: IntArray, least: float) -> BoolArray:
    """Which components cost the same in several clusters that there are, and not more than anywhere else."""
    now = costs[np.arange(len(owner)), owner][:, None]
    free: BoolArray = ((costs[:, :-1] <= now + least).sum(axis=1) > 1) & (
        costs[:, -1] >= now[:, 0] - least
    )
    return free
