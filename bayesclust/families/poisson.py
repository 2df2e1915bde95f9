"""Columns of counts: independent Poisson columns with a Gamma prior.

    lambda_kj ~ Gamma(a0, b0_j),    x_ij | lambda_kj ~ Poisson(lambda_kj)

T(x) = (x_j, 1 if the cell is seen)_j, so that t holds the sums t_j and the numbers s_j of cells seen
(missing at random). With a_j = a0 + t_j and b_j = b0_j + s_j

    L = prod_j  b0_j^a0 / Gamma(a0)  Gamma(a_j) / b_j^a_j,    h(x) = prod_j 1 / x_j!
    L(t + T(x)) / L(t) = prod_j  Gamma(a_j + w x) / Gamma(a_j)  (b_j / (b_j + w))^a_j  (b_j + w)^-wx

the negative binomial predictive of an item of weight w without its factorials. A cluster caches the
log predictive of an item of zeros, so that zeros cost nothing; small whole counts enter through one
product of all their a_j (a_j + 1) ... (a_j + x - 1), of which one logarithm is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln, xlogy

from bayesclust._numpyro import numpyro_modules, seen_only
from bayesclust.families import base, cells
from bayesclust.families.discrete import BoundDiscrete, DiscreteFamily
from bayesclust.families.divergence import ColumnDivergence, Smoothed
from bayesclust.families.hyper import Hyper, HyperPrior, hyper_prior
from bayesclust.typing import FloatArray, IntArray

SHAPE_PRIOR = HyperPrior("base_shape", 1.0, 1.0)
REMEDY = "pass how often each thing was counted"
SMALL = 12.0  # columns without larger counts enter by products
BOUND = 1e100  # where a product becomes a logarithm; one more cell does not overflow


class PoissonPrior(NamedTuple):
    """The Gamma distributions of the rates."""

    shape: FloatArray  # (1,) a0
    rate: FloatArray  # (d,) b0


class PoissonState(NamedTuple):
    """Clusters of counts; C slots and the prior slot, d columns."""

    items: FloatArray  # (n, 2 d)
    powers: FloatArray
    prior: PoissonPrior
    count: IntArray  # type: ignore[assignment]
    total: FloatArray  # (C + 1, 2 d) t, s
    X: FloatArray  # (n, d) w x, 0 where missing
    start: IntArray  # (n + 1,) where an item's columns that are not zero begin
    column: IntArray
    gap_start: IntArray  # (n + 1,) where an item's missing columns begin
    gap: IntArray
    large: Any  # (d,) whether a column has other counts than small whole ones
    slope: FloatArray  # (C + 1, d) log(b + w)
    zero: FloatArray  # (C + 1, d) log predictive of a zero
    zeros: FloatArray  # (C + 1,) its sum over columns
    log_gamma: FloatArray  # (C + 1, d) log Gamma(a) of large columns


@base.implements(base.log_normaliser, PoissonPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d, shape0 = len(prior.rate), prior.shape[0]
    value = -d * math.lgamma(shape0)
    for j in range(d):
        shape = shape0 + first[j] + second[j]
        rate = prior.rate[j] + first[d + j] + second[d + j]
        value += math.lgamma(shape) + shape0 * math.log(prior.rate[j]) - shape * math.log(rate)
    return value


@base.implements(base.derive, PoissonState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    d, zeros = state.X.shape[1], 0.0
    for j in range(d):
        shape = state.prior.shape[0] + state.total[k, j]
        rate = state.prior.rate[j] + state.total[k, d + j]
        state.slope[k, j] = math.log(rate + state.powers[1])
        state.zero[k, j] = -shape * math.log1p(state.powers[1] / rate)
        if state.large[j]:
            state.log_gamma[k, j] = math.lgamma(shape)
        zeros += state.zero[k, j]
    state.zeros[k] = zeros


@base.implements(base.log_predictive, PoissonState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value, product = state.zeros[k], 1.0
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x, shape = state.X[i, j], state.prior.shape[0] + state.total[k, j]
        value -= x * state.slope[k, j]
        if state.large[j]:
            value += math.lgamma(shape + x) - state.log_gamma[k, j]
            continue
        for step in range(int(x)):
            product *= shape + step
        if product > BOUND or product < 1.0 / BOUND:
            value += math.log(product)
            product = 1.0
    for entry in range(state.gap_start[i], state.gap_start[i + 1]):
        value -= state.zero[k, state.gap[entry]]
    return value + math.log(product)


@dataclass(frozen=True)
class PoissonDivergence(Smoothed, ColumnDivergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) - x_j + m_j; unlike "kl", it sees an item's total."""

    name = "poisson"
    counts = True

    def cells(self, X: FloatArray) -> FloatArray:
        cells.check_whole(X, "counts", REMEDY)
        return X + self.smoothing

    def shown(self, centers: FloatArray) -> FloatArray:
        return centers - self.smoothing

    def phi_of_cells(self, cells: FloatArray) -> FloatArray:
        return np.asarray(xlogy(cells, cells) - cells)

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> BoundPoisson:
        fixed = HyperPrior(SHAPE_PRIOR.name, 1.0, 0.0)
        every, mean = np.arange(points.shape[1]), points.mean(axis=0)
        return BoundPoisson(points, 0.0, (fixed,), every, Poisson(), mean, power=gamma)


