"""Kullback-Leibler divergence of columns of codes, column by column; missing cells are left out.

A cell that shows code l of L is the distribution (1[code] + smoothing) / (1 + L smoothing), and D
the sum over columns of sum_l x_l log(x_l / m_l). A missing cell is all zeros: with W the sum of a
column's mean U over its codes, that is the share of the cluster's cells that are seen, centres are
U / W, and D is the Bregman divergence of sum_l U_l log(U_l / W), the perspective function that
`columns` explains, for which W need not be kept beside U.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesclust.checks import check_items, check_positive
from bayesclust.inference.limits.divergences.base import Divergence, Unbound
from bayesclust.models.families.categorical import REMEDY
from bayesclust.models.families.categorical import Categorical as CategoricalFamily
from bayesclust.models.families.discrete import check_whole, refuse_cells
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Categorical(Unbound):
    """D(x, m) = sum_j KL(x_j | m_j) over columns of codes 0, 1, 2, ..., the limit of categorical columns.

    Missing cells (NaN) are left out.

    Parameters
    ----------
    smoothing : float, default 0.3
        Pseudo-count of every code in every cell, which keeps divergences finite where a cluster
        never shows a code.

    Examples
    --------
    >>> codes = Categorical().bind([[0], [1], [2]])
    >>> rows = codes.points([[0], [1]])
    >>> codes.between(rows, rows[:1]).round(3)
    array([[0.   ],
           [0.772]])
    """

    smoothing: float = 0.3
    name = "categorical"
    takes_missing = True

    def __post_init__(self) -> None:
        check_positive(self.smoothing, "smoothing")

    def bind(self, X: Any) -> BoundCategorical:
        """Count the codes of each column.

        Raises
        ------
        ValueError
            If a cell is negative, not a whole number or at least 10000.
        """
        items = check_items(X, missing=True)
        CategoricalFamily().check(items)
        sizes = np.where(np.isnan(items), 0.0, items).max(axis=0).astype(np.int64) + 1
        bound = BoundCategorical(self.smoothing, sizes, np.ones(sizes.sum()))
        return replace(bound, otherwise=bound._distributions(bound.points(items).mean(axis=0)))


@dataclass(frozen=True, eq=False)
class BoundCategorical(Divergence):
    """`Categorical` with its codes; centres hold a distribution for each column, one after the other.

    Parameters
    ----------
    smoothing : float
    sizes : ndarray of shape (d,)
        Numbers of codes.
    otherwise : ndarray of shape (F,)
        Distributions of all items, for clusters that have no value in a column.
    """

    smoothing: float
    sizes: IntArray
    otherwise: FloatArray
    name = "categorical"
    takes_missing = True

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        items = check_items(X, least=least, missing=True)
        check_whole(items, "codes", REMEDY)
        refuse_cells(
            self.sizes - 1 < items, "codes beyond those of the first data", "leave these items out"
        )
        blocks = []
        for column, size in zip(items.T, self.sizes, strict=True):
            missing = np.isnan(column)
            shown = np.where(missing, 0.0, column).astype(np.int64)[:, None] == np.arange(size)
            block = (shown + self.smoothing) / (1.0 + size * self.smoothing)
            blocks.append(np.where(missing[:, None], 0.0, block))
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def _mass(self, centers: FloatArray) -> FloatArray:
        """W of each code's column, shape (K, F)."""
        first = np.cumsum(self.sizes) - self.sizes
        return np.repeat(np.add.reduceat(centers, first, axis=-1), self.sizes, axis=-1)

    def _distributions(self, centers: FloatArray) -> FloatArray:
        mass = self._mass(centers)
        return np.where(mass > 0, centers / np.where(mass > 0, mass, 1.0), self.otherwise)

    def shown(self, centers: FloatArray) -> FloatArray:
        """Return shares of the codes, column by column."""
        codes = np.repeat(self.sizes, self.sizes)
        return np.clip(
            self._distributions(centers) * (1.0 + codes * self.smoothing) - self.smoothing, 0.0, 1.0
        )

    def n_free(self, points: FloatArray) -> int:
        return max(int((self.sizes - 1).sum()), 1)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray(xlogy(points, self._distributions(points)).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(self._distributions(centers))

    def offset(self, centers: FloatArray) -> FloatArray:
        return np.zeros(len(centers))


__all__ = ["BoundCategorical", "Categorical"]
