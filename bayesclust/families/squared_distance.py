"""Squared distance, and the Gaussian family of known variance whose small-variance limit it is.

    mu_k ~ N(m0, rho^2 I),    x_i | mu_k ~ N(mu_k, I / (2 gamma))
    p(x | mu) = (gamma / pi)^(d/2) exp(-gamma |x - mu|^2)

(TVClust Lemma 3). In coordinates y = R x in which clusters have the identity for their covariance
and m0 is the origin, T(y) = (y, |y|^2), with sums s and q over n items,

    kappa_n = kappa0 + n,    m_n = s / kappa_n
    L       = |R|^n (2 pi)^(-nd/2) (kappa0 / kappa_n)^(d/2) exp(-(q - kappa_n |m_n|^2) / 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Terms
from bayesclust.families.divergence import Divergence
from bayesclust.typing import FloatArray

LOG_TWO_PI = math.log(2 * math.pi)


class NormalPrior(NamedTuple):
    """Means of clusters whose covariance is the identity in the coordinates y = R x."""

    kappa: FloatArray  # (1,) kappa0
    log_root: FloatArray  # (1,) log |R|


@base.implements(base.log_normaliser, NormalPrior)
def _log_normal(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d, kappa0 = len(first) - 1, prior.kappa[0]
    square, scatter = 0.0, first[d] + second[d]
    for j in range(d):
        total = first[j] + second[j]
        square += total * total
    scatter = max(scatter - square / (kappa0 + mass), 0.0)
    value = mass * (prior.log_root[0] - 0.5 * d * LOG_TWO_PI)
    return value + 0.5 * d * math.log(kappa0 / (kappa0 + mass)) - 0.5 * scatter


def with_square(X: FloatArray) -> FloatArray:
    """(x, |x|^2) of each row."""
    return np.column_stack([X, np.square(X).sum(axis=1)])


@dataclass(frozen=True)
class KnownVarianceGaussian(base.BoundFamily):
    """Clusters of variance 1 / (2 gamma); X is sqrt(2 gamma) (x - m0); no hyper-parameters."""

    gamma: float
    centre: FloatArray
    variance: float  # rho^2

    @classmethod
    def at(cls, points: FloatArray, gamma: float) -> KnownVarianceGaussian:
        """Bind to points, the prior being as wide as they are: their mean, their mean variance."""
        centre = points.mean(axis=0)
        spread = float(np.square(points - centre).mean())
        bound = cls(points, (), gamma, centre, spread if spread > 0 else 1.0)
        return replace(bound, X=bound.scaled(points), reader=bound.scaled)

    def scaled(self, points: FloatArray) -> FloatArray:
        """Points in the coordinates in which clusters have variance one."""
        return math.sqrt(2.0 * self.gamma) * (points - self.centre)

    def prior(self, hyper: FloatArray) -> NormalPrior:
        kappa0, d = 1.0 / (2.0 * self.gamma * self.variance), self.X.shape[1]
        return NormalPrior(np.array([kappa0]), np.array([0.5 * d * math.log(2.0 * self.gamma)]))

    def rows(self, X: FloatArray) -> Terms:
        return (with_square(X),)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        kappa = self.prior(hyper).kappa + statistics[0]
        centre = statistics[1][:, :-1] / kappa[:, None]
        d = centre.shape[1]
        level = 0.5 * d * (LOG_TWO_PI - math.log(2.0 * self.gamma))
        if rng is None:
            level = level + 0.5 * d / kappa
        else:
            centre = centre + rng.standard_normal(centre.shape) / np.sqrt(kappa)[:, None]
        eta = np.column_stack([centre, np.full(len(centre), -0.5)])
        return eta, level + 0.5 * np.square(centre).sum(axis=1)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        _, numpyro, dist = numpyro_modules()
        spread, sd = math.sqrt(self.variance), math.sqrt(0.5 / self.gamma)
        mean = numpyro.sample("mean", dist.Normal(np.zeros(self.X.shape[1]), spread).to_event(1))
        return lambda z: dist.Normal(self.centre + mean[z], sd).to_event(1)


@dataclass(frozen=True)
class SquaredEuclidean(Divergence):
    """D(x, m) = |x - m|^2, the limit of spherical Gaussians of variance 1 / (2 gamma)."""

    name = "euclidean"
    squared = True

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return check_items(X, least=least)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.square(points).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        return centers

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        columns = [np.square(points - center).sum(axis=1) for center in centers]
        return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        return self.phi(points - centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> KnownVarianceGaussian:
        return KnownVarianceGaussian.at(points, gamma)

    def log_peaks(self, points: FloatArray, gamma: float) -> FloatArray:
        return np.full(len(points), 0.5 * points.shape[1] * math.log(gamma / math.pi))
