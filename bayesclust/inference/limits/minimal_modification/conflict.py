"""Which constraints cannot all hold: a set of which none can be left out (Junker 2004, QuickXplain)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesclust.inference.limits.minimal_modification.problem import Problem
from bayesclust.inference.limits.minimal_modification.solve import (
    Limits,
    OutOfTime,
    Unsatisfiable,
    solve,
)


def conflict(problem: Problem, rows: Sequence[int], limits: Limits) -> list[int]:
    """Return hard statements that cannot all hold, though they can without any one of them.

    Parameters
    ----------
    problem : Problem
        Weights that are finite do not matter, nor do finite costs.
    rows : sequence of int
        Where to look; the hard ones of them cannot all hold.
    limits : Limits
        When time is up, the set still cannot hold, but may be larger than it need be.

    Returns
    -------
    list of int
        In increasing order.

    Examples
    --------
    >>> from bayesclust.constraints.rules.statements import Apart, Together
    >>> statements = [Together(0, 1), Apart(2, 3), Together(1, 2), Apart(0, 2)]
    >>> conflict(Problem(np.zeros((4, 3)), statements, np.full(4, np.inf)), range(4), Limits.of(10.0, 1))
    [0, 2, 3]
    """
    free = np.where(np.isfinite(problem.costs), 0.0, np.inf)
    everything = np.arange(len(free))

    def holds(chosen: Sequence[int]) -> bool:
        """Whether some can hold together, as far as can be told in time."""
        try:
            solve(
                Problem(free, problem.statements, problem.weights).part(everything, chosen), limits
            )
        except Unsatisfiable:
            return False
        except OutOfTime:
            return True
        return True

    def needed(background: list[int], fresh: bool, left: list[int]) -> list[int]:
        """Return which of `left` a smallest conflict with all of `background` needs."""
        if fresh and not holds(background):
            return []
        if len(left) == 1:
            return left
        half = len(left) // 2
        second = needed(background + left[:half], True, left[half:])
        first = needed(background + second, bool(second), left[:half])
        return first + second

    hard = [row for row in rows if np.isinf(problem.weights[row])]
    return sorted(needed([], False, hard))


__all__ = ["conflict"]
