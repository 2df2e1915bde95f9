"""Which questions to ask: pairs and triplets drawn at random without replacement."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from bayesclust.constraints import _checks as check
from bayesclust.typing import IntArray


def random_pairs(n_items: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw distinct unordered pairs uniformly.

    Parameters
    ----------
    n_items : int
    size : int
        At most n_items (n_items - 1) / 2.
    rng : numpy.random.Generator

    Returns
    -------
    (size, 2) array of int64
        Pairs i < j, in random order.

    Examples
    --------
    >>> sorted(random_pairs(3, 3, np.random.default_rng(0)).tolist())
    [[0, 1], [0, 2], [1, 2]]
    """
    return unrank_pairs(rng.choice(comb(n_items, 2), size, replace=False))


def random_ordered_pairs(n_items: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw distinct cells of the n x n matrix uniformly and return the unordered pairs that they cover.

    Parameters
    ----------
    n_items : int
    size : int
        Number of cells, at most n_items ** 2.
    rng : numpy.random.Generator

    Returns
    -------
    (m, 2) array of int64
        Pairs i < j, each once, in random order. Cells on the diagonal say nothing, and both cells
        (i, j) and (j, i) make one pair, so m varies: r n^2 cells cover a share 1 - (1 - r)^2 of the
        pairs in the mean.

    Examples
    --------
    >>> len(random_ordered_pairs(4, 16, np.random.default_rng(0)))
    6
    """
    cells = rng.choice(n_items**2, size, replace=False)
    first, second = np.divmod(cells, n_items)
    low, high = np.minimum(first, second), np.maximum(first, second)
    ranks = np.unique((high * (high - 1) // 2 + low)[low < high])
    return unrank_pairs(rng.permutation(ranks))


def random_triplets(n_items: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw distinct questions "is i more similar to j than to k?" uniformly.

    Parameters
    ----------
    n_items : int
    size : int
        At most n_items (n_items - 1) (n_items - 2) / 2: (i, j, k) and (i, k, j) are one question.
    rng : numpy.random.Generator

    Returns
    -------
    (size, 3) array of int64
        In random order; which of j and k comes first is random too.

    Examples
    --------
    >>> random_triplets(3, 3, np.random.default_rng(0)).sum(axis=1)
    array([3, 3, 3])
    """
    pairs_left = comb(n_items - 1, 2)
    first, rank = np.divmod(rng.choice(n_items * pairs_left, size, replace=False), pairs_left)
    others = unrank_pairs(rank)
    others += others >= first[:, None]
    swapped = rng.random(size) < 0.5
    others[swapped] = others[swapped, ::-1]
    return np.column_stack([first, others]).astype(np.int64)


def unrank_pairs(ranks: IntArray) -> IntArray:
    """Return the pairs i < j whose rank j (j - 1) / 2 + i is given.

    Parameters
    ----------
    ranks : (m,) array of int

    Returns
    -------
    (m, 2) array of int64

    Examples
    --------
    >>> unrank_pairs(np.arange(4)).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3]]
    """
    ranks = np.asarray(ranks, dtype=np.int64)
    high = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    # the square root of a large rank may be rounded up to that of the next whole one
    high -= high * (high - 1) // 2 > ranks
    return np.column_stack([ranks - high * (high - 1) // 2, high])


def how_many(n_questions: int, fraction: Any, size: Any, what: str) -> int:
    """Return how many questions a fraction or a size stands for.

    Parameters
    ----------
    n_questions : int
        How many there are.
    fraction : float in (0, 1] or None
    size : int or None
        Exactly one of the two is given.
    what : str
        What the questions are, for the sentence of an error.

    Returns
    -------
    int
        At least one.

    Raises
    ------
    TypeError, ValueError
        If both or none are given, or they are out of range.

    Examples
    --------
    >>> how_many(15753, 0.03, None, "pairs")
    473
    """
    if (fraction is None) == (size is None):
        given = "neither" if size is None else "both"
        raise TypeError(f"pass fraction or size to say how many {what} to draw; got {given}.")
    if fraction is not None:
        return max(1, round(check.number_between(fraction, "fraction", "(0, 1]") * n_questions))
    number = check.positive_int(size, "size")
    if number > n_questions:
        raise ValueError(f"size is {number}, but there are only {n_questions} {what}: draw fewer.")
    return number


def deal_sources(m: int, n_sources: Any, rng: np.random.Generator) -> IntArray:
    """Deal questions to sources at random, in shares that differ by one at most.

    Parameters
    ----------
    m : int
        Number of questions.
    n_sources : int
        At most m, so that every source answers something.
    rng : numpy.random.Generator

    Returns
    -------
    (m,) array of int64

    Raises
    ------
    TypeError, ValueError
        If `n_sources` is not an integer between 1 and m.

    Examples
    --------
    >>> np.bincount(deal_sources(7, 3, np.random.default_rng(0)))
    array([3, 2, 2])
    """
    number = check.positive_int(n_sources, "n_sources")
    if number > m:
        raise ValueError(
            f"n_sources is {number}, but only {m} questions are asked: ask more or use fewer sources."
        )
    return rng.permutation(np.arange(m, dtype=np.int64) % number)


__all__ = [
    "deal_sources",
    "how_many",
    "random_ordered_pairs",
    "random_pairs",
    "random_triplets",
    "unrank_pairs",
]
