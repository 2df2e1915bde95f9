"""Colours of the constraint graph: items of one colour share no answer, and so can be updated at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bayesclust.constraints._checks import each_is, positive_int
from bayesclust.constraints.base import Constraints
from bayesclust.typing import IntArray


def constraint_graph(constraints: Sequence[Constraints], n_items: int) -> tuple[IntArray, IntArray]:
    """Return the graph that joins the items named together by some answer, as compressed rows.

    Parameters
    ----------
    constraints : sequence of Constraints
    n_items : int

    Returns
    -------
    start : (n_items + 1,) array of int64
    neighbour : (2 E,) array of int64
        The neighbours of item i are neighbour[start[i] : start[i + 1]], ascending, each once.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> start, neighbour = constraint_graph([PairwiseConstraints([(0, 2), (2, 0)], [True, False], n_items=3)], 3)
    >>> start, neighbour
    (array([0, 1, 1, 2]), array([2, 0]))
    """
    constraints, n_items = _checked(constraints, n_items)
    arcs = [np.empty(0, dtype=np.int64)]
    for view in constraints:
        for a, b in combinations(range(view.items.shape[1]), 2):
            left, right = view.items[:, a], view.items[:, b]
            arcs += [left * n_items + right, right * n_items + left]
    tail, neighbour = np.divmod(np.unique(np.concatenate(arcs)), n_items)
    return np.searchsorted(tail, np.arange(n_items + 1)).astype(np.int64), neighbour


def _checked(constraints: Sequence[Constraints], n_items: int) -> tuple[list[Constraints], int]:
    number = positive_int(n_items, "n_items")
    found: list[Constraints] = each_is(constraints, (Constraints,), "constraints")
    for view in found:
        if view.n_items != number:
            raise ValueError(
                f"the constraints {view.name!r} are on {view.n_items} items, but n_items is {number}: "
                "pass the n_items they were made for."
            )
    return found, number


def greedy_coloring(constraints: Sequence[Constraints], n_items: int) -> IntArray:
    """Colour the items greedily, those with most neighbours first (Welsh and Powell 1967).

    Given everything else, items of one colour are independent under any model whose items meet only
    in the answers: a sweep needs as many vectorised steps as there are colours, at most the largest
    degree plus one.

    Parameters
    ----------
    constraints : sequence of Constraints
    n_items : int

    Returns
    -------
    (n_items,) array of int64
        Colours 0..C-1; items without answers have colour 0.

    Raises
    ------
    ValueError
        If a view is on another number of items.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> path = PairwiseConstraints([(0, 1), (1, 2), (2, 3)], [True, True, False], n_items=5)
    >>> greedy_coloring([path], n_items=5)
    array([1, 0, 1, 0, 0])
    """
    start, neighbour = constraint_graph(constraints, n_items)
    order = np.argsort(-np.diff(start), kind="stable")
    bounds, adjacent = (
        start.tolist(),
        neighbour.tolist(),
    )  # lists: a plain loop reads them faster than arrays
    colors = [-1] * n_items
    for i in order.tolist():
        taken = {colors[j] for j in adjacent[bounds[i] : bounds[i + 1]]}
        color = 0
        while color in taken:
            color += 1
        colors[i] = color
    return np.array(colors, dtype=np.int64)


__all__ = ["constraint_graph", "greedy_coloring"]
