"""Answers of a cell, and the part of them that a method hears."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import bayesclust as bc
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.questions import random_pairs
from bayesclust.typing import IntArray
from experiments.baselines.comparisons import comparisons
from experiments.reproduce import sources, stand_ins
from experiments.reproduce.dcrc import paper

__all__ = [
    "ALL",
    "BOUNDARY",
    "NONE",
    "NOTHING",
    "PAIRS",
    "PEOPLE",
    "PEOPLE_PAIRS",
    "RIGHT",
    "YES_NO",
    "ask",
    "heard",
]

RIGHT, BOUNDARY, PEOPLE, PEOPLE_PAIRS, NONE = "right", "boundary", "people", "people-pairs", "none"
ALL, YES_NO, PAIRS, NOTHING = "all", "yes and no", "pairs", "nothing"

# whose answers do not change with the names of other sets
NUMBERED = (
    "ionosphere",
    "pima",
    "balance",
    "digits389",
    "letters_ijlt",
    "wine",
    "ecoli",
    "segment",
)


def ask(
    data: bc.datasets.Dataset, kind: str, number: int, words: Sequence[int]
) -> Constraints | None:
    """Ask about random triplets or pairs.

    Parameters
    ----------
    data : Dataset
    kind : {"right", "boundary", "people", "people-pairs", "none"}
        Triplets answered by the classes; the same among items near a boundary between classes;
        triplets, or pairs, answered with errors as often as people made them in the paper's Table
        IV; none asked.
    number : int
        How many.
    words : sequence of int
        Seed. Answers depend besides only on the data.

    Returns
    -------
    RelativeConstraints, PairwiseConstraints or None
    """
    if kind == NONE or number == 0:
        return None
    rng = np.random.default_rng(words)
    if kind == PEOPLE_PAIRS:
        return _pairs_by_people(data.y, number, rng)
    if kind == BOUNDARY:
        near = stand_ins.near_boundaries(data)
        asked = bc.RelativeConstraints.sample(data.y[near], size=number, error_rate=0.0, seed=rng)
        return bc.RelativeConstraints(near[asked.items], asked.answers, n_items=len(data.y))
    errors = {"confusion": paper.rates(paper.TABLE_IV)} if kind == PEOPLE else {"noise": 0.0}
    return bc.RelativeConstraints.sample(data.y, size=number, seed=rng, **errors)


def _pairs_by_people(y: IntArray, number: int, rng: np.random.Generator) -> bc.PairwiseConstraints:
    pairs = random_pairs(len(y), number, rng)
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    says_together = np.where(together, *paper.rates(paper.TABLE_IV_PAIRS)[:, 0])
    return bc.PairwiseConstraints(pairs, rng.random(number) < says_together, n_items=len(y))


def data_number(name: str) -> int:
    """What the name of a set contributes to the seed of its answers.

    Parameters
    ----------
    name : str

    Returns
    -------
    int
    """
    return NUMBERED.index(name) if name in NUMBERED else len(NUMBERED) + sources.code(name)


def heard(view: Constraints | None, hears: str) -> Constraints | None:
    """What a method hears of answers.

    Parameters
    ----------
    view : Constraints or None
    hears : {"all", "yes and no", "pairs", "nothing"}
        "yes and no" leaves each "dnk" out; "pairs" makes two pairs of each other answer, one
        together and one apart, as the paper does for methods that take pairs. Answers about pairs
        are heard as they are.

    Returns
    -------
    Constraints or None
        None if nothing is left.

    Examples
    --------
    >>> view = bc.RelativeConstraints([(0, 1, 2), (3, 0, 2), (0, 1, 3)], ["yes", "no", "dnk"], n_items=4)
    >>> heard(view, "yes and no")
    <RelativeConstraints 'triplets': 1 yes, 1 no, 0 dnk, on 4 items>
    >>> links = heard(view, "pairs")
    >>> links.items.tolist(), links.answers.tolist()
    ([[0, 1], [2, 3], [0, 2], [0, 3]], [1, 1, 0, 0])
    """
    if view is None or hears == NOTHING or not len(view):
        return None
    if hears == ALL or view.kind == "pairwise":
        return view
    compared = comparisons([view])
    if not len(compared):
        return None
    if hears == PAIRS:
        together = np.repeat([True, False], len(compared))
        ends = np.concatenate([compared[:, [0, 1]], compared[:, [0, 2]]])
        return bc.PairwiseConstraints(ends, together, n_items=view.n_items)
    told = view.answers < 2
    return bc.RelativeConstraints(view.items[told], view.answers[told], n_items=view.n_items)
