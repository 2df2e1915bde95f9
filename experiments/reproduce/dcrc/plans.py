"""Which cells the figures and tables need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from bayesclust.checks import check_int
from bayesclust.constraints._checks import number_between
from experiments.reproduce import sources
from experiments.reproduce.dcrc.answers import (
    BOUNDARY,
    NONE,
    NOTHING,
    PAIRS,
    PEOPLE,
    PEOPLE_PAIRS,
    RIGHT,
)
from experiments.reproduce.dcrc.cells import Cell
from experiments.reproduce.dcrc.methods import FIGURE_4, METHODS, TABLE_V

__all__ = ["FIGURES", "FIGURE_6", "FIGURE_7", "FRACTIONS", "REGIONS", "RUNTIME", "TABLES", "Plan"]

FIGURES, TABLES = (2, 4, 5, 6, 7), ("iv", "v")
FRACTIONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FIGURE_6 = ("dcrc", "dcrc-hard", "dcrc-hard-literal")
FIGURE_7 = ("dcrc-even", "dcrc-no-balance", "dcrc")
REGIONS = ("fuzzy", "separate")
RUNTIME = ("birdsong", 1500)

QUICK: dict[str, Any] = {
    "data": ("balance",),
    "data_6": ("balance",),
    "data_7": ("balance",),
    "data_v": ("balance",),
    "fractions": (0.05, 0.3),
    "asked": (150,),
    "asked_regions": 60,
    "trials": 1,
    "runtime": False,
}


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    figures : tuple of int
        By the paper's numbers: 2, 4, 5, 6, 7.
    tables : tuple of {"iv", "v"}
    runtime : bool, default True
        Whether the fit of section V-B6 is timed.
    methods : tuple of str
        Of Figure 4 and, as far as it has them, of Table V, if any are given.
    data, data_6, data_7, data_v : tuple of str
        Of Figure 4, Figure 6, Figure 7 and Tables IV and V.
    fractions : tuple of float
        Triplets asked, as shares of the number of items.
    asked : tuple of int
        Triplets asked for Table IV; the first is Table V's.
    pairs : tuple of int
        Pairs asked for Table V.
    asked_regions : int
        Triplets asked for Figure 5.
    trials : int, default 20
        Draws of answers, the paper's number.
    seed : int, default 0
    """

    figures: tuple[int, ...] = FIGURES
    tables: tuple[str, ...] = TABLES
    runtime: bool = True
    methods: tuple[str, ...] = ()
    data: tuple[str, ...] = (
        *("ionosphere", "pima", "balance", "digits389", "letters_ijlt"),
        *("segment", "ecoli", "birdsong"),
    )
    data_6: tuple[str, ...] = ("ionosphere", "balance", "letters_ijlt", "segment")
    data_7: tuple[str, ...] = ("birdsong", "ecoli", "letters_ijlt")
    data_v: tuple[str, ...] = ("syllables", "segment", "letters_ijlt", "penbased")
    fractions: tuple[float, ...] = FRACTIONS
    asked: tuple[int, ...] = (150, 900)
    pairs: tuple[int, ...] = (150, 225)
    asked_regions: int = 500
    trials: int = 20
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, touch everything with little: one trial, one small data
            set. Hours become a minute, and the numbers mean little.
        **given
            Fields of the plan. `data` stands for the data of all parts where theirs are not given.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no figure, table, method or data set of a name given, a share is not in (0,
            1], or a number is impossible.
        """
        if "data" in given:
            given = {**dict.fromkeys(("data_6", "data_7", "data_v"), given["data"]), **given}
        plan = cls(**{**(QUICK if quick else {}), **given})
        for field, names in {"figures": FIGURES, "tables": TABLES, "methods": METHODS}.items():
            for name in getattr(plan, field):
                if name not in names:
                    raise ValueError(
                        f"{field} has {name!r}: choose from {', '.join(map(str, names))}."
                    )
        for name in {*plan.data, *plan.data_6, *plan.data_7, *plan.data_v}:
            if not sources.known(name):
                raise ValueError(
                    f"data has {name!r}: choose from {', '.join(sources.names())}, or a CSV file."
                )
        for share in plan.fractions:
            number_between(share, "fractions", "(0, 1]")
        for field in ("trials", "asked_regions"):
            check_int(getattr(plan, field), field)
        check_int(plan.seed, "seed", least=0)
        return plan

    @property
    def methods_4(self) -> tuple[str, ...]:
        """The methods of Figure 4."""
        return self.methods or FIGURE_4

    @property
    def methods_v(self) -> tuple[str, ...]:
        """The methods of Table V."""
        return tuple(name for name in self.methods if name in TABLE_V) if self.methods else TABLE_V

    def cells(self) -> list[Cell]:
        """Return the cells needed, each once, trial by trial, so that a run cut short has a part of every entry."""
        wanted: list[Cell] = []
        for trial in range(self.trials):
            if 4 in self.figures:
                wanted += self._curves(self.methods_4, self.data, self.fractions, trial)
            if 6 in self.figures:
                wanted += self._curves(FIGURE_6, self.data_6, self.fractions, trial)
            if 7 in self.figures:
                wanted += self._curves(FIGURE_7, self.data_7, (0.0, *self.fractions), trial)
            if 5 in self.figures:
                for method, name in product(FIGURE_6, REGIONS):
                    wanted.append(
                        Cell(self.seed, method, name, BOUNDARY, 0.0, self.asked_regions, trial)
                    )
            if self.tables:
                wanted += self._people(trial)
            if self.runtime:
                wanted.append(Cell(self.seed, "dcrc", RUNTIME[0], RIGHT, 0.0, RUNTIME[1], trial))
        return list(dict.fromkeys(wanted))

    def _curves(
        self, methods: Iterable[str], data: Iterable[str], fractions: Iterable[float], trial: int
    ) -> Iterator[Cell]:
        for name, method in product(data, methods):
            n = len(sources.load(name).y)
            for fraction in fractions:
                asked = (RIGHT, fraction, max(1, round(fraction * n)))
                if METHODS[method].hears == NOTHING or fraction == 0:
                    asked = (NONE, 0.0, 0)
                yield Cell(self.seed, method, name, *asked, trial)

    def _people(self, trial: int) -> Iterator[Cell]:
        for name in self.data_v:
            if "iv" in self.tables:
                for number in self.asked:
                    yield Cell(self.seed, "dcrc-confusion", name, PEOPLE, 0.0, number, trial)
            for method in self.methods_v if "v" in self.tables else ():
                hears = METHODS[method].hears
                kind = NONE if hears == NOTHING else PEOPLE_PAIRS if hears == PAIRS else PEOPLE
                numbers = {NONE: (0,), PEOPLE_PAIRS: self.pairs, PEOPLE: self.asked[:1]}[kind]
                for number in numbers:
                    yield Cell(self.seed, method, name, kind, 0.0, number, trial)
