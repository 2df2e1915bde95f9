"""Queries at random, with which every other choice is to be compared."""

from __future__ import annotations

from math import comb

from numpy.random import Generator

from bayesclust.active.protocol import PAIR, VOCABULARY, Query, QueryState, ordered
from bayesclust.checks import check_choice
from bayesclust.constraints.questions import random_pairs, random_triplets


class RandomQueries:
    """Pairs or triplets drawn uniformly from those that have not been asked.

    Parameters
    ----------
    kind : {"pair", "triplet"}, default "pair"

    Raises
    ------
    ValueError
        If the kind is another.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> links = PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)
    >>> state = QueryState(np.zeros((3, 1)), np.zeros(3, dtype=int), [links], [])
    >>> RandomQueries()(state, size=5, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2))]
    """

    def __init__(self, kind: str = PAIR) -> None:
        self.kind = check_choice(kind, "kind", VOCABULARY)

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return `size` queries, or as many as are left.

        Parameters
        ----------
        state : QueryState
        size : int
        rng : Generator

        Returns
        -------
        list of Query
        """
        n, asked = len(state.X), state.asked(self.kind)
        draw, number = (
            (random_pairs, comb(n, 2))
            if self.kind == PAIR
            else (random_triplets, n * comb(n - 1, 2))
        )
        # as many as have been asked may come up again
        rows = draw(n, min(size + len(asked), number), rng).tolist()
        fresh = [
            Query(self.kind, tuple(row)) for row in rows if ordered(self.kind, row) not in asked
        ]
        return fresh[:size]


__all__ = ["RandomQueries"]
