"""Right constraints of four kinds, and answers about pairs of which some cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

import bayesclust as bc
from bayesclust.constraints.rules import Rules
from bayesclust.typing import IntArray
from experiments.reproduce.drawing import in_colours_of

__all__ = ["CASES", "KINDS", "case", "right"]

WRONG = 0.05
MEMBERS = 3
"""Items of a span-limited constraint."""

CASES = MappingProxyType({"conflicts": 0.95, "wrong": 0.95, "relaxed": 0.94})
"""By name, delta, the share of the answers that the modification must heed."""


class _Draws:
    """Items of one class and of another, in the numbers of clusters."""

    def __init__(self, truth: IntArray, rng: np.random.Generator) -> None:
        self.truth, self.rng, self.n = truth, rng, len(truth)
        self.members = [np.flatnonzero(truth == k) for k in range(int(truth.max()) + 1)]
        # an item that is alone in its class has none beside it
        self.paired = np.flatnonzero(np.bincount(truth)[truth] > 1)

    def beside(self) -> tuple[int, int]:
        """Two items of one class."""
        i = int(self.rng.choice(self.paired))
        others = self.members[self.truth[i]]
        return i, int(self.rng.choice(others[others != i]))

    def outside(self, i: int) -> int:
        """An item of another class."""
        while self.truth[k := int(self.rng.integers(self.n))] == self.truth[i]:
            pass
        return k

    def link(self) -> tuple[int, int, bool]:
        """Two items of one class or of two, by chances of one half, and whether they are together."""
        if self.rng.random() < 0.5:
            return (*self.beside(), True)
        i = int(self.rng.integers(self.n))
        return i, self.outside(i), False


def _pairs(truth: IntArray, number: int, rng: np.random.Generator) -> bc.PairwiseConstraints:
    return bc.PairwiseConstraints.sample(truth, size=number, seed=rng)


def _triplets(truth: IntArray, number: int, rng: np.random.Generator) -> bc.RelativeConstraints:
    draws = _Draws(truth, rng)
    rows = [(*pair, draws.outside(pair[0])) for pair in (draws.beside() for _ in range(number))]
    swapped = rng.random(number) < 0.5
    items = [
        (i, k, j) if swap else (i, j, k) for (i, j, k), swap in zip(rows, swapped, strict=True)
    ]
    return bc.RelativeConstraints(items, np.where(swapped, "no", "yes"), len(truth))


def _spans(truth: IntArray, number: int, rng: np.random.Generator) -> bc.SpanConstraints:
    rows = []
    for _ in range(number):
        items = rng.choice(len(truth), MEMBERS, replace=False)
        clusters = {*truth[items].tolist(), int(rng.integers(int(truth.max()) + 1))}
        rows.append((items.tolist(), sorted(clusters)))
    return bc.SpanConstraints(rows, len(truth))


def _implications(
    truth: IntArray, number: int, rng: np.random.Generator
) -> bc.ImplicationConstraints:
    draws = _Draws(truth, rng)
    rows = [([draws.link(), draws.link()], [draws.link()]) for _ in range(number)]
    return bc.ImplicationConstraints(rows, len(truth))


KINDS: Mapping[
    str,
    Callable[
        [IntArray, int, np.random.Generator],
        bc.PairwiseConstraints | bc.RelativeConstraints | Rules,
    ],
]
KINDS = MappingProxyType(
    {"pairs": _pairs, "triplets": _triplets, "span": _spans, "implication": _implications}
)


def right(
    kind: str, y: IntArray, clusters: IntArray, number: int, rng: np.random.Generator
) -> bc.PairwiseConstraints | bc.RelativeConstraints | Rules:
    """Random constraints that hold of the classes.

    "pairs" are drawn from all pairs. "triplets" have two items of one class and one of another.
    "span" lets three items be in the clusters of their classes and in one more. "implication" has
    two links before and one behind, all of them true.

    Parameters
    ----------
    kind : str
        A name in `KINDS`.
    y : (n,) array of int
        Classes, from 0, without gaps.
    clusters : (n,) array of int
        The partition that is to be modified, likewise, with as many clusters: classes have the
        numbers of the clusters that they share most items with.
    number : int
    rng : Generator

    Returns
    -------
    Constraints or Rules

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1])
    >>> right("span", y, 1 - y, 2, np.random.default_rng(0)).satisfied(1 - y)
    array([ True,  True])
    """
    return KINDS[kind](in_colours_of(y, clusters), number, rng)


def case(name: str, y: IntArray, number: int, rng: np.random.Generator) -> bc.PairwiseConstraints:
    """Answers about pairs for the comparison of soft constraints.

    Parameters
    ----------
    name : {"conflicts", "wrong", "relaxed"}
        One answer in twenty is given once more the other way round; or is wrong; or all are right.
    y : (n,) array of int
    number : int
        Answers.
    rng : Generator

    Returns
    -------
    PairwiseConstraints

    Examples
    --------
    >>> y = np.repeat([0, 1], 20)
    >>> links = case("wrong", y, 100, np.random.default_rng(0))
    >>> int((links.truths(y) != links.answers).sum())
    5
    """
    doubtful = round(WRONG * number)
    distinct = number - doubtful if name == "conflicts" else number
    links = bc.PairwiseConstraints.sample(y, size=distinct, seed=rng)
    items, answers = links.items, links.answers.copy()
    at = rng.choice(distinct, doubtful, replace=False)
    if name == "conflicts":
        items, answers = (
            np.concatenate([items, items[at]]),
            np.concatenate([answers, 1 - answers[at]]),
        )
    elif name == "wrong":
        answers[at] = 1 - answers[at]
    return bc.PairwiseConstraints(items, answers, len(y))
