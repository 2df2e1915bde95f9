"""Pairs of items worth parting or joining: the anchors of split-merge proposals.

The probability of a pair may depend on the data and on which questions were asked, but not on the partition: then it is
the same in both directions and drops out of the acceptance ratio. A third of the pairs are uniform, a third are an item
and the nearest of a few random others, a third stand in an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import View

NEIGHBOUR_CANDIDATES = 32


class AnchorProposal:
    """Draws pairs of different items, with probabilities that do not depend on the partition."""

    def __init__(self, X: NDArray[np.float64], views: Sequence[View]) -> None:
        self.X = X
        pairs = [view.items[:, :2] for view in views if len(view)]
        self.asked = np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)

    def draw(self, rng: Generator) -> tuple[int, int]:
        """One pair."""
        n = len(self.X)
        kind = rng.integers(3 if len(self.asked) else 2)
        if kind == 2:
            first, second = self.asked[rng.integers(len(self.asked))]
            return int(first), int(second)
        first = int(rng.integers(n))
        if kind == 0:
            return first, int((first + 1 + rng.integers(n - 1)) % n)
        candidates = (first + 1 + rng.integers(n - 1, size=NEIGHBOUR_CANDIDATES)) % n
        distance = ((self.X[candidates] - self.X[first]) ** 2).sum(axis=1)
        return first, int(candidates[distance.argmin()])
