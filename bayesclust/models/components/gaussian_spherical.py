"""Spherical Gaussian clusters, parameters in hand.

With a_n, b_n, kappa_n and m_n of `families.gaussian_spherical`,

    1 / v ~ Gamma(a_n, b_n),    mu | v ~ N(m_n, v I / kappa_n)

and log p(x | mu, v) = (d log w - d log 2 pi - w |x - mu|^2) / 2 with w = 1 / v. In expectation w is
a_n / b_n, log w is psi(a_n) - log b_n, and the quadratic form is larger by d / kappa_n.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust.models.components.base import Components, Terms
from bayesclust.typing import FloatArray

LOG_TWO_PI = math.log(2 * math.pi)


class SphericalComponents(Components):
    """Statistics: weights (K,), sums (K, d), sums of |x|^2 (K,). Terms: w (K,), mu (K, d), offset (K,)."""

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        (X,) = rows
        return weight.sum(axis=0), weight.T @ X, weight.T @ xp.square(X).sum(axis=1)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        precision, centre, offset = terms
        (X,) = rows
        squares = (
            xp.square(X).sum(axis=1)[:, None] - 2.0 * (X @ centre.T) + (centre * centre).sum(axis=1)
        )
        return offset - 0.5 * precision * squares

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        precision = rng.standard_gamma(shape) / rate
        centre = mean + rng.standard_normal(mean.shape) / np.sqrt(kappa * precision)[:, None]
        return precision, centre, 0.5 * mean.shape[1] * (np.log(precision) - LOG_TWO_PI)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        offset = 0.5 * mean.shape[1] * (digamma(shape) - np.log(rate) - LOG_TWO_PI - 1.0 / kappa)
        return shape / rate, mean, offset

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        kappa0, shape0, rate0 = self.parameters(hyper)
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        value = 0.5 * mean.shape[1] * (np.log(kappa0 / kappa) - statistics[0] * LOG_TWO_PI)
        return np.asarray(
            value + gammaln(shape) - gammaln(shape0) + shape0 * np.log(rate0) - shape * np.log(rate)
        )

    def _posterior(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(kappa_n (K,), a_n (K,), m_n (K, d), b_n (K,))."""
        kappa0, shape0, rate0 = self.parameters(hyper)
        weight, total, square = (np.asarray(part) for part in statistics)
        kappa = kappa0 + weight
        mean = total / kappa[:, None]
        scatter = np.maximum(square - kappa * (mean**2).sum(axis=1), 0.0)
        return kappa, shape0 + 0.5 * weight * mean.shape[1], mean, rate0 + 0.5 * scatter
