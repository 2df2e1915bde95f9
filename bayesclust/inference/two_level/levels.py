"""Who sits where on two levels: items in components, components in clusters.

The prior is nested: clusters come from a Chinese restaurant process with concentration alpha, and
the items of each cluster are seated in components by a process of their own with concentration
beta. Multiplied out, a cluster of n items weighs alpha w(n) and each of its components, of n_k
items, beta Gamma(n_k), with

    w(n) = Gamma(n) Gamma(beta) / Gamma(beta + n),

which is all that moves of components between clusters have to know: the likelihood of the items
depends on components alone, the answers on clusters alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import device
from bayesclust.inference.seating import Seating, new_seating


class Levels(NamedTuple):
    """The clusters above a seating of components."""

    clusters: Seating  # of items; clusters.z is (n,)
    owner: NDArray[np.int64]  # (C,) cluster of each component slot
    size: NDArray[np.int64]  # (D,) items of each cluster slot


def new_levels(
    components: NDArray[np.integer], clusters: NDArray[np.integer], slots: int, capacity: int
) -> Levels:
    """Group components by the clusters that their items are in.

    Parameters
    ----------
    components, clusters : ndarray of shape (n,)
        Labels without gaps; items of one component are in one cluster.
    slots : int
        Number of component slots.
    capacity : int
        Number of cluster slots.

    Returns
    -------
    Levels
    """
    owner = np.zeros(slots, np.int64)
    owner[components] = clusters
    return Levels(
        new_seating(clusters, capacity),
        owner,
        np.bincount(clusters, minlength=capacity).astype(np.int64),
    )


@device
def log_cluster_weight(size: int, log_beta: float) -> float:
    """log w(n) above, for any beta however small."""
    beta = math.exp(log_beta)
    return math.lgamma(size) + math.lgamma(1.0 + beta) - log_beta - math.lgamma(beta + size)
