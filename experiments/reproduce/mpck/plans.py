"""Which cells the figures need."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from bayesclust.checks import check_int
from experiments.reproduce.mpck.cells import DATA, FOLDS, Cell
from experiments.reproduce.mpck.methods import ABLATIONS, METHODS, VARIANTS

__all__ = ["FIGURES", "NUMBERS", "Plan"]

# Protein, of Figures 4 and 10, comes with no package
FIGURES = {
    **dict(zip((2, 3, 5, 6, 7), DATA, strict=True)),
    **dict(zip((8, 9, 11, 12, 13), DATA, strict=True)),
}
NUMBERS = (0, 25, 50, 100, 200, 300, 400)


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    figures : tuple of int
        By the paper's numbers: 2, 3, 5, 6, 7 (parts of the method) and 8, 9, 11, 12, 13 (kinds of
        metric).
    methods : tuple of str
        If any are given, only these of each figure's.
    numbers : tuple of int
        Pairs answered.
    trials : int, default 50
        Runs of five folds, the paper's number.
    seed : int, default 0
    """

    figures: tuple[int, ...] = tuple(FIGURES)
    methods: tuple[str, ...] = ()
    numbers: tuple[int, ...] = NUMBERS
    trials: int = 50
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, only iris, three numbers of pairs and one run.
        **given
            Fields of the plan.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no figure or method of a name given, or a number is impossible.
        """
        given.pop("tables", None)
        plan = cls(
            **{
                **({"figures": (2, 8), "numbers": (0, 50, 200), "trials": 1} if quick else {}),
                **given,
            }
        )
        known: dict[str, tuple[Any, ...]] = {"figures": tuple(FIGURES), "methods": tuple(METHODS)}
        for field, names in known.items():
            for name in getattr(plan, field):
                if name not in names:
                    raise ValueError(
                        f"{field} has {name!r}: choose from {', '.join(map(str, names))}."
                    )
        for number in plan.numbers:
            check_int(number, "numbers", least=0)
        check_int(plan.trials, "trials")
        check_int(plan.seed, "seed", least=0)
        return plan

    def of_figure(self, figure: int) -> tuple[str, ...]:
        """Return the methods of a figure.

        Parameters
        ----------
        figure : int

        Returns
        -------
        tuple of str
        """
        names = ABLATIONS if figure < 8 else VARIANTS
        return tuple(name for name in names if name in self.methods) if self.methods else names

    def cells(self) -> list[Cell]:
        """Return the cells needed, each once, run by run, so that what is cut short has some runs of everything.

        Returns
        -------
        list of Cell
        """
        wanted = [
            Cell(
                self.seed,
                method,
                FIGURES[figure],
                number if METHODS[method].answers else 0,
                trial,
                fold,
            )
            for trial, figure in product(range(self.trials), self.figures)
            for method, number, fold in product(self.of_figure(figure), self.numbers, range(FOLDS))
        ]
        return list(dict.fromkeys(wanted))
