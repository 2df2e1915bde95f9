"""Columns of counts: independent Poisson columns with a Gamma prior.

    lambda_kj ~ Gamma(a0, b0_j),    x_ij | lambda_kj ~ Poisson(lambda_kj)

T(x) = (x_j, 1 if the cell is seen)_j, with sums t_j and numbers s_j of cells seen (missing at
random). With a_j = a0 + t_j and b_j = b0_j + s_j

    L = prod_j  b0_j^a0 / Gamma(a0)  Gamma(a_j) / b_j^a_j,    h(x) = prod_j 1 / x_j!

and the predictive is negative binomial; a cluster caches that of zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, xlogy

from bayesclust._numpyro import numpyro_modules, seen_only
from bayesclust.families import base, columns
from bayesclust.families.base import Hyper, HyperPrior, Terms, hyper_prior
from bayesclust.families.discrete import BoundDiscrete, DiscreteFamily
from bayesclust.families.divergence import SmoothedColumns
from bayesclust.typing import FloatArray, IntArray

SHAPE_PRIOR = HyperPrior("base_shape", 1.0, 1.0)
SMALL = 12.0  # without larger counts a (a + 1) ... (a + x - 1) of all columns have one logarithm
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
    X: FloatArray  # (n, d) w x, -1 where missing
    start: IntArray  # (n + 1,) where an item's columns that are not zero begin
    column: IntArray
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
    d = state.X.shape[1]
    state.zeros[k] = 0.0
    for j in range(d):
        shape = state.prior.shape[0] + state.total[k, j]
        rate = state.prior.rate[j] + state.total[k, d + j]
        state.slope[k, j] = math.log(rate + state.powers[1])
        state.zero[k, j] = -shape * math.log1p(state.powers[1] / rate)
        if state.large[j]:
            state.log_gamma[k, j] = math.lgamma(shape)
        state.zeros[k] += state.zero[k, j]


@base.implements(base.log_predictive, PoissonState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value, product = state.zeros[k], 1.0
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x, shape = state.X[i, j], state.prior.shape[0] + state.total[k, j]
        if x < 0.0:
            value -= state.zero[k, j]
            continue
        value -= x * state.slope[k, j]
        if state.large[j]:
            value += math.lgamma(shape + x) - state.log_gamma[k, j]
            continue
        for step in range(int(x)):
            product *= shape + step
        if product > BOUND or product < 1.0 / BOUND:
            value += math.log(product)
            product = 1.0
    return value + math.log(product)


@dataclass(frozen=True)
class PoissonDivergence(SmoothedColumns):
    """D(x, m) = sum_j x_j log(x_j / m_j) - x_j + m_j; unlike "kl", it sees an item's total."""

    name = "poisson"
    counts = True

    def check(self, X: FloatArray) -> None:
        Poisson().check(X)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray((xlogy(points, points) - points).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> BoundPoisson:
        bound = Poisson(shape=1.0)._on(points, np.arange(points.shape[1]))
        return replace(bound, power=gamma)


@dataclass(frozen=True)
class BoundPoisson(BoundDiscrete):
    """Gamma-Poisson columns; hyper = (shape a0,)."""

    mean: FloatArray

    State = PoissonState
    Prior = PoissonPrior

    def parameters(self, hyper: Any) -> tuple[Any, Any]:
        """(a0, b0); E[lambda_kj] = a0 / b0_j is the column's mean."""
        return hyper[0], hyper[0] / self.mean

    def rows(self, X: FloatArray) -> Terms:
        return (np.hstack(columns.cells_and_seen(X)),)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        (shape, rate), (total, seen) = self.parameters(hyper), np.hsplit(statistics[1], 2)
        log_rate, rate = base.gammas(shape + total, rate + seen, rng)
        return np.hstack([log_rate, -rate]), np.zeros(len(rate))

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        rate = np.exp(np.hsplit(terms[0], 2)[0])
        return rate, rate

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        shape, rate = self.parameters(hyper)
        gamma = dist.Gamma(shape * jnp.ones(len(self.mean)), rate)
        rate = numpyro.sample("rate", gamma.to_event(1))
        return lambda z: seen_only(dist.Poisson(rate[z]), self.X).to_event(1)

    def log_base(self, rows: FloatArray) -> FloatArray:
        return np.asarray(-np.nansum(gammaln(rows + 1), axis=1))

    def embedding(self) -> FloatArray:
        """Twice the square roots, whose variance is near one; missing ones by the mean."""
        return columns.fill_in(2.0 * np.sqrt(self.X))

    def caches(self, slots: int) -> Mapping[str, Any]:
        X = np.where(np.isnan(self.X), -1.0, self.powers[1] * self.X)
        large = (X.max(axis=0) > SMALL) | (np.floor(X) != X).any(axis=0)
        tables = {name: np.zeros((slots, X.shape[1])) for name in ("slope", "zero", "log_gamma")}
        return tables | {"X": X, "large": large, "zeros": np.zeros(slots)} | columns.sparse(X != 0)


@dataclass(frozen=True)
class Poisson(DiscreteFamily):
    """Columns of counts, independent within a cluster; missing cells (NaN) are left out.

    Parameters
    ----------
    shape : float, HyperPrior or "learn", default "learn"
        a0: rates of clusters vary around the column's mean, a0 / b0_j, by its 1 / sqrt(a0)-fold.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.families.Poisson(shape=2.0).bind([[1, 0], [4, float("nan")], [7, 3]]).mean
    array([4. , 1.5])
    """

    shape: Hyper = "learn"
    divergence = PoissonDivergence
    expects = "counts", "pass how often each thing was counted"

    def bind(self, X: FloatArray) -> BoundPoisson:
        """Check that the data are counts: a ValueError names cells that are not."""
        return self._on(*self.varying(X))

    def _on(self, X: FloatArray, kept: IntArray) -> BoundPoisson:
        mean, prior = columns.column_means(X, 1.0), (hyper_prior(self.shape, SHAPE_PRIOR),)
        return BoundPoisson(X, prior, kept, self, np.where(mean > 0, mean, 1.0))
