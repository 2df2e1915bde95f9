"""From data, a partition and constraints to the modified partition (minimal weighted clustering modification)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from bayesclust.constraints.statements import Statement
from bayesclust.inference.limits.minimal_modification.conflict import conflict
from bayesclust.inference.limits.minimal_modification.groups import (
    Anchors,
    find_anchors,
    share_of,
    super_instances,
)
from bayesclust.inference.limits.minimal_modification.moves import move_costs, nearest_anchors
from bayesclust.inference.limits.minimal_modification.problem import Problem
from bayesclust.inference.limits.minimal_modification.solve import Limits, Unsatisfiable, solve
from bayesclust.typing import BoolArray, FloatArray, IntArray

NEW_CLUSTER_FACTOR = 2.0


class Settings(NamedTuple):
    """What the modification depends on beside data, partition and constraints."""

    anchors: float  # alpha
    super_instances: float  # beta
    satisfied: float  # delta
    new_clusters: int
    new_cluster_distance: float | None


class Modification(NamedTuple):
    """A modified partition."""

    labels: IntArray  # (n,)
    cost: float  # distance of the items that moved to the anchors they moved to
    objective: float  # with the weights of soft constraints given up
    bound: float
    optimal: bool
    held: BoolArray  # (m,)


class Moves(NamedTuple):
    """What can be moved, and at which cost."""

    named: IntArray  # (s,) items that constraints name
    groups: list[IntArray]  # their super-instances
    costs: FloatArray  # (s, K')
    typical: float  # median distance of an item of theirs to the nearest other cluster


def possible_moves(X: FloatArray, labels: IntArray, named: IntArray, settings: Settings) -> Moves:
    """Return super-instances of the items named, and what it costs to move them to every cluster.

    Parameters
    ----------
    X : (n, d) array
    labels : (n,) array of int
    named : (s,) array of int
    settings : Settings

    Returns
    -------
    Moves
        Costs of new clusters come last.
    """
    K = int(labels.max()) + 1
    anchors: Anchors = find_anchors(X, labels, settings.anchors)
    groups = super_instances(X, labels, named, settings.super_instances)
    items = np.concatenate([np.empty(0, dtype=np.int64), *groups])
    distance = nearest_anchors(X[items], X, anchors, K)
    elsewhere = distance.copy()
    elsewhere[np.arange(len(items)), labels[items]] = np.inf
    nearest = elsewhere.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    far = settings.new_cluster_distance
    if far is None:
        far = NEW_CLUSTER_FACTOR * float(distance[np.isfinite(distance)].max(initial=0.0))
    distance = np.column_stack([distance, np.full((len(items), settings.new_clusters), far)])
    costs = move_costs(distance, groups, labels[named]) if len(named) else distance
    return Moves(named, groups, costs, float(np.median(nearest)) if len(nearest) else 0.0)


def named_items(statements: Sequence[Statement]) -> IntArray:
    """Return the items that statements are about, in increasing order.

    Parameters
    ----------
    statements : sequence of Statement

    Returns
    -------
    (s,) array of int
    """
    return np.array(sorted(set(chain.from_iterable(s.items for s in statements))), dtype=np.int64)


def modify(
    labels: IntArray,
    moves: Moves,
    statements: Sequence[Statement],
    weights: FloatArray,
    share: float,
    limits: Limits,
) -> Modification:
    """Return the partition of least cost that satisfies constraints, all items but those of super-instances staying.

    Parameters
    ----------
    labels : (n,) array of int
    moves : Moves
        Of the items that the statements name.
    statements : sequence of m Statement
    weights : (m,) array
        What giving each up costs; infinite for hard ones.
    share : float in (0, 1]
        delta, of the hard ones, that must hold.
    limits : Limits

    Returns
    -------
    Modification

    Raises
    ------
    Unsatisfiable
        If too few hard ones can hold; its `rows` cannot all hold, though they can without any one
        of them.
    OutOfTime, ModuleNotFoundError
        From `solve`.
    """
    if not statements:
        return Modification(labels.copy(), 0.0, 0.0, 0.0, True, np.empty(0, dtype=np.bool_))
    place = np.full(len(labels), -1, dtype=np.int64)
    place[moves.named] = np.arange(len(moves.named))
    hard = int(np.isinf(weights).sum())
    spare = hard - share_of(hard, share) if hard else 0
    problem = Problem(
        moves.costs, [statement.renamed(place) for statement in statements], weights, spare
    )
    try:
        solution = solve(problem, limits)
    except Unsatisfiable as error:
        raise Unsatisfiable(conflict(problem, error.rows, limits)) from None
    modified = labels.copy()
    for group, value in zip(moves.groups, solution.values.tolist(), strict=True):
        modified[group] = value
    held = problem.held(solution.values)
    cost = float(moves.costs[np.arange(len(moves.costs)), solution.values].sum())
    return Modification(modified, cost, solution.objective, solution.bound, solution.optimal, held)


__all__ = ["Modification", "Moves", "Settings", "modify", "named_items", "possible_moves"]
