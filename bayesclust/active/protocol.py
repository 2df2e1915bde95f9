"""A query strategy: a callable that looks at the state of a session and returns queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import comb
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice, shown
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.sampling import random_pairs, random_triplets
from bayesclust.typing import FloatArray, IntArray

PAIR = "pair"
TRIPLET = "triplet"
DONT_KNOW = "dnk"
UNNAMED = "unnamed"
"""The source of what no annotator answered, where others did."""

ASKED: dict[str, type[PairwiseConstraints] | type[RelativeConstraints]] = {
    PAIR: PairwiseConstraints,
    TRIPLET: RelativeConstraints,
}
"""Constraints that the answers to each kind of query make."""
VOCABULARY = {
    PAIR: (*reversed(PairwiseConstraints.vocabulary), DONT_KNOW),
    TRIPLET: RelativeConstraints.vocabulary,
}
"""Answers to each kind of query."""


class Query(NamedTuple):
    """A question to an annotator.

    Parameters
    ----------
    kind : {"pair", "triplet"}
        Whether two items are in one cluster, or whether the first of three is more similar to the
        second than to the third.
    items : tuple of int
    source : str, int or None, default None
        Which annotator to ask, where there are several.

    Examples
    --------
    >>> import bayesclust as bc
    >>> str(bc.active.Query("triplet", (4, 0, 7), "ann"))
    'ann, is item 4 more similar to 0 than to 7?'
    """

    kind: str
    items: tuple[int, ...]
    source: str | int | None = None

    def __str__(self) -> str:
        text = "are items {} and {} in one cluster?"
        if self.kind != PAIR:
            text = "is item {} more similar to {} than to {}?"
        return ("" if self.source is None else f"{self.source}, ") + text.format(*self.items)


class QueryState(NamedTuple):
    """The part of a session that a query strategy may look at."""

    X: FloatArray  # (n, d)
    labels: IntArray  # (n,) the present partition
    constraints: Sequence[Constraints]  # answers, and constraints that were added without a query
    skipped: Sequence[Query]  # pairs that were answered by "don't know"

    def asked(self, kind: str) -> set[tuple[int, ...]]:
        """Return the items of the answered and skipped queries of a kind, ordered by `ordered`."""
        rows = [q.items for q in self.skipped if q.kind == kind]
        for one in self.constraints:
            if isinstance(one, ASKED[kind]):
                rows += one.items.tolist()
        return {ordered(kind, row) for row in rows}


class QueryStrategy(Protocol):
    """A callable that chooses the next queries."""

    def __call__(self, state: QueryState, size: int, rng: Generator) -> Sequence[Query]:
        """Return at most `size` different queries not asked before; none if none is left."""
        ...


def ordered(kind: str, items: Sequence[int]) -> tuple[int, ...]:
    """Sort the items so that equal queries have equal tuples: triplet (5, 9, 2) is (5, 2, 9)."""
    fixed = 0 if kind == PAIR else 1
    return (*items[:fixed], *sorted(items[fixed:]))


def check_queries(
    queries: Sequence[Any], n_items: int, kinds: Collection[str] = ASKED
) -> list[Query]:
    """Return the queries, or refuse unknown kinds and items that are not there or repeated."""
    found = []
    for given in queries:
        is_query = isinstance(given, tuple) and len(given) in (2, 3)
        if not (is_query and isinstance(given[1], (tuple, list, np.ndarray))):
            raise TypeError(
                "a query is a kind and a tuple of items, such as Query('pair', (0, 1)); "
                f"got {shown(given)}."
            )
        kind = check_choice(given[0], "the kind of a query", kinds)
        ASKED[kind]([given[1]], [0], n_items)
        found.append(Query(kind, tuple(given[1]), *given[2:]))
    return found


class RandomQueries:
    """Draw pairs or triplets uniformly from those not asked before: the baseline of every strategy.

    Parameters
    ----------
    kind : {"pair", "triplet"}, default "pair"

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)
    >>> state = bc.active.QueryState(np.zeros((3, 1)), np.zeros(3, dtype=int), [links], [])
    >>> bc.active.RandomQueries()(state, size=5, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2), source=None)]
    """

    def __init__(self, kind: str = PAIR) -> None:
        self.kind = check_choice(kind, "kind", VOCABULARY)

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return `size` queries, or as many as are left."""
        n = len(state.X)
        asked = state.asked(self.kind)
        # draw so many more that enough remain without those asked before
        wanted = size + len(asked)
        if self.kind == PAIR:
            rows = random_pairs(n, min(wanted, comb(n, 2)), rng)
        else:
            rows = random_triplets(n, min(wanted, n * comb(n - 1, 2)), rng)
        new = [row for row in rows.tolist() if ordered(self.kind, row) not in asked]
        return [Query(self.kind, tuple(row)) for row in new[:size]]
