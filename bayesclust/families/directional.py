"""Directions: rows of unit length, such as embeddings, in von Mises-Fisher clusters.

    mu_k ~ Uniform on the unit sphere,    x_i | mu_k ~ vMF(mu_k, kappa)

with one concentration kappa for all clusters, over a sphere of area A in d dimensions (Mardia and
Jupp 2000, Sec. 9.3.2; Banerjee, Dhillon, Ghosh and Sra 2005). T(x) = x, so that t is the resultant
of a cluster, of length r. With nu = d / 2 - 1 and

    g(x) = log 0F1(; nu + 1; x^2 / 4) = log(Gamma(nu + 1) (2 / x)^nu I_nu(x))

the density of an item is exp(kappa <mu, x> - g(kappa)) / A, and the mean direction is integrated
out by

    log L = g(kappa r) - n (log A + g(kappa))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device
from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_items, rows_of_length_one
from bayesclust.families import base
from bayesclust.families.base import Hyper, HyperPrior, Terms, hyper_prior
from bayesclust.typing import ArrayLike, FloatArray

HIGH = 40.0
"""Order from which the expansion below is right to nine digits."""
LARGE, TERMS = 100.0, 10
"""Concentration by the dimension from which so many terms in its inverse are right."""


def _log_ratio_by(xp: Any) -> Callable[[Any, float], Any]:
    """g(x) of an order, for compiled code and NumPy, or for JAX."""
    # Debye's expansion (Abramowitz and Stegun 9.7.7), divided by itself at 0, holds for high
    # orders; 0F1(a) / 0F1(a + 1) = 1 + y / (a (a + 1)) / (0F1(a + 1) / 0F1(a + 2)), with y = x^2 /
    # 4, leads down from there.

    def log_ratio(x: Any, order: float) -> Any:
        def correction(p: Any, nu: float) -> Any:
            q, u = p * p, p / nu
            third = 30375.0 - q * (369603.0 - q * (765765.0 - 425425.0 * q))
            second = 81.0 - q * (462.0 - 385.0 * q) + u * third / 360.0
            return xp.log(1.0 + u * ((3.0 - 5.0 * q) / 24.0 + u * second / 1152.0))

        def expansion(nu: float) -> Any:
            s = xp.sqrt(1.0 + (x / nu) ** 2)
            value = nu * (s - 1.0 - xp.log(0.5 + 0.5 * s)) - 0.5 * xp.log(s)
            return value + correction(1.0 / s, nu) - correction(1.0, nu)

        steps = max(math.ceil(HIGH - order), 0)
        value = expansion(order + steps)
        if steps == 0:
            return value
        ratio = xp.exp(value - expansion(order + steps + 1.0))
        for step in range(steps):
            a = order + steps - step
            ratio = 1.0 + 0.25 * x * x / (a * (a + 1.0)) / ratio
            value += xp.log(ratio)
        return value

    return log_ratio


log_ratio = device(fastmath=FAST, no_refcount=True)(_log_ratio_by(np))


class DirectionPrior(NamedTuple):
    """What L depends on besides n and t."""

    kappa: FloatArray  # (1,)
    order: FloatArray  # (1,) nu
    log_norm: FloatArray  # (1,) log A + g(kappa)


@base.implements(base.log_normaliser, DirectionPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    square = 0.0
    for j in range(len(first)):
        square += (first[j] + second[j]) ** 2
    level = log_ratio(prior.kappa[0] * math.sqrt(square), prior.order[0])
    return level - mass * prior.log_norm[0]


def mean_length(kappa: float, d: int) -> tuple[float, float]:
    """A = I_(nu + 1) / I_nu, the length of directions' mean, and A', their variance along it."""
    # A' = 1 - A^2 - (d - 1) A / kappa (Mardia and Jupp 2000, Sec. 9.3) cancels where kappa is
    # large, and gives the coefficients of A = sum_m a_m / kappa^m there
    if kappa > LARGE * d:
        a = [1.0]
        for m in range(1, TERMS):
            product = sum(a[i] * a[m - i] for i in range(1, m))
            a.append(0.5 * ((m - d) * a[-1] - product))
        shares = [own / kappa**m for m, own in enumerate(a)]
        return sum(shares), -sum(m * own for m, own in enumerate(shares)) / kappa
    order = d / 2 - 1
    ratio = math.exp(log_ratio(kappa, order + 1) - log_ratio(kappa, order)) / d
    return kappa * ratio, 1.0 - (kappa * ratio) ** 2 - (d - 1) * ratio


def unit_rows(X: FloatArray) -> FloatArray:
    """The rows at length one, refused where there is no direction."""
    if X.shape[1] < 2:
        raise ValueError("X has one column, and a direction needs two: choose another family.")
    return rows_of_length_one(X, "which have no direction: remove them.")


def draw_directions(mean: FloatArray, kappa: FloatArray, rng: Generator) -> FloatArray:
    """Von Mises-Fisher directions about `mean` (..., d) (Wood 1994); uniform where kappa is 0."""
    d = mean.shape[-1]
    b = (d - 1) / (2 * kappa + np.sqrt(4 * kappa**2 + (d - 1) ** 2))
    x = (1 - b) / (1 + b)
    cosine, left = np.empty(kappa.shape), np.ones(kappa.shape, bool)
    while left.any():
        own, at, k = b[left], x[left], kappa[left]
        beta = rng.beta((d - 1) / 2, (d - 1) / 2, size=own.shape)
        drawn = (1 - (1 + own) * beta) / (1 - (1 - own) * beta)
        level = k * (drawn - at) + (d - 1) * np.log((1 - at * drawn) / (1 - at**2))
        cosine[left], left[left] = drawn, level < np.log(rng.random(own.shape))
    across = rng.normal(size=mean.shape)
    across -= (across * mean).sum(axis=-1, keepdims=True) * mean
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    sine = np.sqrt(np.maximum(1 - cosine**2, 0.0))
    return np.asarray(cosine[..., None] * mean + sine[..., None] * across)


@dataclass(frozen=True)
class BoundVonMisesFisher(base.BoundFamily):
    """X holds unit vectors; hyper = (kappa,)."""

    Prior = DirectionPrior

    def parameters(self, hyper: Any) -> Any:
        """(kappa, nu, log A + g(kappa))."""
        half = self.X.shape[1] / 2
        log_area = math.log(2) + half * math.log(math.pi) - math.lgamma(half)
        xp = np if isinstance(hyper, np.ndarray) else numpyro_modules()[0]
        return hyper[0], half - 1, log_area + _log_ratio_by(xp)(hyper[0], half - 1)

    def rows(self, X: FloatArray) -> Terms:
        return (X,)

    def columns(self, X: FloatArray) -> FloatArray:
        return unit_rows(X)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        """mu is von Mises-Fisher about the resultant, with concentration kappa r."""
        (kappa, _, log_norm), total = self.parameters(hyper), statistics[1]
        length = np.linalg.norm(total, axis=1)
        mean = np.where(length[:, None] > 0, total, np.eye(1, total.shape[1]))
        mean /= np.where(length > 0, length, 1.0)[:, None]
        x = kappa * length
        if rng is None:
            mean = mean * np.array([mean_length(v, total.shape[1])[0] for v in x])[:, None]
        else:
            mean = draw_directions(mean, x, rng)
        return kappa * mean, np.full(len(mean), log_norm)

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        """Those of the columns of unit vectors (Mardia and Jupp 2000, Sec. 9.3)."""
        kappa, d = float(np.linalg.norm(terms[0][0])), self.X.shape[1]
        direction, (length, along) = terms[0] / kappa, mean_length(kappa, d)
        share = np.square(direction)
        return length * direction, length / kappa * (1.0 - share) + along * share

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """A normal vector "axis", whose direction is uniform, as samplers need a flat space."""
        jnp, numpyro, dist = numpyro_modules()
        d = self.X.shape[1]
        axis = numpyro.sample("axis", dist.Normal(0.0, 1.0).expand((d,)).to_event(1))
        mean = axis / jnp.linalg.norm(axis, axis=-1, keepdims=True)
        kappa, _, log_norm = self.parameters(hyper)
        return lambda z: _distribution()(mean[z], kappa, log_norm)


@cache
def _distribution() -> Any:
    _, _, dist = numpyro_modules()

    class VonMisesFisher(dist.Distribution):  # type: ignore[misc,name-defined]
        pytree_data_fields = ("mean_direction", "kappa", "log_norm")
        support = dist.constraints.real_vector

        def __init__(self, mean_direction: Any, kappa: Any, log_norm: Any) -> None:
            self.mean_direction, self.kappa, self.log_norm = mean_direction, kappa, log_norm
            super().__init__(mean_direction.shape[:-1], mean_direction.shape[-1:])

        def log_prob(self, value: Any) -> Any:
            return self.kappa * (self.mean_direction * value).sum(axis=-1) - self.log_norm

    return VonMisesFisher


@dataclass(frozen=True)
class VonMisesFisher(base.Family):
    """Directions of rows, such as embeddings and profiles; their lengths do not count.

    Parameters
    ----------
    kappa : float, HyperPrior or "learn", default "learn"
        Concentration of the directions of a cluster about their mean. Learned, its prior has median
        2 d in d dimensions, where items of a cluster have cosines of about 0.6.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import VonMisesFisher
    >>> VonMisesFisher(kappa=5.0).bind(np.array([[3.0, 4.0], [0.0, 2.0]])).X
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    kappa: Hyper = "learn"

    def bind(self, X: ArrayLike) -> BoundVonMisesFisher:
        """Check that every row has a direction."""
        units = unit_rows(check_items(X))
        prior = hyper_prior(self.kappa, HyperPrior("base_kappa", 2.0 * units.shape[1], 1.0))
        return BoundVonMisesFisher(units, (prior,))
