"""Kullback-Leibler divergence between distributions: multinomial counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import check_items, check_positive
from bayesclust.inference.limits.divergences.base import Divergence
from bayesclust.typing import FloatArray


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) between distributions, the limit of multinomial counts.

    Rows of counts become distributions (x_j + smoothing) / sum_j (x_j + smoothing). Every item
    weighs the same, however many counts it has, as in TVClust section 5.3 (Table 4).

    Parameters
    ----------
    smoothing : float, default 0.3
        Pseudo-count of every outcome (Laplace smoothing); TVClust uses 0.3. It keeps divergences
        finite where an outcome was never seen.

    Examples
    --------
    >>> kl = KullbackLeibler()
    >>> rows = kl.points([[3, 0], [0, 3]])
    >>> rows.round(3)
    array([[0.917, 0.083],
           [0.083, 0.917]])
    >>> kl.between(rows, rows).round(3)
    array([[0.   , 1.998],
           [1.998, 0.   ]])
    """

    smoothing: float = 0.3
    name = "kl"
    counts = True

    def __post_init__(self) -> None:
        check_positive(self.smoothing, "smoothing")

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        counts = check_items(X, counts=True, least=least) + self.smoothing
        distributions: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return distributions

    def n_free(self, points: FloatArray) -> int:
        return max(int(points.shape[1]) - 1, 1)

    def phi(self, points: FloatArray) -> FloatArray:
        negative_entropy: FloatArray = (points * np.log(points)).sum(axis=-1)
        return negative_entropy

    def natural(self, centers: FloatArray) -> FloatArray:
        # the gradient is 1 + log m; distributions sum to one, so the 1 cancels against the offset
        return np.log(centers)