@dataclass(frozen=True)
class BoundPoisson(BoundDiscrete):
    """Gamma-Poisson columns; hyper = (shape a0,)."""

    mean: FloatArray
    State = PoissonState

    def parameters(self, hyper: Any) -> tuple[Any, Any]:
        """(a0, b0); E[lambda_kj] = a0 / b0_j is the column's mean."""
        return hyper[0], hyper[0] / self.mean

    def prior(self, hyper: FloatArray) -> PoissonPrior:
        return PoissonPrior(hyper[:1], hyper[0] / self.mean)

    def rows(self, X: FloatArray) -> base.Terms:
        return (np.concatenate(cells.cells_and_seen(X), axis=1),)

    def draw(self, statistics: base.Terms, hyper: FloatArray, rng: Generator) -> base.Terms:
        shape, rate = self._posterior(statistics, hyper)
        log_rate = base.log_gammas(shape, rng) - np.log(rate)
        return np.concatenate([log_rate, -np.exp(log_rate)], axis=1), np.zeros(len(shape))

    def expected(self, statistics: base.Terms, hyper: FloatArray) -> base.Terms:
        shape, rate = self._posterior(statistics, hyper)
        eta = np.concatenate([digamma(shape) - np.log(rate), -shape / rate], axis=1)
        return eta, np.zeros(len(shape))

    def _posterior(self, statistics: base.Terms, hyper: FloatArray) -> list[FloatArray]:
        prior = np.broadcast_arrays(*self.parameters(hyper))
        parts = np.split(statistics[1], 2, axis=1)
        return [own + part for own, part in zip(prior, parts, strict=True)]

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        shape, rate = self.parameters(hyper)
        gamma = dist.Gamma(shape * jnp.ones(len(self.mean)), rate).to_event(1)
        rate = numpyro.sample("rate", gamma)
        return lambda z: seen_only(dist.Poisson(rate[z]), self.X).to_event(1)

    def log_base(self, rows: FloatArray) -> FloatArray:
        return np.asarray(-np.nansum(gammaln(rows + 1), axis=1))

    def embedding(self) -> FloatArray:
        """Twice the square roots, whose variance is near one; missing ones by the mean."""
        return cells.fill_in(2.0 * np.sqrt(self.X))

    def caches(self, slots: int) -> Mapping[str, Any]:
        X, d = self.powers[1] * np.nan_to_num(self.X), self.X.shape[1]
        start, column = cells.marked_cells(X > 0)
        gap_start, gap = cells.marked_cells(np.isnan(self.X))
        large = (X.max(axis=0) > SMALL) | (np.floor(X) != X).any(axis=0)
        table = {name: np.zeros((slots, d)) for name in ("slope", "zero", "log_gamma")}
        sparse = {"start": start, "column": column, "gap_start": gap_start, "gap": gap}
        return {"X": X, "large": large, "zeros": np.zeros(slots), **sparse, **table}


@dataclass(frozen=True)
class Poisson(DiscreteFamily):
    """Columns of counts, independent within a cluster; an item's total tells something too.

    Missing cells (NaN) are left out of the likelihood. With `Multinomial`, totals tell nothing.

    Parameters
    ----------
    shape : float, HyperPrior or "learn", default "learn"
        a0: how alike clusters are expected to be; their rates vary around the column's mean by its
        1 / sqrt(a0)-fold. It is learned (log-normal with median 1, exponentially distributed rates,
        and standard deviation 1 of the logarithm).

    Notes
    -----
    ``b0_j = a0 / mean_j``, so that the expected rate is the column's mean. Constant columns are
    left out.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7, which ask for any exponential family with its conjugate prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Poisson
    >>> bound = Poisson(shape=2.0).bind(np.array([[1, 0], [4, np.nan], [7, 3]]))
    >>> bound.parameters(np.array([2.0]))[1]
    array([0.5       , 1.33333333])
    """

    shape: Hyper = "learn"
    divergence = PoissonDivergence

    def bind(self, X: FloatArray) -> BoundPoisson:
        """Check that the data are counts: a ValueError names cells that are not."""
        X, kept = self.varying(X)
        mean = cells.column_means(X, 1.0)
        prior = hyper_prior(self.shape, SHAPE_PRIOR)
        bound = BoundPoisson(X, 0.0, (prior,), kept, self, np.where(mean > 0, mean, 1.0))
        return bound.with_rows(X)

    def check(self, X: FloatArray, columns: IntArray | None = None) -> None:
        cells.check_whole(X, "counts", REMEDY, columns)
