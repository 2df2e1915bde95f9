"""Small problems solved without a solver: depth first, cheapest values first, cut where nothing better can follow."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from bayesclust.constraints.statements import Statement
from bayesclust.inference.limits.minimal_modification.problem import Problem
from bayesclust.typing import IntArray

BUDGET = 20_000
"""Values tried before a problem counts as not small: some hundredths of a second."""


class TooLarge(Exception):
    """The budget was spent before the best values were proven."""


def cheapest(problem: Problem, most: int, budget: int = BUDGET) -> tuple[float, IntArray] | None:
    """Return the least objective and the values that reach it, at most so many hard statements given up.

    Parameters
    ----------
    problem : Problem
        Its `spare` is not read.
    most : int
        Hard statements that may be given up.
    budget : int, default 20000
        Values to try.

    Returns
    -------
    (objective, values) or None
        None where too many hard statements would have to be given up.

    Raises
    ------
    TooLarge
        If the budget is spent.

    Examples
    --------
    >>> from bayesclust.constraints.rules.statements import Apart
    >>> problem = Problem(np.array([[0.0, 3.0], [0.0, 2.0]]), [Apart(0, 1)], np.array([np.inf]))
    >>> cheapest(problem, most=0), cheapest(problem, most=1)
    ((2.0, array([0, 1])), (0.0, array([0, 0])))
    """
    order = _connected_order(problem)
    due = _due(problem, order)
    choices = [_choices(problem.costs[variable].tolist()) for variable in order]
    if not all(choices):
        return None
    # what the variables from a depth on cost at least
    rest = np.cumsum([0.0, *(options[0][0] for options in reversed(choices))])[::-1].tolist()
    labels = [0] * len(order)
    best, found = np.inf, None
    cost, lost, tried = [0.0] * (len(order) + 1), [0] * (len(order) + 1), [0] * len(order)
    depth = 0
    while depth >= 0:
        if tried[depth] == len(choices[depth]):
            tried[depth], depth = 0, depth - 1
            continue
        price, value = choices[depth][tried[depth]]
        tried[depth] += 1
        budget -= 1
        if budget < 0:
            raise TooLarge
        total = cost[depth] + price
        if not _better(total + rest[depth + 1], best):
            tried[depth] = len(choices[depth])  # nor is any later, dearer value
            continue
        labels[order[depth]] = value
        given_up = lost[depth]
        for statement, weight in due[depth]:
            if not statement.holds(labels):
                if weight == np.inf:
                    given_up += 1
                else:
                    total += weight
        if given_up > most or not _better(total + rest[depth + 1], best):
            continue
        if depth == len(order) - 1:
            best, found = total, labels.copy()
        else:
            depth += 1
            cost[depth], lost[depth] = total, given_up
    return None if found is None else (float(best), np.array(found, dtype=np.int64))


def _better(total: float, best: float) -> bool:
    """Tell whether a total is less than the best one by more than rounding."""
    return total < best - 1e-12 * abs(best) if best < np.inf else total < np.inf


def _choices(costs: Sequence[float]) -> list[tuple[float, int]]:
    return sorted((cost, value) for value, cost in enumerate(costs) if cost < np.inf)


def _connected_order(problem: Problem) -> list[int]:
    """Order the variables so that statements come due early: along connections, from the most connected one."""
    near: list[set[int]] = [set() for _ in problem.costs]
    for statement in problem.statements:
        items = set(statement.items)
        for item in items:
            near[item] |= items
    order: list[int] = []
    seen = [False] * len(near)
    for first in sorted(range(len(near)), key=lambda v: -len(near[v])):
        queue = deque([] if seen[first] else [first])
        while queue:
            variable = queue.popleft()
            if not seen[variable]:
                seen[variable] = True
                order.append(variable)
                queue.extend(sorted(near[variable], key=lambda v: -len(near[v])))
    return order


def _due(problem: Problem, order: Sequence[int]) -> list[list[tuple[Statement, float]]]:
    """Return, for every depth, the statements of which the last variable gets its value there, with their weights."""
    depth_of = {variable: depth for depth, variable in enumerate(order)}
    due: list[list[tuple[Statement, float]]] = [[] for _ in order]
    for statement, weight in zip(problem.statements, problem.weights.tolist(), strict=True):
        due[max(depth_of[item] for item in statement.items)].append((statement, weight))
    return due


def frontier(problem: Problem, budget: int = BUDGET) -> list[tuple[float, IntArray] | None]:
    """Return the best values for every number of hard statements given up, from none on.

    Parameters
    ----------
    problem : Problem
        Its `spare` is the largest number of interest.
    budget : int, default 20000
        Values to try for each number.

    Returns
    -------
    list of (objective, values) or None
        Ends where giving up more brings nothing more; None where the number is too small.

    Raises
    ------
    TooLarge
        If a budget is spent.
    """
    free = cheapest(problem, len(problem.statements), budget)
    found: list[tuple[float, IntArray] | None] = []
    for most in range(min(problem.spare, len(problem.statements)) + 1):
        best = cheapest(problem, most, budget)
        found.append(best)
        if free is None or (best is not None and not _better(free[0], best[0])):
            break
    return found


__all__ = ["BUDGET", "TooLarge", "cheapest", "frontier"]
