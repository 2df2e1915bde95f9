"""What it takes to choose queries: a state, and a callable that looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from numpy.random import Generator

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.rules import Rules
from bayesclust.typing import FloatArray, IntArray

PAIR, TRIPLET = "pair", "triplet"
DONT_KNOW = "dnk"

VOCABULARY = {
    PAIR: (*reversed(PairwiseConstraints.vocabulary), DONT_KNOW),
    TRIPLET: RelativeConstraints.vocabulary,
}
"""Answers to each kind of query."""


class Query(NamedTuple):
    """Something to ask an expert.

    Parameters
    ----------
    kind : {"pair", "triplet"}
        Whether two items are in one cluster, or whether the first of three is more similar to the
        second than to the third.
    items : tuple of int
        Two or three different ones.

    Examples
    --------
    >>> str(Query("triplet", (4, 0, 7)))
    'is item 4 more similar to 0 than to 7?'
    """

    kind: str
    items: tuple[int, ...]

    def __str__(self) -> str:
        if self.kind == PAIR:
            return "are items {} and {} in one cluster?".format(*self.items)
        return "is item {} more similar to {} than to {}?".format(*self.items)


class QueryState(NamedTuple):
    """What a query strategy may look at."""

    X: FloatArray  # (n, d)
    labels: IntArray  # (n,) the partition as it stands
    constraints: Sequence[Constraints | Rules]  # what has been answered, and said unasked
    skipped: Sequence[Query]  # pairs to which nobody knew the answer

    def asked(self, kind: str) -> set[tuple[int, ...]]:
        """Return the items of the queries of a kind that have been answered or skipped, each as `ordered` has them."""
        view = PairwiseConstraints if kind == PAIR else RelativeConstraints
        rows = [
            tuple(row) for c in self.constraints if isinstance(c, view) for row in c.items.tolist()
        ]
        return {
            ordered(kind, row)
            for row in [*rows, *(q.items for q in self.skipped if q.kind == kind)]
        }


def ordered(kind: str, items: Sequence[int]) -> tuple[int, ...]:
    """Return the items in the order that is the same for equal queries.

    Parameters
    ----------
    kind : {"pair", "triplet"}
    items : sequence of int

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> ordered("pair", (5, 2)), ordered("triplet", (5, 9, 2))
    ((2, 5), (5, 2, 9))
    """
    fixed = 0 if kind == PAIR else 1
    return (*items[:fixed], *sorted(items[fixed:]))


class QueryStrategy(Protocol):
    """A callable that chooses what to ask next."""

    def __call__(self, state: QueryState, size: int, rng: Generator) -> Sequence[Query]:
        """Return at most `size` different queries that have not been asked; none where nothing is left to ask."""
        ...


__all__ = [
    "DONT_KNOW",
    "PAIR",
    "TRIPLET",
    "VOCABULARY",
    "Query",
    "QueryState",
    "QueryStrategy",
    "ordered",
]
