"""What answers entail if all were right: components of must-links, and the cannot-links between them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayesclust.typing import BoolArray, IntArray


def must_link_components(must: IntArray, n_items: int) -> IntArray:
    """Return the connected components of the must-links.

    Parameters
    ----------
    must : (a, 2) array of int
    n_items : int

    Returns
    -------
    (n_items,) array of int64
        Component of each item, numbered in order of first appearance; an item without must-links is
        alone.

    Examples
    --------
    >>> must_link_components(np.array([[1, 3], [3, 4]]), 5)
    array([0, 1, 2, 1, 1])
    """
    links = coo_array(
        (np.ones(len(must), dtype=np.int8), (must[:, 0], must[:, 1])), shape=(n_items, n_items)
    )
    labels = connected_components(links.astype(np.int64).tocsr(), directed=False)[1]
    # SciPy promises no order
    first = np.unique(labels, return_index=True)[1]
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[labels]


def pairs_within(component: IntArray) -> IntArray:
    """Return all pairs i < j of one component.

    Parameters
    ----------
    component : (n,) array of int

    Returns
    -------
    (m, 2) array of int64

    Examples
    --------
    >>> pairs_within(np.array([0, 1, 0, 0])).tolist()
    [[0, 2], [0, 3], [2, 3]]
    """
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for members in _members(component):
        if len(members) > 1:
            first, second = np.triu_indices(len(members), k=1)
            pairs.append(np.column_stack([members[first], members[second]]))
    return np.concatenate(pairs)


def pairs_between(component: IntArray, cannot: IntArray) -> IntArray:
    """Return all pairs between components that a cannot-link sets apart.

    Parameters
    ----------
    component : (n,) array of int
    cannot : (b, 2) array of int
        Cannot-links between different components.

    Returns
    -------
    (m, 2) array of int64
        Each pair once, in no particular order of its two items.

    Examples
    --------
    >>> pairs_between(np.array([0, 0, 1]), np.array([[0, 2]])).tolist()
    [[0, 2], [1, 2]]
    """
    members = _members(component)
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for first, second in np.unique(np.sort(component[cannot], axis=1), axis=0):
        left, right = members[first], members[second]
        pairs.append(np.column_stack([np.repeat(left, len(right)), np.tile(right, len(left))]))
    return np.concatenate(pairs)


def set_apart(component: IntArray, cannot: IntArray, pairs: IntArray) -> BoolArray:
    """Tell which pairs lie in components that some cannot-link sets apart.

    Parameters
    ----------
    component : (n,) array of int
    cannot : (b, 2) array of int
    pairs : (m, 2) array of int

    Returns
    -------
    (m,) array of bool

    Examples
    --------
    >>> set_apart(np.array([0, 0, 1]), np.array([[0, 2]]), np.array([[2, 1], [0, 1]]))
    array([ True, False])
    """

    def key(rows: IntArray) -> IntArray:
        ends = np.sort(component[rows], axis=1)
        return ends[:, 0] * len(component) + ends[:, 1]

    return np.isin(key(pairs), key(cannot))


def _members(component: IntArray) -> list[IntArray]:
    order = np.argsort(component, kind="stable")
    return np.split(order, np.cumsum(np.bincount(component))[:-1])


__all__ = ["must_link_components", "pairs_between", "pairs_within", "set_apart"]
