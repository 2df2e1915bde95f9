"""Squared distance in units of the data: Gaussian clusters of one common covariance.

The small-variance limit of Gaussians lets covariances shrink together, Sigma_k / gamma. With a
covariance of its own in every cluster there is no limit of Bregman form: -(1 / gamma) log det
Sigma_k and the fit of Sigma_k stay of one order, and D would change with the partition, so that J
need not fall. What remains is one covariance for all clusters, fixed before the first pass. The
default is the *total* covariance of the data. It is the only one that needs no partition, and it
makes D the same whatever unit, or mix, the columns come in. The pooled covariance within clusters
is the better metric, where a partition is known from which to take it: give it as `covariance`, as
`RDPMeans.from_posterior` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import check_items
from bayesclust.inference.limits.divergences.base import Divergence, Unbound
from bayesclust.inference.limits.divergences.columns import Squares
from bayesclust.inference.limits.divergences.euclidean import SquaredEuclidean
from bayesclust.models.families.base_measure import standard_columns
from bayesclust.typing import FloatArray

# directions with less variance than this share of the largest are rounding
LEAST_VARIANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Whitened(SquaredEuclidean):
    """Squared Euclidean distance after a linear map.

    Parameters
    ----------
    centre : ndarray of shape (d,)
    forward : ndarray of shape (d, r)
        Points are (x - centre) forward.
    back : ndarray of shape (r, d)
        Centres, as users see them, are centre + m back.
    """

    centre: FloatArray
    forward: FloatArray
    back: FloatArray
    name = "mahalanobis"

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return np.ascontiguousarray((check_items(X, least=least) - self.centre) @ self.forward)

    def shown(self, centers: FloatArray) -> FloatArray:
        shown: FloatArray = self.centre + centers @ self.back
        return shown


def _units(X: FloatArray, *, common: bool = False) -> tuple[FloatArray, FloatArray]:
    """Centre and standard deviation of every column, 1 where it is constant; or one unit for all."""
    columns = standard_columns(X, common_unit=common)
    seen = np.where(np.isnan(X).all(axis=0), 0.0, X)
    centre, unit = np.nanmean(seen, axis=0), np.ones(X.shape[1])
    centre[columns.kept], unit[columns.kept] = columns.centre, columns.unit
    return centre, unit


@dataclass(frozen=True)
class Standardized(Unbound):
    """D(x, m) = sum_j (x_j - m_j)^2 / s_j^2, the limit of Gaussian clusters whose columns are independent.

    Missing cells (NaN) are left out.

    Parameters
    ----------
    common_unit : bool, default False
        Take the root mean variance of all columns for s, instead of each column's standard
        deviation in all the data.

    Examples
    --------
    >>> standard = Standardized().bind([[0.0, 0.0], [2.0, 20.0]])
    >>> rows = standard.points([[0.0, 0.0], [2.0, 20.0]])
    >>> standard.between(rows, rows[:1])
    array([[0.],
           [8.]])
    """

    common_unit: bool = False
    name = "standardized"
    takes_missing = True

    def bind(self, X: Any) -> Divergence:
        items = check_items(X, missing=True)
        centre, unit = _units(items, common=self.common_unit)
        if np.isnan(items).any():
            return Squares(centre, unit).bind(items)
        return Whitened(centre, np.diag(1.0 / unit), np.diag(unit))


@dataclass(frozen=True, eq=False)
class Mahalanobis(Unbound):
    """D(x, m) = (x - m)' S^-1 (x - m), the limit of Gaussian clusters of one covariance proportional to S.

    Parameters
    ----------
    covariance : (d, d) array of float, optional
        S; by default the covariance of all the data. Directions without variance are left out.

    Examples
    --------
    >>> metric = Mahalanobis(np.diag([1.0, 100.0])).bind([[0.0, 0.0], [1.0, 10.0]])
    >>> rows = metric.points([[0.0, 0.0], [1.0, 10.0]])
    >>> metric.between(rows, rows[:1]).round(9)
    array([[0.],
           [2.]])
    """

    covariance: Any = None
    name = "mahalanobis"

    def bind(self, X: Any) -> Whitened:
        """Find the coordinates in which the covariance is the unit matrix.

        Raises
        ------
        ValueError
            If the covariance given is no symmetric matrix of the data's columns, without negative
            eigenvalues.
        """
        items = check_items(X)
        centre, unit = _units(items)
        if self.covariance is None:
            Z = (items - centre) / unit
            correlation = Z.T @ Z / len(Z)
        else:
            correlation = _check_covariance(self.covariance, items.shape[1]) / np.outer(unit, unit)
        variance, axes = np.linalg.eigh(correlation)
        kept = variance > LEAST_VARIANCE * max(variance[-1], 0.0)
        if not kept.any():  # constant data
            kept, variance = np.ones(len(variance), dtype=bool), np.ones(len(variance))
        axes, spread = axes[:, kept], np.sqrt(variance[kept])
        return Whitened(centre, axes / spread / unit[:, None], (axes * spread * unit[:, None]).T)


def _check_covariance(covariance: Any, d: int) -> FloatArray:
    """Return a covariance as an array, if it is one of d columns."""
    matrix = check_items(covariance, name="covariance", least=1)
    if matrix.shape != (d, d):
        raise ValueError(
            f"covariance has shape {matrix.shape}, but X has {d} columns: pass a ({d}, {d}) matrix."
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError("covariance is not symmetric: pass (S + S.T) / 2.")
    least, most = np.linalg.eigvalsh(matrix)[[0, -1]]
    if least < -1e-8 * abs(most) or most <= 0:
        raise ValueError(
            f"covariance has the eigenvalue {least:.3g}: pass a matrix without negative ones, not all zero."
        )
    return matrix


__all__ = ["Mahalanobis", "Standardized", "Whitened"]
