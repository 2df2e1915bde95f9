"""Pairs of items worth parting or joining: the anchors of split-merge proposals.

The probability of a pair may depend on the data and on which questions were asked, but not on the partition: then it is
the same in both directions and drops out of the acceptance ratio. Equal shares of the pairs are uniform, are an item and the
nearest of a few random others, stand in an answer, and were taken note of while the chain warmed up: parting or joining
them had a chance. A few items that now belong to a large cluster and now stand alone are met by one pair in a hundred
otherwise. What was noted stays as it is from the first draw on, so that every draw comes from one transition kernel. Chains
of two levels, and of clusters that share a covariance, take no notes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import View

NEIGHBOUR_CANDIDATES = 32
NOTED = 64
"""Pairs that are remembered, the latest."""
WORTH_NOTING = 0.05
"""Probability of being accepted above which they are."""


class AnchorProposal:
    """Draws pairs of different items, with probabilities that do not depend on the partition."""

    def __init__(self, X: NDArray[np.float64], views: Sequence[View]) -> None:
        self.X = X
        pairs = [view.items[:, :2] for view in views if len(view)]
        self.asked = np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)
        self.noted, self.noting = np.zeros((0, 2), np.int64), False

    def note(self, pairs: NDArray[np.int64], chance: NDArray[np.float64]) -> None:
        """Remember, while `noting`, which of some pairs are worth trying again, by how probably they were accepted."""
        if self.noting:
            self.noted = np.concatenate([self.noted, pairs[chance > WORTH_NOTING]])[-NOTED:]

    def draw(self, rng: Generator) -> tuple[int, int]:
        """One pair."""
        n, lists = len(self.X), [pairs for pairs in (self.asked, self.noted) if len(pairs)]
        kind = rng.integers(2 + len(lists))
        if kind >= 2:
            pairs = lists[kind - 2]
            first, second = pairs[rng.integers(len(pairs))]
            return int(first), int(second)
        first = int(rng.integers(n))
        if kind == 0:
            return first, int((first + 1 + rng.integers(n - 1)) % n)
        candidates = (first + 1 + rng.integers(n - 1, size=NEIGHBOUR_CANDIDATES)) % n
        distance = ((self.X[candidates] - self.X[first]) ** 2).sum(axis=1)
        return first, int(candidates[distance.argmin()])
