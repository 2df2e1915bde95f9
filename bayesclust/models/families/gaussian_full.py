"""Gaussian clusters with full covariance and a normal-inverse-Wishart base measure.

    mu_k | Sigma_k ~ N(m0, Sigma_k / kappa0),    Sigma_k ~ IW(nu0, Psi0)

With n items of mean xbar and scatter S in a cluster (Murphy 2007, Eq. 250 to 266):

    kappa_n = kappa0 + n,  nu_n = nu0 + n,  m_n = (kappa0 m0 + n xbar) / kappa_n
    Psi_n   = Psi0 + S + kappa0 n / kappa_n (xbar - m0)(xbar - m0)'
    p(X)    = pi^(-nd/2) Gamma_d(nu_n/2) / Gamma_d(nu0/2) |Psi0|^(nu0/2) / |Psi_n|^(nu_n/2) (kappa0/kappa_n)^(d/2)

and the predictive is a Student t. Data are centred at m0, so that m0 = 0 below. With a power, every
item weighs so many items (`families.base.BoundFamily.coarsened`): n, n xbar and S are multiplied by
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln

from bayesclust._numba import FAST, device
from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components import Components
from bayesclust.models.components.gaussian_full import FullComponents
from bayesclust.models.families import base
from bayesclust.models.families._scatter import write_moments
from bayesclust.models.families.base_measure import (
    MEAN_PRECISION,
    STRENGTH,
    BoundColumns,
    gaussian_priors,
    standard_columns,
)
from bayesclust.models.families.cholesky import factorise, invert
from bayesclust.models.families.quadratic import quadratic_form, write_direction


class FullState(NamedTuple):
    """Clusters with full covariance; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), centred at m0
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    total: NDArray[np.float64]  # (C + 1, d) sum of x
    outer: NDArray[np.float64]  # (C + 1, d, d) sum of x x'
    mean: NDArray[np.float64]  # (C + 1, d) m_n
    precision: NDArray[np.float64]  # (C + 1, d, d) inverse of Psi_n
    logdet: NDArray[np.float64]  # (C + 1,) log |Psi_n|
    psi0: NDArray[np.float64]  # (d, d)
    kappa0: NDArray[np.float64]  # (1,)
    nu0: NDArray[np.float64]  # (1,)
    constant: NDArray[np.float64]  # (n + 1,) predictive's normaliser given the cluster's size
    height: NDArray[np.float64]  # (n + 1,) marginal likelihood's, but for the determinants
    power: NDArray[np.float64]  # (2,) weight of an item in a cluster, and of one that is judged
    work: NDArray[np.float64]  # (d,) scratch
    square: NDArray[np.float64]  # (d, d) scratch


