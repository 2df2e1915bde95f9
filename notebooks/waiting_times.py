"""Waiting times as a family of one's own: independent exponential columns with a Gamma prior.

    rate_kj ~ Gamma(a, a mean_j),    x_ij | rate_kj ~ Exponential(rate_kj)

T(x) = x: with n items in a cluster and t_j the sum of their times in column j,

    L = prod_j  (a mean_j)^a / Gamma(a)  Gamma(a + n) / (a mean_j + t_j)^(a + n),

and the predictive of a further time is its ratio with and without that item (a Lomax distribution).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesclust.checks import check_items
from bayesclust.families import BoundFamily, Family, HyperPrior
from bayesclust.families.base import gammas, implements, log_normaliser


class WaitingPrior(NamedTuple):
    """What L depends on besides n and t."""

    shape: np.ndarray  # (1,) a
    scale: np.ndarray  # (d,) a mean_j


@implements(log_normaliser, WaitingPrior)
def _log_normaliser(prior, mass, first, second):
    a, shape = prior.shape[0], prior.shape[0] + mass
    value = len(first) * (math.lgamma(shape) - math.lgamma(a))
    for j in range(len(first)):
        value += a * math.log(prior.scale[j])
        value -= shape * math.log(prior.scale[j] + first[j] + second[j])
    return value


def times(X, least=2):
    """Check that data are times, of `least` items at least."""
    X = check_items(X, least=least)
    if (X < 0).any():
        raise ValueError(
            f"X holds {X.min():g}, which is no waiting time: pass times of at least 0."
        )
    return X


@dataclass(frozen=True)
class BoundWaitingTimes(BoundFamily):
    """The family on some data; hyper = (a,)."""

    mean: np.ndarray

    def prior(self, hyper):
        """a, and a times the columns' means."""
        return WaitingPrior(hyper[:1], hyper[0] * self.mean)

    def transform(self, X):
        """Check further rows, of `predict` and `extend`, as `bind` checks the first."""
        return times(X, least=1)

    def rows(self, X):
        """T(x) of every row: the times themselves."""
        return (X,)

    def terms(self, statistics, hyper, rng=None):
        """(-rate, -sum of log rates) for rates from Gamma(a + n, a mean + t), drawn or expected."""
        (a, scale), (n, t) = self.prior(hyper), statistics
        shape = np.broadcast_to((a + n)[:, None], t.shape)
        log_rate, rate = gammas(shape, scale + t, rng)
        return -rate, -log_rate.sum(axis=1)

    def component_sites(self, hyper):
        """The family as NumPyro code: site "rate"."""
        import jax.numpy as jnp
        from numpyro import distributions as dist
        from numpyro import sample

        gamma = dist.Gamma(hyper[0] * jnp.ones(len(self.mean)), hyper[0] * self.mean)
        rate = sample("rate", gamma.to_event(1))
        return lambda z: dist.Exponential(rate[z]).to_event(1)

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
        X = times(X)
        prior = HyperPrior("base_spread", self.spread or 1.0, 0.0 if self.spread else 1.0)
        return BoundWaitingTimes(X, (prior,), X.mean(axis=0))
