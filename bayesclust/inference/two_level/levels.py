"""The assignment on two levels: items in components, components in clusters.

The likelihood of the items depends on components alone, the constraints on clusters alone; the prior
of both levels is in `bayesclust.partition_priors.nested`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust.constraints.factor_graph import Sites
from bayesclust.inference.assignment import Assignment, new_assignment
from bayesclust.partition_priors import NestedTables


class Levels(NamedTuple):
    """The clusters above an assignment to components."""

    clusters: Assignment  # of items; clusters.z is (n,)
    owner: NDArray[np.int64]  # (C,) cluster of each component slot
    size: NDArray[np.int64]  # (D,) items of each cluster slot
    parts: NDArray[np.int64]  # (D,) components of each cluster slot


class TwoLevelTarget(NamedTuple):
    """What a chain on two levels samples, as kernels read it."""

    state: Any  # the family's state of the components
    components: Assignment
    levels: Levels
    sites: Sites
    table: NDArray[np.float64]  # (codes, 5) log p(answer | pattern)
    prior: NestedTables


def new_levels(
    components: NDArray[np.integer], clusters: NDArray[np.integer], capacity: int
) -> Levels:
    """Group components by the clusters that their items are in; labels without gaps, so many slots on both levels."""
    owner = np.zeros(capacity, np.int64)
    owner[components] = clusters
    number = int(components.max()) + 1
    return Levels(
        new_assignment(clusters, capacity),
        owner,
        np.bincount(clusters, minlength=capacity).astype(np.int64),
        np.bincount(owner[:number], minlength=capacity).astype(np.int64),
    )
