"""Divergences that are sums over columns: Poisson counts, zeros and ones, standardised columns. Missing cells are left out.

    D(x, m) = sum_j d(x_j, m_j),    d the divergence of one number, of a convex function phi of one number.

With w_j = 1 where the cell is seen and 0 where not, sum_j w_j d(x_j, m_j) is a Bregman divergence
again: that of the perspective function sum_j w_j phi(u_j / w_j) between the points (u, w) = (w x,
w), whose mean over a cluster, (U, W), stands for the centre m = U / W, the means of the cells seen.
So passes, merges and the proof that J never rises need no change, and what a missing cell costs is
nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesclust.checks import check_items, check_positive
from bayesclust.inference.limits.divergences.base import Divergence
from bayesclust.models.families.bernoulli import check_binary
from bayesclust.models.families.discrete import check_whole, column_means
from bayesclust.models.families.poisson import REMEDY
from bayesclust.typing import FloatArray


class ColumnDivergence(Divergence):
    """A sum over columns; a subclass says which function of one number it is of."""

    takes_missing = True

    @abstractmethod
    def cells(self, X: FloatArray) -> FloatArray:
        """Check cells and make numbers of them whose mean is the centre; NaN stays."""

    @abstractmethod
    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        """Return the convex function of each number."""

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return self.cells(check_items(X, least=least))

    def bind(self, X: Any) -> Divergence:
        cells = self.cells(check_items(X, missing=True))
        return SeenCells(self, column_means(cells, 0.5)) if np.isnan(cells).any() else self

    def n_free(self, points: FloatArray) -> int:
        return max(int((np.ptp(points, axis=0) > 0).sum()), 1)

    def phi(self, points: FloatArray) -> FloatArray:
        total: FloatArray = self.phi_of_cells(points).sum(axis=-1)
        return total


@dataclass(frozen=True)
class Poisson(ColumnDivergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) - x_j + m_j, generalised I-divergence, the limit of Poisson columns.

    Unlike "kl", it sees how many counts an item has. Missing cells (NaN) are left out.

    Parameters
    ----------
    smoothing : float, default 0.3
        Added to every count, as "kl" does, so that divergences stay finite where a cluster has no
        counts.

    Examples
    --------
    >>> poisson = Poisson(smoothing=1.0)
    >>> rows = poisson.points([[3], [0]])
    >>> poisson.between(rows, rows).round(3)
    array([[0.   , 2.545],
           [1.614, 0.   ]])
    """

    smoothing: float = 0.3
    name = "poisson"
    counts = True

    def __post_init__(self) -> None:
        check_positive(self.smoothing, "smoothing")

    def cells(self, X: FloatArray) -> FloatArray:
        check_whole(X, "counts", REMEDY)
        return X + self.smoothing

    def shown(self, centers: FloatArray) -> FloatArray:
        """Return mean counts."""
        return centers - self.smoothing

    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        return np.asarray(xlogy(cells, cells) - cells)

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers)


@dataclass(frozen=True)
class Bernoulli(ColumnDivergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) + (1 - x_j) log((1 - x_j) / (1 - m_j)), the limit of columns of zeros and ones.

    Missing cells (NaN) are left out.

    Parameters
    ----------
    smoothing : float, default 0.3
        Pseudo-count of 0 and of 1 in every cell: x becomes (x + smoothing) / (1 + 2 smoothing), so
        that divergences stay finite where a cluster shows one value only.

    Examples
    --------
    >>> bernoulli = Bernoulli()
    >>> rows = bernoulli.points([[1, 1], [0, 1]])
    >>> bernoulli.between(rows, rows[:1]).round(3)
    array([[0.   ],
           [0.916]])
    """

    smoothing: float = 0.3
    name = "bernoulli"

    def __post_init__(self) -> None:
        check_positive(self.smoothing, "smoothing")

    def cells(self, X: FloatArray) -> FloatArray:
        check_binary(X)
        return (X + self.smoothing) / (1.0 + 2.0 * self.smoothing)

    def shown(self, centers: FloatArray) -> FloatArray:
        """Return shares of ones."""
        return np.clip(centers * (1.0 + 2.0 * self.smoothing) - self.smoothing, 0.0, 1.0)

    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        return np.asarray(xlogy(cells, cells) + xlogy(1.0 - cells, 1.0 - cells))

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers) - np.log1p(-centers)


@dataclass(frozen=True, eq=False)
class Squares(ColumnDivergence):
    """Squared distance in given units of the columns, as a sum over columns: for data with missing cells.

    Parameters
    ----------
    centre, unit : ndarray of shape (d,)
        Cells become (x - centre) / unit.
    """

    centre: FloatArray
    unit: FloatArray
    name = "squares"

    def cells(self, X: FloatArray) -> FloatArray:
        return (X - self.centre) / self.unit

    def shown(self, centers: FloatArray) -> FloatArray:
        return self.centre + self.unit * centers

    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        return np.square(cells)

    def natural(self, centers: FloatArray) -> FloatArray:
        return 2.0 * centers


@dataclass(frozen=True, eq=False)
class SeenCells(Divergence):
    """A sum over the columns that an item has a value in: the perspective function of this file's first lines.

    Parameters
    ----------
    columns : ColumnDivergence
    otherwise : ndarray of shape (d,)
        Centres of clusters that have no value in a column. Whatever they are, J is the same once an
        item with a value has joined and the means are taken; the means of all items are sensible
        until then.
    """

    columns: ColumnDivergence
    otherwise: FloatArray
    takes_missing = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the divergence that is summed."""
        return self.columns.name

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        cells = self.columns.cells(check_items(X, least=least, missing=True))
        missing = np.isnan(cells)
        return np.concatenate([np.where(missing, 0.0, cells), ~missing], axis=1)

    def _means(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means of the cells seen, and the shares of cells that are."""
        totals, shares = np.split(points, 2, axis=-1)
        seen = shares > 0
        return np.where(seen, totals / np.where(seen, shares, 1.0), self.otherwise), shares

    def shown(self, centers: FloatArray) -> FloatArray:
        return self.columns.shown(self._means(centers)[0])

    def n_free(self, points: FloatArray) -> int:
        cells, shares = self._means(points)
        return self.columns.n_free(np.where(shares > 0, cells, cells.mean(axis=0)))

    def phi(self, points: FloatArray) -> FloatArray:
        means, shares = self._means(points)
        total: FloatArray = (shares * self.columns.phi_of_cells(means)).sum(axis=-1)
        return total

    def natural(self, centers: FloatArray) -> FloatArray:
        means, _ = self._means(centers)
        slope = self.columns.natural(means)
        return np.concatenate([slope, self.columns.phi_of_cells(means) - means * slope], axis=-1)

    def offset(self, centers: FloatArray) -> FloatArray:
        # the perspective function is homogeneous
        return np.zeros(len(centers))


__all__ = ["Bernoulli", "ColumnDivergence", "Poisson", "SeenCells", "Squares"]