@base.implements(base.clear_cluster, FullState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    d, empty = state.X.shape[1], len(state.count) - 1
    state.count[k] = 0
    state.logdet[k] = state.logdet[empty]
    for a in range(d):
        state.total[k, a] = 0.0
        state.mean[k, a] = 0.0
        for b in range(d):
            state.outer[k, a, b] = 0.0
            state.precision[k, a, b] = state.precision[empty, a, b]


@device(fastmath=FAST, no_refcount=True)
def _shift(state: FullState, i: int, k: int, sign: float) -> None:
    """Put an item into what a cluster caches (sign = 1), or take it out (-1), before it is counted."""
    # Psi_{n+1} = Psi_n + g d d',  d = x - m_n,  g = kappa_n / (kappa_n + 1); Sherman and Morrison
    # for the inverse
    d, power, u = state.X.shape[1], sign * state.power[0], state.work
    kappa = state.kappa0[0] + state.power[0] * state.count[k]
    share = power / (kappa + power)
    g, q = share * kappa, write_direction(state, i, k)
    step = g / (1.0 + g * q)
    for a in range(d):
        x_a, weight = sign * state.X[i, a], step * u[a]
        for b in range(d):
            state.outer[k, a, b] += x_a * state.X[i, b]
            state.precision[k, a, b] -= weight * u[b]
    for a in range(d):
        state.mean[k, a] += share * (state.X[i, a] - state.mean[k, a])
        state.total[k, a] += sign * state.X[i, a]
    state.logdet[k] += math.log1p(g * q)


@base.implements(base.add_item, FullState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, 1.0)
    state.count[k] += 1


@base.implements(base.remove_item, FullState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, -1.0)
    state.count[k] -= 1


@base.implements(base.log_predictive, FullState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    q = quadratic_form(state, i, k)
    n, weight = state.count[k], state.power[1]
    mass = state.power[0] * n
    kappa = state.kappa0[0] + mass
    tail = math.log1p(q * weight * kappa / (kappa + weight))
    return (
        state.constant[n]
        - 0.5 * weight * state.logdet[k]
        - 0.5 * (state.nu0[0] + mass + weight) * tail
    )


@device(fastmath=FAST, no_refcount=True)
def log_normaliser(state: FullState, count: int, logdet: float) -> float:
    """log p(X) of so many items, at most n, whose Psi_n has this log determinant."""
    nu0, mass = state.nu0[0], state.power[0] * count
    return float(
        state.height[count]
        + 0.5 * nu0 * state.logdet[len(state.count) - 1]
        - 0.5 * (nu0 + mass) * logdet
    )


@base.implements(base.log_marginal, FullState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return log_normaliser(state, state.count[k], state.logdet[k])


@base.implements(base.log_marginal_union, FullState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    count = state.count[a] + state.count[b]
    kappa, psi = state.kappa0[0] + power * count, state.square
    for i in range(d):
        mean = power * (state.total[a, i] + state.total[b, i]) / kappa
        for j in range(i + 1):
            own = (
                state.outer[a, i, j]
                + state.outer[b, i, j]
                - mean * (state.total[a, j] + state.total[b, j])
            )
            psi[i, j] = state.psi0[i, j] + power * own
    return log_normaliser(state, count, factorise(psi))


@base.implements(base.set_items, FullState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    write_moments(state.X, items, state.total[k], state.outer[k])


@base.implements(base.derive, FullState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    mean, outer, psi = state.mean[k], state.outer[k], state.square
    for a in range(d):
        mean[a] = power * state.total[k, a] / kappa
        for b in range(a + 1):
            psi[a, b] = state.psi0[a, b] + power * outer[a, b] - kappa * mean[a] * mean[b]
    state.logdet[k] = factorise(psi)
    invert(psi, state.precision[k])


@dataclass(frozen=True)
class BoundFullGaussian(BoundColumns):
    """Normal-inverse-Wishart clusters in standardised columns; hyper = (scale, strength, mean precision).

    ``shape`` is the expected within-cluster covariance at scale 1, ``floor`` the variance of
    rounding.
    """

    floor: NDArray[np.float64]
    shape: NDArray[np.float64]

    takes_power = True

    def parameters(self, hyper: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
        """(kappa0, nu0, Psi0) in our coordinates; E[Sigma_k] = Psi0 / strength."""
        scale, strength, kappa0 = hyper
        nu0 = strength + self.X.shape[1] + 1
        return kappa0, nu0, strength * (scale * self.shape + self._rounding)

    @cached_property
    def _rounding(self) -> NDArray[np.float64]:
        return np.diag(self.floor)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Sites "covariance" and "mean", by this file's first formulas."""
        jnp, numpyro, dist = numpyro_modules()
        kappa0, nu0, psi0 = self.parameters(hyper)
        covariance = numpyro.sample("covariance", dist.InverseWishart(nu0, scale_matrix=psi0))
        lower = jnp.linalg.cholesky(covariance)
        mean = numpyro.sample(
            "mean", dist.MultivariateNormal(0.0, scale_tril=lower / jnp.sqrt(kappa0))
        )
        centre, lower = self.centre + self.unit * mean, self.unit[:, None] * lower
        return lambda z: dist.MultivariateNormal(centre[z], scale_tril=lower[z])

    def components(self) -> Components:
        return self.weighed(FullComponents((self.X,), self.parameters))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> FullState:
        """Cluster state with empty slots."""
        (n, d), slots = self.X.shape, capacity + 1
        vectors, matrices = np.zeros((2, slots, d)), np.zeros((2, slots, d, d))
        state = FullState(
            self.X,
            np.zeros(slots, np.int64),
            vectors[0],
            matrices[0],
            vectors[1],
            matrices[1],
            np.zeros(slots),
            np.zeros((d, d)),
            np.zeros(1),
            np.zeros(1),
            np.zeros(n + 1),
            np.zeros(n + 1),
            self.powers,
            np.zeros(d),
            np.zeros((d, d)),
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: FullState, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters and the normalisers that depend on them alone."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        n, d = self.X.shape
        known = (state.kappa0[0], state.nu0[0]) == (
            kappa0,
            nu0,
        )  # as they are from one sweep to the next unless learned
        state.kappa0[0], state.nu0[0], state.psi0[:] = kappa0, nu0, psi0
        if known:
            return
        power, weight = state.power
        size = power * np.arange(n + 1)
        kappa = kappa0 + size
        nu = (nu0 + size - np.arange(d)[:, None]) / 2
        gammas = gammaln(nu).sum(axis=0)  # Gamma_d's powers of pi cancel
        state.constant[:] = (
            0.5 * d * (np.log(kappa / (kappa + weight)) - weight * math.log(math.pi))
        )
        state.constant[:] += gammaln(nu + weight / 2).sum(axis=0) - gammas
        state.height[:] = (
            0.5 * d * (np.log(kappa0 / kappa) - size * math.log(math.pi)) + gammas - gammas[0]
        )

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X), by the formula in this file's first lines."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        (n, d), power = X.shape, self.power
        if n == 0:
            return 0.0
        mean, n = X.mean(axis=0), power * n
        kappa, nu = kappa0 + n, nu0 + n
        psi = psi0 + power * (X - mean).T @ (X - mean) + kappa0 * n / kappa * np.outer(mean, mean)
        return float(
            -0.5 * n * d * math.log(math.pi)
            + multigammaln(nu / 2, d)
            - multigammaln(nu0 / 2, d)
            + 0.5 * nu0 * np.linalg.slogdet(psi0)[1]
            - 0.5 * nu * np.linalg.slogdet(psi)[1]
            + 0.5 * d * math.log(kappa0 / kappa)
        )


@dataclass(frozen=True)
class FullGaussian(base.Family):
    """Gaussian clusters, each with its own full covariance matrix.

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of each column's variance (psi).
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation is worth (nu0 - d - 1 > 0). Learned, it
        gives in to columns in which many items share one value.
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has covariance Sigma_k / kappa0 around the mean of the data.
        The default makes a cluster of few outliers dear; learned, it grows to welcome them.

    Notes
    -----
    ``Psi0 = strength * diag(scale * s_j**2 + r_j**2 / 12)`` with s_j a column's standard deviation
    and r_j its resolution, and m0 the mean of the data: the fit does not change when a column is
    shifted or given another unit. Constant columns are left out. The priors of what is learned are
    in `bayesclust.models.families.base_measure`.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7; Murphy (2007), Conjugate Bayesian analysis of the Gaussian
    distribution, Sec. 9.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import FullGaussian
    >>> FullGaussian(scale=0.5).bind(np.random.default_rng(0).normal(size=(10, 2))).X.shape
    (10, 2)
    """

    scale: float | str | base.HyperPrior = "learn"
    strength: float | str | base.HyperPrior = STRENGTH
    mean_precision: float | str | base.HyperPrior = MEAN_PRECISION

    def bind(self, X: NDArray[np.float64]) -> BoundFullGaussian:
        """Standardise the columns and fill in the base measure."""
        columns = standard_columns(X)
        priors = gaussian_priors(self.scale, self.strength, self.mean_precision)
        log_constant = -len(X) * float(np.log(columns.unit).sum())
        shape = np.eye(columns.X.shape[1])
        return BoundFullGaussian(
            columns.X,
            log_constant,
            priors,
            columns.centre,
            columns.unit,
            columns.kept,
            columns.floor,
            shape,
        )
