"""Bregman divergences: what an exponential family turns into when its variance goes to zero.

D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, with phi the convex conjugate of the family's
log-partition function (Banerjee et al. 2005). The mean of points minimises the sum of their
divergences to one centre, and D is linear in x but for phi(x):

    D(x, m) = phi(x) - <x, natural(m)> + offset(m),   natural(m) = grad phi(m),
    offset(m) = <m, natural(m)> - phi(m).

Independent columns have D(x, m) = sum_j d(x_j, m_j). With w_j = 1 where the cell is seen and 0
where not, sum_j w_j d(x_j, m_j) is again a Bregman divergence, that of the perspective function
sum_j w_j phi(u_j / w_j) between points (u, w) = (w x, w), whose mean over a cluster, (U, W), stands
for the centre m = U / W.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from bayesclust.checks import check_items
from bayesclust.families.columns import column_means
from bayesclust.typing import FloatArray

SMOOTHING = 0.3
"""Pseudo-count of every count or code, which keeps divergences finite (TVClust Sec. 5.3)."""


class Divergence(ABC):
    """A Bregman divergence between points and centres.

    Examples
    --------
    >>> from bayesclust.families import as_divergence
    >>> euclidean = as_divergence("euclidean")
    >>> euclidean.between(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """

    name: str
    takes_missing = False  # whether missing cells (NaN) of the data are left out
    counts = False  # whether the data must be counts
    squared = False  # whether D(x, m) = |x - m|^2 without cancellation; natural(m) is then m

    def bind(self, X: Any) -> Divergence:
        """Take from the data what the divergence needs of them, such as units."""
        return self

    def shown(self, centers: FloatArray) -> FloatArray:
        """Centres as users see them, in the units of the data where there are such."""
        return centers

    def n_free(self, points: FloatArray) -> int:
        """Number of free coordinates of a centre."""
        return int(points.shape[1])

    @abstractmethod
    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        """Check data and make points of them whose mean is the centre of a cluster, (n, d)."""

    @abstractmethod
    def phi(self, points: FloatArray) -> FloatArray:
        """The convex function of each point, shape (n,)."""

    @abstractmethod
    def natural(self, centers: FloatArray) -> FloatArray:
        """The gradient of phi at each centre, shape (K, d)."""

    def at_gamma(self, points: FloatArray, gamma: float) -> Any:
        """The family with density exp(-gamma D) up to h(x), bound to points, if there is one."""
        return None

    def log_peaks(self, points: FloatArray, gamma: float) -> FloatArray:
        """log of max_m of that density at each point, shape (n,)."""
        return gamma * self.phi(points)

    def offset(self, centers: FloatArray) -> FloatArray:
        """<m, natural(m)> - phi(m) for each centre m, shape (K,)."""
        return np.asarray((centers * self.natural(centers)).sum(axis=-1) - self.phi(centers))

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """The divergence of every point from every centre, shape (n, K)."""
        cross = points @ self.natural(centers).T
        # negative values are rounding
        return np.maximum(self.phi(points)[:, None] - cross + self.offset(centers), 0.0)

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """The divergence of every point from the centre in the same row, shape (n,)."""
        cross = (points * self.natural(centers)).sum(axis=1)
        return np.maximum(self.phi(points) - cross + self.offset(centers), 0.0)


class Unbound(Divergence):
    """A divergence that takes something from the data, before `bind` saw them."""

    @abstractmethod
    def bind(self, X: Any) -> Divergence:
        """Check the data and take from them what is needed."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to compute before `bind`."""
        raise TypeError(
            f"{type(self).__name__} takes its units from the data: use what bind(X) returns."
        )

    points = phi = natural = _refuse


class ColumnDivergence(Divergence):
    """A sum over columns; a subclass says of which function of one number."""

    takes_missing = True

    @abstractmethod
    def cells(self, X: FloatArray) -> FloatArray:
        """Check cells and make numbers of them whose mean is the centre; NaN stays."""

    @abstractmethod
    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        """The convex function of each number."""

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return self.cells(check_items(X, least=least))

    def bind(self, X: Any) -> Divergence:
        cells = self.cells(check_items(X, missing=True))
        return SeenCells(self, column_means(cells, 0.5)) if np.isnan(cells).any() else self

    def n_free(self, points: FloatArray) -> int:
        return max(int((np.ptp(points, axis=0) > 0).sum()), 1)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray(self.phi_of_cells(points).sum(axis=-1))


class SmoothedColumns(ColumnDivergence):
    """Columns of counts, or of `n_codes` codes that are exclusive, smoothed."""

    n_codes = 0

    @abstractmethod
    def check(self, X: FloatArray) -> None:
        """Refuse cells that are none; NaN passes."""

    def cells(self, X: FloatArray) -> FloatArray:
        self.check(X)
        return (X + SMOOTHING) / (1.0 + self.n_codes * SMOOTHING)

    def shown(self, centers: FloatArray) -> FloatArray:
        whole = centers * (1.0 + self.n_codes * SMOOTHING)
        return np.maximum(whole - SMOOTHING, 0.0)


@dataclass(frozen=True, eq=False)
class SeenCells(Divergence):
    """A sum over columns without missing cells; `otherwise` (d,) are centres where all miss."""

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
        return np.asarray((shares * self.columns.phi_of_cells(means)).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        means, _ = self._means(centers)
        slope = self.columns.natural(means)
        return np.concatenate([slope, self.columns.phi_of_cells(means) - means * slope], axis=-1)

    def offset(self, centers: FloatArray) -> FloatArray:
        return np.zeros(len(centers))  # the perspective function is homogeneous
