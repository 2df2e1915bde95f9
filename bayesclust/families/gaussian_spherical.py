"""Gaussian clusters with one variance for all columns, with a normal-inverse-gamma prior.

    mu_k | v_k ~ N(m0, v_k I / kappa0),    v_k ~ InvGamma(a0, b0)

T(x) = (x, |x|^2), data centred at m0. With n items, their sum s and sum of squares q (Murphy 2007,
Eq. 197 to 206, for d columns that share v_k):

    kappa_n = kappa0 + n,  a_n = a0 + n d / 2,  m_n = s / kappa_n,  b_n = b0 + (q - kappa_n |m_n|^2) / 2
    L       = (2 pi)^(-nd/2) Gamma(a_n) / Gamma(a0) b0^a0 / b_n^a_n (kappa0 / kappa_n)^(d/2)

Its small-variance limit is DP-means (TVClust Sec. 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numpyro import numpyro_modules
from bayesclust.families import base
from bayesclust.families.base import Terms
from bayesclust.families.cells import standard_columns
from bayesclust.families.gaussian import (
    MEAN_PRECISION,
    STRENGTH,
    BoundColumns,
    gaussian_priors,
)
from bayesclust.families.hyper import Hyper
from bayesclust.families.squared_distance import LOG_TWO_PI, SquaredEuclidean, with_square
from bayesclust.typing import FloatArray


class SphericalPrior(NamedTuple):
    """The normal-inverse-gamma distribution."""

    kappa: FloatArray  # (1,) kappa0
    shape: FloatArray  # (1,) a0
    rate: FloatArray  # (1,) b0


@base.implements(base.log_normaliser, SphericalPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    d, kappa0, shape0, rate0 = len(first) - 1, prior.kappa[0], prior.shape[0], prior.rate[0]
    kappa, shape = kappa0 + mass, shape0 + 0.5 * mass * d
    square, scatter = 0.0, first[d] + second[d]
    for j in range(d):
        total = first[j] + second[j]
        square += total * total
    rate = rate0 + 0.5 * max(scatter - square / kappa, 0.0)
    value = math.lgamma(shape) - math.lgamma(shape0) + 0.5 * d * math.log(kappa0 / kappa)
    value -= 0.5 * mass * d * LOG_TWO_PI
    return value + shape0 * math.log(rate0) - shape * math.log(rate)


@dataclass(frozen=True)
class BoundSphericalGaussian(BoundColumns):
    """Normal-inverse-gamma clusters in a common unit; hyper = (scale, strength, mean precision)."""

    floor: float

    Prior = SphericalPrior

    def parameters(self, hyper: Any) -> tuple[Any, Any, Any]:
        """(kappa0, a0, b0) in our coordinates; E[v_k] = b0 / (a0 - 1)."""
        scale, strength, kappa0 = hyper
        return kappa0, 1.0 + 0.5 * strength, 0.5 * strength * (scale + self.floor)

    def rows(self, X: FloatArray) -> Terms:
        return (with_square(X),)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        kappa0, shape0, rate0 = self.parameters(hyper)
        weight, total, square = statistics[0], statistics[1][:, :-1], statistics[1][:, -1]
        kappa, d = kappa0 + weight, total.shape[1]
        rate = rate0 + 0.5 * np.maximum(square - np.square(total).sum(axis=1) / kappa, 0.0)
        log_precision, precision = base.gammas(shape0 + 0.5 * weight * d, rate, rng)
        centre = total / kappa[:, None]
        if rng is None:
            log_precision = log_precision - 1.0 / kappa
        else:
            step = rng.standard_normal(centre.shape) / np.sqrt(kappa * precision)[:, None]
            centre = centre + step
        eta = np.column_stack([precision[:, None] * centre, -0.5 * precision])
        level = 0.5 * d * (LOG_TWO_PI - log_precision)
        return eta, level + 0.5 * precision * np.square(centre).sum(axis=1)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        kappa0, a0, b0 = self.parameters(hyper)
        variance = numpyro.sample("variance", dist.InverseGamma(a0, b0))[..., None]
        at_origin = dist.Normal(jnp.zeros(self.X.shape[1]), jnp.sqrt(variance / kappa0))
        mean = numpyro.sample("mean", at_origin.to_event(1))
        centre, sd = self.centre + self.unit * mean, self.unit * jnp.sqrt(variance)
        return lambda z: dist.Normal(centre[z], sd[z]).to_event(1)


@dataclass(frozen=True)
class SphericalGaussian(base.Family):
    """Gaussian clusters with one variance for all columns.

    Unlike with the other Gaussian families, the unit of a column matters: multiply one by 1000, and
    it decides alone. Give columns the units in which clusters are round.

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of the mean variance of the columns.
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation is worth (2 a0 - 2). Learned, it falls in columns in
        which many items share one value.
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has variance v_k / kappa0 around the mean of the data.
        The default penalises a cluster of few outliers; learned, it grows to admit them.

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
    >>> from bayesclust.families import SphericalGaussian
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> SphericalGaussian(scale=0.5).bind(X).hyper_priors[0]
    HyperPrior(name='base_scale', median=0.5, log_sd=0.0, lower=0.0)
    """

    scale: Hyper = "learn"
    strength: Hyper = STRENGTH
    mean_precision: Hyper = MEAN_PRECISION
    divergence = SquaredEuclidean

    def bind(self, X: FloatArray) -> BoundSphericalGaussian:
        """Centre the columns, take their common unit and fill in the prior."""
        own = standard_columns(X, common_unit=True)
        priors = gaussian_priors(self.scale, self.strength, self.mean_precision)
        floor = float(own.floor.mean())
        bound = BoundSphericalGaussian(own.X, 0.0, priors, own.centre, own.unit, own.kept, floor)
        return bound.with_rows(own.X)
