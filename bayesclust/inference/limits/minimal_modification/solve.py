"""A problem in its independent parts: small ones by enumeration, large ones by the solver.

Where some hard statements may be given up, the parts share this allowance: each small part says
what it costs at every number given up, and the best shares follow by dynamic programming, or from
the solver together with the large parts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesclust.inference.limits.minimal_modification.cp_sat import Found, minimise
from bayesclust.inference.limits.minimal_modification.enumeration import (
    TooLarge,
    cheapest,
    frontier,
)
from bayesclust.inference.limits.minimal_modification.problem import (
    Problem,
    components,
    merge,
    without_dear_values,
)
from bayesclust.typing import FloatArray, IntArray


class Unsatisfiable(Exception):
    """No values will do: `rows` are statements that cannot be had, whatever else is given up."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__(rows)
        self.rows = list(rows)


class OutOfTime(Exception):
    """No values were found in time, nor was it proven that there are none."""


class Solution(NamedTuple):
    """Values with what is known of their objective."""

    values: IntArray  # (s,)
    objective: float
    bound: float  # the objective of the best values is at least this
    optimal: bool


class Limits(NamedTuple):
    """When to stop, and how many threads the solver has."""

    until: float  # by time.monotonic
    workers: int

    @classmethod
    def of(cls, seconds: float, workers: int) -> Limits:
        """Start the clock."""
        return cls(time.monotonic() + seconds, workers)

    def ask(self, problem: Problem, menus: Sequence[Sequence[float]] = ()) -> Found:
        """Hand a problem to the solver with the time that is left."""
        found = minimise(problem, menus, self.until - time.monotonic(), self.workers)
        if found.values is None and not found.optimal:
            raise OutOfTime
        return found


def solve(problem: Problem, limits: Limits) -> Solution:
    """Return the best values, or those found when time is up.

    Parameters
    ----------
    problem : Problem
    limits : Limits

    Returns
    -------
    Solution

    Raises
    ------
    Unsatisfiable
        If hard statements cannot all hold but for the spare ones.
    OutOfTime
        If nothing was found and nothing proven.
    ModuleNotFoundError
        If a part is too large for enumeration and the solver is not installed.

    Examples
    --------
    >>> from bayesclust.constraints.rules.statements import Apart, Together
    >>> costs = np.array([[0.0, 3.0], [0.0, 2.0], [0.0, 9.0]])
    >>> hard = Problem(costs, [Apart(0, 1), Together(0, 2)], np.array([np.inf, np.inf]))
    >>> solve(hard, Limits.of(10.0, workers=1))
    Solution(values=array([0, 1, 0]), objective=2.0, bound=2.0, optimal=True)
    >>> solve(hard._replace(spare=1), Limits.of(10.0, workers=1)).objective
    0.0
    """
    values, bound, optimal = (
        _with_spare(problem, limits) if problem.spare else _without(problem, limits)
    )
    objective = problem.value(values)
    return Solution(values, objective, objective if optimal else min(bound, objective), optimal)


def _without(problem: Problem, limits: Limits) -> tuple[IntArray, float, bool]:
    merged, variable_of = merge(problem)
    merged = without_dear_values(merged)
    values = np.zeros(len(merged.costs), dtype=np.int64)
    bound, optimal = 0.0, True
    for variables, rows in components(merged):
        part = merged.part(variables, rows)
        try:
            best = cheapest(part, most=0)
        except TooLarge:
            found = limits.ask(part)
            best = None if found.values is None else (found.bound, found.values)
            optimal &= found.optimal
        if best is None:
            own = set(np.flatnonzero(np.isin(variable_of, variables)).tolist())
            raise Unsatisfiable(
                [
                    row
                    for row, statement in enumerate(problem.statements)
                    if own & set(statement.items)
                ]
            )
        bound += best[0]
        values[variables] = best[1]
    return values[variable_of], bound, optimal


def _with_spare(problem: Problem, limits: Limits) -> tuple[IntArray, float, bool]:
    problem = without_dear_values(problem)
    parts = components(problem)
    values = np.zeros(len(problem.costs), dtype=np.int64)
    fronts, large = [], []
    for variables, rows in parts:
        try:
            front = frontier(problem.part(variables, rows))
        except TooLarge:
            large.append((variables, rows))
            continue
        fronts.append((variables, front))
        values[variables] = front[0][1] if front[0] is not None else 0
    # a part that loses nothing by giving nothing up has nothing to choose
    open_fronts = [
        (variables, front) for variables, front in fronts if len(front) > 1 or front[0] is None
    ]
    menus = [[np.inf if entry is None else entry[0] for entry in front] for _, front in open_fronts]
    rest = sum(front[0][0] for _, front in fronts if len(front) == 1 and front[0] is not None)
    if large:
        variables = np.concatenate([variables for variables, _ in large])
        found = limits.ask(
            problem.part(variables, [row for _, rows in large for row in rows]), menus
        )
        chosen, bound, optimal = found.chosen, found.bound + rest, found.optimal
        if found.values is None:
            raise Unsatisfiable(range(len(problem.statements)))
        values[variables] = found.values
    else:
        shared = share_out(menus, problem.spare)
        if shared is None:
            raise Unsatisfiable(range(len(problem.statements)))
        chosen, bound, optimal = shared, np.inf, True
    for (variables, front), at in zip(open_fronts, chosen, strict=True):
        entry = front[at]
        assert entry is not None
        values[variables] = entry[1]
    return values, bound, optimal


def share_out(menus: Sequence[Sequence[float]], spare: int) -> list[int] | None:
    """Choose one entry of each menu so that positions add up to at most `spare` and costs to the least.

    Parameters
    ----------
    menus : sequence of sequences of float
        Cost by position; infinite entries cannot be chosen.
    spare : int

    Returns
    -------
    list of int or None
        Positions; None where even the first finite entries are too far on.

    Examples
    --------
    >>> share_out([[4.0, 1.0], [9.0, 4.0, 0.0], [float("inf"), 1.0]], spare=3)
    [0, 2, 1]
    """
    totals: FloatArray = np.zeros(spare + 1)
    steps = []
    for menu in menus:
        options = np.full((len(menu), spare + 1), np.inf)
        for at, cost in enumerate(menu[: spare + 1]):
            options[at, at:] = totals[: spare + 1 - at] + cost
        steps.append(options.argmin(axis=0))
        totals = options.min(axis=0)
    if not np.isfinite(totals[spare]):
        return None
    chosen, left = [], spare
    for step in reversed(steps):
        chosen.append(int(step[left]))
        left -= chosen[-1]
    return chosen[::-1]


__all__ = ["Limits", "OutOfTime", "Solution", "Unsatisfiable", "share_out", "solve"]
