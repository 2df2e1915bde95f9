"""Gaussian clusters of known variance, means in hand.

    mu ~ N(m_n, I / (2 gamma kappa_n)),    log p(x | mu) = -gamma |x - mu|^2

without the powers of gamma / pi. In expectation the exponent is larger by d / (2 kappa_n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.models.components.base import Components, Terms
from bayesclust.typing import FloatArray


class KnownVarianceComponents(Components):
    """Statistics: weights (K,), sums (K, d), sums of |x|^2 (K,). Terms: 2 gamma mu (K, d), offset (K,), gamma (K,).

    `parameters` gives (gamma, kappa0).
    """

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        (X,) = rows
        return weight.sum(axis=0), weight.T @ X, weight.T @ xp.square(X).sum(axis=1)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        slope, offset, gamma = terms
        (X,) = rows
        return X @ slope.T + offset - gamma * xp.square(X).sum(axis=1)[:, None]

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        gamma, kappa, mean = self._posterior(statistics, hyper)
        centre = mean + rng.standard_normal(mean.shape) / np.sqrt(2.0 * gamma * kappa)[:, None]
        return _terms(gamma, centre, 0.0)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        gamma, kappa, mean = self._posterior(statistics, hyper)
        return _terms(gamma, mean, -0.5 * mean.shape[1] / kappa)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        gamma, kappa, mean = self._posterior(statistics, hyper)
        scatter = np.asarray(statistics[2]) - kappa * np.square(mean).sum(axis=1)
        return np.asarray(
            0.5 * mean.shape[1] * np.log(self.parameters(hyper)[1] / kappa) - gamma * scatter
        )

    def _posterior(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """(gamma, kappa_n (K,), m_n (K, d))."""
        gamma, kappa0 = self.parameters(hyper)
        kappa = kappa0 + np.asarray(statistics[0])
        return gamma, kappa, np.asarray(statistics[1]) / kappa[:, None]


def _terms(gamma: float, centre: FloatArray, offset: float | FloatArray) -> Terms:
    squares = np.square(centre).sum(axis=1)
    return 2.0 * gamma * centre, offset - gamma * squares, np.full(len(centre), gamma)
