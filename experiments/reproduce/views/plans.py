"""Which cells the tables need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, Self

import bayesclust as bc
from bayesclust.checks import check_int
from experiments.reproduce import sources
from experiments.reproduce.views.cells import ORDERED, PER_ITEM, UNORDERED, Cell
from experiments.reproduce.views.methods import BASELINES, METHODS, SAMPLED

__all__ = ["PARTS", "Part", "Plan"]


class Part(NamedTuple):
    """One table: its data, how many answers there are and how good, and who is compared.

    Parameters
    ----------
    title : str
    data : tuple of str
    amounts : tuple of tuple
        Of (sampling, amount) as in a cell, for sets of at most `LARGE` items and for larger ones.
    accuracies : tuple of float
    methods : tuple of str
    """

    title: str
    data: tuple[str, ...]
    amounts: tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]
    accuracies: tuple[float, ...]
    methods: tuple[str, ...]


LARGE = 1000
_shares = tuple((ORDERED, share) for share in (0.01, 0.03, 0.05))
_few = (
    tuple((UNORDERED, share) for share in (0.01, 0.03)),
    tuple((PER_ITEM, number) for number in (2.0, 5.0)),
)
_others = ("ionosphere", "pima", "digits389", "letters_ijlt")
PARTS = {
    "usual": Part(
        "The sets of the TVClust paper",
        sources.UCI,
        (_shares, _shares),
        (1.0, 0.95, 0.9, 0.8),
        ("rdp-means", *SAMPLED),
    ),
    "others": Part(
        "Sets whose classes are no ellipses", _others, _few, (1.0, 0.9), (*BASELINES, *SAMPLED)
    ),
}


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    tables : tuple of str
        Of `PARTS`.
    methods : tuple of str
        If any are given, only these of each part's, or further ones.
    data : tuple of str
        If any are given, these instead of each part's; a name that ends in .csv is a file, and
        belongs to "others".
    trials : int, default 3
        Draws of answers.
    seed : int, default 0
    """

    tables: tuple[str, ...] = tuple(PARTS)
    methods: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    trials: int = 3
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, iris and ionosphere with the fast methods, and one draw.
        **given
            Fields of the plan.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no table, method or data set of a name given, or a number is impossible.
        """
        given.pop("figures", None)
        few = tuple(
            name for name in ("iris", "ionosphere") if name in bc.datasets.names(installed=True)
        )
        small = {"data": few, "methods": BASELINES, "trials": 1} if quick else {}
        plan = cls(**{**small, **given})
        for field, names in (("tables", PARTS), ("methods", METHODS)):
            for name in getattr(plan, field):
                if name not in names:
                    raise ValueError(f"{field} has {name!r}: choose from {', '.join(names)}.")
        for name in plan.data:
            if not sources.known(name):
                raise ValueError(
                    f"data has {name!r}: choose from {', '.join(sources.names())}, or name a CSV file."
                )
        check_int(plan.trials, "trials")
        check_int(plan.seed, "seed", least=0)
        return plan

    def parts(self) -> Iterator[Part]:
        """Yield the plan's tables.

        Yields
        ------
        Part
        """
        for name in self.tables:
            part, here = PARTS[name], bc.datasets.names(installed=True)
            asked = tuple(data for data in self.data if (data in sources.UCI) == (name == "usual"))
            data = asked if self.data else tuple(data for data in part.data if data in here)
            yield part._replace(data=data, methods=self.methods or part.methods)

    def cells(self) -> list[Cell]:
        """Return the cells needed, each once, draw by draw, the fast methods first.

        Returns
        -------
        list of Cell
        """
        wanted = []
        for trial, part in product(range(self.trials), self.parts()):
            for method, data in product(part.methods, part.data):
                if not METHODS[method].answers:
                    wanted.append(Cell(self.seed, method, data, "none", 0.0, 1.0, trial))
                    continue
                amounts = part.amounts[len(sources.load(data).y) > LARGE]
                for (sampling, amount), accuracy in product(amounts, part.accuracies):
                    wanted.append(Cell(self.seed, method, data, sampling, amount, accuracy, trial))
        return list(dict.fromkeys(wanted))
