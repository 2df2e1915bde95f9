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


def how_many(fraction: Any, size: Any, most: int) -> int:
    """Return how many of `most` to draw, from a share or a number."""
    if (fraction is None) == (size is None):
        given = "neither" if size is None else "both"
        raise TypeError(f"pass fraction or size to say how many to draw; got {given}.")
    if fraction is not None:
        return max(1, round(check.number_between(fraction, "fraction", "(0, 1]") * most))
    return check.check_int(size, "size", most=most)


def questions(
    width: int, n_items: int, fraction: Any, size: Any, n_sources: Any, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Draw a number or share of pairs or triplets, and sources whose counts differ by 1 at most."""
    most = comb(n_items, 2) if width == 2 else n_items * comb(n_items - 1, 2)
    number = how_many(fraction, size, most)
    check.check_memory(
        check.ANSWER_BYTES * number, f"drawing {number:,} of {most:,} questions", "draw fewer"
    )
    dealt = check.check_int(n_sources, "n_sources", most=number)
    items = (random_pairs if width == 2 else random_triplets)(n_items, number, rng)
    return items, rng.permutation(np.arange(number, dtype=np.int64) % dealt)
