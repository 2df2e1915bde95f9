"""The constraint program of a modification, solved by OR-tools CP-SAT, and conflicts in it.

Find values v_1, ..., v_s that minimise

    sum_s cost[s, v_s] + sum_c weight_c [statement c does not hold],

where at most `spare` of the statements with infinite weight are violated, and where all clusters
keep to `Bounds`, if there are any. One Boolean for each variable and cluster says whether the
variable takes it (one-hot). `enforce` is a single-dispatch function on the kind of statement: a new
kind is registered where it is defined, or below.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
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
from bayesclust.typing import BoolArray, FloatArray, IntArray

PRECISION = 2.0**30
"""The largest cost as an integer; the solver counts in integers."""
COARSE = 1000.0
"""How many times the least objective the largest cost may be, before costs are counted finer."""


class Unsatisfiable(Exception):
    """No values satisfy the hard statements; `rows` are some that cannot all hold."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__(rows)
        self.rows = list(rows)


class OutOfTime(Exception):
    """No values were found in time, nor was it proven that there are none."""


class Bounds(NamedTuple):
    """What every cluster keeps to that is not empty."""

    sizes: IntArray  # (s,) items that each variable stands for
    least: int
    most: int
    far: IntArray  # (p, 2) variables that are too far from each other for one cluster

    def hold(self, values: IntArray) -> bool:
        """Whether all clusters do."""
        items = np.bincount(values, weights=self.sizes)
        fits = (items == 0) | ((items >= self.least) & (items <= self.most))
        together = values[self.far[:, 0]] == values[self.far[:, 1]]
        return bool(fits.all() and not together.any())


class Problem(NamedTuple):
    """Variables, statements about them and what violating these costs."""

    costs: FloatArray  # (s, K), infinite where a variable cannot go
    statements: Sequence[Statement]  # m, about variables
    weights: FloatArray  # (m,), infinite for hard ones
    spare: int = 0  # how many hard ones may be violated
    bounds: Bounds | None = None

    def value(self, values: IntArray) -> float:
        """The objective."""
        soft = np.isfinite(self.weights)
        moved = self.costs[np.arange(len(self.costs)), values].sum()
        return float(moved + self.weights[soft & ~self.held(values)].sum())

    def held(self, values: IntArray) -> BoolArray:
        """Which statements hold, (m,)."""
        labels = values.tolist()
        return np.array([statement.holds(labels) for statement in self.statements], dtype=np.bool_)


class Solution(NamedTuple):
    """Values with what is known of their objective."""

    values: IntArray  # (s,)
    objective: float
    bound: float  # no values have a smaller objective
    optimal: bool


def _parts(statement: Statement) -> Iterator[Statement]:
    """Statements that hold together exactly where this one does."""
    if type(statement) is Every:
        for part in statement.parts:
            yield from _parts(part)
    else:
        yield statement


def without_costly_values(problem: Problem) -> Problem:
    """Give infinite costs to values that no best solution needs."""
    # A variable in b statements, all `Apart`, or as i or k `Closer(i, j, k)`, is forbidden one
    # value by each at most: one of its b + 1 cheapest is free. Bounds may need every value.
    if problem.bounds is not None:
        return problem
    forbidding = np.zeros(len(problem.costs), dtype=np.int64)
    tied = np.zeros(len(problem.costs), dtype=np.bool_)
    for statement in problem.statements:
        parts = list(_parts(statement))
        for part in parts:
            items = list(part.items)
            plain = len(parts) == 1 and len(set(items)) == len(items)
            if plain and type(part) is Apart:
                forbidding[items] += 1
            elif plain and isinstance(part, Closer):
                forbidding[[part.i, part.k]] += 1
                tied[part.j] = True
            else:
                tied[items] = True
    costs = problem.costs.copy()
    place = np.argsort(np.argsort(costs, axis=1, kind="stable"), axis=1)
    costs[~tied[:, None] & (place > forbidding[:, None])] = np.inf
    return problem._replace(costs=costs)


def cp_model() -> Any:
    """The solver's module, or say in a sentence how to install it."""
    try:
        from ortools.sat.python import cp_model as module
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "MinimalModification needs OR-tools, which is not installed: install bayesclust with "
            "its extra 'solver'."
        ) from None
    return module


