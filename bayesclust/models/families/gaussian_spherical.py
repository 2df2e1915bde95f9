"""Gaussian clusters with one variance for all columns, with a normal-inverse-gamma base measure.

    mu_k | v_k ~ N(m0, v_k I / kappa0),    v_k ~ InvGamma(a0, b0)

With n items in a cluster (Murphy 2007, Eq. 197 to 206, for d columns that share v_k):

    kappa_n = kappa0 + n,  a_n = a0 + n d / 2,  m_n = (kappa0 m0 + sum x) / kappa_n
    b_n     = b0 + (sum |x|^2 + kappa0 |m0|^2 - kappa_n |m_n|^2) / 2
    p(X)    = (2 pi)^(-nd/2) Gamma(a_n) / Gamma(a0) b0^a0 / b_n^a_n (kappa0 / kappa_n)^(d/2)

Data are centred at m0, so that m0 = 0 below. Its small-variance limit is DP-means (TVClust Sec. 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components import Components
from bayesclust.models.components.gaussian_spherical import SphericalComponents
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import (
    MEAN_PRECISION,
    STRENGTH,
    BoundColumns,
    gaussian_priors,
    standard_columns,
)


class SphericalState(NamedTuple):
    """Clusters with one variance; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), centred at m0
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    total: NDArray[np.float64]  # (C + 1, d) sum of x
    square: NDArray[np.float64]  # (C + 1,) sum of |x|^2
    mean: NDArray[np.float64]  # (C + 1, d) m_n
    rate: NDArray[np.float64]  # (C + 1,) b_n
    kappa0: NDArray[np.float64]  # (1,)
    shape0: NDArray[np.float64]  # (1,) a0
    rate0: NDArray[np.float64]  # (1,) b0
    power: NDArray[np.float64]  # (2,) weight of an item in a cluster, and of one that is judged


