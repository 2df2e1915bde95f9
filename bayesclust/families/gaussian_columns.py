"""Gaussian clusters whose columns are independent, with a normal-inverse-gamma prior per column.

    mu_kj | v_kj ~ N(m0_j, v_kj / kappa0),    v_kj ~ InvGamma(a0, b0_j)

T(x) = (x_j, x_j^2)_j, and where cells are missing (at random) 1 for each cell seen, so that every
column has its own n. Data are centred at m0, so that m0 = 0 below. With n cells of a column, their
sum s and sum of squares q (Murphy 2007, Eq. 197 to 206):

    kappa_n = kappa0 + n,  a_n = a0 + n / 2,  m_n = s / kappa_n,  b_n = b0 + (q - kappa_n m_n^2) / 2
    L       = prod_j (2 pi)^(-n/2) Gamma(a_n) / Gamma(a0) b0_j^a0 / b_nj^a_n (kappa0 / kappa_n)^(1/2)

The predictive of an item of weight w is a Student t for each column,

    height_j (1 + (x_j - m_nj)^2 / width_j)^-(a_n + w/2),    width = 2 (kappa_n + w) b_n / (w kappa_n)

of which a cluster caches all that does not depend on the item. Where no cell is missing, all columns
have one exponent, and eight of them share a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device
from bayesclust._numpyro import numpyro_modules, seen_only
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Terms
from bayesclust.families.cells import cells_and_seen, sparse, standard_columns
from bayesclust.families.divergence import ColumnDivergence, Divergence, Unbound
from bayesclust.families.gaussian import (
    MEAN_PRECISION,
    STRENGTH,
    BoundColumns,
    Whitened,
    gaussian_priors,
    units,
)
from bayesclust.families.hyper import Hyper
from bayesclust.typing import FloatArray, IntArray

LOG_TWO_PI = math.log(2 * math.pi)
TOGETHER = 8
"""Columns under one logarithm, as many as a processor multiplies at once."""
SMALLEST, LARGEST = 1e-200, 1e200
"""Products beyond which the logarithms are taken one by one."""


class ColumnsPrior(NamedTuple):
    """The normal-inverse-gamma distributions of all columns."""

    kappa: FloatArray  # (1,) kappa0
    shape: FloatArray  # (1,) a0
    rate: FloatArray  # (d,) b0


class ColumnsState(NamedTuple):
    """Clusters with independent columns; C slots and the prior slot, d columns."""

    items: FloatArray  # (n, 2 d or 3 d)
    powers: FloatArray
    prior: ColumnsPrior
    count: IntArray  # type: ignore[assignment]
    total: FloatArray  # (C + 1, 2 d or 3 d) s, q, and n where cells are missing
    X: FloatArray  # (n, d), centred at m0
    start: IntArray  # (n + 1,) where an item's columns with a value begin
    column: IntArray
    mean: FloatArray  # (C + 1, d) m_n
    width: FloatArray  # (C + 1, d)
    height: FloatArray  # (C + 1, d) logarithms; the sum first, where no cell is missing
    exponent: FloatArray  # (C + 1, d) a_n + w / 2; one for all, where no cell is missing


@device(no_refcount=True, fastmath=FAST)
def sum_of_logs(table: FloatArray, k: int) -> float:
    """Sum over j of log table[k, j], of positive numbers."""
    total, first = 0.0, 0
    while first < table.shape[1]:
        last, product = min(first + TOGETHER, table.shape[1]), 1.0
        for j in range(first, last):
            product *= table[k, j]
        if SMALLEST < product < LARGEST:
            total += math.log(product)
        else:
            for j in range(first, last):
                total += math.log(table[k, j])
        first = last
    return total


@device(no_refcount=True, fastmath=FAST, forceinline=True)
def sum_of_tails(X: FloatArray, i: int, mean: FloatArray, width: FloatArray, k: int) -> float:
    """Sum over j of log(1 + (X[i, j] - mean[k, j])^2 / width[k, j])."""
    total, first = 0.0, 0
    while first < X.shape[1]:
        last, product = min(first + TOGETHER, X.shape[1]), 1.0
        for j in range(first, last):
            difference = X[i, j] - mean[k, j]
            product *= 1.0 + difference * difference / width[k, j]
        if product < LARGEST:
            total += math.log(product)
        else:
            for j in range(first, last):
                difference = X[i, j] - mean[k, j]
                total += math.log1p(difference * difference / width[k, j])
        first = last
    return total


@device(no_refcount=True, fastmath=FAST)
def _level(prior: ColumnsPrior, n: float) -> float:
    """log L of n cells of a column but for the rates."""
    kappa0, shape0 = prior.kappa[0], prior.shape[0]
    value = math.lgamma(shape0 + 0.5 * n) - math.lgamma(shape0) - 0.5 * n * LOG_TWO_PI
    return float(value + 0.5 * math.log(kappa0 / (kappa0 + n)))


@base.implements(base.log_normaliser, ColumnsPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d, shape0, n = len(prior.rate), prior.shape[0], mass
    complete = len(first) == 2 * d
    value, level = 0.0, _level(prior, mass)
    for j in range(d):
        if not complete:
            n = first[2 * d + j] + second[2 * d + j]
            level = _level(prior, n)
        total, square = first[j] + second[j], first[d + j] + second[d + j]
        scatter = max(square - total * total / (prior.kappa[0] + n), 0.0)
        rate0 = prior.rate[j]
        rate = rate0 + 0.5 * scatter
        value += level + shape0 * math.log(rate0 / rate) - 0.5 * n * math.log(rate)
    return value


@device(no_refcount=True, fastmath=FAST)
def _log_height(kappa: float, shape: float, weight: float) -> float:
    """log predictive of a column at the mean, but for the rate."""
    value = math.lgamma(shape + 0.5 * weight) - math.lgamma(shape) - 0.5 * weight * LOG_TWO_PI
    return value + 0.5 * math.log(kappa / (kappa + weight))


@base.implements(base.derive, ColumnsState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    d, weight, prior = state.X.shape[1], state.powers[1], state.prior
    n = state.powers[0] * state.count[k]
    if state.total.shape[1] == 2 * d:
        kappa, shape = prior.kappa[0] + n, prior.shape[0] + 0.5 * n
        share, spread = 1.0 / kappa, 2.0 * (kappa + weight) / (weight * kappa)
        for j in range(d):
            total = state.total[k, j]
            scatter = max(state.total[k, d + j] - share * total * total, 0.0)
            state.mean[k, j] = share * total
            state.width[k, j] = spread * (prior.rate[j] + 0.5 * scatter)
        # the sum of log rates, from that of the widths
        log_rates = sum_of_logs(state.width, k) - d * math.log(spread)
        state.height[k, 0] = d * _log_height(kappa, shape, weight) - 0.5 * weight * log_rates
        state.exponent[k, 0] = shape + 0.5 * weight
        return
    for j in range(d):
        n, total = state.total[k, 2 * d + j], state.total[k, j]
        kappa, shape = prior.kappa[0] + n, prior.shape[0] + 0.5 * n
        scatter = max(state.total[k, d + j] - total * total / kappa, 0.0)
        rate = prior.rate[j] + 0.5 * scatter
        state.mean[k, j] = total / kappa
        state.width[k, j] = 2.0 * (kappa + weight) / (weight * kappa) * rate
        state.height[k, j] = _log_height(kappa, shape, weight) - 0.5 * weight * math.log(rate)
        state.exponent[k, j] = shape + 0.5 * weight


@base.implements(base.log_predictive, ColumnsState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    if state.total.shape[1] == 2 * state.X.shape[1]:
        tails = sum_of_tails(state.X, i, state.mean, state.width, k)
        return state.height[k, 0] - state.exponent[k, 0] * tails
    value = 0.0
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        difference = state.X[i, j] - state.mean[k, j]
        tail = math.log1p(difference * difference / state.width[k, j])
        value += state.height[k, j] - state.exponent[k, j] * tail
    return value


@dataclass(frozen=True)
class BoundDiagonalGaussian(BoundColumns):
    """Normal-inverse-gamma columns; hyper = (scale, strength, mean precision); missing cells are NaN."""

    floor: FloatArray

    takes_missing = True
    State = ColumnsState
    Prior = ColumnsPrior

    def parameters(self, hyper: Any) -> tuple[Any, Any, Any]:
        """(kappa0, a0, b0) in our coordinates; E[v_kj] = b0_j / (a0 - 1)."""
        scale, strength, kappa0 = hyper
        return kappa0, 1.0 + 0.5 * strength, 0.5 * strength * (scale + self.floor)

    def rows(self, X: FloatArray) -> Terms:
        if np.isnan(self.X).any() or np.isnan(X).any():
            cells, seen = cells_and_seen(X)
            return (np.concatenate([cells, np.square(cells), seen], axis=1),)
        return (np.concatenate([X, np.square(X)], axis=1),)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        kappa0, shape0, rate0 = self.parameters(hyper)
        d, (weight, sums) = len(rate0), statistics
        complete = sums.shape[1] == 2 * d
        n = np.repeat(weight[:, None], d, axis=1) if complete else sums[:, 2 * d :]
        total, square, kappa = sums[:, :d], sums[:, d : 2 * d], kappa0 + n
        rate = rate0 + 0.5 * np.maximum(square - total**2 / kappa, 0.0)
        log_precision, precision = base.gammas(shape0 + 0.5 * n, rate, rng)
        centre = total / kappa
        if rng is None:
            log_precision = log_precision - 1.0 / kappa
        else:
            centre = centre + rng.standard_normal(centre.shape) / np.sqrt(kappa * precision)
        slope = precision * centre
        level = 0.5 * (log_precision - LOG_TWO_PI - slope * centre)
        if complete:
            return np.hstack([slope, -0.5 * precision]), -level.sum(axis=1)
        return np.hstack([slope, -0.5 * precision, level]), np.zeros(len(level))

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        kappa0, a0, b0 = self.parameters(hyper)
        variance = numpyro.sample("variance", dist.InverseGamma(a0, b0).to_event(1))
        mean = numpyro.sample("mean", dist.Normal(0.0, jnp.sqrt(variance / kappa0)).to_event(1))
        centre, sd = self.centre + self.unit * mean, self.unit * jnp.sqrt(variance)
        return lambda z: seen_only(dist.Normal(centre[z], sd[z]), self.X).to_event(1)

    def log_base(self, rows: FloatArray) -> FloatArray:
        """Minus the log units of the cells seen."""
        return -(~np.isnan(rows) * np.log(self.unit)).sum(axis=1)

    def embedding(self) -> FloatArray:
        """The items in standard units; missing cells have the mean of the data, zero."""
        return np.nan_to_num(self.X)

    def caches(self, slots: int) -> Mapping[str, Any]:
        table = base.tables(slots, self.X.shape[1], "mean", "width", "height", "exponent")
        return {"X": self.X} | sparse(~np.isnan(self.X)) | table


@dataclass(frozen=True, eq=False)
class Squares(ColumnDivergence):
    """Squared distance in given units as a sum over columns, for data with missing cells."""

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


@dataclass(frozen=True)
class Standardized(Unbound):
    """D(x, m) = sum_j (x_j - m_j)^2 / s_j^2, the limit of Gaussians with independent columns.

    Missing cells (NaN) are left out. With `common_unit`, s is the root mean variance of all columns
    instead of each column's standard deviation in all the data.

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
        centre, unit = units(items, common=self.common_unit)
        if np.isnan(items).any():
            return Squares(centre, unit).bind(items)
        return Whitened(centre, np.diag(1.0 / unit), np.diag(unit))


