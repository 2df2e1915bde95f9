"""Problems for the constraint solver: one Boolean for each variable and cluster (one-hot), on OR-tools CP-SAT.

`enforce` is a single-dispatch function on the kind of statement: a new kind is registered where it
is defined, or below.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from bayesclust.constraints.statements import (
    Among,
    Apart,
    Closer,
    Either,
    Every,
    Spread,
    Statement,
    Together,
)
from bayesclust.inference.limits.minimal_modification.problem import Problem
from bayesclust.typing import IntArray

PRECISION = 2.0**30
"""The largest cost as an integer; the solver counts in integers."""


class Found(NamedTuple):
    """What the solver says.

    Attributes
    ----------
    values : (s,) array of int, or None
        None where there are none, or none was found in time.
    bound : float
        The objective is at least this; infinite where no values will do.
    optimal : bool
        Whether that there is nothing better, or nothing at all, is proven.
    chosen : list of int
        What was chosen of each menu.
    """

    values: IntArray | None
    bound: float
    optimal: bool
    chosen: list[int]


def cp_model() -> Any:
    """Return the solver's module.

    Returns
    -------
    module

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.
    """
    try:
        from ortools.sat.python import cp_model as module
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "these constraints tie too many items together to be solved by enumeration, and OR-tools is not installed: "
            "install bayesclust with its extra 'solver'."
        ) from None
    return module


class OneHot:
    """A model whose Boolean `choice(v, c)` says that variable v takes cluster c."""

    def __init__(self, costs: Any) -> None:
        self.model = cp_model().CpModel()
        self.false = self.model.new_constant(0)
        self.n_clusters = costs.shape[1]
        self._choice = [
            {
                c: self.model.new_bool_var(f"v{v}c{c}")
                for c in np.flatnonzero(np.isfinite(row)).tolist()
            }
            for v, row in enumerate(costs)
        ]
        for choice in self._choice:
            self.model.add_exactly_one(choice.values())

    def choice(self, variable: int, cluster: int) -> Any:
        """Return the literal "this variable takes that cluster"."""
        return self._choice[variable].get(cluster, self.false)

    def new_literal(self) -> Any:
        """Return a new Boolean."""
        return self.model.new_bool_var("")

    def clause(self, literals: Sequence[Any], given: Sequence[Any]) -> None:
        """Demand one of some literals where all that are given hold."""
        self.model.add_bool_or([*literals, *(~literal for literal in given)])


@singledispatch
def enforce(statement: Statement, encoding: OneHot, given: Sequence[Any]) -> None:
    """Demand that a statement holds where all of some literals are true.

    Parameters
    ----------
    statement : Statement
        About variables.
    encoding : OneHot
        What it is added to.
    given : sequence of literals
        None for a hard statement.

    Returns
    -------
    None

    Raises
    ------
    TypeError
        For kinds of which nothing is registered.
    """
    raise TypeError(
        f"no encoding is registered for {type(statement).__name__}: register one with enforce.register."
    )


@enforce.register
def _together(statement: Together, encoding: OneHot, given: Sequence[Any]) -> None:
    for c in range(encoding.n_clusters):
        first, second = (encoding.choice(v, c) for v in statement.items)
        encoding.clause([~first, second], given)
        encoding.clause([first, ~second], given)


@enforce.register
def _apart(statement: Apart, encoding: OneHot, given: Sequence[Any]) -> None:
    for c in range(encoding.n_clusters):
        encoding.clause([~encoding.choice(v, c) for v in statement.items], given)


@enforce.register
def _closer(statement: Closer, encoding: OneHot, given: Sequence[Any]) -> None:
    for c in range(encoding.n_clusters):
        i, j, k = (encoding.choice(v, c) for v in statement.items)
        encoding.clause([~i, ~k, j], given)


@enforce.register
def _among(statement: Among, encoding: OneHot, given: Sequence[Any]) -> None:
    encoding.clause([encoding.choice(statement.i, c) for c in statement.allowed], given)


@enforce.register
def _spread(statement: Spread, encoding: OneHot, given: Sequence[Any]) -> None:
    taken = [encoding.new_literal() for _ in range(encoding.n_clusters)]
    for c, literal in enumerate(taken):
        for v in statement.members:
            encoding.clause([~encoding.choice(v, c), literal], [])
    encoding.model.add(sum(taken) <= statement.most).only_enforce_if(list(given))


@enforce.register
def _every(statement: Every, encoding: OneHot, given: Sequence[Any]) -> None:
    for part in statement.parts:
        enforce(part, encoding, given)


@enforce.register
def _either(statement: Either, encoding: OneHot, given: Sequence[Any]) -> None:
    holds = [encoding.new_literal() for _ in statement.parts]
    for part, literal in zip(statement.parts, holds, strict=True):
        enforce(part, encoding, [literal])
    encoding.clause(holds, given)


def minimise(
    problem: Problem, menus: Sequence[Sequence[float]], seconds: float, workers: int
) -> Found:
    """Solve a problem, and choose from menus: of each one entry, whose position is what it spares of `spare`.

    Parameters
    ----------
    problem : Problem
    menus : sequence of sequences of float
        Costs of other problems' solutions by how many hard statements they give up; infinite where
        there is none.
    seconds : float
        When to stop; may be infinite.
    workers : int
        Threads.

    Returns
    -------
    Found
    """
    costs, weights = problem.costs, problem.weights
    if not np.isfinite(costs).any(axis=1).all():
        return Found(None, np.inf, True, [])
    encoding = OneHot(costs)
    model, finite = (
        encoding.model,
        [costs[np.isfinite(costs)], weights[np.isfinite(weights)], *map(_finite, menus)],
    )
    largest = np.concatenate(finite).max(initial=0.0)
    scale = PRECISION / largest if largest > 0 else 1.0
    terms: list[Any] = []
    lost: list[Any] = []

    def charge(cost: float, literal: Any) -> None:
        if (price := round(cost * scale)) > 0:
            terms.append(price * literal)

    for v, row in enumerate(costs.tolist()):
        for c, cost in enumerate(row):
            if cost < np.inf:
                charge(cost, encoding.choice(v, c))
                model.add_hint(encoding.choice(v, c), bool(cost == min(row)))
    for statement, weight in zip(problem.statements, weights.tolist(), strict=True):
        if weight == np.inf and not problem.spare:
            enforce(statement, encoding, [])
            continue
        held = encoding.new_literal()
        enforce(statement, encoding, [held])
        if weight == np.inf:
            lost.append(~held)
        else:
            charge(weight, ~held)
    served = [_offer(encoding, menu, charge, lost) for menu in menus]
    if lost:
        model.add(sum(lost) <= problem.spare)
    model.minimize(sum(terms))
    found = _solve(encoding, served, seconds, workers, len(terms), scale)
    return _at_least_the_cheapest(problem, menus, found) if found.values is None else found


def _at_least_the_cheapest(
    problem: Problem, menus: Sequence[Sequence[float]], found: Found
) -> Found:
    """Where time was too short for the solver, fall back on what is cheapest, statements aside, if that is allowed."""
    values = problem.costs.argmin(axis=1)
    chosen = [int(np.flatnonzero(np.isfinite(menu))[0]) for menu in menus]
    lost = int((np.isinf(problem.weights) & ~problem.held(values)).sum()) + sum(chosen)
    return (
        found
        if found.optimal or lost > problem.spare
        else found._replace(values=values, chosen=chosen)
    )


def _finite(costs: Sequence[float]) -> Any:
    array = np.asarray(costs)
    return array[np.isfinite(array)]


def _offer(encoding: OneHot, menu: Sequence[float], charge: Any, lost: list[Any]) -> dict[int, Any]:
    entries = {at: encoding.new_literal() for at, cost in enumerate(menu) if cost < np.inf}
    encoding.model.add_exactly_one(entries.values())
    for at, literal in entries.items():
        charge(menu[at], literal)
        lost.append(at * literal)
    return entries


def _solve(
    encoding: OneHot,
    served: Sequence[dict[int, Any]],
    seconds: float,
    workers: int,
    n_terms: int,
    scale: float,
) -> Found:
    module = cp_model()
    solver = module.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = 0
    # with all statements in the linear relaxation bounds are far better: thirty times less work, or
    # proofs at all
    solver.parameters.linearization_level = 2
    if workers > 1:  # which otherwise follow strategies of their own
        solver.parameters.extra_subsolvers.append("max_lp")
    if seconds < np.inf:
        solver.parameters.max_time_in_seconds = max(seconds, 0.0)
    status = solver.solve(encoding.model)
    if status == module.INFEASIBLE:
        return Found(None, np.inf, True, [])
    # each term was rounded by at most a half
    bound = max(0.0, (solver.best_objective_bound - n_terms / 2) / scale)
    if status not in (module.OPTIMAL, module.FEASIBLE):
        return Found(None, bound, False, [])
    values = [
        next(c for c, literal in choice.items() if solver.boolean_value(literal))
        for choice in encoding._choice
    ]
    chosen = [
        next(at for at, literal in entries.items() if solver.boolean_value(literal))
        for entries in served
    ]
    return Found(np.array(values, dtype=np.int64), bound, status == module.OPTIMAL, chosen)


__all__ = ["Found", "OneHot", "cp_model", "enforce", "minimise"]
