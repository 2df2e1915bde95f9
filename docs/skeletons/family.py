"""A likelihood family: directions, such as times of the day or the wind's, in radians.

    mu_kj ~ Uniform on the circle,    x_ij | mu_kj ~ von Mises(mu_kj, kappa)

with one concentration kappa for all clusters and columns. T(x) = (cos x_j, sin x_j)_j, so that t
holds the resultant of a cluster in each column, of length r_j, and with n items

    L = prod_j  I_0(kappa r_j) / (2 pi I_0(kappa))^n

(Mardia and Jupp 2000, Sec. 12.4.2 with a flat prior; I_0 the modified Bessel function). Marginals,
predictives, unions of clusters and coarsening follow from this in `bayesclust.families.base`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import ive

from bayesclust._numba import FAST, device
from bayesclust.checks import check_items
from bayesclust.families import BoundFamily, Family, HyperPrior
from bayesclust.families.base import Terms, implements, log_normaliser
from bayesclust.typing import ArrayLike, FloatArray

PRECISION = HyperPrior("base_precision", 4.0, 1.0)
"""Of kappa: median 4, at which two in three directions lie within half a radian of their mean."""


# What compiled samplers need: the parameters of the prior, and log L.


class DirectionPrior(NamedTuple):
    """What L depends on beside n and t."""

    kappa: FloatArray  # (1,)
    log_norm: FloatArray  # (1,) log(2 pi I_0(kappa))


@device(fastmath=FAST, no_refcount=True)
def log_bessel(x: float) -> float:
    """log I_0(x) by power series, asymptotic from 20 (Abramowitz and Stegun 9.6.12, 9.7.1)."""
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


@implements(log_normaliser, DirectionPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d = len(first) // 2
    value = -mass * d * prior.log_norm[0]
    for j in range(d):
        length = math.hypot(first[j] + second[j], first[d + j] + second[d + j])
        value += log_bessel(prior.kappa[0] * length)
    return value


# The family on some data.


@dataclass(frozen=True)
class BoundDirections(BoundFamily):
    """X holds angles from -pi to pi; hyper = (kappa,)."""

    def prior(self, hyper: FloatArray) -> DirectionPrior:
        """From the hyper-parameters, arrays all."""
        log_norm = math.log(2 * math.pi) + log_bessel(float(hyper[0]))
        return DirectionPrior(hyper[:1], np.array([log_norm]))

    def rows(self, X: FloatArray) -> Terms:
        """T(x) of every row, (n, 2 d)."""
        return (np.concatenate([np.cos(X), np.sin(X)], axis=1),)

    # With the mean directions in hand, log p(x | mu) = <T(x), eta> - a.

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        """eta and a given (n, t): mu is von Mises about the resultant, with precision kappa r."""
        cosine, sine = np.split(statistics[1], 2, axis=1)
        angle, precision = np.arctan2(sine, cosine), hyper[0] * np.hypot(cosine, sine)
        if rng is None:  # the means of cos mu and sin mu are those of the angle, times I_1 / I_0
            shrunk = ive(1, precision) / ive(0, precision)
        else:
            angle, shrunk = rng.vonmises(angle, precision), 1.0
        eta = hyper[0] * np.concatenate([shrunk * np.cos(angle), shrunk * np.sin(angle)], axis=1)
        return eta, np.full(len(eta), angle.shape[1] * self.prior(hyper).log_norm[0])

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """The family as NumPyro code: site "direction"."""
        from numpyro import distributions as dist
        from numpyro import sample

        (kappa,), d = hyper, self.X.shape[1]
        mu = sample("direction", dist.Uniform(-np.pi, np.pi).expand((d,)).to_event(1))
        return lambda z: dist.VonMises(mu[z], kappa).to_event(1)

    # What may be left out: where items are points for starting partitions, and how further rows of
    # the user's data are read.

    def embedding(self) -> FloatArray:
        """Points of the circle."""
        return np.asarray(self.rows(self.X)[0])

    def transform(self, X: ArrayLike) -> FloatArray:
        """Checked and wrapped."""
        return wrapped(check_items(X, least=1))


def wrapped(X: FloatArray) -> FloatArray:
    """Angles from -pi to pi, refused where they cannot be radians."""
    if np.abs(X).max() > 2 * np.pi:
        worst = X.flat[np.abs(X).argmax()]
        raise ValueError(
            f"X holds {worst:g}, which is more than a full turn: "
            "pass angles in radians, from -pi to pi."
        )
    return np.arctan2(np.sin(X), np.cos(X))


# What a user writes.


@dataclass(frozen=True)
class Directions(Family):
    """Columns of directions: ``bc.TVClust(family=Directions())``.

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
        return BoundDirections(wrapped(check_items(X)), (prior,))
