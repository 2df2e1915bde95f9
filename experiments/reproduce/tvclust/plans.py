"""Which cells the tables and figures need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from bayesclust.checks import check_int
from bayesclust.constraints._checks import number_between
from experiments.reproduce import sources
from experiments.reproduce.tvclust.cells import ORDERED, UNANSWERED, UNORDERED, Cell
from experiments.reproduce.tvclust.methods import COUNT_METHODS, EVERY_METHOD, METHODS

__all__ = ["ACCURACIES", "FIGURES", "FRACTIONS", "TABLES", "Plan"]

TABLES, FIGURES = (1, 2, 3, 4), (2, 3, 4)
FRACTIONS, ACCURACIES = (0.01, 0.03, 0.05), (1.0, 0.95, 0.9, 0.8)
SHAPE_FRACTION, DEVIATION_FRACTION, TABLE_4_FRACTION = 0.01, 0.03, 0.01


QUICK: dict[str, Any] = {
    "methods": tuple(name for name, method in METHODS.items() if not method.slow),
    "data": ("iris", "glass", sources.WITH_ID),
    "fractions": (0.03,),
    "accuracies": (1.0, 0.8),
    "deviations": (-1, 0, 1),
    "rates": (0.001, 0.01),
    "trials": 1,
}


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    tables, figures : tuple of int
        By the paper's numbers.
    methods : tuple of str
        Of `METHODS`; Table 4 and Figure 4 have their own.
    data : tuple of str
        Of Tables 1 to 3; Figure 3 leaves "glass_with_id" out.
    samplings : tuple of {"ordered", "unordered"}
        Of Tables 1 to 3; the figures and Table 4 have ordered pairs.
    fractions, accuracies : tuple of float
        The paper's r and p.
    deviations : tuple of int
        Of Figure 3: methods are told k minus these.
    rates : tuple of float
        The r of Figure 4.
    shapes, counts : tuple of str
        Data of Figure 2, and of Table 4 and Figure 4.
    trials : int, default 5
        Draws of answers, the paper's number.
    seed : int, default 0
    """

    tables: tuple[int, ...] = TABLES
    figures: tuple[int, ...] = FIGURES
    methods: tuple[str, ...] = tuple(METHODS)
    data: tuple[str, ...] = (*sources.UCI, sources.WITH_ID)
    samplings: tuple[str, ...] = (ORDERED, UNORDERED)
    fractions: tuple[float, ...] = FRACTIONS
    accuracies: tuple[float, ...] = ACCURACIES
    deviations: tuple[int, ...] = (-3, -2, -1, 0, 1, 2, 3)
    rates: tuple[float, ...] = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06)
    shapes: tuple[str, ...] = sources.SHAPES
    counts: tuple[str, ...] = sources.COUNTS
    trials: int = 5
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, touch everything with little: one trial, two data sets,
            none of the methods whose fits take more than a few seconds. Hours become minutes, and
            the numbers mean little.
        **given
            Fields of the plan.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no table, figure, method or data set of a name given, a share is not in (0,
            1], or a number of trials or a seed is impossible.
        """
        plan = cls(**{**(QUICK if quick else {}), **given})
        known = {
            "tables": TABLES,
            "figures": FIGURES,
            "methods": METHODS,
            "data": (*sources.UCI, sources.WITH_ID),
        }
        known |= {
            "samplings": (ORDERED, UNORDERED),
            "shapes": sources.SHAPES,
            "counts": sources.COUNTS,
        }
        for field, names in known.items():
            for name in getattr(plan, field):
                if name not in names:
                    raise ValueError(
                        f"{field} has {name!r}: choose from {', '.join(map(str, names))}."
                    )
        for field in ("fractions", "accuracies", "rates"):
            for share in getattr(plan, field):
                number_between(share, field, "(0, 1]")
        check_int(plan.trials, "trials")
        check_int(plan.seed, "seed", least=0)
        return plan

    def cells(self) -> list[Cell]:
        """Return the cells needed, each once, method by method."""
        wanted: list[Cell] = []
        for name in self.methods:
            wanted += self._grid(name) if {1, 2, 3} & set(self.tables) else ()
            wanted += self._deviations(name) if 3 in self.figures else ()
            wanted += self._shapes(name) if 2 in self.figures else ()
        if 4 in self.tables or 4 in self.figures:
            wanted += self._counts()
        return list(dict.fromkeys(wanted))

    def _cells(
        self,
        method: str,
        data: Iterable[str],
        samplings: Iterable[str],
        fractions: Iterable[float],
        accuracies: Iterable[float],
        deviation: int = 0,
    ) -> Iterator[Cell]:
        """A product of settings; to methods that heed no answers, answers are no setting."""
        if not EVERY_METHOD[method].answers:
            samplings, fractions, accuracies = (UNANSWERED,), (0.0,), (1.0,)
        for name, sampling, trial in product(data, samplings, range(self.trials)):
            for fraction, accuracy in product(fractions, accuracies):
                yield Cell(self.seed, method, name, sampling, fraction, accuracy, deviation, trial)

    def _grid(self, method: str) -> Iterator[Cell]:
        return self._cells(method, self.data, self.samplings, self.fractions, self.accuracies)

    def _deviations(self, method: str) -> Iterator[Cell]:
        """Methods that are not told k do not change with what others are told."""
        told = EVERY_METHOD[method].told
        for deviation in self.deviations if told else (0,):
            data = [
                name
                for name in self.data
                if name != sources.WITH_ID
                and sources.classes(name) - deviation >= EVERY_METHOD[method].least
            ]
            yield from self._cells(
                method, data, (ORDERED,), (DEVIATION_FRACTION,), (1.0,), deviation
            )

    def _shapes(self, method: str) -> Iterator[Cell]:
        return self._cells(method, self.shapes, (ORDERED,), (SHAPE_FRACTION,), (1.0,))

    def _counts(self) -> Iterator[Cell]:
        for method, entry in COUNT_METHODS.items():
            if 4 in self.tables:
                yield from self._cells(method, self.counts, (ORDERED,), (TABLE_4_FRACTION,), (1.0,))
            if 4 in self.figures and entry.model == "multinomial":
                yield from self._cells(method, self.counts, (ORDERED,), self.rates, (1.0,))
