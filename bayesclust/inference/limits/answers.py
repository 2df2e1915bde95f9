"""Answers of any kind, each source with a confidence of its own: the limit of every noise model.

With gamma, the noise of an answer goes to zero as the clusters' variance does. In general p(answer
a | truth t) ~ exp(-gamma c[t, a]), with c[t, t] = 0 for the right answer. What of -(1 / gamma) log
p(answers | z) depends on z is then a sum over the answers of a *cost* that depends on the equality
pattern of their items alone:

- a link, ln(p / (1 - q)) = gamma xi1 and ln(q / (1 - p)) = gamma xi2: -xi1 for a may-link and +xi2
  for a may-not-link whose items are together, 0 apart. Left out: +xi1 for every may-link, since -(1
  / gamma) ln(1 - q) -> xi1 (and -(1 / gamma) ln q -> 0 for a may-not-link).
- a triplet answer, wrong with probability eps, two wrong answers equally likely, ln((1 - eps) /
  (eps / 2)) = gamma xi, that is eps = 2 / (2 + exp(gamma xi)): -xi where z makes the answer true, 0
  elsewhere. Left out: +xi for every answer, since -(1 / gamma) ln(eps / 2) = (1 / gamma) ln(2 +
  exp(gamma xi)) -> xi.
- a triplet answer under a full confusion matrix, C[t, a] proportional to exp(-gamma c[t, a]): c[t,
  a], t being what z makes the truth. Nothing is left out where every row of c has least entry 0, as
  the limit of a distribution has.

So J = sum_i D(x_i, m_{z_i}) + sum_answers cost[code, pattern] + lambda K, which for links alone is
RDP-means' objective. The table of costs, one row per source and answer and one column per pattern,
stands where (xi1, xi2) stands for a `LinkGraph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import implements
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.patterns import equality_patterns
from bayesclust.constraints.sites import N_PATTERNS, add_site_logits, compile_sites
from bayesclust.inference.limits.links import LinkGraph, link_graph
from bayesclust.inference.limits.passes import add_costs
from bayesclust.typing import CodeArray, FloatArray, IntArray

PAIRWISE = "pairwise"


class AnswerGraph(NamedTuple):
    """Factors on two or three items, as `bayesclust.constraints.sites.Sites`; `xi` is the table of costs, (codes, 5)."""

    start: IntArray  # (n + 1,)
    factor: IntArray  # (sum of degrees,)
    member: IntArray  # (F, 3), third member -1 for pairs
    code: IntArray  # (F,) row of the table

    def patterns(self, labels: IntArray) -> CodeArray:
        """Return the equality pattern of each answer's items, shape (F,)."""
        pair = self.member[:, 2] < 0
        names = labels[self.member]
        pattern: CodeArray = np.where(
            pair, equality_patterns(names[:, :2]), equality_patterns(names)
        )
        return pattern

    def inside(self, labels: IntArray, xi: Any) -> float:
        """Return the answers' share of the objective."""
        return float(xi[self.code, self.patterns(labels)].sum())

    def between(self, labels: IntArray, n_clusters: int, xi: Any) -> FloatArray:
        """Return what making one of every two clusters would add to the answers' share, shape (K, K)."""
        names, pattern, rows = labels[self.member], self.patterns(labels), xi[self.code]
        pair = self.member[:, 2] < 0
        total = np.zeros((n_clusters, n_clusters))

        def add(chosen: Any, first: int, second: int, after: int) -> None:
            change = rows[chosen, after] - rows[chosen, pattern[chosen]]
            np.add.at(total, (names[chosen, first], names[chosen, second]), change)

        add(pair & (pattern == 1), 0, 1, 0)
        # ij|k, ik|j and jk|i: the two clusters that hold the three become one
        for before, (first, second) in enumerate(((0, 2), (0, 1), (0, 1)), start=1):
            add(~pair & (pattern == before), first, second, 0)
        for after, (first, second) in enumerate(((0, 1), (0, 2), (1, 2)), start=1):
            add(~pair & (pattern == 4), first, second, after)
        return total + total.T

    def reordered(self, order: IntArray) -> AnswerGraph:
        """Return the answers about the items order[0], order[1], ... numbered 0, 1, ..."""
        place = np.full(len(order) + 1, -1)
        place[order] = np.arange(len(order))
        degree = np.diff(self.start)[order]
        start = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
        entry = np.repeat(self.start[order] - start[:-1], degree) + np.arange(start[-1])
        return AnswerGraph(start, self.factor[entry], place[self.member], self.code)


