"""Answers of any kind as a graph that passes walk, each source with a confidence of its own.

With gamma, the noise of an answer goes to zero as the clusters' variance does: in general p(answer
a | truth t) ~ exp(-gamma c[t, a]), with c[t, t] = 0 for the right answer. Up to constants, -(1 /
gamma) log p(answers | z) is then a sum over the answers of a *cost* that depends on the equality
pattern of their items alone:

- a link, ln(p / (1 - q)) = gamma xi1 and ln(q / (1 - p)) = gamma xi2: -xi1 for a may-link and +xi2
  for a may-not-link whose items are together, 0 apart;
- a triplet answer, wrong with probability eps = 2 / (2 + exp(gamma xi)), two wrong answers equally
  likely: -xi where z makes the answer true, 0 elsewhere;
- a triplet answer under a full confusion matrix, C[t, a] proportional to exp(-gamma c[t, a]): c[t,
  a], t being what z makes the truth.

Links under one confidence (xi1, xi2) are a `LinkGraph`; all else is a factor graph (`Sites`) with a
table of costs, one row per source and answer and one column per pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import generic, implements, kernel
from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.factor_graph import (
    Sites,
    add_site_logits,
    compile_sites,
    grouped,
    stack_padded,
)
from bayesclust.typing import BoolArray, FloatArray, IntArray, NDArray

Xi = tuple[float, float] | FloatArray
"""Confidence: (xi1, xi2) with a `LinkGraph`, a table of costs (codes, 5) with `Sites`."""


class LinkGraph(NamedTuple):
    """Links, and those of item i as entries start[i] to start[i + 1] of `neighbour` and `may`."""

    pairs: IntArray  # (m, 2)
    same: BoolArray  # (m,)
    start: IntArray  # (n + 1,)
    neighbour: NDArray[np.int32]  # (2 m,) the other item
    may: BoolArray  # (2 m,) whether the answer was "same"

    def inside(self, labels: IntArray, xi: Any) -> float:
        """-xi1 #{may-links inside clusters} + xi2 #{may-not-links inside clusters}."""
        together = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        may = int(np.count_nonzero(together & self.same))
        return float(xi[1] * (int(np.count_nonzero(together)) - may) - xi[0] * may)

    def between(self, labels: IntArray, n_clusters: int, xi: Any) -> FloatArray:
        """What merging each two clusters would add to `inside`, (K, K)."""
        ends = labels[self.pairs].T
        total = np.zeros((n_clusters, n_clusters))
        np.add.at(total, (ends[0], ends[1]), np.where(self.same, -xi[0], xi[1]))
        return total + total.T

    def reordered(self, order: IntArray) -> LinkGraph:
        """The links of the items order[0], order[1], ... numbered 0, 1, ..."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return _graph(place[self.pairs], self.same, len(order))


Graph = LinkGraph | Sites


@generic
def add_costs(graph: Any, xi: Any, z: Any, i: int, cost: Any) -> None:
    """Add to cost[k] what answers cost item i in cluster k, relative to a cluster of its own."""


@implements(add_costs, LinkGraph, no_refcount=True)
def _add_link_costs(graph, xi, z, i, cost):  # type: ignore[no-untyped-def]
    for e in range(graph.start[i], graph.start[i + 1]):
        cost[z[graph.neighbour[e]]] += -xi[0] if graph.may[e] else xi[1]


@implements(add_costs, Sites, no_refcount=True)
def _add_table_costs(graph, xi, z, i, cost):  # type: ignore[no-untyped-def]
    add_site_logits(graph, xi, z, i, cost)


@kernel
def answer_costs(graph: Any, xi: Any, z: Any, i: int, n_clusters: int) -> Any:
    """What answers cost item i in each cluster, relative to a cluster of its own, (K,)."""
    cost = np.zeros(n_clusters)
    add_costs(graph, xi, z, i, cost)
    return cost


def link_graph(constraints: Sequence[Constraints], n_items: int) -> LinkGraph:
    """Merge links; every answer counts, so contradictory ones cancel."""
    pairs = [np.empty((0, 2), dtype=np.int64), *(one.items for one in constraints)]
    same = [np.empty(0, dtype=bool), *(one.answers == 1 for one in constraints)]
    return _graph(np.concatenate(pairs), np.concatenate(same), n_items)


def _graph(pairs: IntArray, same: BoolArray, n_items: int) -> LinkGraph:
    start, neighbour, link = rows_by_item(pairs, n_items)
    return LinkGraph(pairs, same, start, neighbour, same[link])


def rows_by_item(
    pairs: IntArray, n_items: int
) -> tuple[IntArray, NDArray[np.int32], NDArray[np.int32]]:
    """Pairs in compressed rows, each in those of both its items: starts, other items, pairs."""
    start, order = grouped(pairs.T.ravel(), n_items)
    first = order < len(pairs)
    link = np.where(first, order, order - len(pairs)).astype(np.int32)
    other = np.where(first, pairs[link, 1], pairs[link, 0])
    return start, other.astype(np.int32), link


def is_additive(graph: Any) -> bool:
    """Whether two merges of clusters change the answers' share as much as both alone do."""
    if isinstance(graph, Sites):
        return bool((graph.member[:, 2] < 0).all())
    return isinstance(graph, LinkGraph)


def pair_weights(graph: Graph, xi: Xi) -> tuple[IntArray, FloatArray]:
    """The pairs of a graph of links, (m, 2), and what each lowers J by if together, (m,)."""
    if isinstance(graph, LinkGraph):
        return graph.pairs, np.where(graph.same, float(xi[0]), -float(xi[1]))
    table = np.asarray(xi)
    return graph.member[:, :2], table[graph.code, 1] - table[graph.code, 0]


def times(xi: Xi, factor: float) -> Xi:
    """`factor` times as much confidence."""
    return xi * factor if isinstance(xi, np.ndarray) else (xi[0] * factor, xi[1] * factor)


def largest(xi: Xi) -> float:
    """The largest confidence, 0 without any."""
    return float(np.abs(xi).max(initial=0.0)) if isinstance(xi, np.ndarray) else max(xi)


def smallest(xi: Xi) -> float:
    """The smallest confidence: of a table, the smallest that is not zero."""
    if not isinstance(xi, np.ndarray):
        return min(xi)
    sizes = np.abs(xi[xi != 0])
    return float(sizes.min()) if len(sizes) else 0.0


def cost_table(
    constraints: Sequence[Constraints], confidence: Mapping[str, FloatArray]
) -> FloatArray:
    """The confidence in all sources, by name of the constraints, as one table (codes, 5)."""
    tables = [one.costs(confidence[one.name]).reshape(-1, N_PATTERNS) for one in constraints]
    return stack_padded(tables)


def pose(constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """The answers as a graph, and a confidence of 1 in each of them."""
    if all(one.is_links for one in constraints):
        return link_graph(constraints, n_items), (1.0, 1.0)
    unit = {one.name: one.unit_confidence() for one in constraints}
    return compile_sites(constraints, n_items), cost_table(constraints, unit)
