"""Normalized point-based uncertainty (Xiong, Azimi and Fern 2014)."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.special import entr

from bayesclust.active.neighbourhoods import Neighbourhoods
from bayesclust.active.protocol import Query, QueryState
from bayesclust.checks import check_int, check_threads
from bayesclust.typing import FloatArray


class NPU:
    """Ask about the item whose neighbourhood is most uncertain per query expected to find it.

    "Active learning of constraints for semi-supervised clustering" (Xiong, Azimi and Fern, IEEE
    TKDE 26, 2014), with the steps of MostInformative numbered as in the slides on incremental
    constrained clustering, Algorithm 3. A forest learns the present partition (line 1); the
    similarity M(x, x') of two items is the share of trees in which they are in one leaf (line 2).
    For an item x in no neighbourhood N_i (lines 5 to 7)::

        p_i = mean of M(x, x') over x' in N_i, divided by the sum of these means over the
              neighbourhoods
        H   = - sum over i of p_i log2 p_i
        E   = sum over i of i p_(i),   p_(1) >= p_(2) >= ...

    and the item with the largest H / E is compared with one neighbourhood after the other, the most
    probable first, until one is its own; an item that is in none begins a new one. H / E is 0 while
    there is one neighbourhood only: the item is then drawn.

    The paper leaves three things open. Neighbourhoods that an item was compared with have p_i = 0.
    An item that shares no leaf with any has equal p_i. And the numbers i in E go by decreasing p_i,
    the order in which the queries come, where the slides (and published code) take the
    neighbourhoods as they are numbered. Contradictory answers and "don't know" are treated as in
    `bayesclust.active.neighbourhoods`.

    Only similarities between items and neighbourhoods are computed, never of all pairs, and the
    forest is kept for as long as neither data nor partition changes.

    Parameters
    ----------
    n_trees : int, default 50
        As published.
    seed : int, default 0
        For the forest. It is the same for every query, so that a forest kept and one learned again
        lead to the same queries.
    n_jobs : int or None, default None
        Threads that learn the forest; None takes one per processor. It does not change the queries.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of range.

    Examples
    --------
    Items 0 and 5 are known to be apart; of the others, the forest is least sure about those at the
    border.

    >>> import numpy as np
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X, labels = np.array([[0.0], [1.0], [4.0], [9.0], [10.0], [11.0]]), np.repeat([0, 1], 3)
    >>> state = QueryState(X, labels, [PairwiseConstraints([(0, 5)], [False], n_items=6)], [])
    >>> NPU()(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(3, 5))]
    """

    def __init__(self, n_trees: int = 50, seed: int = 0, n_jobs: int | None = None) -> None:
        self.n_trees = check_int(n_trees, "n_trees")
        self.seed = check_int(seed, "seed", least=0)
        check_threads(n_jobs)
        self.n_jobs = n_jobs
        self._forest: tuple[bytes, csr_array] | None = None  # digest of X and labels, and leaves

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or the best about `size` items; `rng` breaks ties."""
        known = Neighbourhoods.of(state, rng)
        fresh = known.fresh
        probability = self.probability(state, known)
        # sums that differ by rounding alone are ties
        score = np.round(informativeness(probability), 12)
        score[~fresh.any(axis=1)] = -1.0
        order = np.lexsort((rng.random(len(score)), -score))[: fresh.any(axis=1).sum()]
        return known.queries(order, lambda item: probability[item], size)

    def probability(self, state: QueryState, known: Neighbourhoods) -> FloatArray:
        """Return the probability of each fresh neighbourhood for each item, (n, l) (line 5)."""
        fresh = known.fresh
        if fresh.shape[1] == 1:  # a forest would add nothing
            return fresh.astype(np.float64)
        leaves = self._leaves(state)
        weight = np.zeros(fresh.shape)
        for k, members in enumerate(known.members):
            weight[members, k] = 1.0 / len(members)
        mean: FloatArray = leaves @ (leaves.T @ weight) / self.n_trees * fresh
        lonely = mean.sum(axis=1) == 0
        mean[lonely] = fresh[lonely]
        total = mean.sum(axis=1, keepdims=True)
        mean /= np.where(total > 0, total, 1.0)
        return mean

    def _leaves(self, state: QueryState) -> csr_array:
        """The leaves of each item, (n, leaves) of 0 and 1, one leaf of each tree."""
        X = np.ascontiguousarray(state.X)
        labels = np.ascontiguousarray(state.labels)
        digest = blake2b(X.tobytes())
        digest.update(labels.tobytes())
        if self._forest is None or self._forest[0] != digest.digest():
            from sklearn.ensemble import RandomForestClassifier

            forest = RandomForestClassifier(
                self.n_trees, random_state=self.seed, n_jobs=self.n_jobs or -1
            ).fit(X, labels)
            nodes = np.array([tree.tree_.node_count for tree in forest.estimators_])
            where = forest.apply(X) + np.concatenate([[0], np.cumsum(nodes)[:-1]])
            starts = np.arange(0, where.size + 1, self.n_trees)
            rows = (np.ones(where.size), where.ravel(), starts)
            self._forest = (digest.digest(), csr_array(rows, (len(X), nodes.sum())))
        return self._forest[1]


def informativeness(probability: FloatArray) -> FloatArray:
    """Return the entropy in bits per expected number of queries, (n, l) to (n,) (lines 6 and 7).

    Examples
    --------
    >>> informativeness(np.array([[0.5, 0.5], [0.75, 0.25]])).round(3)  # 1 / 1.5 and 0.811 / 1.25
    array([0.667, 0.649])
    """
    ranked = -np.sort(-probability, axis=1)
    expected = ranked @ np.arange(1, ranked.shape[1] + 1)
    bits = entr(ranked).sum(axis=1) / np.log(2)
    return np.asarray(bits / np.maximum(expected, 1.0), dtype=np.float64)
