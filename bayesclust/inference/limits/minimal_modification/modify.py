"""From data, a partition and constraints to the modified partition.

Anchors stand for parts of a cluster; super-instances move as one. Both are cut from hierarchies,
anchors from single linkage, which follows clusters of any shape, and super-instances from complete
linkage, whose groups are tight. Neither holds all distances between more than a few thousand items.
Moving a super-instance costs the distance of its items to the nearest anchor of the new cluster.
Under bounds of clusters every super-instance may move, else those with a named item alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin

from bayesclust.constraints.statements import Statement
from bayesclust.inference.limits.minimal_modification.program import (
    Bounds,
    Problem,
    Unsatisfiable,
    conflict,
    solve,
)
from bayesclust.inference.limits.passes import sum_by_cluster
from bayesclust.typing import FloatArray, IntArray

DENSE = 4000
"""Most items whose distances are all in memory: 0.2 GB."""
NEW_CLUSTER_FACTOR = 2.0


class Moves(NamedTuple):
    """What can be moved, and at which cost."""

    named: IntArray  # (s,) items that constraints name, or first ones of other super-instances
    groups: list[IntArray]  # their super-instances
    costs: FloatArray  # (s, K'), those of new clusters last
    typical: float  # median distance of an item of theirs to the nearest other cluster


class Modification(NamedTuple):
    """A modified partition."""

    labels: IntArray  # (n,)
    cost: float  # distance of the items that moved to the anchors they moved to
    objective: float  # with the weights of violated soft constraints
    bound: float
    optimal: bool


def count_of(number: int, share: float) -> int:
    """How many groups a share of a cluster's items makes: at least one."""
    # 0.3 * 10 is a little more than 3
    return max(1, math.ceil(round(share * number, 9)))


def find_anchors(X: FloatArray, labels: IntArray, share: float) -> tuple[IntArray, IntArray]:
    """Anchors (a,) and their clusters: of each part by single linkage the item nearest the mean."""
    # `share` is the number of parts per item of a cluster; at 0 every cluster has one anchor.
    items, owners = [], []
    for cluster in np.unique(labels).tolist():
        members = np.flatnonzero(labels == cluster)
        parts = _single(X[members], count_of(len(members), share))
        found = members[_nearest_means(X[members], parts)]
        items.append(found)
        owners.append(np.full(len(found), cluster, dtype=np.int64))
    return np.concatenate(items), np.concatenate(owners)


def _cut(points: Any, number: int, **how: Any) -> IntArray:
    """Cut points, or distances, into so many parts by linkage."""
    if number in (1, len(points)):
        return np.arange(len(points)) % number
    cut = AgglomerativeClustering(n_clusters=number, **how).fit(points)
    return np.asarray(cut.labels_, dtype=np.int64)


def _single(points: FloatArray, number: int) -> IntArray:
    if number == 1 or len(points) > DENSE:
        return _cut(points, number, linkage="single")
    # a product of matrices gives all distances sooner; linkage depends on their order alone
    distance = euclidean_distances(points, squared=True)
    return _cut(distance, number, linkage="single", metric="precomputed")


def _nearest_means(points: FloatArray, parts: IntArray) -> IntArray:
    """The point nearest the mean of each part: its medoid under squared distance."""
    sums, sizes = sum_by_cluster(points, parts, int(parts.max()) + 1)
    distance = ((points - (sums / sizes[:, None])[parts]) ** 2).sum(axis=1)
    order = np.lexsort((distance, parts))
    return order[np.searchsorted(parts[order], np.arange(len(sizes)))]


def find_super_instances(
    X: FloatArray, labels: IntArray, named: IntArray, share: float, every: bool = False
) -> list[IntArray]:
    """Return, for each of the named items, the items that move with it, in increasing order."""
    # Complete linkage cuts a cluster, halved first if over `DENSE` items, into groups, `share` of
    # its items in number, none with two named items; if `every`, groups without one come last.
    group_of: dict[int, IntArray] = {}
    others: list[IntArray] = []
    is_named = np.zeros(len(X), dtype=np.bool_)
    is_named[named] = True
    for cluster in np.unique(labels if every else labels[named]).tolist():
        for members in _halved(X, np.flatnonzero(labels == cluster)):
            inside = np.flatnonzero(is_named[members])
            if len(inside) or every:
                parts = _complete(X[members], inside, count_of(len(members), share))
                group_of |= {int(members[i]): members[parts == parts[i]] for i in inside}
                rest = np.setdiff1d(parts, parts[inside]) if every else ()
                others += [members[parts == part] for part in rest]
    return [*(group_of[int(item)] for item in named), *others]


def _halved(X: FloatArray, members: IntArray) -> list[IntArray]:
    if len(members) <= DENSE:
        return [members]
    points, half = X[members], len(members) // 2
    order = np.argsort(points[:, points.var(axis=0).argmax()], kind="stable")
    return _halved(X, np.sort(members[order[:half]])) + _halved(X, np.sort(members[order[half:]]))


