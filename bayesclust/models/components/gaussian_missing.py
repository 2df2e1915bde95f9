"""Gaussian clusters with independent columns and missing cells, parameters in hand.

As in `gaussian_diagonal`, with kappa_n, a_n, m_n and b_n of each cluster and column from the cells
seen. An item without a value in a column takes no part in that column's terms.
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


class MissingComponents(Components):
    """Rows: the cells (n, d) with 0 for missing ones, and which are seen (n, d).

    Statistics: weights (K,), weights by column, sums and sums of squares (K, d). Terms: w, mu and
    offset (K, d).
    """

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        X, seen = rows
        return weight.sum(axis=0), weight.T @ seen, weight.T @ X, weight.T @ xp.square(X)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        precision, centre, offset = terms
        X, seen = rows
        pull = precision * centre
        return (
            X @ pull.T
            - 0.5 * (xp.square(X) @ precision.T)
            + seen @ (offset - 0.5 * pull * centre).T
        )

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        precision = rng.standard_gamma(shape) / rate
        centre = mean + rng.standard_normal(mean.shape) / np.sqrt(kappa * precision)
        return precision, centre, 0.5 * (np.log(precision) - LOG_TWO_PI)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        kappa, shape, mean, rate = self._posterior(statistics, hyper)
        return shape / rate, mean, 0.5 * (digamma(shape) - np.log(rate) - LOG_TWO_PI - 1.0 / kappa)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        kappa0, shape0, rate0 = self.parameters(hyper)
        kappa, shape, _, rate = self._posterior(statistics, hyper)
        value = (
            gammaln(shape)
            - gammaln(shape0)
            + 0.5 * np.log(kappa0 / kappa)
            - 0.5 * statistics[1] * LOG_TWO_PI
        )
        return np.asarray((value + shape0 * np.log(rate0) - shape * np.log(rate)).sum(axis=1))

    def _posterior(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """kappa_n, a_n, m_n and b_n, all (K, d)."""
        kappa0, shape0, rate0 = self.parameters(hyper)
        _, seen, total, square = (np.asarray(part) for part in statistics)
        kappa = kappa0 + seen
        mean = total / kappa
        scatter = np.maximum(square - kappa * mean**2, 0.0)
        return kappa, shape0 + 0.5 * seen, mean, rate0 + 0.5 * scatter
