"""Pairs of items worth parting or joining: the anchors of split-merge proposals.

The probability of a pair may depend on the data and on which questions were asked, but not on the
partition: then it is the same in both directions and drops out of the acceptance ratio. Equal
shares of the pairs are uniform, are an item and the nearest of a few random others, stand in an
answer, and were taken note of while the chain warmed up: parting or joining them had a chance. A
few items that now belong to a large cluster and now stand alone are met by one pair in a hundred
otherwise. What was noted stays as it is from the first draw on, so that every draw comes from one
transition kernel. Chains of two levels, and of clusters that share a covariance, take no notes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device
from bayesclust.inference.assignment import draw_below

NEIGHBOUR_CANDIDATES = 32
NOTED = 64
"""Pairs that are remembered, the latest."""
WORTH_NOTING = 0.05
"""Probability of being accepted above which they are."""
NOBODY = -1
"""Stands for an item of a pair that kernels are to draw."""


class Places(NamedTuple):
    """Where pairs are drawn from."""

    X: NDArray[np.float64]  # (n, d)
    asked: NDArray[np.int64]  # (m, 2)
    noted: NDArray[np.int64]  # (k, 2)


@device(fastmath=FAST)
def draw_pair(places: Places, rng: Generator) -> tuple[int, int]:
    """One pair of at least two items."""
    n, asked, noted = len(places.X), len(places.asked), len(places.noted)
    kind = draw_below(2 + (asked > 0) + (noted > 0), rng)
    if kind == 2 and asked > 0:
        row = draw_below(asked, rng)
        return places.asked[row, 0], places.asked[row, 1]
    if kind >= 2:
        row = draw_below(noted, rng)
        return places.noted[row, 0], places.noted[row, 1]
    first, best, least = draw_below(n, rng), 0, np.inf
    for _ in range(1 if kind == 0 else NEIGHBOUR_CANDIDATES):
        other, distance = (first + 1 + draw_below(n - 1, rng)) % n, 0.0
        for j in range(places.X.shape[1]):
            distance += (places.X[other, j] - places.X[first, j]) ** 2
        if distance < least or least == np.inf:
            best, least = other, distance
    return first, best


@device(fastmath=FAST)
def fill_pairs(pairs: NDArray[np.int64], places: Places, rng: Generator) -> None:
    """Draw those of some pairs, shape (P, 2), that are `NOBODY`."""
    for position in range(len(pairs)):
        if pairs[position, 0] == NOBODY:
            pairs[position, 0], pairs[position, 1] = draw_pair(places, rng)
