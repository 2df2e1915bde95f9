"""Squared Euclidean distance: spherical Gaussian clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import check_items
from bayesclust.inference.limits.divergences.base import Divergence
from bayesclust.typing import FloatArray


@dataclass(frozen=True)
class SquaredEuclidean(Divergence):
    """D(x, m) = |x - m|^2, the limit of spherical Gaussians of variance 1 / (2 gamma).

    Examples
    --------
    >>> SquaredEuclidean().between(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """

    name = "euclidean"
    squared = True

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return check_items(X, least=least)

    def phi(self, points: FloatArray) -> FloatArray:
        squares: FloatArray = np.square(points).sum(axis=-1)
        return squares

    def natural(self, centers: FloatArray) -> FloatArray:
        return centers

    def offset(self, centers: FloatArray) -> FloatArray:
        return np.zeros(len(centers))

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        columns = [np.square(points - center).sum(axis=1) for center in centers]
        return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        return self.phi(points - centers)
