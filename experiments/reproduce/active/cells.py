"""Cells: one session each, its questions, answers and scores."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.active import PosteriorQueries, Query, QueryState
from bayesclust.active.expected_gain import default_min_gain
from bayesclust.typing import FloatArray, IntArray
from experiments.reproduce import sources
from experiments.reproduce.active.methods import METHODS, TARGET, posterior
from experiments.reproduce.mpck.cells import load as load_tenth

__all__ = ["DATA", "FLIP", "KINDS", "Cell", "area", "expert", "load", "run"]

DATA = ("iris", "wine", "ecoli", "glass", "balance", "digits389")
"""The five sets of the TVClust paper, and of digits 3, 8 and 9 the tenth that the MPCK-Means paper took: another paper's
set, of more features than the rest, and small enough for a session of a hundred updates."""
FLIP = 0.1


class Cell(NamedTuple):
    """One session: who chooses, on what, with which expert.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
        Who chooses the questions.
    data : str
    trial : int
        Which expert. Asked the same pair, it says the same to all methods; and all begin with the
        same posterior.
    questions : int
        How many are asked, one by one.
    """

    seed: int
    method: str
    data: str
    trial: int
    questions: int


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("method", "data"), "str"),
        **dict.fromkeys(("trial", "questions"), "int64"),
        **dict.fromkeys(("area", "rand"), "float64"),
        "wrong": "int64",
        **dict.fromkeys(("curve", "rand_curve", "gains"), "str"),
        "stop": "int64",
        "seconds": "float64",
    }
)
"""Columns of the file: the fields of a cell, the areas under its curves of pairwise F and of the adjusted Rand index, the
number of wrong answers, both curves, before the first and after each answer, the gain expected of
each question as it was asked, how many were asked before the first that posterior selection would
not have thought worth it, and processor seconds
without those of the posterior before the first answer."""


@cache
def load(name: str) -> tuple[FloatArray, IntArray]:
    """Items, features standardised, and their classes.

    Parameters
    ----------
    name : str

    Returns
    -------
    X : (n, d) array
    y : (n,) array of int
    """
    data = load_tenth(name)
    return sources.standardised(data.X), data.y


def expert(cell: Cell, y: IntArray, question: Query) -> bool:
    """Whether the expert says that the two items are in one class; one answer in ten is wrong.

    Parameters
    ----------
    cell : Cell
        Of which seed, data and trial count.
    y : (n,) array of int
    question : Query
        About a pair.

    Returns
    -------
    bool
    """
    i, j = sorted(question.items)
    wrong = np.random.default_rng([*_start(cell), i, j]).random() < FLIP
    return bool((y[i] == y[j]) ^ wrong)


def _start(cell: Cell) -> tuple[int, ...]:
    return cell.seed, cell.trial, sources.code(cell.data)


@lru_cache(maxsize=1)  # cells that begin alike come one after the other
def _beginning(start: tuple[int, ...], data: str) -> tuple[PosteriorQueries, np.random.Generator]:
    """The posterior before the first answer, with which all methods begin, and the generator that it goes on with."""
    X, y = load(data)
    hearing = np.random.default_rng([*start, 1])
    return posterior().update(QueryState(X, y * 0, [], []), hearing), hearing


def area(curve: Sequence[float]) -> float:
    """Area under a curve by the trapezoidal rule, over its length.

    Parameters
    ----------
    curve : sequence of float
        F before the first answer, and after each.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> area([0.5, 0.7, 0.7])
    0.65
    """
    return float(np.trapezoid(curve) / (len(curve) - 1))


def run(cell: Cell) -> dict[str, Any]:
    """Ask the questions of one session, one by one; the same posterior hears the answers, whoever chooses.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        A value for each of `KINDS`. Where nothing was left to ask, the curves go on as they are,
        and so do gains, at 0.
    """
    X, y = load(cell.data)
    heard, hearing = copy.deepcopy(_beginning(_start(cell), cell.data))
    choose = METHODS[cell.method].make(heard)
    start = time.process_time()
    choosing = np.random.default_rng([*_start(cell), 0])
    pairs: list[tuple[int, ...]] = []
    said: list[bool] = []

    def scored() -> tuple[QueryState, float, float]:
        links = [bc.PairwiseConstraints(pairs, said, n_items=len(X))] if pairs else []
        labels = heard.update(QueryState(X, y * 0, links, []), hearing).labels()
        return (
            QueryState(X, labels, links, []),
            bc.metrics.pairwise_f(labels, y),
            bc.metrics.adjusted_rand(labels, y),
        )

    situation, f, rand = scored()
    curve, rands, gains, stop = [f], [rand], np.zeros(cell.questions), cell.questions
    for turn in range(cell.questions):
        asked = choose(situation, 1, choosing)
        if not asked:
            break
        gains[turn] = heard.gains(situation, hearing, asked)["gain"].iloc[0]
        if stop > turn and gains[turn] < default_min_gain(TARGET, heard.draws):
            stop = turn
        pairs.append(asked[0].items)
        said.append(expert(cell, y, asked[0]))
        situation, f, rand = scored()
        curve.append(f)
        rands.append(rand)
    left = cell.questions + 1 - len(curve)
    curve, rands = curve + [f] * left, rands + [rand] * left
    truth = [bool(y[i] == y[j]) for i, j in pairs]
    return {
        **cell._asdict(),
        "area": round(area(curve), 4),
        "rand": round(area(rands), 4),
        "wrong": sum(a != b for a, b in zip(said, truth, strict=True)),
        "curve": " ".join(f"{value:.4f}" for value in curve),
        "rand_curve": " ".join(f"{value:.4f}" for value in rands),
        "gains": " ".join(f"{value:.5f}" for value in gains),
        "stop": min(stop, len(pairs)),
        "seconds": round(time.process_time() - start, 2),
    }
