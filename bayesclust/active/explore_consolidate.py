"""Explore and consolidate: one item of each cluster, then random ones (Basu, Banerjee and Mooney 2004)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.active.min_max import explore
from bayesclust.active.neighbourhoods import Neighbourhoods
from bayesclust.active.protocol import Query, QueryState
from bayesclust.checks import check_int


class ExploreConsolidate:
    """Look for one item of each cluster, then compare random items with what was found.

    "Active semi-supervision for pairwise constrained clustering" (Basu, Banerjee and Mooney, SDM
    2004), section 4. Explore: farthest-first traversal, each item compared with every neighbourhood
    until one is its own (in an order that the authors leave open; here the one with the nearest
    member first), until there are as many as clusters. Consolidate: items drawn at random, compared
    with the neighbourhoods by increasing distance to their means.

    The authors ask at most K - 1 queries of an item, since the last one follows if all answers
    are right. Here it is asked, since they may not be; an item that is apart from all begins one
    neighbourhood more.

    Contradictory answers, and pairs that nobody knew: see `bayesclust.active.neighbourhoods`.

    Parameters
    ----------
    n_clusters : int or None, default None
        How many neighbourhoods to look for; None is the number of clusters of the partition as it
        stands.

    Raises
    ------
    TypeError, ValueError
        If the number is out of range.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X = np.array([[0.0], [1.0], [4.0], [10.0]])
    >>> state = QueryState(X, np.zeros(4, dtype=int), [PairwiseConstraints([(0, 3)], [False], n_items=4)], [])
    >>> ExploreConsolidate(n_clusters=3)(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2))]
    >>> ExploreConsolidate(n_clusters=2)(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 1))]
    """

    def __init__(self, n_clusters: int | None = None) -> None:
        self.n_clusters = None if n_clusters is None else check_int(n_clusters, "n_clusters")

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or queries about `size` items.

        Parameters
        ----------
        state : QueryState
        size : int
        rng : Generator
            Draws the first item, and those of the second part.

        Returns
        -------
        list of Query
        """
        X, known = state.X, Neighbourhoods.of(state, rng)
        wanted = len(np.unique(state.labels)) if self.n_clusters is None else self.n_clusters
        if len(known.members) < wanted:
            return explore(X, known, size)
        means = np.array([X[members].mean(axis=0) for members in known.members])
        drawn = rng.permutation(np.flatnonzero(known.fresh.any(axis=1)))
        return known.queries(drawn, lambda item: -np.linalg.norm(means - X[item], axis=1), size)


__all__ = ["ExploreConsolidate"]
