"""A likelihood family: directions, such as times of the day or the wind's, in radians.

    mu_kj ~ Uniform on the circle,    x_ij | mu_kj ~ von Mises(mu_kj, kappa)

with one concentration kappa for all clusters and columns. The resultant of a cluster in column j is
the vector sum of its items' directions, of length r_j, and with s items

    p(X) = prod_j  I_0(kappa r_j) / (2 pi I_0(kappa))^s

(Mardia and Jupp 2000, Sec. 12.4.2 with a flat prior; I_0 the modified Bessel function). The
predictive of a further direction is the ratio with and without it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import ive

from bayesclust._numba import FAST, kernel
from bayesclust.checks import check_items
from bayesclust.families import BoundFamily, Family, HyperPrior, base
from bayesclust.families.base import Components, Terms
from bayesclust.typing import ArrayLike, FloatArray, IntArray

PRECISION = HyperPrior("base_precision", 4.0, 1.0)
"""Of kappa: median 4, at which two in three directions of a cluster lie within half a radian of its mean; it is learned."""


# The state: what compiled samplers know of the clusters. One slot per cluster, and a last one that
# stays empty.


class DirectionState(NamedTuple):
    """Clusters of directions; C slots and the empty one, d columns."""

    X: FloatArray  # (n, 2 d) cosines, then sines
    kappa: FloatArray  # (1,)
    log_norm: FloatArray  # (1,) log(2 pi I_0(kappa))
    count: IntArray  # type: ignore[assignment]  # (C + 1,) items
    total: FloatArray  # (C + 1, 2 d) the resultants
    level: FloatArray  # (C + 1,) sum over columns of log I_0(kappa r), derived from `total`


@kernel(fastmath=FAST)
def log_bessel(x: float) -> float:
    """log I_0(x): the power series, or from 20 on the asymptotic one (Abramowitz and Stegun 9.6.12 and 9.7.1)."""
    term, total, k = 1.0, 1.0, 1.0
    if x < 20.0:
        while term > 1e-17 * total:
            term *= 0.25 * x * x / (k * k)
            total += term
            k += 1.0
        return math.log(total)
    while term > 1e-17 and k < 2.0 * x:
        term *= (2.0 * k - 1.0) ** 2 / (8.0 * k * x)
        total += term
        k += 1.0
    return x - 0.5 * math.log(2.0 * math.pi * x) + math.log(total)


@kernel(fastmath=FAST)
def sum_levels(state: DirectionState, total: FloatArray, more: FloatArray) -> float:
    """Sum over columns of log I_0(kappa r), r the length of total + more."""
    value, d = 0.0, state.X.shape[1] // 2
    for j in range(d):
        value += log_bessel(
            state.kappa[0] * math.hypot(total[j] + more[j], total[j + d] + more[j + d])
        )
    return value


@base.implements(base.clear_cluster, DirectionState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.level[k] = 0.0


@base.implements(base.add_item, DirectionState)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    state.level[k] = sum_levels(state, state.total[k], state.X[i])
    state.count[k] += 1
    state.total[k] += state.X[i]


@base.implements(base.remove_item, DirectionState)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    state.level[k] = sum_levels(state, state.total[k], -state.X[i])
    state.count[k] -= 1
    state.total[k] -= state.X[i]


@base.implements(base.log_predictive, DirectionState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    d = state.X.shape[1] // 2
    return sum_levels(state, state.total[k], state.X[i]) - state.level[k] - d * state.log_norm[0]


@base.implements(base.log_marginal, DirectionState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return state.level[k] - state.count[k] * (state.X.shape[1] // 2) * state.log_norm[0]


@base.implements(base.log_marginal_union, DirectionState)
def _log_marginal_union(state, first, second):  # type: ignore[no-untyped-def]
    together = (state.count[first] + state.count[second]) * (state.X.shape[1] // 2)
    return sum_levels(state, state.total[first], state.total[second]) - together * state.log_norm[0]


@base.implements(base.set_items, DirectionState)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    for i in items:
        state.total[k] += state.X[i]


@base.implements(base.derive, DirectionState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    state.level[k] = sum_levels(state, state.total[k], np.zeros(state.X.shape[1]))


# The same clusters with their mean directions in hand, for samplers that do not integrate them out.


class DirectionComponents(Components):
    """Statistics: weights (K,) and resultants (K, 2 d). Terms: kappa times cosines and sines of mu, and log norms (K,)."""

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        """Sums over the items."""
        return weight.sum(axis=0), weight.T @ rows[0]

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        """Of each item in each cluster, (n, K)."""
        return rows[0] @ terms[0].T - terms[1]

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        """From von Mises(angle of the resultant, kappa times its length)."""
        angle, length = self._resultant(statistics)
        mu = rng.vonmises(angle, hyper[0] * length)
        return self._terms(np.cos(mu), np.sin(mu), hyper[0])

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        """E cos mu and E sin mu: those of the angle, times I_1 / I_0."""
        angle, length = self._resultant(statistics)
        shrunk = ive(1, hyper[0] * length) / ive(0, hyper[0] * length)
        return self._terms(shrunk * np.cos(angle), shrunk * np.sin(angle), hyper[0])

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """log p(X) of each cluster, (K,)."""
        _, length = self._resultant(statistics)
        weight = np.asarray(statistics[0])
        value = log_i0(hyper[0] * length).sum(axis=1) - weight * length.shape[1] * log_norm(
            hyper[0]
        )
        return np.asarray(value)

    def _resultant(self, statistics: Terms) -> tuple[FloatArray, FloatArray]:
        """Angles and lengths, (K, d) each."""
        cosine, sine = np.split(np.asarray(statistics[1]), 2, axis=1)
        return np.arctan2(sine, cosine), np.hypot(cosine, sine)

    def _terms(self, cosine: FloatArray, sine: FloatArray, kappa: float) -> Terms:
        norms = np.full(len(cosine), cosine.shape[1] * log_norm(kappa))
        return kappa * np.concatenate([cosine, sine], axis=1), norms


def log_i0(x: ArrayLike) -> FloatArray:
    """log I_0(x), the plain twin of `log_bessel`."""
    return np.log(ive(0, x)) + np.asarray(x)


def log_norm(kappa: float) -> float:
    """What normalises one direction."""
    return float(np.log(2 * np.pi) + log_i0(kappa))


# The family on some data, and what a user writes.


def unit_vectors(X: FloatArray) -> FloatArray:
    """Cosines, then sines, (n, 2 d)."""
    return np.concatenate([np.cos(X), np.sin(X)], axis=1)


@dataclass(frozen=True)
class BoundDirections(BoundFamily):
    """The family on some data, angles from -pi to pi; hyper = (kappa,)."""

    def new_state(self, capacity: int, hyper: FloatArray) -> DirectionState:
        """Empty clusters."""
        slots, X = capacity + 1, unit_vectors(self.X)
        count, total = np.zeros(slots, np.int64), np.zeros((slots, X.shape[1]))
        state = DirectionState(X, np.zeros(1), np.zeros(1), count, total, np.zeros(slots))
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: DirectionState, hyper: FloatArray) -> None:
        """Write kappa into the state."""
        state.kappa[0], state.log_norm[0] = hyper[0], log_norm(hyper[0])

    def log_marginal(self, X: FloatArray, hyper: FloatArray) -> float:
        """log p(X) of one cluster, plainly: what the compiled function is compared with."""
        length = np.hypot(np.cos(X).sum(axis=0), np.sin(X).sum(axis=0))
        return float(log_i0(hyper[0] * length).sum() - X.size * log_norm(hyper[0]))

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """The family as NumPyro code: site "direction"."""
        from numpyro import distributions as dist
        from numpyro import sample

        (kappa,), d = hyper, self.X.shape[1]
        mu = sample("direction", dist.Uniform(-np.pi, np.pi).expand((d,)).to_event(1))
        return lambda z: dist.VonMises(mu[z], kappa).to_event(1)

    def components(self) -> DirectionComponents:
        """For the samplers that draw mean directions."""
        return DirectionComponents((unit_vectors(self.X),), lambda hyper: hyper)

    def embedding(self) -> FloatArray:
        """Points of the circle: from these starting partitions are made."""
        return unit_vectors(self.X)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Further rows, checked and wrapped."""
        return wrapped(check_items(X, least=1))


def wrapped(X: FloatArray) -> FloatArray:
    """Angles from -pi to pi, refused where they cannot be radians."""
    if np.abs(X).max() > 2 * np.pi:
        worst = X.flat[np.abs(X).argmax()]
        raise ValueError(
            f"X holds {worst:g}, which is more than a full turn: pass angles in radians, from -pi to pi."
        )
    return np.arctan2(np.sin(X), np.cos(X))


@dataclass(frozen=True)
class Directions(Family):
    """What a user writes: ``bc.TVClust(family=Directions())``.

    Parameters
    ----------
    precision : float or None, default None
        kappa, the concentration of the directions of a cluster; None learns it.
    """

    precision: float | None = None

    def bind(self, X: FloatArray) -> BoundDirections:
        """Check that the data are angles."""
        prior = (
            PRECISION if self.precision is None else HyperPrior(PRECISION.name, self.precision, 0.0)
        )
        return BoundDirections(wrapped(check_items(X)), 0.0, (prior,))
