"""Entailments if all answers are right: components of must-links, cannot-links between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayesclust.typing import IntArray


def must_link_components(must: IntArray, n_items: int) -> IntArray:
    """Return the connected components of the must-links."""
    links = coo_array((np.ones(len(must)), tuple(must.T)), shape=(n_items, n_items))
    labels = connected_components(links, directed=False)[1]
    return by_first(labels)[1]  # SciPy promises no order


def by_first(values: Any, axis: int | None = None) -> tuple[Any, IntArray]:
    """The values there are, or rows, as they first come, and the number of each one among them."""
    there, first, number = np.unique(values, True, True, axis=axis)
    rank = np.argsort(first)
    return there[rank], np.argsort(rank)[number.reshape(-1)]


def pairs_within(component: IntArray) -> IntArray:
    """Return all pairs i < j of one component."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for members in _members(component):
        if len(members) > 1:
            first, second = np.triu_indices(len(members), k=1)
            pairs.append(np.column_stack([members[first], members[second]]))
    return np.concatenate(pairs)


def pairs_between(component: IntArray, cannot: IntArray) -> IntArray:
    """Return all pairs between components that a cannot-link sets apart."""
    members = _members(component)
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for first, second in np.unique(np.sort(component[cannot], axis=1), axis=0):
        grid = np.meshgrid(members[first], members[second], indexing="ij")
        pairs.append(np.stack(grid, axis=-1).reshape(-1, 2))
    return np.concatenate(pairs)


def _members(component: IntArray) -> list[IntArray]:
    order = np.argsort(component, kind="stable")
    return np.split(order, np.cumsum(np.bincount(component))[:-1])
