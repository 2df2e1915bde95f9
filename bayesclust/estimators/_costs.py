"""What breaking an answer costs: the parameter `cost` of `MPCKMeans` and `PCKMeans`, read and put beside the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from bayesclust.constraints._checks import number_between
from bayesclust.constraints.base import Constraints
from bayesclust.typing import FloatArray

FORMS = (
    "a number, a pair (same, different), one number per answer, or a dict by the names of the views"
)


def check_cost(cost: Any, what: str = "cost") -> Any:
    """Return cost with its numbers checked, as far as they can be without the answers."""
    if isinstance(cost, Mapping):
        return {name: check_cost(value, f"{what}[{name!r}]") for name, value in cost.items()}
    if isinstance(cost, Real):
        return number_between(cost, what, "[0, inf)")
    if isinstance(cost, (tuple, list)) and len(cost) == 2:
        return tuple(
            number_between(one, f"{what}[{at}]", "[0, inf)") for at, one in enumerate(cost)
        )
    try:
        array = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if isinstance(cost, str) or array.ndim != 1:
        raise TypeError(f"{what} must be {FORMS}; got {cost!r}.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{what}[{at}] must lie in [0, inf); got {array[at]}.")
    return array


def costs_of_answers(cost: Any, constraints: Sequence[Constraints]) -> FloatArray:
    """Return what breaking each answer costs, those of the views one after the other.

    Parameters
    ----------
    cost : float, (float, float), array or dict
        As `check_cost` returns it.
    constraints : sequence of PairwiseConstraints

    Returns
    -------
    (m,) array of float
    """
    if not isinstance(cost, dict):
        if isinstance(cost, np.ndarray) and len(constraints) > 1:
            raise ValueError(
                "cost has one number per answer, but there are several views: give a dict by their names."
            )
        return np.concatenate(
            [np.empty(0), *(_of_view(cost, view, "cost") for view in constraints)]
        )
    names = [view.name for view in constraints]
    for name in cost:
        if name not in names:
            there = " and ".join(map(repr, names)) or "none"
            raise ValueError(
                f"cost names the view {name!r}, but the constraints are {there}: use the views' names."
            )
    for name in names:
        if name not in cost:
            raise ValueError(
                f"cost has no entry for the constraints {name!r}: give every view one, 0 to leave it aside."
            )
    return np.concatenate(
        [
            np.empty(0),
            *(_of_view(cost[view.name], view, f"cost[{view.name!r}]") for view in constraints),
        ]
    )


def _of_view(cost: Any, view: Constraints, what: str) -> FloatArray:
    if isinstance(cost, dict):
        if set(cost) != set(range(view.n_sources)):
            raise ValueError(
                f"{what} is for the sources {sorted(cost)}, but the answers come from {view.n_sources} numbered from 0: "
                "give each an entry."
            )
        found = np.empty(len(view))
        for source, value in cost.items():
            if not isinstance(value, (float, tuple)):
                raise TypeError(f"{what}[{source!r}] must be a number or a pair (same, different).")
            mine = view.source == source
            found[mine] = _by_answer(value, view)[mine]
        return found
    if isinstance(cost, np.ndarray):
        if len(cost) != len(view):
            raise ValueError(
                f"{what} has {len(cost)} numbers, but there are {len(view)} answers: give one for each."
            )
        return cost
    return _by_answer(cost, view)


def _by_answer(cost: float | tuple[float, float], view: Constraints) -> FloatArray:
    same, different = cost if isinstance(cost, tuple) else (cost, cost)
    return np.where(view.answers == 1, same, different)
