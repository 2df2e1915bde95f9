"""How often items share a cluster with the members of given clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.posterior.labels import as_labels
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["belonging", "cluster_similarity"]


def cluster_similarity(posterior: Any, labels: ArrayLike) -> FloatArray:
    """Return the mean similarity of each item to the members of each cluster of a partition.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    labels : (n,) array of int
        The partition, of K clusters.

    Returns
    -------
    (K, n) array of float
        For cluster k and item i, the posterior probability that i shares a cluster with a random
        member of k, i itself among them. O(n K draws) time; no n x n matrix is formed.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or labels are not one integer an item.

    Examples
    --------
    >>> cluster_similarity([[0, 0, 1], [0, 1, 1]], [0, 0, 1])
    array([[0.75, 0.75, 0.25],
           [0.  , 0.5 , 1.  ]])
    """
    draws = stacked_partitions(posterior)
    z = as_labels(labels, "labels")
    if len(z) != draws.shape[1]:
        raise ValueError(
            f"labels has {len(z)} items, but the posterior has {draws.shape[1]}: pass one label per item."
        )
    sizes = np.bincount(z)
    total = np.zeros((len(sizes), len(z)))
    for draw in draws.astype(np.int64):
        common = np.zeros((len(sizes), int(draw.max()) + 1))
        np.add.at(common, (z, draw), 1)
        total += common[:, draw]
    return total / (len(draws) * sizes[:, None])


def belonging(posterior: Any, labels: ArrayLike) -> FloatArray:
    """Return how surely each item belongs to its cluster in a partition.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
    labels : (n,) array of int

    Returns
    -------
    (n,) array of float
        The posterior probability that an item shares a cluster with a random other member of its
        own; 1 of an item that is alone there, since there is nobody to be away from.

    Raises
    ------
    ValueError, TypeError
        As `cluster_similarity`.

    Examples
    --------
    >>> belonging([[0, 0, 1], [0, 1, 1]], [0, 0, 1])
    array([0.5, 0.5, 1. ])
    """
    z = as_labels(labels, "labels")
    size = np.bincount(z)[z]
    with_itself = cluster_similarity(posterior, labels)[z, np.arange(len(z))]
    others: FloatArray = (with_itself * size - 1) / np.maximum(size - 1, 1)
    return np.where(size > 1, others, 1.0)
