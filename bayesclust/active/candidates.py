"""Weighted draws of the partition: which queries they disagree on, and what the answers would tell.

Items that are together in every draw are one *atom*: the answer about a pair of items is as
uncertain as that about any other pair of their atoms, so that one pair stands for all. Where there
are still too many pairs, or triplets, candidates are drawn on whose true answer two draws disagree
that are drawn by their weights; a pair that is together with probability pi then comes with
probability proportional to pi (1 - pi), as in query by committee (Seung, Opper and Sompolinsky
1992). Half of them name random items, so that large atoms have their share, and half random atoms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.active.expected_gain import choose_jointly, expected_gains, uncertainty
from bayesclust.active.protocol import ASKED, PAIR, VOCABULARY, Query, ordered
from bayesclust.constraints.base import equality_patterns
from bayesclust.constraints.sampling import random_triplets, unrank_pairs
from bayesclust.posterior.labels import Labels
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

SKIPPED = 1.0
ANSWERED = 9.0
"""Beta prior of the share of pairs that are answered by "don't know"."""
SHORTLIST = 300
"""Queries, the best ones by themselves, among which a batch is chosen."""
ROUNDS = 20
"""Attempts to draw enough queries on which the draws disagree."""


def with_skips(confusion: FloatArray, skipped: int, answered: int) -> FloatArray:
    """Add to p(answer | truth) (S, truth, answer) about pairs the answer "don't know".

    It is equally likely whatever the truth is. The share of skipped pairs has the prior Beta(1, 9),
    and its posterior mean is used; this is exact, since the share enters linearly.

    Examples
    --------
    >>> with_skips(np.array([[[0.9, 0.1], [0.2, 0.8]]]), skipped=4, answered=6)
    array([[[0.675, 0.075, 0.25 ],
            [0.15 , 0.6  , 0.25 ]]])
    """
    share = (SKIPPED + skipped) / (SKIPPED + ANSWERED + skipped + answered)
    last = np.full((*confusion.shape[:-1], 1), share)
    return np.concatenate([(1 - share) * confusion, last], axis=-1)


class WeightedDraws(NamedTuple):
    """Weighted draws of the partition, and how the annotator answers under each of them.

    Examples
    --------
    >>> certain = np.tile([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (2, 1, 1))
    >>> partitions = np.array([[0, 0, 1], [0, 1, 1]])
    >>> draws = WeightedDraws(partitions, np.array([0.5, 0.5]), {"pair": certain})
    >>> draws.table([Query("pair", (0, 1)), Query("pair", (0, 2))], "partition")
       kind  i  j   gain  same  different  dnk
    0  pair  0  1  0.693   0.5        0.5  0.0
    1  pair  0  2  0.000   0.0        1.0  0.0
    """

    draws: Labels  # (S, n)
    weights: FloatArray  # (S,) of sum 1
    confusion: Mapping[str, FloatArray]  # by kind: p(answer | truth), (S, truth, answer)

    def answers(self, queries: Sequence[Query]) -> FloatArray:
        """Return p(answer | draw) of C queries, (C, S, 3)."""
        out = np.empty((len(queries), len(self.draws), 3))
        kinds = np.array([query.kind for query in queries])
        row = np.arange(len(self.draws))[:, None]
        for kind in set(kinds.tolist()):
            which = np.flatnonzero(kinds == kind)
            items = np.array([queries[c].items for c in which.tolist()])
            truths = ASKED[kind].truth[equality_patterns(self.draws[:, items])]
            out[which] = np.swapaxes(self.confusion[kind][row, truths], 0, 1)
        return out

    def best(
        self, queries: Sequence[Query], target: Any, size: int, rng: Generator
    ) -> tuple[list[Query], FloatArray]:
        """Return the queries to ask together, best first, and what each adds to those before it."""
        measure = uncertainty(target, self.draws)
        answers = self.answers(queries)
        pool: IntArray = np.arange(len(queries))
        if size > 1 and len(queries) > SHORTLIST:
            gains = expected_gains(measure, self.weights, answers)
            pool = np.argsort(-gains, kind="stable")[:SHORTLIST]
        chosen, adds = choose_jointly(measure, self.weights, answers[pool], size, rng)
        return [queries[c] for c in pool[chosen]], adds

    def table(self, queries: Sequence[Query], target: Any) -> pd.DataFrame:
        """Return per query its kind, items, expected gain and the probability of each answer."""
        import pandas as pd

        answers = self.answers(queries)
        width = max((len(query.items) for query in queries), default=2)
        frame = pd.DataFrame({"kind": [query.kind for query in queries]})
        for t, name in enumerate("ijk"[:width]):
            column = [query.items[t] if t < len(query.items) else None for query in queries]
            frame[name] = pd.array(column, dtype="Int64") if name == "k" else column
        frame["gain"] = expected_gains(uncertainty(target, self.draws), self.weights, answers)
        mean = np.einsum("s,csa->ca", self.weights, answers)
        for kind in frame["kind"].unique():
            own = (frame["kind"] == kind).to_numpy()
            for word in VOCABULARY[kind][:2]:
                frame.loc[own, word] = mean[own, ASKED[kind].vocabulary.index(word)]
        return frame.assign(dnk=mean[:, 2])

    def candidates(
        self, kinds: Sequence[str], asked: Mapping[str, set[Any]], number: int, rng: Generator
    ) -> list[Query]:
        """Return about `number` queries of each kind that are worth comparing."""
        found = [
            (kind, propose(kind, self.draws, self.weights, asked[kind], number, rng))
            for kind in kinds
        ]
        return [Query(kind, tuple(row)) for kind, rows in found for row in rows.tolist()]


def atoms(draws: Labels) -> IntArray:
    """Number the groups of items that are together in every draw, (S, n) to (n,).

    Examples
    --------
    >>> atoms(np.array([[0, 0, 1, 1], [0, 0, 0, 1]])).tolist()
    [0, 0, 1, 2]
    """
    columns = np.ascontiguousarray(draws.T)
    keys = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group.reshape(-1)].astype(np.int64)


class _Members:
    """Random items, and random members of atoms."""

    def __init__(self, group: IntArray, rng: Generator) -> None:
        self.rng = rng
        self.size = np.bincount(group)
        self.order = np.argsort(group, kind="stable")
        self.begin = np.cumsum(self.size) - self.size

    def of(self, atom: IntArray) -> IntArray:
        """One random member of each atom."""
        chosen: IntArray = self.order[self.begin[atom] + self.rng.integers(self.size[atom])]
        return chosen

    def pairs_of(self, atoms: IntArray) -> IntArray:
        """Sorted pairs of members of two atoms each."""
        return np.sort(np.stack([self.of(atoms[:, 0]), self.of(atoms[:, 1])], axis=1), axis=1)

    def tuples(self, number: int, width: int) -> IntArray:
        """Tuples of random items, then of members of random atoms."""
        by_item = self.rng.integers(len(self.order), size=(number - number // 2, width))
        by_atom = self.of(self.rng.integers(len(self.size), size=(number // 2, width)))
        return np.concatenate([by_item, by_atom])


def propose(
    kind: str,
    draws: Labels,
    weights: FloatArray,
    asked: set[tuple[int, ...]],
    number: int,
    rng: Generator,
) -> IntArray:
    """Return at most about `number` new queries of a kind, (C, 2) or (C, 3), in random order."""
    members = _Members(atoms(draws), rng)
    n = draws.shape[1]
    if kind == PAIR and comb(len(members.size), 2) <= number:
        found = _all_pairs(members, asked)
    elif kind != PAIR and n * comb(n - 1, 2) <= number:
        found = random_triplets(n, n * comb(n - 1, 2), rng)
    else:
        found = _disputed(kind, members, draws, weights, number)
    rows = {ordered(kind, row): tuple(row) for row in found.tolist()}
    new = [row for key, row in rows.items() if key not in asked]
    return rng.permutation(np.array(new, dtype=np.int64).reshape(-1, 2 if kind == PAIR else 3))


def _all_pairs(members: _Members, asked: set[tuple[int, ...]]) -> IntArray:
    """One pair of items for each two atoms, another where that pair was asked."""
    both = unrank_pairs(np.arange(comb(len(members.size), 2)))
    pairs = members.pairs_of(both)
    for _ in range(ROUNDS if asked else 0):
        again = np.array([pair in asked for pair in map(tuple, pairs.tolist())], dtype=np.bool_)
        if not again.any():
            break
        pairs[again] = members.pairs_of(both[again])
    return pairs


def _disputed(
    kind: str, members: _Members, draws: Labels, weights: FloatArray, number: int
) -> IntArray:
    """Queries on whose true answer two random draws disagree."""
    truth = ASKED[kind].truth
    found: list[IntArray] = []
    while len(found) < ROUNDS and sum(map(len, found)) < number:
        if kind == PAIR:
            items = members.tuples(4 * number, 2)
            items = np.sort(items[items[:, 0] != items[:, 1]], axis=1)
        else:
            items = members.tuples(4 * number, 3)
            i, j, k = items.T
            items = items[(i != j) & (i != k) & (j != k)]
        one, other = members.rng.choice(len(draws), size=(2, len(items)), p=weights)
        first = truth[equality_patterns(draws[one[:, None], items])]
        second = truth[equality_patterns(draws[other[:, None], items])]
        found.append(items[first != second])
    return np.concatenate(found)[:number]
