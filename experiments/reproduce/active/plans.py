"""Which sessions are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import bayesclust as bc
from bayesclust.checks import check_int
from experiments.reproduce.active.cells import DATA, Cell
from experiments.reproduce.active.methods import COMPARED, METHODS

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    methods : tuple of str
        Who chooses questions.
    data : tuple of str
    questions : int, default 100
        In every session.
    trials : int, default 20
        Experts, each in one session with every method on every data set.
    seed : int, default 0
    """

    methods: tuple[str, ...] = COMPARED
    data: tuple[str, ...] = DATA
    questions: int = 100
    trials: int = 20
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, only iris, ten questions and two trials.
        **given
            Fields of the plan.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no method or data set of a name given, or a number is impossible.
        """
        small: dict[str, Any] = {"data": ("iris",), "questions": 10, "trials": 2} if quick else {}
        plan = cls(**{**small, **given})
        known = {"methods": tuple(METHODS), "data": bc.datasets.names()}
        for field, names in known.items():
            for name in getattr(plan, field):
                if name not in names:
                    raise ValueError(f"{field} has {name!r}: choose from {', '.join(names)}.")
        check_int(plan.questions, "questions")
        check_int(plan.trials, "trials")
        check_int(plan.seed, "seed", least=0)
        return plan

    def cells(self) -> list[Cell]:
        """Return the cells needed, trial by trial, so that what is cut short has some trials of everything.

        Returns
        -------
        list of Cell
        """
        wanted = product(range(self.trials), self.data, self.methods)
        return [
            Cell(self.seed, method, data, trial, self.questions) for trial, data, method in wanted
        ]
