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

import numpy as np

from bayesclust._numba import implements
from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.factor_graph import Sites, add_site_logits, compile_sites
from bayesclust.inference.limits.links import LinkGraph, link_graph
from bayesclust.inference.limits.passes import add_costs
from bayesclust.typing import FloatArray


@implements(add_costs, Sites, no_refcount=True)
def _add_costs(graph, xi, z, i, cost):  # type: ignore[no-untyped-def]
    add_site_logits(graph, xi, z, i, cost)


Graph = LinkGraph | Sites
Xi = tuple[float, float] | FloatArray
"""Confidence: (xi1, xi2) with a `LinkGraph`, a table of costs with `Sites`."""


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


def answer_graph(constraints: Sequence[Constraints], n_items: int) -> Sites:
    """Merge constraints of any kinds; the rows of the table are their codes, one after the other."""
    return compile_sites(constraints, n_items)


def cost_table(
    constraints: Sequence[Constraints], confidence: Mapping[str, FloatArray]
) -> FloatArray:
    """Put the confidence in all sources, by name of the constraints, into one table (codes, 5).

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1)], [True], n_items=2)
    >>> cost_table([links], {"links": np.array([[2.0, 1.0]])})
    array([[ 1.,  0.,  0.,  0.,  0.],
           [-2.,  0.,  0.,  0.,  0.]])
    """
    tables = [one.costs(confidence[one.name]).reshape(-1, N_PATTERNS) for one in constraints]
    return np.concatenate([np.zeros((0, N_PATTERNS)), *tables])


def pose(constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """Return the answers as a graph, and a confidence of 1 in each of them."""
    if all(one.is_links for one in constraints):
        return link_graph(constraints, n_items), (1.0, 1.0)
    unit = {one.name: one.unit_confidence() for one in constraints}
    return answer_graph(constraints, n_items), cost_table(constraints, unit)
