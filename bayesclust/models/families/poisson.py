"""Columns of counts: independent Poisson columns with a Gamma base measure.

    lambda_kj ~ Gamma(a0, b0_j),    x_ij | lambda_kj ~ Poisson(lambda_kj)

With s items of a cluster that have a value in the column, and t the sum of these values:

    a_n = a0 + t,  b_n = b0_j + s
    p(X) = prod_j  b0_j^a0 / Gamma(a0)  Gamma(a_n) / b_n^a_n  prod_i 1 / x_ij!

so that the predictive is negative binomial: p(x) = Gamma(a_n + x) / (Gamma(a_n) x!) (b_n / (b_n +
1))^a_n (b_n + 1)^-x. The factorials do not depend on the partition and are kept out of the state.
Missing cells count in neither s nor t (missing at random). With items that weigh w < 1, s and t are
multiplied by w, and the predictive without its factorials is that of w x, Gamma(a_n + w x) /
Gamma(a_n) (b_n / (b_n + w))^a_n (b_n + w)^-wx.

A cluster caches the log predictive of an item of zeros, so that zeros cost nothing; cells of
columns with small counts enter through one product of all their a_n (a_n + 1) ... (a_n + x - 1), of
which one logarithm is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.models._numpyro import numpyro_modules, seen_only
from bayesclust.models.components.base import Components, cells_and_seen
from bayesclust.models.components.poisson import PoissonComponents
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import hyper_prior
from bayesclust.models.families.discrete import (
    BoundDiscrete,
    DiscreteFamily,
    check_whole,
    column_means,
    fill_in,
    marked_cells,
)

SHAPE_PRIOR = base.HyperPrior("base_shape", 1.0, 1.0)
REMEDY = "pass how often each thing was counted"
# columns without larger counts enter by products
SMALL = 12.0
# where a product becomes a logarithm: a further cell, of SMALL factors below 1e15, does not
# overflow
BOUND = 1e100


class PoissonState(NamedTuple):
    """Clusters of counts; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), 0 where missing
    start: NDArray[np.int64]  # (n + 1,) where an item's columns that are not zero begin
    column: NDArray[np.int64]
    gap_start: NDArray[np.int64]  # (n + 1,) where an item's missing columns begin
    gap: NDArray[np.int64]
    rate0: NDArray[np.float64]  # (d,) b0
    shape0: NDArray[np.float64]  # (1,) a0
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,) items
    total: NDArray[np.float64]  # (C + 1, d) t
    seen: NDArray[np.float64]  # (C + 1, d) s
    slope: NDArray[np.float64]  # (C + 1, d) log(b_n + w)
    zero: NDArray[np.float64]  # (C + 1, d) log predictive of a zero
    zeros: NDArray[np.float64]  # (C + 1,) its sum over columns
    log_gamma: NDArray[np.float64]  # (C + 1, d) log Gamma(a_n), where the data have large counts
    large: NDArray[np.bool_]  # (d,) columns with counts over SMALL, or that weigh less than one
    powers: NDArray[
        np.float64
    ]  # (2,) weight of an item in a cluster, and of one that the predictive is asked about


