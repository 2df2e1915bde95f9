"""A loss between partitions: the variation of information of Tsallis entropies.

The Tsallis entropy of order q of shares p is (1 - sum p^q) / (q - 1). With A, B and C the sums of
the sizes to the power of q over the clusters of the truth, of the estimate and over their
intersections,

    2 H(truth, estimate) - H(truth) - H(estimate) = (A + B - 2 C) / (n^q (q - 1)),

which is Binder's loss at q = 2 and VI (in nats) in the limit of q = 1. It is a metric
(Simovici and Jaroszewicz 2006).
"""

from dataclasses import dataclass

import numpy as np

import bayesclust as bc
from bayesclust.typing import ArrayLike, FloatArray


@dataclass(frozen=True)
class TsallisVI(bc.losses.Loss):
    """For ``bc.point_estimate(..., loss=TsallisVI())`` or ``bc.TVClust(loss=TsallisVI())``."""

    q: float = 1.5

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return sizes to the power of q."""
        return np.asarray(np.asarray(counts, dtype=np.float64) ** self.q)

    def scale(self, n: int) -> float:
        """Return n^q (q - 1)."""
        return float(n**self.q * (self.q - 1))
