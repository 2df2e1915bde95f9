"""Poisson columns with their rates in hand; the notation is that of `families.poisson`.

lambda_kj ~ Gamma(a_n, b_n) for each cluster and column; log p(x | lambda) = sum_j x_j log
lambda_j - lambda_j over the cells seen, without the factorials; E lambda = a_n / b_n and E log
lambda = psi(a_n) - log b_n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust.models.components.base import Components, Terms, log_gammas
from bayesclust.typing import FloatArray


class PoissonComponents(Components):
    """Rows: the counts (n, d) with 0 for missing ones, and which are seen (n, d).

    Statistics: weights (K,), weights by column and summed counts (K, d). Terms: log lambda and
    lambda (K, d).
    """

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        X, seen = rows
        return weight.sum(axis=0), weight.T @ seen, weight.T @ X

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        X, seen = rows
        log_rate, rate = terms
        return X @ log_rate.T - seen @ rate.T

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        shape, rate = self._posterior(statistics, hyper)
        log_rate = log_gammas(shape, rng) - np.log(rate)
        return log_rate, np.exp(log_rate)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        shape, rate = self._posterior(statistics, hyper)
        return digamma(shape) - np.log(rate), shape / rate

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        shape0, rate0 = self.parameters(hyper)
        shape, rate = self._posterior(statistics, hyper)
        value = gammaln(shape) - gammaln(shape0) + shape0 * np.log(rate0) - shape * np.log(rate)
        return np.asarray(value.sum(axis=1))

    def _posterior(self, statistics: Terms, hyper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(a_n, b_n), both (K, d)."""
        shape0, rate0 = self.parameters(hyper)
        _, seen, total = (np.asarray(part) for part in statistics)
        return shape0 + total, rate0 + seen
