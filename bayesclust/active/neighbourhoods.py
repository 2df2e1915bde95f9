"""Neighbourhoods, and the published strategies that ask about pairs by them alone.

Neighbourhoods are sets of items known to be in one cluster each, and in different ones (Basu,
Banerjee and Mooney 2004; Mallapragada, Jin and Jain 2008; Xiong, Azimi and Fern 2014): an item is
compared with one neighbourhood after the other until it is in one, and begins a new one if it is in
none. The authors assume that every query has a correct answer. Here

- answers are accepted one by one, those that a pair received more often first and then in the order
  in which they came; an answer that contradicts the accepted ones is set aside. A pair that
  received both answers equally often has none;
- after "don't know" the item is compared with the next neighbourhood. An item that is in none, and
  not known to be apart from all, rests until there is nothing else to ask; then other pairs between
  it and that neighbourhood are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.random import Generator

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
    begun: list[int]  # items of the last query that have neighbourhoods left to compare
    asked: set[Pair]

    @classmethod
    def of(cls, state: QueryState, rng: Generator) -> Self:
        """Find the neighbourhoods; where nothing was asked, `rng` draws the first, of one item.

        Examples
        --------
        Items 0 and 1 are together; 2 is in another cluster, and 3 in neither of the two.

        >>> links = PairwiseConstraints([(0, 1), (1, 2), (2, 3), (0, 3)], [1, 0, 0, 0], n_items=5)
        >>> now = QueryState(np.zeros((5, 1)), np.zeros(5, dtype=int), [links], [])
        >>> Neighbourhoods.of(now, np.random.default_rng(0)).members
        [[0, 1], [2], [3]]
        """
        n = len(state.X)
        answers = [
            (i, j, 2 * int(answer) - 1)
            for links in state.constraints
            if isinstance(links, PairwiseConstraints)
            for (i, j), answer in zip(links.items.tolist(), links.answers, strict=True)
        ]
        skipped = [query.items for query in state.skipped if query.kind == PAIR]
        asked = state.asked(PAIR)
        seen = dict.fromkeys(chain.from_iterable([*(row[:2] for row in answers), *skipped]))
        group, foes = _accept(answers, n)
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
        last = [*(answers[-1][:2] if answers else ()), *(skipped[-1] if skipped else ())]
        fresh = ~(apart | compared | inside[:, None])
        begun = [i for i in dict.fromkeys(last) if fresh[i].any() and compared[i].any()]
        return cls([groups[one] for one in chosen], group, inside, apart, compared, begun, asked)

    @property
    def fresh(self) -> BoolArray:
        """Neighbourhoods that each item is still to be compared with, (n, l)."""
        return ~(self.apart | self.compared | self.inside[:, None])

    def queries(
        self, order: Sequence[int] | IntArray, preference: Callable[[int], FloatArray], size: int
    ) -> list[Query]:
        """Return at most `size` queries: about the item that was begun, then the others in order.

        `preference` gives for an item (l,) numbers, the largest for the neighbourhood to compare it
        with first. Queries are about different items as far as there are any, since the next query
        about an item depends on its answers. A neighbourhood is represented by its first member.
        """
        first_of: dict[int, int] = {}
        for i in [*self.begun, *map(int, order)]:
            first_of.setdefault(int(self.group[i]), i)
        items = list(first_of.values())
        new: dict[Pair, None] = {}
        for i, j in chain(self._in_rounds(items, preference), self._other_pairs()):
            new[min(i, j), max(i, j)] = None
            if len(new) == size:
                break
        return [Query(PAIR, pair) for pair in new]

    def _in_rounds(
        self, items: list[int], preference: Callable[[int], FloatArray]
    ) -> Iterator[Pair]:
        """Each item with the neighbourhood it prefers, then each with its second, and so on."""
        fresh = self.fresh
        queues: dict[int, list[int]] = {}
        for turn in range(len(self.members)):
            for i in items:
                if i not in queues:
                    best = np.argsort(-preference(i), kind="stable")
                    queues[i] = best[fresh[i, best]].tolist()
                if turn < len(queues[i]):
                    yield i, self.members[queues[i][turn]][0]

    def _other_pairs(self) -> Iterator[Pair]:
        """After "don't know": other pairs between the group of an item and the neighbourhood."""
        for i, k in np.argwhere(self.compared & ~self.apart & ~self.inside[:, None]).tolist():
            for j in self.members[k]:
                if (min(i, j), max(i, j)) not in self.asked:
                    yield i, j


def _accept(answers: list[tuple[int, int, int]], n: int) -> tuple[IntArray, list[set[int]]]:
    """Group of each item (n,), named by one of its items, and the groups each is apart from."""
    balance: dict[Pair, int] = {}
    for i, j, vote in answers:
        balance[i, j] = balance.get((i, j), 0) + vote
    group = np.arange(n)
    foes = [set[int]() for _ in range(n)]
    for (i, j), votes in sorted(balance.items(), key=lambda entry: -abs(entry[1])):
        one = int(group[i])
        other = int(group[j])
        if votes > 0 and other not in foes[one]:
            group[group == other] = one
            if one != other:
                foes[one] |= foes[other]
                for foe in foes[other]:
                    foes[foe] = (foes[foe] - {other}) | {one}
        elif votes < 0 and one != other:
            foes[one].add(other)
            foes[other].add(one)
    return group, foes


def _explore(X: FloatArray, known: Neighbourhoods, size: int) -> list[Query]:
    """Farthest-first traversal; the neighbourhood with the nearest member comes first."""

    def nearness(item: int) -> FloatArray:
        distances = [np.linalg.norm(X[members] - X[item], axis=1) for members in known.members]
        return np.array([-distance.min() for distance in distances])

    return known.queries(_farthest_first(X, known), nearness, size)


def _farthest_first(X: FloatArray, known: Neighbourhoods) -> IntArray:
    """Items with a fresh neighbourhood by decreasing distance to the nearest item without one."""
    from sklearn.metrics import pairwise_distances_argmin_min

    is_fresh = known.fresh.any(axis=1)
    left = np.flatnonzero(is_fresh)
    if not left.size:
        return left
    distance = pairwise_distances_argmin_min(X[left], X[~is_fresh])[1]
    return np.asarray(left[np.argsort(-distance, kind="stable")])


class MinMax:
    """Ask about the item that is least similar to the items in neighbourhoods.

    "Active query selection for semi-supervised clustering" (Mallapragada, Jin and Jain, ICPR 2008):
    the next item is the one whose largest similarity to the items in neighbourhoods is smallest;
    it is compared with the neighbourhoods by decreasing largest similarity until one is its own.
    With similarities that decrease in the Euclidean distance, such as the authors' Gaussian kernel,
    this is farthest-first traversal. So is their initial exploration, so that the number of
    clusters need not be known.

    Contradictory answers and "don't know": see `bayesclust.active.neighbourhoods`.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X = np.array([[0.0], [1.0], [4.0], [10.0]])
    >>> links = PairwiseConstraints([(0, 3)], [False], n_items=4)
    >>> state = QueryState(X, np.zeros(4, dtype=int), [links], [])
    >>> MinMax()(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2))]
    """

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or those about the `size` farthest items."""
        return _explore(state.X, Neighbourhoods.of(state, rng), size)


