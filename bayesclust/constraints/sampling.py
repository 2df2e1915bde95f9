"""Sampling of constraints: pairs and triplets drawn at random without replacement."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust import checks as check
from bayesclust.typing import IntArray


def random_pairs(n_items: int, size: int, rng: Generator) -> IntArray:
    """Draw distinct unordered pairs uniformly."""
    return unrank_pairs(rng.choice(comb(n_items, 2), size, replace=False))


def random_ordered_pairs(n_items: int, size: int, rng: Generator) -> IntArray:
    """Draw distinct cells of the n x n matrix uniformly; return the unordered pairs they cover."""
    cells = rng.choice(n_items**2, size, replace=False)
    first, second = np.divmod(cells, n_items)
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    ranks = np.unique((high * (high - 1) // 2 + low)[low < high])
    return unrank_pairs(rng.permutation(ranks))


def random_triplets(n_items: int, size: int, rng: Generator) -> IntArray:
    """Draw distinct questions "is i more similar to j than to k?" uniformly."""
    pairs_left = comb(n_items - 1, 2)
    first, rank = np.divmod(rng.choice(n_items * pairs_left, size, replace=False), pairs_left)
    others = unrank_pairs(rank)
    others += others >= first[:, None]
    swapped = rng.random(size) < 0.5
    others[swapped] = others[swapped, ::-1]
    return np.column_stack([first, others]).astype(np.int64)


def unrank_pairs(ranks: IntArray) -> IntArray:
    """Return the pairs i < j whose rank j (j - 1) / 2 + i is given."""
    ranks = np.asarray(ranks, dtype=np.int64)
    high = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    # the square root of a large rank may be rounded up to that of the next whole one
    high -= high * (high - 1) // 2 > ranks
    return np.column_stack([ranks - high * (high - 1) // 2, high])


def how_many(n_questions: int, fraction: Any, size: Any, what: str) -> int:
    """Return how many questions a fraction or a size stands for."""
    if (fraction is None) == (size is None):
        given = "neither" if size is None else "both"
        raise TypeError(f"pass fraction or size to say how many {what} to draw; got {given}.")
    if fraction is not None:
        return max(1, round(check.number_between(fraction, "fraction", "(0, 1]") * n_questions))
    number = check.check_int(size, "size")
    if number > n_questions:
        raise ValueError(f"size is {number}, but there are only {n_questions} {what}: draw fewer.")
    return number


def deal_sources(m: int, n_sources: Any, rng: Generator) -> IntArray:
    """Deal questions to sources at random, in shares that differ by one at most."""
    number = check.check_int(n_sources, "n_sources")
    if number > m:
        raise ValueError(
            f"n_sources is {number}, but only {m} questions are asked: "
            "ask more or use fewer sources."
        )
    return rng.permutation(np.arange(m, dtype=np.int64) % number)
