"""How much each source's answers count: the parameter xi of `RDPMeans`, read and put beside the views."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from bayesclust.constraints._checks import number_between
from bayesclust.constraints.base import Constraints
from bayesclust.inference.limits.answers import (
    PAIRWISE,
    Graph,
    Xi,
    answer_graph,
    cost_table,
    pose,
    times,
    unit_confidence,
)
from bayesclust.typing import FloatArray

GROWS = "grows"
FORMS = "a number, a pair (xi1, xi2), a dict by the names of the views, or None"


def check_xi(xi: Any) -> Any:
    """Return xi with its numbers checked, as far as they can be without the answers; infinity becomes `GROWS`."""
    if xi is None:
        return None
    if isinstance(xi, Real):
        value = number_between(xi, "xi", "[0, inf]")
        return value if math.isfinite(value) else GROWS
    if isinstance(xi, Mapping):
        return {name: _check_view(value, f"xi[{name!r}]") for name, value in xi.items()}
    return _check_pair(xi, "xi", FORMS)


def _check_pair(value: Any, what: str, forms: str) -> tuple[float, float]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{what} must be {forms}; got {value!r}.")
    may, may_not = (
        number_between(one, f"{what}[{at}]", "[0, inf)") for at, one in enumerate(value)
    )
    return may, may_not


def _check_view(value: Any, what: str) -> Any:
    if isinstance(value, Mapping):
        return {source: _check_source(one, f"{what}[{source!r}]") for source, one in value.items()}
    return _check_source(value, what)


def _check_source(value: Any, what: str) -> Any:
    if isinstance(value, Real):
        return number_between(value, what, "[0, inf)")
    table = np.asarray(value, dtype=object)
    if table.shape == (3, 3):
        costs = [
            [number_between(cost, f"{what}[{t}][{a}]", "[0, inf)") for a, cost in enumerate(row)]
            for t, row in enumerate(table.tolist())
        ]
        return np.array(costs)
    return _check_pair(
        value,
        what,
        "a number, a pair (xi1, xi2), (3, 3) costs of triplet answers, or a dict by source",
    )


def fixed_confidence(xi: Any, constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """Return the answers as a graph, and what each of them weighs.

    Parameters
    ----------
    xi : float, (float, float) or dict
        As `check_xi` returns it.
    constraints : sequence of Constraints
    n_items : int

    Returns
    -------
    graph : Graph
    xi : (float, float) or (codes, 5) array
    """
    if not isinstance(xi, dict):
        graph, unit = pose(constraints, n_items)
        if isinstance(xi, float):
            return graph, times(unit, xi)
        if isinstance(unit, tuple):
            return graph, xi
        names = ", ".join(f"{view.name!r}: ..." for view in constraints)
        raise ValueError(
            f"xi={xi} says nothing about triplets: give a dict by the names of the views, {{{names}}}."
        )
    for name in xi:
        if name not in {view.name for view in constraints}:
            there = " and ".join(repr(view.name) for view in constraints) or "none"
            raise ValueError(
                f"xi names the view {name!r}, but the constraints are {there}: use the views' names."
            )
    confidence = {}
    for view in constraints:
        if view.name not in xi:
            raise ValueError(
                f"xi has no entry for the constraints {view.name!r}: give every view one, 0 to leave it aside."
            )
        confidence[view.name] = _of_view(xi[view.name], view)
    return answer_graph(constraints, n_items), cost_table(constraints, confidence)


def _of_view(value: Any, view: Constraints) -> FloatArray:
    by_source = value if isinstance(value, dict) else dict.fromkeys(range(view.n_sources), value)
    if set(by_source) != set(range(view.n_sources)):
        raise ValueError(
            f"xi[{view.name!r}] is for the sources {sorted(by_source)}, but the answers come from "
            f"{view.n_sources} numbered from 0: give each an entry."
        )
    rows = unit_confidence(view)
    for source, one in by_source.items():
        if isinstance(one, float):
            rows[source] *= one
        elif np.shape(one) == ((2,) if view.kind == PAIRWISE else (3, 3)):
            rows[source] = one
        else:
            wanted = (
                "a number or a pair (xi1, xi2)"
                if view.kind == PAIRWISE
                else "a number or (3, 3) costs"
            )
            raise ValueError(
                f"xi[{view.name!r}] must be {wanted} for each source of {view.kind} answers; got {one!r}."
            )
    return rows


def by_view(xi: Xi, constraints: Sequence[Constraints]) -> Any:
    """Return a confidence as users see it: (xi1, xi2) as it is, a table as a dict by the names of the views.

    Of links an array (S, 2) of xi1 and xi2, of triplets (S, 3, 3), the costs of answers (columns)
    under each truth (rows).
    """
    if isinstance(xi, tuple):
        return xi
    found, begin = {}, 0
    for view in constraints:
        end = begin + view.n_sources * view.n_answers
        table = xi[begin:end].reshape(view.n_sources, view.n_answers, -1)
        if view.kind == PAIRWISE:
            found[view.name] = np.stack([-table[:, 1, 0], table[:, 0, 0]], axis=1) + 0.0
        else:
            pattern_of = [
                int(np.flatnonzero(view.truth == answer)[0]) for answer in range(view.n_answers)
            ]
            found[view.name] = np.swapaxes(table[:, :, pattern_of], 1, 2) + 0.0
        begin = end
    return found
