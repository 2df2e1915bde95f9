"""Neighbourhoods, and the published strategy that asks about pairs by them alone.

Neighbourhoods are sets of items known to be in one cluster each, and in different ones (Xiong,
Azimi and Fern 2014): an item is compared with one after the other until it is in one, or begins a
new one. The authors take every answer for correct. Here answers are accepted one by one, those that
a pair received more often first, then in their order, and one that contradicts those before it is
set aside. After "don't know" the item is compared with the next neighbourhood; one that is in none,
and not known to be apart from all, rests until only other pairs between it and that neighbourhood
are left to ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from scipy.special import entr

from bayesclust.active.protocol import PAIR, Query, QueryState
from bayesclust.checks import check_int
from bayesclust.constraints import PairwiseConstraints
from bayesclust.typing import BoolArray, FloatArray, IntArray

Pair = tuple[int, ...]


@dataclass(frozen=True)
class Neighbourhoods:
    """The neighbourhoods that the answers make, and what is known about the other items."""

    members: list[list[int]]  # items of each of the l neighbourhoods, as first asked about
    group: IntArray  # (n,) items with equal numbers are known to be together
    inside: BoolArray  # (n,) items in a neighbourhood
    apart: BoolArray  # (n, l) neighbourhoods that an item cannot be in
    compared: BoolArray  # (n, l) neighbourhoods that an item's group was compared with
    fresh: BoolArray  # (n, l) neighbourhoods that an item is still to be compared with
    begun: list[int]  # items of the last query that have neighbourhoods left to compare
    asked: set[Pair]

    @classmethod
    def of(cls, state: QueryState, rng: Generator) -> Self:
        """Find the neighbourhoods; where nothing was asked, `rng` draws the first, of one item."""
        n = len(state.X)
        links = [one for one in state.constraints if isinstance(one, PairwiseConstraints)]
        pairs = [tuple(pair) for one in links for pair in one.items.tolist()]
        votes = [2 * int(answer) - 1 for one in links for answer in one.answers]
        skipped = [query.items for query in state.skipped if query.kind == PAIR]
        asked = state.asked(PAIR)
        seen = dict.fromkeys(chain.from_iterable([*pairs, *skipped]))
        group, foes = _accept(pairs, votes, n)
        groups: dict[int, list[int]] = {}
        for item in seen or [int(rng.integers(n))]:
            groups.setdefault(int(group[item]), []).append(item)
        chosen: list[int] = []
        for one in sorted(groups, key=lambda one: -len(groups[one])):
            if foes[one].issuperset(chosen):
                chosen.append(one)
        apart = np.zeros((n, len(chosen)), dtype=bool)
        compared = np.zeros((n, len(chosen)), dtype=bool)
        ends = group[np.array(sorted(asked), dtype=np.int64).reshape(-1, 2)]
        for k, one in enumerate(chosen):
            apart[:, k] = np.isin(group, list(foes[one]))
            compared[:, k] = np.isin(group, ends[(ends == one).any(axis=1)])
        inside = np.isin(group, chosen)
        fresh = ~(apart | compared | inside[:, None])
        last = dict.fromkeys(chain.from_iterable([*pairs[-1:], *skipped[-1:]]))
        begun = [i for i in last if fresh[i].any() and compared[i].any()]
        members = [groups[one] for one in chosen]
        return cls(members, group, inside, apart, compared, fresh, begun, asked)

    def queries(self, order: IntArray, preference: FloatArray, size: int) -> list[Query]:
        """Return at most `size` queries: about the item begun, then about the others in order."""
        # An item meets the neighbourhood of largest `preference` (n, l) first. Queries are about
        # different items where there are any: the next about an item depends on its answers.
        first_of: dict[int, int] = {}
        for i in [*self.begun, *map(int, order)]:
            first_of.setdefault(int(self.group[i]), i)
        found = self._pairs(list(first_of.values()), preference)
        new = dict.fromkeys((min(pair), max(pair)) for pair in found)
        return [Query(PAIR, pair) for pair in islice(new, size)]

    def _pairs(self, items: list[int], preference: FloatArray) -> Iterator[Pair]:
        """Each item with the neighbourhood it prefers, then each with its second, and so on."""
        # After them, for what "don't know" left open, other pairs of an item and a neighbourhood.
        queues: dict[int, list[int]] = {}
        for turn in range(len(self.members)):
            for i in items:
                if i not in queues:
                    best = np.argsort(-preference[i], kind="stable")
                    queues[i] = best[self.fresh[i, best]].tolist()
                if turn < len(queues[i]):
                    yield i, self.members[queues[i][turn]][0]
        for i, k in np.argwhere(self.compared & ~self.apart & ~self.inside[:, None]).tolist():
            for j in self.members[k]:
                if (min(i, j), max(i, j)) not in self.asked:
                    yield i, j


def _accept(pairs: list[Pair], votes: list[int], n: int) -> tuple[IntArray, list[set[int]]]:
    """Group of each item (n,), named by one of its items, and the groups each is apart from."""
    balance: dict[Pair, int] = {}
    for pair, vote in zip(pairs, votes, strict=True):
        balance[pair] = balance.get(pair, 0) + vote
    group = np.arange(n)
    foes = [set[int]() for _ in range(n)]
    for (i, j), vote in sorted(balance.items(), key=lambda entry: -abs(entry[1])):
        one = int(group[i])
        other = int(group[j])
        if vote > 0 and other not in foes[one]:
            group[group == other] = one
            if one != other:
                foes[one] |= foes[other]
                for foe in foes[other]:
                    foes[foe] = (foes[foe] - {other}) | {one}
        elif vote < 0 and one != other:
            foes[one].add(other)
            foes[other].add(one)
    return group, foes


class NPU:
    """Ask about the item whose neighbourhood is most uncertain per query expected to find it.

    Xiong, Azimi and Fern (IEEE TKDE 26, 2014), with the steps of MostInformative numbered as in the
    slides on incremental constrained clustering, Algorithm 3. A forest learns the present partition
    (line 1); the similarity M(x, x') of two items is the share of trees in which they are in one
    leaf (line 2). For an item x in no neighbourhood N_i (lines 5 to 7)::

        p_i = mean of M(x, x') over x' in N_i, divided by the sum of these means over all i
        H   = - sum over i of p_i log2 p_i
        E   = sum over i of i p_(i),   p_(1) >= p_(2) >= ...

    and the item with the largest H / E is compared with one neighbourhood after the other, the most
    probable first. While there is one neighbourhood only, the item is drawn.

    The paper leaves three things open: neighbourhoods that an item was compared with have p_i = 0;
    an item that shares no leaf with any has equal p_i; and i in E goes by decreasing p_i, the order
    of the queries, where the slides (and published code) take the neighbourhoods as numbered.

    Parameters
    ----------
    n_trees : int, default 50
        As published.
    seed : int, default 0
        For the forest, the same for every query.

    Examples
    --------
    Items 0 and 5 are known to be apart; of the others, the forest is least sure at the border.

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> X, labels = np.array([[0.0], [1.0], [4.0], [9.0], [10.0], [11.0]]), np.repeat([0, 1], 3)
    >>> links = bc.PairwiseConstraints([(0, 5)], [False], n_items=6)
    >>> state = bc.active.QueryState(X, labels, [links], [])
    >>> bc.active.NPU()(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(3, 5), source=None)]
    """

    def __init__(self, n_trees: int = 50, seed: int = 0) -> None:
        self.n_trees = check_int(n_trees, "n_trees")
        self.seed = check_int(seed, "seed", least=0)
        self._forest: tuple[FloatArray, IntArray, Any] | None = None  # of X, labels: leaves

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or the best about `size` items; `rng` breaks ties."""
        known = Neighbourhoods.of(state, rng)
        is_fresh = known.fresh.any(axis=1)
        probability = self.probability(state, known)
        # sums that differ by rounding alone are ties
        score = np.where(is_fresh, np.round(informativeness(probability), 12), -1.0)
        order = np.lexsort((rng.random(len(score)), -score))[: is_fresh.sum()]
        return known.queries(order, probability, size)

    def probability(self, state: QueryState, known: Neighbourhoods) -> FloatArray:
        """Return the probability of each fresh neighbourhood for each item, (n, l) (line 5)."""
        fresh = known.fresh
        if fresh.shape[1] == 1:  # a forest would add nothing
            return fresh.astype(np.float64)
        leaves = self._leaves(state.X, state.labels)
        weight = np.zeros(fresh.shape)
        for k, members in enumerate(known.members):
            weight[members, k] = 1.0 / len(members)
        mean: FloatArray = leaves @ (leaves.T @ weight) / self.n_trees * fresh
        lonely = mean.sum(axis=1) == 0
        mean[lonely] = fresh[lonely]
        total = mean.sum(axis=1, keepdims=True)
        mean /= np.where(total > 0, total, 1.0)
        return mean

    def _leaves(self, X: FloatArray, labels: IntArray) -> Any:
        """The leaves of each item, sparse (n, leaves) of 0 and 1, one leaf of each tree."""
        kept = self._forest
        if kept is None or not (np.array_equal(X, kept[0]) and np.array_equal(labels, kept[1])):
            from sklearn.ensemble import RandomForestClassifier
            from sklearn.preprocessing import OneHotEncoder

            forest = RandomForestClassifier(self.n_trees, random_state=self.seed, n_jobs=-1).fit(
                X, labels
            )
            kept = X.copy(), labels.copy(), OneHotEncoder().fit_transform(forest.apply(X))
            self._forest = kept
        return kept[2]


def informativeness(probability: FloatArray) -> FloatArray:
    """Return the entropy in bits per expected number of queries, (n, l) to (n,) (lines 6 and 7)."""
    ranked = -np.sort(-probability, axis=1)
    expected = ranked @ np.arange(1, ranked.shape[1] + 1)
    bits = entr(ranked).sum(axis=1) / np.log(2)
    return np.asarray(bits / np.maximum(expected, 1.0), dtype=np.float64)