@base.implements(base.clear_cluster, SphericalState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.square[k] = 0.0
    state.mean[k] = 0.0
    state.rate[k] = state.rate0[0]


@base.implements(base.add_item, SphericalState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    share = power / (kappa + power)
    squared_distance = 0.0
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        difference = x - state.mean[k, j]
        squared_distance += difference * difference
        state.square[k] += x * x
        state.mean[k, j] += share * difference
        state.total[k, j] += x
    state.rate[k] += 0.5 * share * kappa * squared_distance
    state.count[k] += 1


@base.implements(base.remove_item, SphericalState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    share = power / (kappa - power)
    squared_distance = 0.0
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        difference = x - state.mean[k, j]
        squared_distance += difference * difference
        state.square[k] -= x * x
        state.mean[k, j] -= share * difference
        state.total[k, j] -= x
    state.rate[k] = max(state.rate[k] - 0.5 * share * kappa * squared_distance, state.rate0[0])
    state.count[k] -= 1


@base.implements(base.log_predictive, SphericalState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    d, weight = state.X.shape[1], state.power[1]
    n = state.power[0] * state.count[k]
    kappa = state.kappa0[0] + n
    shape = state.shape0[0] + 0.5 * n * d
    g = 0.5 * weight * kappa / (kappa + weight)
    squared_distance = 0.0
    for j in range(d):
        difference = state.X[i, j] - state.mean[k, j]
        squared_distance += difference * difference
    constant = (
        math.lgamma(shape + 0.5 * weight * d)
        - math.lgamma(shape)
        + 0.5 * d * math.log(kappa / (kappa + weight))
    )
    constant -= 0.5 * weight * d * math.log(2.0 * math.pi * state.rate[k])
    return constant - (shape + 0.5 * weight * d) * math.log1p(g * squared_distance / state.rate[k])


@base.implements(base.log_marginal, SphericalState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    n = state.power[0] * state.count[k]
    kappa0, shape0 = state.kappa0[0], state.shape0[0]
    shape = shape0 + 0.5 * n * d
    constant = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * d * math.log(kappa0 / (kappa0 + n))
    constant -= 0.5 * n * d * math.log(2.0 * math.pi)
    return constant + shape0 * math.log(state.rate0[0]) - shape * math.log(state.rate[k])


@base.implements(base.log_marginal_union, SphericalState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    n = power * (state.count[a] + state.count[b])
    kappa0, shape0, rate0 = state.kappa0[0], state.shape0[0], state.rate0[0]
    kappa, shape = kappa0 + n, shape0 + 0.5 * n * d
    scatter = power * (state.square[a] + state.square[b])
    for j in range(d):
        scatter -= (power * (state.total[a, j] + state.total[b, j])) ** 2 / kappa
    rate = rate0 + 0.5 * max(scatter, 0.0)
    constant = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * d * math.log(kappa0 / kappa)
    constant -= 0.5 * n * d * math.log(2.0 * math.pi)
    return constant + shape0 * math.log(rate0) - shape * math.log(rate)


@base.implements(base.set_items, SphericalState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.square[k] = 0.0
    for i in items:
        for j in range(state.X.shape[1]):
            x = state.X[i, j]
            state.total[k, j] += x
            state.square[k] += x * x


@base.implements(base.derive, SphericalState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    scatter = power * state.square[k]
    for j in range(state.X.shape[1]):
        mean = power * state.total[k, j] / kappa
        state.mean[k, j] = mean
        scatter -= kappa * mean * mean
    state.rate[k] = state.rate0[0] + 0.5 * max(scatter, 0.0)


@dataclass(frozen=True)
class BoundSphericalGaussian(BoundColumns):
    """Normal-inverse-gamma clusters in a common unit; hyper = (scale, strength, mean precision)."""

    floor: float

    takes_power = True

    def parameters(self, hyper: NDArray[np.float64]) -> tuple[float, float, float]:
        """(kappa0, a0, b0) in our coordinates; E[v_k] = b0 / (a0 - 1)."""
        scale, strength, kappa0 = hyper
        return kappa0, 1.0 + 0.5 * strength, 0.5 * strength * (scale + self.floor)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Sites "variance" and "mean", by this file's first formulas."""
        jnp, numpyro, dist = numpyro_modules()
        kappa0, a0, b0 = self.parameters(hyper)
        variance = numpyro.sample("variance", dist.InverseGamma(a0, b0))[..., None]
        at_origin = dist.Normal(jnp.zeros(self.X.shape[1]), jnp.sqrt(variance / kappa0))
        mean = numpyro.sample("mean", at_origin.to_event(1))
        centre, sd = self.centre + self.unit * mean, self.unit * jnp.sqrt(variance)
        return lambda z: dist.Normal(centre[z], sd[z]).to_event(1)

    def components(self) -> Components:
        return self.weighed(SphericalComponents((self.X,), self.parameters))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> SphericalState:
        """Cluster state with empty slots."""
        d, slots = self.X.shape[1], capacity + 1
        total, mean = np.zeros((2, slots, d))
        state = SphericalState(
            self.X,
            np.zeros(slots, np.int64),
            total,
            np.zeros(slots),
            mean,
            np.zeros(slots),
            np.zeros(1),
            np.zeros(1),
            np.zeros(1),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: SphericalState, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters into a state."""
        state.kappa0[0], state.shape0[0], state.rate0[0] = self.parameters(hyper)

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X), by the formula in this file's first lines."""
        kappa0, a0, b0 = self.parameters(hyper)
        n, d = X.shape
        if n == 0:
            return 0.0
        mean, n = X.mean(axis=0), self.power * n
        scatter = n * X.var(axis=0).sum()
        kappa, a = kappa0 + n, a0 + n * d / 2
        b = b0 + 0.5 * scatter + 0.5 * kappa0 * n / kappa * (mean**2).sum()
        return float(
            gammaln(a)
            - gammaln(a0)
            + 0.5 * d * math.log(kappa0 / kappa)
            - 0.5 * n * d * math.log(2 * math.pi)
            + a0 * math.log(b0)
            - a * math.log(b)
        )


@dataclass(frozen=True)
class SphericalGaussian(base.Family):
    """Gaussian clusters with one variance for all columns.

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of the mean variance of the columns.
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation is worth (2 a0 - 2). Learned, it
        gives in to columns in which many items share one value.
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has variance v_k / kappa0 around the mean of the data.
        The default makes a cluster of few outliers dear; learned, it grows to welcome them.

    Notes
    -----
    Columns are centred and divided by one common unit (the root of their mean variance), since a
    spherical cluster is spherical only in the units that the user chose. Constant columns are left
    out.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7, and Sec. 4; Murphy (2007), Sec. 6.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import SphericalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> SphericalGaussian(scale=0.5).bind(X).hyper_priors[0]
    HyperPrior(name='base_scale', median=0.5, log_sd=0.0, least=0.0)
    """

    scale: float | str | base.HyperPrior = "learn"
    strength: float | str | base.HyperPrior = STRENGTH
    mean_precision: float | str | base.HyperPrior = MEAN_PRECISION

    def bind(self, X: NDArray[np.float64]) -> BoundSphericalGaussian:
        """Centre the columns, take their common unit and fill in the base measure."""
        columns = standard_columns(X, common_unit=True)
        priors = gaussian_priors(self.scale, self.strength, self.mean_precision)
        log_constant = -len(X) * float(np.log(columns.unit).sum())
        return BoundSphericalGaussian(
            columns.X,
            log_constant,
            priors,
            columns.centre,
            columns.unit,
            columns.kept,
            float(columns.floor.mean()),
        )