@base.implements(base.clear_cluster, PoissonState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    empty = len(state.count) - 1
    state.count[k] = 0
    state.total[k] = 0.0
    state.seen[k] = 0.0
    base.copy_row(state.slope, k, empty)
    base.copy_row(state.zero, k, empty)
    state.zeros[k] = state.zeros[empty]
    base.copy_row(state.log_gamma, k, empty)


@device(fastmath=FAST, no_refcount=True)
def _prepare(state: PoissonState, k: int) -> None:
    """Cache what the predictive takes from the cluster alone."""
    zeros = 0.0
    for j in range(state.X.shape[1]):
        shape, rate = state.shape0[0] + state.total[k, j], state.rate0[j] + state.seen[k, j]
        state.slope[k, j] = math.log(rate + state.powers[1])
        state.zero[k, j] = -shape * math.log1p(state.powers[1] / rate)
        if state.large[j]:
            state.log_gamma[k, j] = math.lgamma(shape)
        zeros += state.zero[k, j]
    state.zeros[k] = zeros


@device(fastmath=FAST, no_refcount=True)
def _shift(state: PoissonState, i: int, k: int, sign: float) -> None:
    """Put an item's cells into the sums of a cluster, or take them out."""
    weight = sign * state.powers[0]
    for j in range(state.X.shape[1]):
        state.total[k, j] += weight * state.X[i, j]
        state.seen[k, j] += weight
    for entry in range(state.gap_start[i], state.gap_start[i + 1]):
        state.seen[k, state.gap[entry]] -= weight


@base.implements(base.add_item, PoissonState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, 1.0)
    state.count[k] += 1
    _prepare(state, k)


@base.implements(base.remove_item, PoissonState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, -1.0)
    state.count[k] -= 1
    _prepare(state, k)


@base.implements(base.log_predictive, PoissonState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value, product = state.zeros[k], 1.0
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x, shape = state.powers[1] * state.X[i, j], state.shape0[0] + state.total[k, j]
        value -= x * state.slope[k, j]
        if not state.large[j]:
            for step in range(int(x)):
                product *= shape + step
            if product > BOUND or product < 1.0 / BOUND:
                value += math.log(product)
                product = 1.0
        else:
            value += math.lgamma(shape + x) - state.log_gamma[k, j]
    for entry in range(state.gap_start[i], state.gap_start[i + 1]):
        value -= state.zero[k, state.gap[entry]]
    return value + math.log(product)


@device(fastmath=FAST, no_refcount=True)
def _union(state: PoissonState, a: int, b: int) -> float:
    shape0: float = state.shape0[0]
    value: float = -state.X.shape[1] * math.lgamma(shape0)
    for j in range(state.X.shape[1]):
        shape = shape0 + state.total[a, j] + state.total[b, j]
        rate0, seen = state.rate0[j], state.seen[a, j] + state.seen[b, j]
        value += math.lgamma(shape) + shape0 * math.log(rate0) - shape * math.log(rate0 + seen)
    return value


@base.implements(base.log_marginal, PoissonState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return _union(state, k, len(state.count) - 1)


@base.implements(base.log_marginal_union, PoissonState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    return _union(state, a, b)


@base.implements(base.set_items, PoissonState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.seen[k] = 0.0
    for i in items:
        _shift(state, i, k, 1.0)


@base.implements(base.derive, PoissonState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    _prepare(state, k)


@dataclass(frozen=True)
class BoundPoisson(BoundDiscrete):
    """Gamma-Poisson columns; hyper = (shape a0,)."""

    mean: NDArray[np.float64]

    takes_power = True

    def parameters(self, hyper: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(a0, b0); E[lambda_kj] = a0 / b0_j is the column's mean."""
        return hyper[0], hyper[0] / self.mean

    def check(self, X: NDArray[np.float64]) -> None:
        check_whole(X, "counts", REMEDY, self.kept)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "rate" (lambda_kj); here the factorials count."""
        jnp, numpyro, dist = numpyro_modules()
        shape, rate = self.parameters(hyper)
        rate = numpyro.sample(
            "rate", dist.Gamma(shape * jnp.ones(len(self.mean)), rate).to_event(1)
        )
        return lambda z: seen_only(dist.Poisson(rate[z]), self.X).to_event(1)

    def components(self) -> Components:
        return self.weighed(PoissonComponents(cells_and_seen(self.X), self.parameters))

    def embedding(self) -> NDArray[np.float64]:
        """Twice the square roots of the counts, whose variance is near one whatever the rate; missing ones by the mean."""
        return fill_in(2.0 * np.sqrt(self.X))

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        constants: NDArray[np.float64] = -np.nansum(gammaln(rows + 1), axis=1)
        return constants

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> PoissonState:
        """Cluster state with empty slots."""
        d, slots, missing = self.X.shape[1], capacity + 1, np.isnan(self.X)
        X = np.where(missing, 0.0, self.X)
        total, seen, slope, zero, log_gamma = (np.zeros((slots, d)) for _ in range(5))
        state = PoissonState(
            X,
            *marked_cells(X > 0),
            *marked_cells(missing),
            np.zeros(d),
            np.zeros(1),
            np.zeros(slots, np.int64),
            total,
            seen,
            slope,
            zero,
            np.zeros(slots),
            log_gamma,
            (X.max(axis=0) > SMALL) | (self.powers[1] != 1.0),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: PoissonState, hyper: NDArray[np.float64]) -> None:
        """Write the base measure into a state."""
        state.shape0[0], state.rate0[:] = self.parameters(hyper)

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X) less the factorials, by the formula in this file's first lines."""
        shape0, rate0 = self.parameters(hyper)
        seen = ~np.isnan(X)
        shape = shape0 + self.power * np.where(seen, X, 0.0).sum(axis=0)
        rate = rate0 + self.power * seen.sum(axis=0)
        return float(
            (gammaln(shape) - gammaln(shape0) + shape0 * np.log(rate0) - shape * np.log(rate)).sum()
        )


@dataclass(frozen=True)
class Poisson(DiscreteFamily):
    """Columns of counts, independent within a cluster; unlike in `Multinomial`, an item's total tells something too.

    Missing cells (NaN) are left out of the likelihood.

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
    >>> from bayesclust.models.families import Poisson
    >>> Poisson(shape=2.0).bind(np.array([[1, 0], [4, np.nan], [7, 3]])).parameters(np.array([2.0]))[1]
    array([0.5       , 1.33333333])
    """

    shape: float | str | base.HyperPrior = "learn"

    def check(self, X: NDArray[np.float64]) -> None:
        check_whole(X, "counts", REMEDY)

    def bind(self, X: NDArray[np.float64]) -> BoundPoisson:
        """Check that the data are counts.

        Raises
        ------
        ValueError
            If a cell is negative or not a whole number.
        """
        X, kept = self.varying(X)
        mean = column_means(X, 1.0)
        prior = hyper_prior(self.shape, SHAPE_PRIOR)
        constant = -float(np.nansum(gammaln(X + 1)))
        return BoundPoisson(X, constant, (prior,), kept, np.where(mean > 0, mean, 1.0))
