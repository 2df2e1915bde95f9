"""Gaussian clusters of independent columns, with a variance for each column or one for all.

    mu_kj | v_kg ~ N(m0_j, v_kg / kappa0),    v_kg ~ InvGamma(a0, b0_g)

A variance g is that of the columns J_g: one column each (diagonal), or all d (spherical, whose
small-variance limit is DP-means, TVClust Sec. 4). T(x) = (x_j)_j, (sum of x_j^2 over J_g)_g, and
where cells are missing (at random) 1 for each cell seen, so that every column has its own n. Data
are centred at m0, so that m0 = 0 below. With n_j cells of a column, their sum s_j, and the sum of
squares q_g (Murphy 2007, Eq. 197 to 206; products and sums over j are those over J_g):

    kappa_j = kappa0 + n_j,  a_n = a0 + sum_j n_j / 2,  b_n = b0 + (q - sum_j s_j^2 / kappa_j) / 2
    L       = prod_g Gamma(a_n) / Gamma(a0) b0^a0 / b_n^a_n
              prod_j (2 pi)^(-n_j/2) (kappa0 / kappa_j)^(1/2)

With a variance for each column, the predictive of an item of weight w is a Student t for each,

    height_j (1 + (x_j - m_j)^2 / width_j)^-(a_n + w/2),   width = 2 (kappa_j + w) b_n / (w kappa_j)

and a cluster caches all but x. Where no cell is missing, eight columns share a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device
from bayesclust._numpyro import numpyro_modules, seen_only
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Terms
from bayesclust.families.columns import cells_and_seen, sparse
from bayesclust.families.divergence import Divergence
from bayesclust.families.gaussian import BoundColumns, GaussianFamily, Whitened, units
from bayesclust.families.squared_distance import LOG_TWO_PI, SquaredEuclidean
from bayesclust.typing import FloatArray, IntArray

TOGETHER = 8  # columns under one logarithm, as many as a processor multiplies at once
SMALLEST, LARGEST = 1e-200, 1e200  # products beyond are taken apart
NEAR = 1e-100  # running products below this, or above its inverse, are not multiplied further


class ColumnsPrior(NamedTuple):
    """The normal-inverse-gamma distributions of G variances, G being 1 or d."""

    kappa: FloatArray  # (1,) kappa0
    shape: FloatArray  # (1,) a0
    rate: FloatArray  # (G,) b0
    columns: IntArray  # (1,) d


class ColumnsState(NamedTuple):
    """Clusters with independent columns; C slots and the prior slot, d columns."""

    items: FloatArray  # (n, d + G or 3 d), of G variances, 1 or d
    powers: FloatArray
    prior: ColumnsPrior
    count: IntArray  # type: ignore[assignment]
    total: FloatArray  # (C + 1, d + G or 3 d) s, q, and n where cells are missing
    X: FloatArray  # (n, d), centred at m0
    start: IntArray  # (n + 1,) where an item's columns with a value begin
    column: IntArray
    mean: FloatArray  # (C + 1, d) m_n
    width: FloatArray  # (C + 1, d); of one variance for all columns the first alone
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
def _level(prior: ColumnsPrior, n: float, columns: int) -> float:
    """log L of n cells in each of the columns of one variance, but for the rates."""
    kappa0, shape0, half = prior.kappa[0], prior.shape[0], 0.5 * n * columns
    value = math.lgamma(shape0 + half) - math.lgamma(shape0) - half * LOG_TWO_PI
    return float(value + 0.5 * columns * math.log(kappa0 / (kappa0 + n)))


@base.implements(base.log_normaliser, ColumnsPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d, number, shape0, n = prior.columns[0], len(prior.rate), prior.shape[0], mass
    columns, complete = d // number, len(first) == d + number
    value, level = 0.0, _level(prior, mass, columns)
    product, ratio = 1.0, 1.0  # of rates, and of rates before and after: few logarithms
    for g in range(number):
        if not complete:  # each column has a variance
            n = first[2 * d + g] + second[2 * d + g]
            level = _level(prior, n, 1)
        squares = 0.0
        for j in range(g * columns, (g + 1) * columns):
            total = first[j] + second[j]
            squares += total * total
        scatter = max(first[d + g] + second[d + g] - squares / (prior.kappa[0] + n), 0.0)
        rate0 = prior.rate[g]
        rate = rate0 + 0.5 * scatter
        value += level
        product *= rate
        ratio *= rate0 / rate
        if complete and g + 1 < number and ratio > NEAR and NEAR < product < 1.0 / NEAR:
            continue
        value += shape0 * math.log(ratio) - 0.5 * n * columns * math.log(product)
        product = 1.0
        ratio = 1.0
    return value


@device(no_refcount=True, fastmath=FAST)
def _log_height(kappa: float, shape: float, weight: float, columns: int) -> float:
    """log predictive at the mean of the columns of one variance, but for the rate."""
    half = 0.5 * weight * columns
    value = math.lgamma(shape + half) - math.lgamma(shape) - half * LOG_TWO_PI
    return value + 0.5 * columns * math.log(kappa / (kappa + weight))


@base.implements(base.derive, ColumnsState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    d, weight, prior = state.X.shape[1], state.powers[1], state.prior
    n = state.powers[0] * state.count[k]
    if state.total.shape[1] == d + 1:  # one variance for all columns
        kappa, shape = prior.kappa[0] + n, prior.shape[0] + 0.5 * n * d
        squares = 0.0
        for j in range(d):
            state.mean[k, j] = state.total[k, j] / kappa
            squares += state.total[k, j] * state.mean[k, j]
        rate = prior.rate[0] + 0.5 * max(state.total[k, d] - squares, 0.0)
        height = _log_height(kappa, shape, weight, d)
        state.width[k, 0] = 2.0 * (kappa + weight) / (weight * kappa) * rate
        state.height[k, 0] = height - 0.5 * weight * d * math.log(rate)
        state.exponent[k, 0] = shape + 0.5 * weight * d
        return
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
        state.height[k, 0] = d * _log_height(kappa, shape, weight, 1) - 0.5 * weight * log_rates
        state.exponent[k, 0] = shape + 0.5 * weight
        return
    for j in range(d):
        n, total = state.total[k, 2 * d + j], state.total[k, j]
        kappa, shape = prior.kappa[0] + n, prior.shape[0] + 0.5 * n
        scatter = max(state.total[k, d + j] - total * total / kappa, 0.0)
        rate = prior.rate[j] + 0.5 * scatter
        state.mean[k, j] = total / kappa
        state.width[k, j] = 2.0 * (kappa + weight) / (weight * kappa) * rate
        state.height[k, j] = _log_height(kappa, shape, weight, 1) - 0.5 * weight * math.log(rate)
        state.exponent[k, j] = shape + 0.5 * weight


@base.implements(base.log_predictive, ColumnsState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    if state.total.shape[1] == d + 1:
        squares = 0.0
        for j in range(d):
            difference = state.X[i, j] - state.mean[k, j]
            squares += difference * difference
        return state.height[k, 0] - state.exponent[k, 0] * math.log1p(squares / state.width[k, 0])
    if state.total.shape[1] == 2 * d:
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
    """Normal-inverse-gamma columns; hyper = (scale, strength, mean precision)."""

    takes_missing = True
    one_variance: ClassVar[bool] = False
    State: ClassVar[Any] = ColumnsState

    def parameters(self, hyper: Any) -> tuple[Any, Any, Any]:
        """(kappa0, a0, b0 (G,)) in our coordinates; E[v_kg] = b0_g / (a0 - 1)."""
        scale, strength, kappa0 = hyper
        return kappa0, 1.0 + 0.5 * strength, 0.5 * strength * (scale + self.floor)

    def prior(self, hyper: FloatArray) -> ColumnsPrior:
        kappa, shape, rate = map(np.atleast_1d, self.parameters(hyper))
        return ColumnsPrior(kappa, shape, rate, np.array([self.X.shape[1]]))

    def _by_variance(self, cells: FloatArray) -> FloatArray:
        """Sums over the columns of each variance, (n, d) to (n, G)."""
        return cells.sum(axis=1, keepdims=True) if self.one_variance else cells

    def rows(self, X: FloatArray) -> Terms:
        if np.isnan(self.X).any() or np.isnan(X).any():
            cells, seen = cells_and_seen(X)
            return (np.concatenate([cells, np.square(cells), seen], axis=1),)
        return (np.concatenate([X, self._by_variance(np.square(X))], axis=1),)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        kappa0, shape0, rate0 = self.parameters(hyper)
        d, (weight, sums) = self.X.shape[1], statistics
        end = d + len(rate0)
        complete = sums.shape[1] == end
        n = np.repeat(weight[:, None], d, axis=1) if complete else sums[:, end:]
        total, kappa = sums[:, :d], kappa0 + n
        scatter = sums[:, d:end] - self._by_variance(total**2 / kappa)
        rate = rate0 + 0.5 * np.maximum(scatter, 0.0)
        log_precision, precision = base.gammas(shape0 + 0.5 * self._by_variance(n), rate, rng)
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

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        d = self.X.shape[1]
        slope, precision = terms[0][:, :d], -2.0 * terms[0][:, d : d + len(self.floor)]
        mean = self.centre + self.unit * slope / precision
        return mean, np.square(self.unit) / precision

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        kappa0, a0, b0 = self.parameters(hyper)
        if self.one_variance:
            variance = numpyro.sample("variance", dist.InverseGamma(a0, b0[0]))[..., None]
        else:
            variance = numpyro.sample("variance", dist.InverseGamma(a0, b0).to_event(1))
        at_origin = dist.Normal(jnp.zeros(self.X.shape[1]), jnp.sqrt(variance / kappa0))
        mean = numpyro.sample("mean", at_origin.to_event(1))
        centre, sd = self.centre + self.unit * mean, self.unit * jnp.sqrt(variance)
        return lambda z: seen_only(dist.Normal(centre[z], sd[z]), self.X).to_event(1)

    def embedding(self) -> FloatArray:
        """The items in standard units; missing cells have the mean of the data, zero."""
        return np.nan_to_num(self.X)

    def caches(self, slots: int) -> Mapping[str, Any]:
        shape, names = (slots, self.X.shape[1]), ("mean", "width", "height", "exponent")
        tables = {name: np.zeros(shape) for name in names}
        return {"X": self.X} | sparse(~np.isnan(self.X)) | tables


@dataclass(frozen=True)
class BoundSphericalGaussian(BoundDiagonalGaussian):
    """The same with one variance for all columns, in a common unit; no cell is missing."""

    takes_missing = False
    one_variance = True


@dataclass(frozen=True)
class Standardized(Divergence):
    """D(x, m) = sum_j (x_j - m_j)^2 / s_j^2, the limit of Gaussians with independent columns."""

    # s_j is a column's standard deviation or, with `common_unit`, the root mean variance of all.

    common_unit: bool = False
    name = "standardized"

    def bind(self, X: Any) -> Whitened:
        centre, unit = units(check_items(X), common=self.common_unit)
        return Whitened(centre, np.diag(1.0 / unit), np.diag(unit))


@dataclass(frozen=True)
class DiagonalGaussian(GaussianFamily):
    """Gaussian clusters whose columns are independent, each with its own variance.

    Missing cells (NaN) are left out of the likelihood.

    Parameters
    ----------
    scale, strength, mean_precision : float, HyperPrior or "learn", default "learn", 15 and 0.05
        As in `FullGaussian`, the strength being 2 a0 - 2.

    Notes
    -----
    ``b0_j = (a0 - 1) (scale * s_j**2 + r_j**2 / 12)`` with s_j a column's standard deviation and
    r_j its resolution, of the cells seen.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import DiagonalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> DiagonalGaussian(scale=0.5, strength=4.0).bind(X).initial_hyper()
    array([0.5 , 4.  , 0.05])
    """

    takes_missing = True
    divergence = Standardized
    bound_type = BoundDiagonalGaussian


@dataclass(frozen=True)
class SphericalGaussian(GaussianFamily):
    """Gaussian clusters with one variance for all columns.

    The unit of a column matters, unlike elsewhere: give columns those in which clusters are round.
    Constant columns are left out.

    Parameters
    ----------
    scale, strength, mean_precision : float, HyperPrior or "learn", default "learn", 15 and 0.05
        As in `FullGaussian`, the scale being a share of the columns' mean variance, and the
        strength 2 a0 - 2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> SphericalGaussian(scale=0.5).bind(X).hyper_priors[0]
    HyperPrior(name='base_scale', median=0.5, log_sd=0.0, lower=0.0)
    """

    divergence = SquaredEuclidean
    bound_type = BoundSphericalGaussian
    common_unit = True
