"""Gaussian clusters of known variance: the family whose limit is squared Euclidean distance (TVClust Lemma 3).

    mu_k ~ N(m0, rho^2 I),    x_i | mu_k ~ N(mu_k, I / (2 gamma)),    p(x | mu) = (gamma / pi)^(d/2) exp(-gamma |x - mu|^2)

In units of items the base measure weighs kappa0 = 1 / (2 gamma rho^2). With n items in a cluster,
centred at m0:

    kappa_n = kappa0 + n,    m_n = sum x / kappa_n
    p(X)    = (gamma / pi)^(nd/2) (kappa0 / kappa_n)^(d/2) exp(-gamma (sum |x|^2 - kappa_n |m_n|^2))

so that the predictive is N(m_n, I / (2 gamma) (kappa_n + 1) / kappa_n). The powers of gamma / pi do
not depend on the partition and are kept out of the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components.gaussian_known import KnownVarianceComponents
from bayesclust.models.families import base
from bayesclust.models.families.scaled.base import Points, ReadPoints, ScaledFamily
from bayesclust.typing import ArrayLike


class KnownVarianceState(NamedTuple):
    """Clusters of one known variance; C slots and the prior slot, d columns."""

    X: NDArray[np.float64]  # (n, d), centred at m0
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    total: NDArray[np.float64]  # (C + 1, d) sum of x
    square: NDArray[np.float64]  # (C + 1,) sum of |x|^2
    mean: NDArray[np.float64]  # (C + 1, d) m_n
    gamma: NDArray[np.float64]  # (1,)
    kappa0: NDArray[np.float64]  # (1,)


@base.implements(base.clear_cluster, KnownVarianceState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.square[k] = 0.0
    state.mean[k] = 0.0


@base.implements(base.add_item, KnownVarianceState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    state.count[k] += 1
    kappa = state.kappa0[0] + state.count[k]
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        state.total[k, j] += x
        state.square[k] += x * x
        state.mean[k, j] = state.total[k, j] / kappa


@base.implements(base.remove_item, KnownVarianceState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    state.count[k] -= 1
    kappa = state.kappa0[0] + state.count[k]
    for j in range(state.X.shape[1]):
        x = state.X[i, j]
        state.total[k, j] -= x
        state.square[k] -= x * x
        state.mean[k, j] = state.total[k, j] / kappa


@base.implements(base.log_predictive, KnownVarianceState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    kappa = state.kappa0[0] + state.count[k]
    share = kappa / (kappa + 1.0)
    squared_distance = 0.0
    for j in range(d):
        difference = state.X[i, j] - state.mean[k, j]
        squared_distance += difference * difference
    return 0.5 * d * math.log(share) - state.gamma[0] * share * squared_distance


@base.implements(base.log_marginal, KnownVarianceState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    kappa0 = state.kappa0[0]
    kappa = kappa0 + state.count[k]
    scatter = state.square[k]
    for j in range(d):
        scatter -= state.total[k, j] * state.total[k, j] / kappa
    return 0.5 * d * math.log(kappa0 / kappa) - state.gamma[0] * scatter


@base.implements(base.log_marginal_union, KnownVarianceState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d = state.X.shape[1]
    kappa0 = state.kappa0[0]
    kappa = kappa0 + state.count[a] + state.count[b]
    scatter = state.square[a] + state.square[b]
    for j in range(d):
        total = state.total[a, j] + state.total[b, j]
        scatter -= total * total / kappa
    return 0.5 * d * math.log(kappa0 / kappa) - state.gamma[0] * scatter


@base.implements(base.set_items, KnownVarianceState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.square[k] = 0.0
    for i in items:
        for j in range(state.X.shape[1]):
            x = state.X[i, j]
            state.total[k, j] += x
            state.square[k] += x * x


@base.implements(base.derive, KnownVarianceState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    kappa = state.kappa0[0] + state.count[k]
    for j in range(state.X.shape[1]):
        state.mean[k, j] = state.total[k, j] / kappa


@dataclass(frozen=True)
class KnownVarianceGaussian(ScaledFamily):
    """Gaussian clusters of variance 1 / (2 gamma) in every column; there are no hyper-parameters.

    Attributes
    ----------
    centre : ndarray of shape (d,)
        m0.
    variance : float
        rho^2.
    """

    centre: NDArray[np.float64]
    variance: float

    @classmethod
    def at(cls, points: Points, gamma: float, read: ReadPoints) -> KnownVarianceGaussian:
        """Bind to points, the base measure being as wide as they are: m0 their mean, rho^2 their mean variance."""
        centre = points.mean(axis=0)
        centred = points - centre
        variance = float(np.square(centred).mean())
        log_constant = 0.5 * centred.size * math.log(gamma / math.pi)
        return cls(
            centred, log_constant, (), gamma, read, centre, variance if variance > 0 else 1.0
        )

    @property
    def kappa0(self) -> float:
        """Weight of the base measure in units of items."""
        return 1.0 / (2.0 * self.gamma * self.variance)

    def log_peaks(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(len(rows), 0.5 * rows.shape[1] * math.log(self.gamma / math.pi))

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.log_peaks(rows)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.read(X) - self.centre

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "mean", by this file's first formulas."""
        _, numpyro, dist = numpyro_modules()
        spread, sd = math.sqrt(self.variance), math.sqrt(0.5 / self.gamma)
        mean = numpyro.sample("mean", dist.Normal(np.zeros(self.X.shape[1]), spread).to_event(1))
        return lambda z: dist.Normal(self.centre + mean[z], sd).to_event(1)

    def components(self) -> KnownVarianceComponents:
        return KnownVarianceComponents((self.X,), lambda hyper: (self.gamma, self.kappa0))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> KnownVarianceState:
        """Cluster state with empty slots."""
        d, slots = self.X.shape[1], capacity + 1
        total, mean = np.zeros((2, slots, d))
        return KnownVarianceState(
            self.X,
            np.zeros(slots, np.int64),
            total,
            np.zeros(slots),
            mean,
            np.array([self.gamma]),
            np.array([self.kappa0]),
        )

    def set_hyper(self, state: KnownVarianceState, hyper: NDArray[np.float64]) -> None:
        """Nothing to write: there are no hyper-parameters."""

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X) less the powers of gamma / pi, by the mean of the cluster and its distance from m0."""
        n, d = X.shape
        if n == 0:
            return 0.0
        mean, shrunk = X.mean(axis=0), 1.0 + 2.0 * self.gamma * self.variance * n
        exponent = np.square(X - mean).sum() + n * np.square(mean).sum() / shrunk
        return float(-0.5 * d * math.log(shrunk) - self.gamma * exponent)
