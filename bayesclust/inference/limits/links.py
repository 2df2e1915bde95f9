"""May-links and may-not-links of all views as one graph, all under one confidence, walked by compiled passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import implements, prefetch
from bayesclust.constraints.base import Constraints
from bayesclust.inference.limits.passes import add_costs
from bayesclust.typing import BoolArray, FloatArray, IntArray, NDArray


class LinkGraph(NamedTuple):
    """Links of all views, and those of each item in compressed rows, every link in the rows of both its items.

    Those of item i are entries start[i] to start[i + 1] of `neighbour` (the other item) and `may`
    (whether the answer was "same"). `xi` is (xi1, xi2), the confidence in may-links and
    may-not-links.
    """

    pairs: IntArray  # (m, 2)
    same: BoolArray  # (m,)
    start: IntArray  # (n + 1,)
    neighbour: NDArray[np.int32]  # (2 m,)
    may: BoolArray  # (2 m,)

    def inside(self, labels: IntArray, xi: Any) -> float:
        """Return the links' share of the objective, -xi1 #{may-links inside clusters} + xi2 #{may-not-links inside}."""
        together = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        may = int(np.count_nonzero(together & self.same))
        return float(xi[1] * (int(np.count_nonzero(together)) - may) - xi[0] * may)

    def between(self, labels: IntArray, n_clusters: int, xi: Any) -> FloatArray:
        """Return what making one of every two clusters would add to the links' share, shape (K, K)."""
        ends = labels[self.pairs].T
        total = np.zeros((n_clusters, n_clusters))
        np.add.at(total, (ends[0], ends[1]), np.where(self.same, -xi[0], xi[1]))
        return total + total.T

    def reordered(self, order: IntArray) -> LinkGraph:
        """Return the links of the items order[0], order[1], ... numbered 0, 1, ..."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return _graph(place[self.pairs], self.same, len(order))


AHEAD = 16
"""Entries: those of some eight items, in passes over all of them, whose labels lie anywhere."""


@implements(add_costs, LinkGraph, no_refcount=True)
def _add_costs(graph, xi, z, i, cost):  # type: ignore[no-untyped-def]
    last = len(graph.neighbour) - 1
    for e in range(graph.start[i], graph.start[i + 1]):
        prefetch(z, graph.neighbour[min(e + AHEAD, last)])
        cost[z[graph.neighbour[e]]] += -xi[0] if graph.may[e] else xi[1]


def link_graph(constraints: Sequence[Constraints], n_items: int) -> LinkGraph:
    """Merge pairwise views; every answer counts, so contradictory ones cancel.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)
    >>> graph = link_graph([links], n_items=3)
    >>> graph.start, graph.neighbour, graph.may
    (array([0, 1, 3, 4]), array([1, 2, 0, 1], dtype=int32), array([ True, False,  True, False]))
    >>> graph.inside(np.array([0, 0, 0]), xi=(10.0, 1.0))
    -9.0
    """
    pairs = np.concatenate(
        [np.empty((0, 2), dtype=np.int64), *(view.items for view in constraints)]
    )
    same = np.concatenate([np.empty(0, dtype=bool), *(view.answers == 1 for view in constraints)])
    return _graph(pairs, same, n_items)


def _graph(pairs: IntArray, same: BoolArray, n_items: int) -> LinkGraph:
    item, neighbour = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.argsort(item, kind="stable")
    start = np.searchsorted(item[order], np.arange(n_items + 1)).astype(np.int64)
    return LinkGraph(
        pairs, same, start, neighbour[order].astype(np.int32), np.concatenate([same, same])[order]
    )