@dataclass(frozen=True)
class DiagonalGaussian(base.Family):
    """Gaussian clusters whose columns are independent, each with its own variance.

    Missing cells (NaN) are left out of the likelihood, which is right where they are missing at
    random.

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of each column's variance.
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation is worth (2 a0 - 2). Learned, it falls in columns in
        which many items share one value.
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has variance v_kj / kappa0 around the mean of the data.
        The default penalises a cluster of few outliers; learned, it grows to admit them.

    Notes
    -----
    ``b0_j = (a0 - 1) (scale * s_j**2 + r_j**2 / 12)`` with s_j a column's standard deviation and
    r_j its resolution, and m0 the mean of the data, all of the cells seen. Constant columns are
    left out. In one column it is `FullGaussian`.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7; Murphy (2007), Conjugate Bayesian analysis of the Gaussian
    distribution, Sec. 6.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import DiagonalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> DiagonalGaussian(scale=0.5, strength=4.0).bind(X).initial_hyper()
    array([0.5 , 4.  , 0.05])
    """

    scale: Hyper = "learn"
    strength: Hyper = STRENGTH
    mean_precision: Hyper = MEAN_PRECISION
    divergence = Standardized

    @property
    def takes_missing(self) -> bool:
        return True

    def bind(self, X: FloatArray) -> BoundDiagonalGaussian:
        """Standardise the columns and fill in the prior."""
        own = standard_columns(X)
        priors = gaussian_priors(self.scale, self.strength, self.mean_precision)
        bound = BoundDiagonalGaussian(own.X, 0.0, priors, own.centre, own.unit, own.kept, own.floor)
        return bound.with_rows(own.X)
