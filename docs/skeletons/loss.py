"""A loss between partitions: one minus the pairwise F, by which clusterings with side information are compared.

Precision is the share of the pairs that the estimate joins which the truth joins too, recall the
share of the truth's pairs that the estimate joins, and F their harmonic mean. With A, B and C pairs
joined by the truth, the estimate and both,

    1 - F = 1 - 2 C / (A + B) = ((A + B) / 2 - C) / ((A + B) / 2).

The labels of least expected loss are those of most expected F. Pairs apart in both do not count, so
that many small clusters do not look alike for all that they keep apart, as they do to Binder's
loss.
"""

import numpy as np

import bayesclust as bc
from bayesclust.typing import ArrayLike, FloatArray


class OneMinusF(bc.losses.RatioLoss):
    """What a user writes: ``bc.point_estimate(posterior, loss=OneMinusF())``, or ``bc.TVClust(loss=OneMinusF())``."""

    # three partitions of three items break the triangle inequality: one pair, all three together,
    # another pair
    is_metric = False

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Pairs within clusters of these sizes."""
        x = np.asarray(counts, dtype=np.float64)
        return np.asarray(x * (x - 1) / 2)

    def form(self, n: int) -> bc.losses.RatioForm:
        """The denominator is the mean of A and B."""
        return bc.losses.RatioForm(average=1.0)
