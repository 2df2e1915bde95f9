"""Queries worth weighing: those on whose answer draws of the posterior disagree.

Items that are together in every draw are one *atom*: the answer about a pair of items is as
uncertain as that about any other pair of their atoms, so that one pair stands for all. Where there
are still too many pairs, or triplets, queries are drawn on whose true answer two draws disagree
that are drawn by their weights; a pair that is together with probability pi then comes with
probability proportional to pi (1 - pi), as in query by committee (Seung, Opper and Sompolinsky
1992). Half of them name random items, so that large atoms have their share, and half random atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.random import Generator

from bayesclust.active.protocol import PAIR, ordered
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.patterns import equality_patterns
from bayesclust.constraints.questions import random_triplets, unrank_pairs
from bayesclust.posterior.labels import Labels
from bayesclust.typing import BoolArray, FloatArray, IntArray

__all__ = ["atoms", "propose"]

ROUNDS = 20
"""Of drawing queries until enough of them divide the draws."""


def atoms(draws: Labels) -> IntArray:
    """Number the groups of items that are together in every draw.

    Parameters
    ----------
    draws : (S, n) array of int

    Returns
    -------
    (n,) array of int64

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
    """Random members of atoms."""

    def __init__(self, group: IntArray, rng: Generator) -> None:
        self.rng, self.size = rng, np.bincount(group)
        self.order = np.argsort(group, kind="stable")
        self.begin = np.cumsum(self.size) - self.size

    def draw(self, which: IntArray) -> IntArray:
        """One of each."""
        chosen: IntArray = self.order[self.begin[which] + self.rng.integers(self.size[which])]
        return chosen


def propose(
    kind: str,
    draws: Labels,
    weights: FloatArray,
    asked: set[tuple[int, ...]],
    number: int,
    rng: Generator,
) -> IntArray:
    """Return queries of a kind that have not been asked.

    Parameters
    ----------
    kind : {"pair", "triplet"}
    draws : (S, n) array of int
    weights : (S,) array of float
        Of sum 1.
    asked : set of tuple of int
        Queries that are left out, as `bayesclust.active.protocol.ordered` has them.
    number : int
        At most so many, about.
    rng : Generator

    Returns
    -------
    (C, 2) or (C, 3) array of int64
        Different ones, in random order; none where all draws agree on the rest.
    """
    group = atoms(draws)
    members = _Members(group, rng)
    if kind == PAIR:
        if comb(len(members.size), 2) <= number:
            found = _all_pairs(members, asked)
        else:
            found = _divided(_pairs(members), PairwiseConstraints, draws, weights, number, rng)
    else:
        n = draws.shape[1]
        if n * comb(n - 1, 2) <= number:
            found = random_triplets(n, n * comb(n - 1, 2), rng)
        else:
            found = _divided(_triplets(members), RelativeConstraints, draws, weights, number, rng)
    rows: dict[tuple[int, ...], tuple[int, ...]] = {
        ordered(kind, row): tuple(row) for row in found.tolist()
    }
    fresh = [row for key, row in rows.items() if key not in asked]
    width = 2 if kind == PAIR else 3
    return rng.permutation(np.array(fresh, dtype=np.int64).reshape(-1, width))


def _all_pairs(members: _Members, asked: set[tuple[int, ...]]) -> IntArray:
    """One pair of items for each two atoms, others where that pair was asked."""
    both = unrank_pairs(np.arange(comb(len(members.size), 2)))
    pairs = np.sort(np.stack([members.draw(both[:, 0]), members.draw(both[:, 1])], axis=1), axis=1)
    for _ in range(ROUNDS if asked else 0):
        again = np.array([pair in asked for pair in map(tuple, pairs.tolist())], dtype=np.bool_)
        if not again.any():
            break
        repeated = both[again]
        pairs[again] = np.sort(
            np.stack([members.draw(repeated[:, 0]), members.draw(repeated[:, 1])], axis=1), axis=1
        )
    return pairs


def _pairs(members: _Members) -> Callable[[int], IntArray]:
    def draw(number: int) -> IntArray:
        items = _half_and_half(members, number, 2)
        return np.sort(items[items[:, 0] != items[:, 1]], axis=1)

    return draw


def _triplets(members: _Members) -> Callable[[int], IntArray]:
    def draw(number: int) -> IntArray:
        i, j, k = _half_and_half(members, number, 3).T
        items = np.stack([i, j, k], axis=1)
        kept: IntArray = items[(i != j) & (i != k) & (j != k)]
        return kept

    return draw


def _half_and_half(members: _Members, number: int, width: int) -> IntArray:
    """Tuples of random items, then of members of random atoms."""
    by_item = members.rng.integers(len(members.order), size=(number - number // 2, width))
    by_atom = members.draw(members.rng.integers(len(members.size), size=(number // 2, width)))
    return np.concatenate([by_item, by_atom])


def _divided(
    draw: Callable[[int], IntArray],
    view: type[Constraints],
    draws: Labels,
    weights: FloatArray,
    number: int,
    rng: Generator,
) -> IntArray:
    """Queries on which two draws disagree."""
    found, enough = [], 0
    for _ in range(ROUNDS):
        items = draw(4 * number)
        one, other = rng.choice(len(draws), size=(2, len(items)), p=weights)
        answers = [
            view.truth[equality_patterns(draws[which[:, None], items])] for which in (one, other)
        ]
        differ: BoolArray = answers[0] != answers[1]
        found.append(items[differ])
        enough += len(found[-1])
        if enough >= number:
            break
    return np.concatenate(found)[:number]