class Encoding:
    """A model whose Boolean `choice(v, c)` is true where variable v takes cluster c."""

    def __init__(self, costs: FloatArray) -> None:
        self.model = cp_model().CpModel()
        self.false = self.model.new_constant(0)
        self.n_clusters = costs.shape[1]
        self.choices: list[dict[int, Any]] = []
        for row in costs:
            there = np.flatnonzero(np.isfinite(row)).tolist()
            self.choices.append({c: self.model.new_bool_var("") for c in there})
            self.model.add_exactly_one(self.choices[-1].values())

    def choice(self, variable: int, cluster: int) -> Any:
        """The literal "this variable takes that cluster"."""
        return self.choices[variable].get(cluster, self.false)

    def clause(self, literals: Sequence[Any], given: Sequence[Any]) -> None:
        """Require one of some literals where all that are given hold."""
        self.model.add_bool_or([*literals, *(~literal for literal in given)])


@singledispatch
def enforce(statement: Statement, encoding: Encoding, given: Sequence[Any]) -> None:
    """Require that a statement holds where all of some literals, none for a hard one, are true."""
    raise TypeError(
        f"no encoding is registered for {type(statement).__name__}: register one with "
        "enforce.register."
    )


@enforce.register
def _together(statement: Together, encoding: Encoding, given: Sequence[Any]) -> None:
    for c in range(encoding.n_clusters):
        first, second = (encoding.choice(v, c) for v in statement.items)
        encoding.clause([~first, second], given)
        encoding.clause([first, ~second], given)


@enforce.register
def _apart(statement: Apart, encoding: Encoding, given: Sequence[Any]) -> None:
    i, j = (encoding.choices[v] for v in statement.items)
    for c in i.keys() & j.keys():
        encoding.clause([~i[c], ~j[c]], given)


@enforce.register
def _closer(statement: Closer, encoding: Encoding, given: Sequence[Any]) -> None:
    i, _, k = (encoding.choices[v] for v in statement.items)
    for c in i.keys() & k.keys():
        encoding.clause([~i[c], ~k[c], encoding.choice(statement.j, c)], given)


@enforce.register
def _among(statement: Among, encoding: Encoding, given: Sequence[Any]) -> None:
    encoding.clause([encoding.choice(statement.i, c) for c in statement.allowed], given)


@enforce.register
def _spread(statement: Spread, encoding: Encoding, given: Sequence[Any]) -> None:
    taken = [encoding.model.new_bool_var("") for _ in range(encoding.n_clusters)]
    for v in statement.members:
        for c, chosen in encoding.choices[v].items():
            encoding.clause([~chosen, taken[c]], [])
    encoding.model.add(sum(taken) <= statement.most).only_enforce_if(list(given))


@enforce.register
def _every(statement: Every, encoding: Encoding, given: Sequence[Any]) -> None:
    for part in statement.parts:
        enforce(part, encoding, given)


@enforce.register
def _either(statement: Either, encoding: Encoding, given: Sequence[Any]) -> None:
    holds = [encoding.model.new_bool_var("") for _ in statement.parts]
    for part, literal in zip(statement.parts, holds, strict=True):
        enforce(part, encoding, [literal])
    encoding.clause(holds, given)


def keep_within(bounds: Bounds, encoding: Encoding) -> None:
    """Require the bounds of every cluster."""
    model, sizes = encoding.model, bounds.sizes.tolist()
    for c in range(encoding.n_clusters):
        items = sum(
            size * choices[c]
            for size, choices in zip(sizes, encoding.choices, strict=True)
            if c in choices
        )
        taken = model.new_bool_var("")
        model.add(items >= bounds.least * taken)
        model.add(items <= bounds.most * taken)
    for i, j in bounds.far.tolist():
        enforce(Apart(i, j), encoding, [])


def encode(problem: Problem, scale: float) -> tuple[Encoding, int]:
    """The program, costs in units of 1 / scale, and the number of terms of its objective."""
    costs = problem.costs
    encoding = Encoding(costs)
    model = encoding.model
    terms: list[Any] = []
    for choices, row in zip(encoding.choices, costs, strict=True):
        terms += [(literal, round(row[c] * scale)) for c, literal in choices.items()]
        model.add_hint(choices[int(row.argmin())], True)
    violated: list[Any] = []
    for statement, weight in zip(problem.statements, problem.weights.tolist(), strict=True):
        if weight == np.inf and not problem.spare:
            enforce(statement, encoding, [])
            continue
        holds = model.new_bool_var("")
        enforce(statement, encoding, [holds])
        if weight == np.inf:
            violated.append(~holds)
        else:
            terms.append((~holds, round(weight * scale)))
    if problem.bounds is not None:
        keep_within(problem.bounds, encoding)
    if violated:
        model.add(sum(violated) <= problem.spare)
    terms = [(literal, cost) for literal, cost in terms if cost > 0]
    model.minimize(sum(cost * literal for literal, cost in terms))
    return encoding, len(terms)


