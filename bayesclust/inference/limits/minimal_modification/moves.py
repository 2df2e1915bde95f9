"""What it costs to move super-instances: the distance of their items to the nearest anchor of each cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from bayesclust.inference.limits.minimal_modification.groups import Anchors
from bayesclust.typing import FloatArray, IntArray


def nearest_anchors(
    points: FloatArray, X: FloatArray, anchors: Anchors, n_clusters: int
) -> FloatArray:
    """Return the Euclidean distance of points to the nearest anchor of each cluster.

    Parameters
    ----------
    points : (t, d) array
    X : (n, d) array
        The data among which the anchors are.
    anchors : Anchors
    n_clusters : int

    Returns
    -------
    (t, n_clusters) array
        Infinite for numbers of clusters without anchors.

    Examples
    --------
    >>> X = np.array([[0.0], [3.0], [8.0]])
    >>> nearest_anchors(X, X, Anchors(np.array([0, 1, 2]), np.array([0, 0, 2])), 3)
    array([[ 0., inf,  8.],
           [ 0., inf,  5.],
           [ 5., inf,  0.]])
    """
    distance = np.full((len(points), n_clusters), np.inf)
    for cluster in np.unique(anchors.cluster).tolist() if len(points) else []:
        own = X[anchors.items[anchors.cluster == cluster]]
        # products of matrices find the anchor quickly; its distance is then taken without their
        # cancellation
        nearest = own[pairwise_distances_argmin(points, own)]
        distance[:, cluster] = np.sqrt(((points - nearest) ** 2).sum(axis=1))
    return distance


def move_costs(distance: FloatArray, groups: Sequence[IntArray], own: IntArray) -> FloatArray:
    """Add up what it costs to move the items of super-instances together.

    Parameters
    ----------
    distance : (t, K) array
        Of the items of the groups, one group after the other, to each cluster.
    groups : sequence of s arrays of int
    own : (s,) array of int
        The cluster of each group, where staying costs nothing.

    Returns
    -------
    (s, K) array
        Infinite where a group cannot go.
    """
    begins = np.cumsum([0, *(len(group) for group in groups[:-1])])
    costs: FloatArray = np.add.reduceat(distance, begins, axis=0)
    costs[np.arange(len(groups)), own] = 0.0
    return costs


__all__ = ["move_costs", "nearest_anchors"]
