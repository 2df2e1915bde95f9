"""Gaussian clusters whose columns are independent, with a normal-inverse-gamma base measure per column.

    mu_kj | v_kj ~ N(m0_j, v_kj / kappa0),    v_kj ~ InvGamma(a0, b0_j)

With n items in a cluster (Murphy 2007, Eq. 197 to 206):

    kappa_n = kappa0 + n,  a_n = a0 + n / 2,  m_n = (kappa0 m0 + sum x) / kappa_n
    b_n     = b0 + (sum x^2 + kappa0 m0^2 - kappa_n m_n^2) / 2
    p(X)    = prod_j (2 pi)^(-n/2) Gamma(a_n) / Gamma(a0) b0_j^a0 / b_nj^a_n (kappa0 / kappa_n)^(1/2)

Data are centred at m0, so that m0 = 0 below. Where cells are missing, `gaussian_missing` does the
same column by column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.models.components import Components
from bayesclust.models.components.gaussian_diagonal import DiagonalComponents
from bayesclust.models.families import base
from bayesclust.models.families._log_products import sum_of_logs, sum_of_tails
from bayesclust.models.families.base_measure import (
    MEAN_PRECISION,
    STRENGTH,
    BoundIndependentColumns,
    gaussian_priors,
    standard_columns,
)
from bayesclust.models.families.gaussian_missing import BoundMissingGaussian


class DiagonalState(NamedTuple):
    """Clusters with independent columns; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), centred at m0
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    total: NDArray[np.float64]  # (C + 1, d) sum of x
    square: NDArray[np.float64]  # (C + 1, d) sum of x^2
    mean: NDArray[np.float64]  # (C + 1, d) m_n
    rate: NDArray[np.float64]  # (C + 1, d) b_n
    log_rate: NDArray[np.float64]  # (C + 1,) sum over columns of log b_n
    height: NDArray[np.float64]  # (C + 1,) log predictive at the mean
    rate0: NDArray[np.float64]  # (d,)
    kappa0: NDArray[np.float64]  # (1,)
    shape0: NDArray[np.float64]  # (1,) a0
    power: NDArray[np.float64]  # (2,) weight of an item in a cluster, and of one that is judged


@device(fastmath=FAST, no_refcount=True)
def _prepare(state: DiagonalState, k: int) -> None:
    """Cache what the predictive takes from the cluster alone."""
    d, weight = state.X.shape[1], state.power[1]
    n = state.power[0] * state.count[k]
    kappa, shape = state.kappa0[0] + n, state.shape0[0] + 0.5 * n
    constant = (
        math.lgamma(shape + 0.5 * weight)
        - math.lgamma(shape)
        + 0.5 * math.log(kappa / (kappa + weight))
    )
    constant -= 0.5 * weight * math.log(2.0 * math.pi)
    state.log_rate[k] = sum_of_logs(state.rate, k)
    state.height[k] = d * constant - 0.5 * weight * state.log_rate[k]