def solve(problem: Problem, until: float) -> Solution:
    """The best values, or the best found `until` time.monotonic() is so much."""
    # `Unsatisfiable`: too few hard statements can hold. `OutOfTime`: nothing found, nothing proven.
    problem = without_costly_values(problem)
    costs, weights = problem.costs, problem.weights
    values: IntArray = costs.argmin(axis=1)
    held = problem.held(values)
    allowed = int((np.isinf(weights) & ~held).sum()) <= problem.spare
    allowed = allowed and (problem.bounds is None or problem.bounds.hold(values))
    start = values if allowed else None
    if allowed and held[np.isfinite(weights)].all():
        value = problem.value(values)
        return Solution(values, value, value, True)
    finite = np.concatenate([costs[np.isfinite(costs)], weights[np.isfinite(weights)]])
    most = float(finite.max(initial=0.0)) or PRECISION
    found = _solve(problem, most, until, start)
    # beside a very large cost all others are rounded away: no best values pay more than was found
    while found.optimal and 0 < COARSE * 2 * found.objective < most:
        most = 2 * found.objective
        finer = _solve(problem, most, until, found.values)
        if finer.objective > found.objective:
            finer = finer._replace(values=found.values, objective=found.objective)
        found = finer
    return found


def _solve(problem: Problem, most: float, until: float, start: IntArray | None) -> Solution:
    """Do as `solve`, every finite cost counting as `most` at most; `start` is allowed."""
    module, scale = cp_model(), PRECISION / most
    costs, weights = problem.costs, problem.weights
    capped = problem._replace(
        costs=np.where(np.isinf(costs), costs, np.minimum(costs, most)),
        weights=np.where(np.isinf(weights), weights, np.minimum(weights, most)),
    )
    encoding, n_terms = encode(capped, scale)
    solver = module.CpSolver()
    # with one thread results repeat exactly
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    # with all statements in the linear relaxation bounds are far better: thirty times less work, or
    # proofs at all
    solver.parameters.linearization_level = 2
    if until < np.inf:
        solver.parameters.max_time_in_seconds = max(until - time.monotonic(), 0.0)
    status = solver.solve(encoding.model)
    if status == module.INFEASIBLE:
        raise Unsatisfiable(np.flatnonzero(np.isinf(weights)).tolist())
    if status in (module.OPTIMAL, module.FEASIBLE):
        taken = [[c for c in own if solver.boolean_value(own[c])] for own in encoding.choices]
        values = np.array(taken, dtype=np.int64)[:, 0]
    elif start is None:
        raise OutOfTime
    else:
        values = start
    objective = problem.value(values)
    if status == module.OPTIMAL:
        return Solution(values, objective, objective, True)
    # each term was rounded by at most a half
    bound = max(0.0, (solver.best_objective_bound - n_terms / 2) / scale)
    return Solution(values, objective, min(bound, objective), False)


def conflict(problem: Problem, rows: Sequence[int], until: float) -> list[int]:
    """Hard statements of `rows` that cannot all hold, though they can without any one of them."""
    # Irreducible, not the smallest (QuickXplain, Junker 2004), unless time is up before: then the
    # set still cannot hold. It is empty where bounds alone cannot be kept.
    free = np.where(np.isfinite(problem.costs), 0.0, np.inf)

    def can_hold(chosen: Sequence[int]) -> bool:
        """Whether some can hold together, as far as can be told in time."""
        statements = [problem.statements[row] for row in chosen]
        try:
            hard = np.full(len(chosen), np.inf)
            solve(Problem(free, statements, hard, bounds=problem.bounds), until)
        except Unsatisfiable:
            return False
        except OutOfTime:
            return True
        return True

    def needed(background: list[int], fresh: bool, left: list[int]) -> list[int]:
        """Which of `left` an irreducible conflict with all of `background` needs."""
        if fresh and not can_hold(background):
            return []
        if len(left) <= 1:
            return left
        half = len(left) // 2
        second = needed(background + left[:half], True, left[half:])
        first = needed(background + second, bool(second), left[:half])
        return first + second

    hard = [row for row in rows if np.isinf(problem.weights[row])]
    return sorted(needed([], problem.bounds is not None, hard))
