"""Random queries: the baseline of every other strategy."""

from __future__ import annotations

from math import comb

from numpy.random import Generator

from bayesclust.active.protocol import PAIR, VOCABULARY, Query, QueryState, ordered
from bayesclust.checks import check_choice
from bayesclust.constraints.sampling import random_pairs, random_triplets


class RandomQueries:
    """Draw pairs or triplets uniformly from those not asked before.

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
