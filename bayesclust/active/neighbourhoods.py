"""Neighbourhoods: sets of items known to be in one cluster each, and in different ones, from answers that may err.

What the published query strategies of pairs share (Basu, Banerjee and Mooney 2004; Mallapragada, Jin and
Jain 2008; Xiong, Azimi and Fern 2014): an item is asked against one neighbourhood after the other
until it is in one, and begins one of its own where it is in none. The authors suppose that every
query has a right answer. Here

- answers are believed one by one, those that a pair got more often first and then as they came; one
  that contradicts what is believed by then is set aside. A pair that got both answers equally often
  has none;
- where nobody knew, the item goes on to the next neighbourhood. One that is in none, and not known
  to be apart from all, rests until there is nothing else to ask; then other pairs between it and
  that neighbourhood are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.random import Generator

from bayesclust.active.protocol import PAIR, Query, QueryState
from bayesclust.constraints import PairwiseConstraints
from bayesclust.typing import BoolArray, FloatArray, IntArray

Pair = tuple[int, ...]


@dataclass(frozen=True)
class Neighbourhoods:
    """Neighbourhoods, and what is known of the other items.

    Attributes
    ----------
    members : list of list of int
        Items of each of the l neighbourhoods, in the order in which they were first asked about;
        any two neighbourhoods are known to be apart.
    group : (n,) array of int
        Items with the same number are known to be together, in a neighbourhood or not.
    inside : (n,) array of bool
        Items in a neighbourhood.
    apart : (n, l) array of bool
        Neighbourhoods in which an item cannot be.
    compared : (n, l) array of bool
        Neighbourhoods with which an item, or one known to be together with it, was compared,
        whatever the answer.
    begun : list of int
        Items of the last query, where more neighbourhoods are left to compare them with.
    asked : set of tuple of int
        Pairs asked.
    """

    members: list[list[int]]
    group: IntArray
    inside: BoolArray
    apart: BoolArray
    compared: BoolArray
    begun: list[int]
    asked: set[Pair]

    @classmethod
    def of(cls, state: QueryState, rng: Generator) -> Self:
        """Find the neighbourhoods that the answers make.

        Parameters
        ----------
        state : QueryState
            Of which answers about pairs, and pairs skipped, are looked at.
        rng : Generator
            Draws the first neighbourhood, of one item, where nothing was asked.

        Returns
        -------
        Neighbourhoods

        Examples
        --------
        Items 0 and 1 are together; 2 is in another cluster, and 3 in neither of the two.

        >>> links = PairwiseConstraints([(0, 1), (1, 2), (2, 3), (0, 3)], [1, 0, 0, 0], n_items=5)
        >>> now = QueryState(np.zeros((5, 1)), np.zeros(5, dtype=int), [links], [])
        >>> Neighbourhoods.of(now, np.random.default_rng(0)).members
        [[0, 1], [2], [3]]
        """
        n = len(state.X)
        views = [view for view in state.constraints if isinstance(view, PairwiseConstraints)]
        answers = [
            (i, j, 2 * int(a) - 1)
            for v in views
            for (i, j), a in zip(v.items.tolist(), v.answers, strict=True)
        ]
        skipped = [query.items for query in state.skipped if query.kind == PAIR]
        asked = state.asked(PAIR)
        told = list(
            dict.fromkeys(chain.from_iterable([*(answer[:2] for answer in answers), *skipped]))
        )
        told = told or [int(rng.integers(n))]
        group, foes = _believe(answers, n)
        groups: dict[int, list[int]] = {}
        for item in told:
            groups.setdefault(int(group[item]), []).append(item)
        chosen: list[int] = []
        for one in sorted(groups, key=lambda one: -len(groups[one])):
            if foes[one].issuperset(chosen):
                chosen.append(one)
        apart, compared = np.zeros((2, n, len(chosen)), dtype=bool)
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
        """Shape (n, l): neighbourhoods with which an item is still to be compared."""
        return ~(self.apart | self.compared | self.inside[:, None])

    def queries(
        self, order: Sequence[int] | IntArray, preference: Callable[[int], FloatArray], size: int
    ) -> list[Query]:
        """Return what to ask: first of the item that was begun, then of the others in their order.

        Parameters
        ----------
        order : sequence of int
            Items with a fresh neighbourhood, the best to ask about first.
        preference : callable
            Of an item: (l,) numbers, the largest for the neighbourhood to compare it with first.
        size : int
            At most so many. More than one are about different items as far as there are, since what
            is to be asked next of an item depends on its answers.

        Returns
        -------
        list of Query
            The item is compared with the first of the neighbourhood's members.
        """
        first_of: dict[int, int] = {}
        for i in [*self.begun, *map(int, order)]:
            first_of.setdefault(int(self.group[i]), i)
        items = list(first_of.values())
        pairs = chain(self._in_rounds(items, preference), self._other_pairs())
        new: dict[Pair, None] = {}
        for i, j in pairs:
            new[min(i, j), max(i, j)] = None
            if len(new) == size:
                break
        return [Query(PAIR, pair) for pair in new]

    def _in_rounds(
        self, items: list[int], preference: Callable[[int], FloatArray]
    ) -> Iterator[Pair]:
        """Each item with the neighbourhood it prefers, then each with its second, and so on."""
        fresh, queues = self.fresh, {}
        for turn in range(len(self.members)):
            for i in items:
                if i not in queues:
                    best = np.argsort(-preference(i), kind="stable")
                    queues[i] = best[fresh[i, best]].tolist()
                if turn < len(queues[i]):
                    yield i, self.members[queues[i][turn]][0]

    def _other_pairs(self) -> Iterator[Pair]:
        """Where nobody knew: pairs not asked between the group of an item and the neighbourhood."""
        for i, k in np.argwhere(self.compared & ~self.apart & ~self.inside[:, None]).tolist():
            for j in self.members[k]:
                if (min(i, j), max(i, j)) not in self.asked:
                    yield i, j


def _believe(answers: list[tuple[int, int, int]], n: int) -> tuple[IntArray, list[set[int]]]:
    """Return the group of each item (n,), named by one of its items, and by name the groups from which it is apart."""
    balance: dict[Pair, int] = {}
    for i, j, vote in answers:
        balance[i, j] = balance.get((i, j), 0) + vote
    group, foes = np.arange(n), [set[int]() for _ in range(n)]
    for (i, j), votes in sorted(balance.items(), key=lambda entry: -abs(entry[1])):
        one, other = int(group[i]), int(group[j])
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


__all__ = ["Neighbourhoods"]
