"""The optimisation problem: variables that choose a cluster at a cost, and statements about them.

Find values v_1, ..., v_s that minimise

    sum_s cost[s, v_s] + sum_c weight_c [statement c does not hold],

where at most `spare` of the statements with infinite weight are given up. What statements make no
connection between is solved apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bayesclust.constraints.entailment import must_link_components
from bayesclust.constraints.statements import Among, Apart, Closer, Every, Statement, Together
from bayesclust.typing import BoolArray, FloatArray, IntArray


class Problem(NamedTuple):
    """Variables, statements about them and what giving these up costs."""

    costs: FloatArray  # (s, K), infinite where a variable cannot go
    statements: Sequence[Statement]  # m, about variables
    weights: FloatArray  # (m,), infinite for hard ones
    spare: int = 0  # how many hard ones may be given up

    def value(self, values: IntArray) -> float:
        """Return the objective."""
        held = self.held(values)
        soft = np.isfinite(self.weights)
        moved = self.costs[np.arange(len(self.costs)), values].sum()
        return float(moved + self.weights[soft & ~held].sum())

    def held(self, values: IntArray) -> BoolArray:
        """Tell which statements hold, shape (m,)."""
        labels = values.tolist()
        return np.array([statement.holds(labels) for statement in self.statements], dtype=np.bool_)

    def part(self, variables: IntArray, rows: Sequence[int]) -> Problem:
        """Return the problem of some variables and of statements about no others."""
        place = np.full(len(self.costs), -1, dtype=np.int64)
        place[variables] = np.arange(len(variables))
        statements = [self.statements[row].renamed(place) for row in rows]
        return Problem(self.costs[variables], statements, self.weights[list(rows)], self.spare)


class Merged(NamedTuple):
    """A problem in fewer variables, with what leads back to the one it came from."""

    problem: Problem
    variable_of: IntArray  # (s,) the variable that each became


def merge(problem: Problem) -> Merged:
    """Make hard statements part of the variables where that is exact: joined items are one, and cannot go everywhere.

    Parameters
    ----------
    problem : Problem
        Without `spare`: no hard statement may be given up.

    Returns
    -------
    Merged

    Examples
    --------
    >>> costs = np.array([[0.0, 1.0], [5.0, 0.0], [0.0, 2.0]])
    >>> merge(Problem(costs, [Together(0, 1), Among(2, (1,))], np.array([np.inf, np.inf]))).problem.costs
    array([[ 5.,  1.],
           [inf,  2.]])
    """
    hard = np.isinf(problem.weights)
    demands = [
        list(_parts(s)) if must else [] for s, must in zip(problem.statements, hard, strict=True)
    ]
    links = [(part.i, part.j) for parts in demands for part in parts if type(part) is Together]
    variable_of = must_link_components(_pairs(links), len(problem.costs))
    costs = np.zeros((int(variable_of.max(initial=-1)) + 1, problem.costs.shape[1]))
    np.add.at(costs, variable_of, problem.costs)
    rows, left = [], []
    for row, parts in enumerate(demands):
        for part in parts:
            if isinstance(part, Among):
                costs[variable_of[part.i], ~np.isin(np.arange(costs.shape[1]), part.allowed)] = (
                    np.inf
                )
        others = tuple(part for part in parts if type(part) not in (Together, Among))
        if others or not hard[row]:
            rows.append(row)
            kept = (
                problem.statements[row]
                if not hard[row]
                else others[0]
                if len(others) == 1
                else Every(others)
            )
            left.append(kept.renamed(variable_of))
    return Merged(Problem(costs, left, problem.weights[rows]), variable_of)


def _parts(statement: Statement) -> Iterator[Statement]:
    """Yield statements that hold together exactly where this one does."""
    if type(statement) is Every:
        for part in statement.parts:
            yield from _parts(part)
    else:
        yield statement


def _pairs(links: Sequence[tuple[int, int]]) -> IntArray:
    return np.array(links, dtype=np.int64).reshape(-1, 2)


def without_dear_values(problem: Problem) -> Problem:
    """Leave out values that no best solution needs.

    `Apart` forbids each of its variables at most one value, that of the other; so does
    `Closer(i, j, k)` the variables i and k. Where a variable is in b such statements and in no
    others, one of its b + 1 cheapest values is forbidden by none of them, whatever the other
    variables are: dearer values can be left out.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Problem
        With infinite costs for values left out.

    Examples
    --------
    >>> costs = np.array([[0.0, 3.0, 2.0, 4.0], [1.0, 0.0, 5.0, 6.0]])
    >>> without_dear_values(Problem(costs, [Apart(0, 1)], np.array([np.inf]))).costs
    array([[ 0., inf,  2., inf],
           [ 1.,  0., inf, inf]])
    """
    forbidding = np.zeros(len(problem.costs), dtype=np.int64)
    tied = np.zeros(len(problem.costs), dtype=np.bool_)
    for statement in problem.statements:
        items = list(statement.items)
        if len(set(items)) == len(items) and type(statement) is Apart:
            forbidding[items] += 1
        elif len(set(items)) == len(items) and isinstance(statement, Closer):
            forbidding[[statement.i, statement.k]] += 1
            tied[statement.j] = True
        else:
            tied[items] = True
    costs = problem.costs.copy()
    place = np.argsort(np.argsort(costs, axis=1, kind="stable"), axis=1)
    costs[~tied[:, None] & (place > forbidding[:, None])] = np.inf
    return problem._replace(costs=costs)


def components(problem: Problem) -> list[tuple[IntArray, list[int]]]:
    """Return the variables that statements connect, and those statements' rows.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    list of (variables, rows)
        Variables that no statement is about are each their own.
    """
    links = [
        (first, other) for s in problem.statements for first, *rest in [s.items] for other in rest
    ]
    part_of = must_link_components(_pairs(links), len(problem.costs))
    rows: list[list[int]] = [[] for _ in range(int(part_of.max(initial=-1)) + 1)]
    for row, statement in enumerate(problem.statements):
        rows[part_of[statement.items[0]]].append(row)
    order = np.argsort(part_of, kind="stable")
    variables = np.split(order, np.cumsum(np.bincount(part_of, minlength=len(rows)))[:-1])
    return list(zip(variables, rows, strict=True))


__all__ = ["Merged", "Problem", "components", "merge", "without_dear_values"]