@implements(add_costs, AnswerGraph, no_refcount=True)
def _add_costs(graph, xi, z, i, cost):  # type: ignore[no-untyped-def]
    add_site_logits(graph, xi, z, i, cost)


Graph = LinkGraph | AnswerGraph
Xi = tuple[float, float] | FloatArray
"""Confidence: (xi1, xi2) with a `LinkGraph`, a table of costs with an `AnswerGraph`."""


def times(xi: Xi, factor: float) -> Xi:
    """Return `factor` times as much confidence."""
    return xi * factor if isinstance(xi, np.ndarray) else (xi[0] * factor, xi[1] * factor)


def largest(xi: Xi) -> float:
    """Return the largest confidence, 0 without any."""
    return float(np.abs(np.asarray(xi)).max(initial=0.0))


def smallest(xi: Xi) -> float:
    """Return the smallest confidence: of a table, the smallest that is not zero."""
    if not isinstance(xi, np.ndarray):
        return min(xi)
    sizes = np.abs(xi[xi != 0])
    return float(sizes.min()) if len(sizes) else 0.0


def answer_graph(constraints: Sequence[Constraints], n_items: int) -> AnswerGraph:
    """Merge views of any kinds; the rows of the table are those of the views' codes, one view after the other."""
    return AnswerGraph(*compile_sites(constraints, n_items))


def cost_table(
    constraints: Sequence[Constraints], confidence: Mapping[str, FloatArray]
) -> FloatArray:
    """Put the confidence in all sources into one table.

    Parameters
    ----------
    constraints : sequence of Constraints
    confidence : mapping from the views' names
        Of links (S, 2), xi1 and xi2 of each source; of triplets (S, 3, 3), the cost of each answer
        (column) under each truth (row) in the order yes, no, dnk.

    Returns
    -------
    (codes, 5) array of float
        Cost of each source's answers under each equality pattern; pairs use the first two columns.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1)], [True], n_items=2)
    >>> cost_table([links], {"links": np.array([[2.0, 1.0]])})
    array([[ 1.,  0.,  0.,  0.,  0.],
           [-2.,  0.,  0.,  0.,  0.]])
    """
    rows = [np.zeros((0, N_PATTERNS))]
    for view in constraints:
        own = np.asarray(confidence[view.name], dtype=np.float64)
        table = np.zeros((view.n_sources, view.n_answers, N_PATTERNS))
        if view.kind == PAIRWISE:
            table[:, :, 0] = own[:, ::-1] * [1.0, -1.0]
        else:
            table[:] = np.swapaxes(own[:, view.truth], 1, 2)
        rows.append(table.reshape(-1, N_PATTERNS))
    return np.concatenate(rows)


def unit_confidence(view: Constraints) -> FloatArray:
    """Return confidence 1 in every source of a view, as `cost_table` takes it."""
    if view.kind == PAIRWISE:
        return np.ones((view.n_sources, 2))
    return np.tile(-np.eye(view.n_answers), (view.n_sources, 1, 1))


def pose(constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """Return the answers as a graph, and a confidence of 1 in each of them."""
    if all(view.kind == PAIRWISE for view in constraints):
        return link_graph(constraints, n_items), (1.0, 1.0)
    table = cost_table(constraints, {view.name: unit_confidence(view) for view in constraints})
    return answer_graph(constraints, n_items), table