class ExploreConsolidate:
    """Find one item of each cluster, then compare random items with these.

    "Active semi-supervision for pairwise constrained clustering" (Basu, Banerjee and Mooney, SDM
    2004), section 4. Explore: farthest-first traversal, each item compared with every neighbourhood
    until one is its own (in an order that the authors leave open; here the one with the nearest
    member first), until there are as many as clusters. Consolidate: items drawn at random, compared
    with the neighbourhoods by increasing distance to their means.

    The authors ask at most K - 1 queries about an item, since the last one follows if all answers
    are correct. Here it is asked, since they may not be; an item that is apart from all begins
    another neighbourhood.

    Contradictory answers and "don't know": see `bayesclust.active.neighbourhoods`.

    Parameters
    ----------
    n_clusters : int or None, default None
        How many neighbourhoods to look for; None is the number of clusters of the present
        partition.

    Raises
    ------
    TypeError, ValueError
        If the number is out of range.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X = np.array([[0.0], [1.0], [4.0], [10.0]])
    >>> links = PairwiseConstraints([(0, 3)], [False], n_items=4)
    >>> state = QueryState(X, np.zeros(4, dtype=int), [links], [])
    >>> ExploreConsolidate(n_clusters=3)(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2))]
    >>> ExploreConsolidate(n_clusters=2)(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 1))]
    """

    def __init__(self, n_clusters: int | None = None) -> None:
        self.n_clusters = None if n_clusters is None else check_int(n_clusters, "n_clusters")

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or queries about `size` items."""
        X = state.X
        known = Neighbourhoods.of(state, rng)
        wanted = len(np.unique(state.labels)) if self.n_clusters is None else self.n_clusters
        if len(known.members) < wanted:
            return _explore(X, known, size)
        means = np.array([X[members].mean(axis=0) for members in known.members])
        drawn = rng.permutation(np.flatnonzero(known.fresh.any(axis=1)))
        return known.queries(drawn, lambda item: -np.linalg.norm(means - X[item], axis=1), size)