@base.implements(base.clear_cluster, DiagonalState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    empty = len(state.count) - 1
    state.count[k] = 0
    state.total[k] = 0.0
    state.square[k] = 0.0
    state.mean[k] = 0.0
    base.copy_row(state.rate, k, empty)
    state.log_rate[k], state.height[k] = state.log_rate[empty], state.height[empty]


@base.implements(base.add_item, DiagonalState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    share = power / (kappa + power)
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        difference = x - state.mean[k, j]
        state.rate[k, j] += 0.5 * share * kappa * difference * difference
        state.mean[k, j] += share * difference
        state.total[k, j] += x
        state.square[k, j] += x * x
    state.count[k] += 1
    _prepare(state, k)


@base.implements(base.remove_item, DiagonalState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    share = power / (kappa - power)
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        difference = x - state.mean[k, j]
        rate = state.rate[k, j] - 0.5 * share * kappa * difference * difference
        state.rate[k, j] = max(rate, state.rate0[j])
        state.mean[k, j] -= share * difference
        state.total[k, j] -= x
        state.square[k, j] -= x * x
    state.count[k] -= 1
    _prepare(state, k)


@base.implements(base.log_predictive, DiagonalState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    weight, n = state.power[1], state.power[0] * state.count[k]
    kappa, shape = state.kappa0[0] + n, state.shape0[0] + 0.5 * n
    g = 0.5 * weight * kappa / (kappa + weight)
    return state.height[k] - (shape + 0.5 * weight) * sum_of_tails(
        state.X, i, state.mean, state.rate, k, g
    )


@base.implements(base.log_marginal, DiagonalState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    n = state.power[0] * state.count[k]
    kappa0, shape0 = state.kappa0[0], state.shape0[0]
    shape = shape0 + 0.5 * n
    constant = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * math.log(kappa0 / (kappa0 + n))
    constant -= 0.5 * n * math.log(2.0 * math.pi)
    empty = len(state.count) - 1
    return d * constant + shape0 * state.log_rate[empty] - shape * state.log_rate[k]


@base.implements(base.log_marginal_union, DiagonalState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    n = power * (state.count[a] + state.count[b])
    kappa0, shape0 = state.kappa0[0], state.shape0[0]
    kappa, shape = kappa0 + n, shape0 + 0.5 * n
    constant = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * math.log(kappa0 / kappa)
    constant -= 0.5 * n * math.log(2.0 * math.pi)
    log_rate = 0.0
    for j in range(d):
        total = power * (state.total[a, j] + state.total[b, j])
        scatter = max(
            power * (state.square[a, j] + state.square[b, j]) - total * total / kappa, 0.0
        )
        log_rate += math.log(state.rate0[j] + 0.5 * scatter)
    return d * constant + shape0 * state.log_rate[len(state.count) - 1] - shape * log_rate


@base.implements(base.set_items, DiagonalState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.square[k] = 0.0
    for i in items:
        for j in range(state.X.shape[1]):
            x = state.X[i, j]
            state.total[k, j] += x
            state.square[k, j] += x * x


@base.implements(base.derive, DiagonalState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    for j in range(state.X.shape[1]):
        mean = power * state.total[k, j] / kappa
        scatter = max(power * state.square[k, j] - kappa * mean * mean, 0.0)
        state.mean[k, j] = mean
        state.rate[k, j] = state.rate0[j] + 0.5 * scatter
    _prepare(state, k)


@dataclass(frozen=True)
class BoundDiagonalGaussian(BoundIndependentColumns):
    """Normal-inverse-gamma columns without missing cells; hyper = (scale, strength, mean precision)."""

    def with_rows(self, rows: NDArray[np.float64]) -> Any:
        if not np.isnan(rows).any():
            return super().with_rows(rows)
        return BoundMissingGaussian(
            **{field.name: getattr(self, field.name) for field in fields(self)}
        ).with_rows(rows)

    def components(self) -> Components:
        return self.weighed(DiagonalComponents((self.X,), self.parameters))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> DiagonalState:
        """Cluster state with empty slots."""
        d, slots = self.X.shape[1], capacity + 1
        total, square, mean, rate = np.zeros((4, slots, d))
        state = DiagonalState(
            self.X,
            np.zeros(slots, np.int64),
            total,
            square,
            mean,
            rate,
            np.zeros(slots),
            np.zeros(slots),
            np.zeros(d),
            np.zeros(1),
            np.zeros(1),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X), by the formula in this file's first lines."""
        kappa0, a0, b0 = self.parameters(hyper)
        n, d = X.shape
        if n == 0:
            return 0.0
        mean, n = X.mean(axis=0), self.power * n
        scatter = n * X.var(axis=0)
        kappa, a = kappa0 + n, a0 + n / 2
        b = b0 + 0.5 * scatter + 0.5 * kappa0 * n / kappa * mean**2
        constant = (
            gammaln(a)
            - gammaln(a0)
            + 0.5 * math.log(kappa0 / kappa)
            - 0.5 * n * math.log(2 * math.pi)
        )
        return float(d * constant + (a0 * np.log(b0) - a * np.log(b)).sum())


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
        How many observations that expectation is worth (2 a0 - 2). Learned, it
        gives in to columns in which many items share one value.
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has variance v_kj / kappa0 around the mean of the data.
        The default makes a cluster of few outliers dear; learned, it grows to welcome them.

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
    >>> from bayesclust.models.families import DiagonalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> DiagonalGaussian(scale=0.5, strength=4.0).bind(X).initial_hyper()
    array([0.5 , 4.  , 0.05])
    """

    scale: float | str | base.HyperPrior = "learn"
    strength: float | str | base.HyperPrior = STRENGTH
    mean_precision: float | str | base.HyperPrior = MEAN_PRECISION

    @property
    def takes_missing(self) -> bool:
        return True

    def bind(self, X: NDArray[np.float64]) -> BoundIndependentColumns:
        """Standardise the columns and fill in the base measure."""
        columns = standard_columns(X)
        seen = ~np.isnan(columns.X)
        priors = gaussian_priors(self.scale, self.strength, self.mean_precision)
        log_constant = -float((seen.sum(axis=0) * np.log(columns.unit)).sum())
        bound = BoundDiagonalGaussian if seen.all() else BoundMissingGaussian
        return bound(
            columns.X,
            log_constant,
            priors,
            columns.centre,
            columns.unit,
            columns.kept,
            columns.floor,
        )