def _complete(points: FloatArray, named: IntArray, number: int) -> IntArray:
    number = max(number, len(named))
    if number == len(points):
        return np.arange(number)
    distance = euclidean_distances(points, squared=True)
    # complete linkage hands the largest distance on: no group with two named items is made before
    # all else is joined
    endless = 4 * distance.max() + 1
    distance[np.ix_(named, named)] = endless
    distance[named, named] = 0
    return _cut(distance, number, linkage="complete", metric="precomputed")


def possible_moves(
    X: FloatArray,
    labels: IntArray,
    named: IntArray,
    *,
    anchors: float,
    super_instances: float,
    new_clusters: int,
    far: float | None,
    every: bool = False,
) -> Moves:
    """Super-instances of the named items, or all, and what moving them to every cluster costs."""
    # `far` is the distance to a new cluster; the two shares are of the items of a cluster.
    # products of matrices would lose what is small beside the place of the data; a mean rounds
    X = X - np.median(X, axis=0)
    items, owners = find_anchors(X, labels, anchors)
    groups = find_super_instances(X, labels, named, super_instances, every)
    first = np.array([group[0] for group in groups[len(named) :]], dtype=np.int64)
    named = np.concatenate([named, first])
    theirs = np.concatenate([np.empty(0, dtype=np.int64), *groups])
    distance = np.full((len(theirs), int(labels.max()) + 1), np.inf)
    for cluster in np.unique(owners).tolist() if len(theirs) else []:
        own = X[items[owners == cluster]]
        # products of matrices find the anchor quickly; its distance is then taken without their
        # cancellation
        nearest = own[pairwise_distances_argmin(X[theirs], own)]
        distance[:, cluster] = np.sqrt(((X[theirs] - nearest) ** 2).sum(axis=1))
    elsewhere = distance.copy()
    elsewhere[np.arange(len(theirs)), labels[theirs]] = np.inf
    nearest = elsewhere.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    if far is None:
        far = NEW_CLUSTER_FACTOR * float(distance[np.isfinite(distance)].max(initial=0.0))
    costs = np.column_stack([distance, np.full((len(theirs), new_clusters), far)])
    if len(named):
        begins = np.cumsum([0, *(len(group) for group in groups[:-1])])
        costs = np.add.reduceat(costs, begins, axis=0)
        costs[np.arange(len(groups)), labels[named]] = 0.0
    return Moves(named, groups, costs, float(np.median(nearest)) if len(nearest) else 0.0)


def bounds_of(
    X: FloatArray, groups: Sequence[IntArray], least: int, most: int, diameter: float
) -> Bounds:
    """Bounds on super-instances, refused where one of these is wider than a cluster may be."""
    order = np.concatenate(groups)
    begins = np.cumsum([0, *(len(group) for group in groups[:-1])])
    far = []
    for g, group in enumerate(groups) if diameter < np.inf else ():
        widest = np.maximum.reduceat(cdist(X[group], X[order]).max(axis=0), begins)
        if widest[g] > diameter:
            raise ValueError(
                f"max_diameter={diameter:g} is less than the {widest[g]:.6g} between two of the "
                f"{len(group)} items of one super-instance: raise it, or super_instances (1 moves "
                "every item by itself)."
            )
        far += [(g, other) for other in np.flatnonzero(widest > diameter).tolist() if other > g]
    sizes = np.array(list(map(len, groups)), dtype=np.int64)
    return Bounds(sizes, least, most, np.array(far, dtype=np.int64).reshape(-1, 2))


def named_items(statements: Sequence[Statement]) -> IntArray:
    """The items that statements are about, in increasing order."""
    return np.array(sorted(set(chain.from_iterable(s.items for s in statements))), dtype=np.int64)


def modify(
    labels: IntArray,
    moves: Moves,
    statements: Sequence[Statement],
    weights: FloatArray,
    share: float,
    until: float,
    bounds: Bounds | None = None,
) -> Modification:
    """The partition of least cost under m statements in which only super-instances move."""
    # Hard statements have infinite `weights` (m,), and at least `share` of them must hold. If too
    # few can, `Unsatisfiable` has an irreducible set of rows that cannot all hold.
    if not statements and bounds is None:
        return Modification(labels.copy(), 0.0, 0.0, 0.0, True)
    place = np.full(len(labels), -1, dtype=np.int64)
    place[moves.named] = np.arange(len(moves.named))
    hard = int(np.isinf(weights).sum())
    spare = hard - count_of(hard, share) if hard else 0
    places = place.tolist()
    renamed = [statement.renamed(places) for statement in statements]
    problem = Problem(moves.costs, renamed, weights, spare, bounds)
    try:
        solution = solve(problem, until)
    except Unsatisfiable as error:
        raise Unsatisfiable(conflict(problem, error.rows, until)) from None
    modified = labels.copy()
    for group, value in zip(moves.groups, solution.values.tolist(), strict=True):
        modified[group] = value
    cost = float(moves.costs[np.arange(len(moves.costs)), solution.values].sum())
    return Modification(modified, cost, solution.objective, solution.bound, solution.optimal)
