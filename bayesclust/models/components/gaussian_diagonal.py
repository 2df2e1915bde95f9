"""Gaussian clusters with independent columns, parameters in hand.

With a_n, b_n, kappa_n and m_n of `families.gaussian_diagonal`, for each cluster and column

    1 / v ~ Gamma(a_n, b_n),    mu | v ~ N(m_n, v / kappa_n)

and log p(x | mu, v) = (log w - log 2 pi - w (x - mu)^2) / 2 with w = 1 / v. In expectation w is a_n
/ b_n, log w is psi(a_n) - log b_n, and the quadratic form is larger by 1 / kappa_n.
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


def weighted_squares(xp: Any, X: Any, precision: Any, centre: Any) -> Any:
    """Return sum_j w_kj (x_ij - c_kj)^2, shape (n, K), by two matrix products."""
    cross = X @ (precision * centre).T
    return xp.square(X) @ precision.T - 2.0 * cross + (precision * centre * centre).sum(axis=1)


class DiagonalComponents(Components):
    """Statistics: weights (K,), sums and sums of squares (K, d). Terms: w (K, d), mu (K, d), offset (K,)."""

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        (X,) = rows
        return weight.sum(axis=0), weight.T @ X, weight.T @ xp.square(X)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        precision, centre, offset = terms
        return offset - 0.5 * weighted_squares(xp, rows[0], precision, centre)

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        precision = rng.standard_gamma(np.broadcast_to(shape[:, None], rate.shape)) / rate
        centre = mean + rng.standard_normal(mean.shape) / np.sqrt(kappa[:, None] * precision)
        return precision, centre, 0.5 * (np.log(precision) - LOG_TWO_PI).sum(axis=1)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        log_precision = digamma(shape)[:, None] - np.log(rate)
        offset = 0.5 * (log_precision - LOG_TWO_PI - 1.0 / kappa[:, None]).sum(axis=1)
        return shape[:, None] / rate, mean, offset

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        kappa0, shape0, rate0 = self.parameters(hyper)
        kappa, shape, _, rate = self._posterior(statistics, hyper)
        d = rate.shape[1]
        constant = (
            gammaln(shape)
            - gammaln(shape0)
            + 0.5 * np.log(kappa0 / kappa)
            - 0.5 * statistics[0] * LOG_TWO_PI
        )
        return np.asarray(
            d * constant + shape0 * np.log(rate0).sum() - shape * np.log(rate).sum(axis=1)
        )

    def _posterior(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(kappa_n (K,), a_n (K,), m_n (K, d), b_n (K, d))."""
        kappa0, shape0, rate0 = self.parameters(hyper)
        weight, total, square = (np.asarray(part) for part in statistics)
        kappa = kappa0 + weight
        mean = total / kappa[:, None]
        scatter = np.maximum(square - kappa[:, None] * mean**2, 0.0)
        return kappa, shape0 + 0.5 * weight, mean, rate0 + 0.5 * scatter
