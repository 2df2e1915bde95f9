"""Answers about items as answers about components: the upper level is RDP-means of components, without data.

Given the components, J depends on who owns them through the answers and the number of clusters
alone,

    J(owner) = const + sum_answers cost[code, pattern] + lambda K,

and an answer whose items lie in two components, or three, is an answer about those. This is the
objective of RDP-means with components for items and points without coordinates, so that its passes
(a component changes cluster) and its merges of clusters serve as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.constraints.factor_graph import Sites
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import Graph, Xi
from bayesclust.inference.limits.links import LinkGraph
from bayesclust.inference.limits.passes import answer_costs
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.typing import FloatArray, IntArray

NOBODY = -1
# of a triplet with two items in one component: those two, the third, and the pattern in which it is
# elsewhere
TWO_IN_ONE = ((0, 1, 2, 1), (0, 2, 1, 2), (1, 2, 0, 3))
ALL_APART = 4


def pose_components(
    graph: Graph, xi: Xi, labels: IntArray, n_components: int, price: float
) -> tuple[Problem, FloatArray]:
    """Return the problem of grouping components, and what each of its answers costs.

    Parameters
    ----------
    graph : Graph
        Answers about n items.
    xi : (float, float) or (codes, 5) array
    labels : (n,) array of int
        Components.
    n_components : int
    price : float
        lambda, of a cluster.

    Returns
    -------
    problem : Problem
        Of `n_components` items without coordinates; answers about the same two components are one.
    costs : (answers, 5) array of float
        Their table.
    """
    member, rows = _factors(graph, xi)
    named = np.where(member >= 0, labels[member], NOBODY)
    pair = named[:, 2] < 0
    two, change = [named[pair, :2]], [rows[pair, 0] - rows[pair, 1]]
    for first, second, third, apart in () if pair.all() else TWO_IN_ONE:
        chosen = ~pair & (named[:, first] == named[:, second])
        two.append(named[chosen][:, [first, third]])
        change.append(rows[chosen, 0] - rows[chosen, apart])
    ends, weight = np.sort(np.concatenate(two), axis=1), np.concatenate(change)
    apart_now = ends[:, 0] != ends[:, 1]
    keys, place = np.unique(ends[apart_now] @ [n_components, 1], return_inverse=True)
    pairs = np.stack(
        [keys // n_components, keys % n_components, np.full(len(keys), NOBODY)], axis=1
    )
    three = (
        ~pair
        & (named[:, 0] != named[:, 1])
        & (named[:, 0] != named[:, 2])
        & (named[:, 1] != named[:, 2])
    )
    costs = np.zeros((len(keys), rows.shape[1]))
    costs[:, 0] = np.bincount(place, weights=weight[apart_now], minlength=len(keys))
    above = _graph(np.concatenate([pairs, named[three]]).astype(np.int64), n_components)
    problem = Problem.of(np.zeros((n_components, 0)), SquaredEuclidean(), above, price)
    return problem, np.concatenate([costs, rows[three]])


def _factors(graph: Graph, xi: Any) -> tuple[IntArray, FloatArray]:
    """Items of each answer, (F, 3), and its cost under each pattern, (F, 5)."""
    if isinstance(graph, LinkGraph):
        member = np.full((len(graph.pairs), 3), NOBODY)
        member[:, :2] = graph.pairs
        rows = np.zeros((len(member), ALL_APART + 1))
        rows[:, 0] = np.where(graph.same, -xi[0], xi[1])
        return member, rows
    return graph.member, xi[graph.code]


def _graph(member: IntArray, n_components: int) -> Sites:
    """Every answer a source of its own."""
    factor, column = np.nonzero(member >= 0)
    item = member[factor, column]
    order = np.argsort(item, kind="stable")
    start = np.searchsorted(item[order], np.arange(n_components + 1)).astype(np.int64)
    return Sites(start, factor[order].astype(np.int64), member, np.arange(len(member)))


def options(problem: Problem, costs: FloatArray, owner: IntArray) -> FloatArray:
    """Return what J has of each component in every cluster, and last in one of its own, shape (M, K + 1).

    Parameters
    ----------
    problem : Problem
        Of components, as `pose_components` returns it.
    costs : (answers, 5) array
    owner : (M,) array of int
        Clusters 0 to K - 1; of a component that is alone, the price of its cluster counts where it
        is.

    Returns
    -------
    (M, K + 1) array of float
    """
    count = int(owner.max()) + 1
    found = np.empty((len(owner), count + 1))
    for component in range(len(owner)):
        found[component, :count] = answer_costs(problem.graph, costs, owner, component, count)
    found[:, count] = problem.penalty
    alone = np.flatnonzero(np.bincount(owner)[owner] == 1)
    found[alone, owner[alone]] = problem.penalty
    return found
