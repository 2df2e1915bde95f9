"""Groups inside clusters: anchors, which stand for parts of a cluster, and super-instances, which move as one.

Both are cut from hierarchies, anchors from single linkage, which follows clusters of any shape, and
super-instances from complete linkage, whose groups are tight. Neither holds all distances between
more than a few thousand items.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import euclidean_distances

from bayesclust.constraints.entailment import must_link_components
from bayesclust.typing import FloatArray, IntArray

DENSE = 4000
"""Most items of which all distances are held: 0.2 GB."""


class Anchors(NamedTuple):
    """Items that stand for parts of clusters."""

    items: IntArray  # (a,)
    cluster: IntArray  # (a,)


def share_of(number: int, share: float) -> int:
    """Return how many groups a share of a cluster's items makes: at least one."""
    # 0.3 * 10 is a little more than 3
    return max(1, math.ceil(round(share * number, 9)))


def find_anchors(X: FloatArray, labels: IntArray, share: float) -> Anchors:
    """Cut each cluster by single linkage, and let the item nearest its mean stand for each part.

    Parameters
    ----------
    X : (n, d) array
    labels : (n,) array of int
        Clusters, possibly with gaps in their numbers.
    share : float in [0, 1]
        Parts per item of a cluster; with 0 every cluster has one anchor, with 1 all items are
        anchors.

    Returns
    -------
    Anchors

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [20.0]])
    >>> find_anchors(X, np.array([0, 0, 0, 0, 1]), share=0.5).items
    array([1, 3, 4])
    """
    items, owners = [], []
    for cluster in np.unique(labels).tolist():
        members = np.flatnonzero(labels == cluster)
        parts = _single(X[members], share_of(len(members), share))
        found = members[_nearest_means(X[members], parts)]
        items.append(found)
        owners.append(np.full(len(found), cluster, dtype=np.int64))
    return Anchors(np.concatenate(items), np.concatenate(owners))


def _single(points: FloatArray, number: int) -> IntArray:
    """Cut into parts by single linkage, in memory that is linear for many items."""
    if number == 1:
        return np.zeros(len(points), dtype=np.int64)
    if number == len(points):
        return np.arange(number)
    if len(points) <= DENSE:
        return _cut(euclidean_distances(points, squared=True), "single", number)
    parts: IntArray = (
        AgglomerativeClustering(n_clusters=number, linkage="single")
        .fit(points)
        .labels_.astype(np.int64)
    )
    return parts


def _cut(distance: FloatArray, method: Literal["single", "complete"], number: int) -> IntArray:
    # linkage by extremes depends on the order of distances only, so squares will do
    m = len(distance)
    tree = linkage(squareform(distance, checks=False), method)[: m - number, :2].astype(np.int64)
    made = m + np.arange(len(tree))
    joined = np.concatenate([np.column_stack([tree[:, side], made]) for side in (0, 1)])
    return must_link_components(joined, m + len(tree))[:m]


def _nearest_means(points: FloatArray, parts: IntArray) -> IntArray:
    """Return the point nearest the mean of each part: its medoid under squared distance."""
    number = int(parts.max()) + 1
    means = np.zeros((number, points.shape[1]))
    np.add.at(means, parts, points)
    means /= np.bincount(parts)[:, None]
    distance = ((points - means[parts]) ** 2).sum(axis=1)
    order = np.lexsort((distance, parts))
    return order[np.searchsorted(parts[order], np.arange(number))]


def super_instances(
    X: FloatArray, labels: IntArray, named: IntArray, share: float
) -> list[IntArray]:
    """Return, for each item named by a constraint, the items that move with it.

    Clusters are cut by complete linkage into groups, a share of their items in number, but never
    with two named items in one group: between these the distance counts as endless, and there are
    at least as many groups as named items. Clusters of more than `DENSE` items are first halved
    along their widest feature until they are small enough.

    Parameters
    ----------
    X : (n, d) array
    labels : (n,) array of int
    named : (s,) array of int
        Different items.
    share : float in [0, 1]
        Groups per item; with 1 every item is its own.

    Returns
    -------
    list of s arrays of int
        Items in increasing order, the named one among them; no item is in two.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> super_instances(X, np.zeros(5, dtype=int), np.array([0, 2]), share=0.4)
    [array([0, 1]), array([2, 3, 4])]
    """
    group_of: dict[int, IntArray] = {}
    is_named = np.zeros(len(X), dtype=np.bool_)
    is_named[named] = True
    for cluster in np.unique(labels[named]).tolist():
        for members in _halved(X, np.flatnonzero(labels == cluster)):
            inside = np.flatnonzero(is_named[members])
            if len(inside):
                parts = _complete(X[members], inside, share_of(len(members), share))
                group_of |= {int(members[i]): members[parts == parts[i]] for i in inside}
    return [group_of[int(item)] for item in named]


def _halved(X: FloatArray, members: IntArray) -> list[IntArray]:
    if len(members) <= DENSE:
        return [members]
    points = X[members]
    order = np.argsort(points[:, points.var(axis=0).argmax()], kind="stable")
    low, high = (
        np.sort(members[order[: len(order) // 2]]),
        np.sort(members[order[len(order) // 2 :]]),
    )
    return _halved(X, low) + _halved(X, high)


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
    return _cut(distance, "complete", number)


__all__ = ["Anchors", "find_anchors", "super_instances"]
