"""Waiting times as a family of one's own: independent exponential columns with a Gamma base measure.

    rate_kj ~ Gamma(a, a mean_j),    x_ij | rate_kj ~ Exponential(rate_kj)

With s items in a cluster and t_j the sum of their times in column j,

    p(X) = prod_j  (a mean_j)^a / Gamma(a)  Gamma(a + s) / (a mean_j + t_j)^(a + s),

and the predictive of a further time is its ratio with and without that item (a Lomax distribution).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_items
from bayesclust.families import BoundFamily, Family, HyperPrior, base
from bayesclust.families.base import Components, log_gammas


class WaitingState(NamedTuple):
    """What the compiled samplers know of the clusters: C slots and a last one that stays empty."""

    X: np.ndarray  # (n, d)
    shape: np.ndarray  # (1,) a
    scale: np.ndarray  # (d,) a mean_j
    count: np.ndarray  # (C + 1,) s
    total: np.ndarray  # (C + 1, d) t


@base.implements(base.clear_cluster, WaitingState)
def _clear_cluster(state, k):
    state.count[k] = 0
    state.total[k] = 0.0


@base.implements(base.add_item, WaitingState)
def _add_item(state, i, k):
    state.count[k] += 1
    for j in range(state.X.shape[1]):
        state.total[k, j] += state.X[i, j]


@base.implements(base.remove_item, WaitingState)
def _remove_item(state, i, k):
    state.count[k] -= 1
    for j in range(state.X.shape[1]):
        state.total[k, j] -= state.X[i, j]


@base.implements(base.log_predictive, WaitingState)
def _log_predictive(state, i, k):
    shape = state.shape[0] + state.count[k]
    value = state.X.shape[1] * math.log(shape)
    for j in range(state.X.shape[1]):
        scale = state.scale[j] + state.total[k, j]
        value += shape * math.log(scale) - (shape + 1.0) * math.log(scale + state.X[i, j])
    return value


@base.implements(base.log_marginal, WaitingState)
def _log_marginal(state, k):
    a, shape = state.shape[0], state.shape[0] + state.count[k]
    value = state.X.shape[1] * (math.lgamma(shape) - math.lgamma(a))
    for j in range(state.X.shape[1]):
        value += a * math.log(state.scale[j]) - shape * math.log(state.scale[j] + state.total[k, j])
    return value


@base.implements(base.log_marginal_union, WaitingState)
def _log_marginal_union(state, first, second):
    a, shape = state.shape[0], state.shape[0] + state.count[first] + state.count[second]
    value = state.X.shape[1] * (math.lgamma(shape) - math.lgamma(a))
    for j in range(state.X.shape[1]):
        total = state.total[first, j] + state.total[second, j]
        value += a * math.log(state.scale[j]) - shape * math.log(state.scale[j] + total)
    return value


@base.implements(base.set_items, WaitingState)
def _set_items(state, items, k):
    state.count[k] = len(items)
    state.total[k] = 0.0
    for i in items:
        for j in range(state.X.shape[1]):
            state.total[k, j] += state.X[i, j]


@base.implements(base.derive, WaitingState)
def _derive(state, k):
    pass  # nothing is cached


class WaitingComponents(Components):
    """The same clusters with their rates in hand. Terms: log rate and rate, (K, d) each."""

    def statistics(self, xp, rows, weight):
        """Weights (K,) and summed times (K, d)."""
        return weight.sum(axis=0), weight.T @ rows[0]

    def log_density(self, xp, rows, terms):
        """Of each item in each cluster, (n, K)."""
        log_rate, rate = terms
        return log_rate.sum(axis=1) - rows[0] @ rate.T

    def _posterior(self, statistics, hyper):
        a, scale = self.parameters(hyper)
        weight, total = statistics
        return np.broadcast_to((a + weight)[:, None], total.shape), scale + total

    def draw(self, statistics, hyper, rng):
        """From Gamma(a + s, a mean + t)."""
        shape, scale = self._posterior(statistics, hyper)
        log_rate = log_gammas(shape, rng) - np.log(scale)
        return log_rate, np.exp(log_rate)

    def expected(self, statistics, hyper):
        """E log rate and E rate."""
        shape, scale = self._posterior(statistics, hyper)
        return digamma(shape) - np.log(scale), shape / scale

    def log_marginal(self, statistics, hyper):
        """log p(X) of each cluster, (K,)."""
        a, scale0 = self.parameters(hyper)
        shape, scale = self._posterior(statistics, hyper)
        return (gammaln(shape) - gammaln(a) + a * np.log(scale0) - shape * np.log(scale)).sum(
            axis=1
        )


@dataclass(frozen=True)
class BoundWaitingTimes(BoundFamily):
    """The family on some data; hyper = (a,)."""

    mean: np.ndarray

    def parameters(self, hyper):
        """a, and a times the columns' means."""
        return hyper[0], hyper[0] * self.mean

    def new_state(self, capacity, hyper):
        """Empty clusters."""
        slots, d = capacity + 1, self.X.shape[1]
        state = WaitingState(
            self.X, np.zeros(1), np.zeros(d), np.zeros(slots, np.int64), np.zeros((slots, d))
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state, hyper):
        """Write a into the state."""
        state.shape[0], state.scale[:] = self.parameters(hyper)

    def log_marginal(self, X, hyper):
        """log p(X) of one cluster, plainly: what the compiled function is compared with."""
        a, scale = self.parameters(hyper)
        shape, total = a + len(X), X.sum(axis=0)
        return float(
            (gammaln(shape) - gammaln(a) + a * np.log(scale) - shape * np.log(scale + total)).sum()
        )

    def component_sites(self, hyper):
        """The family as NumPyro code: site "rate"."""
        jnp, numpyro, dist = numpyro_modules()
        a, scale = self.parameters(hyper)
        rate = numpyro.sample("rate", dist.Gamma(a * jnp.ones(len(self.mean)), scale).to_event(1))
        return lambda z: dist.Exponential(rate[z]).to_event(1)

    def components(self):
        """For the samplers that draw the rates."""
        return WaitingComponents((self.X,), self.parameters)

    def embedding(self):
        """Logarithms: points from which starting partitions are made."""
        return np.log(self.X + 1e-3 * self.mean)


@dataclass(frozen=True)
class WaitingTimes(Family):
    """What a user writes: ``bc.TVClust(family=WaitingTimes())``.

    `spread` is a: the rates of clusters vary around that of the column by its 1 / sqrt(a)-fold;
    learned by default.
    """

    spread: float | None = None

    def bind(self, X):
        """Check that the data are times."""
        X = check_items(X)
        if (X < 0).any():
            raise ValueError(
                f"X holds {X.min():g}, which is no waiting time: pass times of at least 0."
            )
        prior = HyperPrior("base_spread", self.spread or 1.0, 0.0 if self.spread else 1.0)
        return BoundWaitingTimes(X, 0.0, (prior,), X.mean(axis=0))
