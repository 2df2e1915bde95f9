"""Count vectors with category probabilities in hand.

theta_k ~ Dirichlet(beta + c_k) with c_k the summed counts; log p(x | theta) = sum_j x_j log
theta_j, without the multinomial coefficients,
and E log theta_j = psi(beta + c_kj) - psi(d beta + sum_j c_kj).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust.models.components.base import Components, Terms
from bayesclust.typing import FloatArray

TINY = float(np.finfo(np.float64).tiny)


class MultinomialComponents(Components):
    """Statistics: weights (K,), summed counts (K, d). Terms: log theta (K, d)."""

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        return weight.sum(axis=0), weight.T @ rows[0]

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        return rows[0] @ terms[0].T

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        # a normalised gamma of small shape can be zero: its logarithm must stay finite
        gammas = np.maximum(
            rng.standard_gamma(self.parameters(hyper) + np.asarray(statistics[1])), TINY
        )
        return (np.log(gammas) - np.log(gammas.sum(axis=1, keepdims=True)),)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        weights = self.parameters(hyper) + np.asarray(statistics[1])
        return (digamma(weights) - digamma(weights.sum(axis=1, keepdims=True)),)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        beta, total = self.parameters(hyper), np.asarray(statistics[1])
        d = total.shape[1]
        value = gammaln(d * beta) - gammaln(d * beta + total.sum(axis=1))
        return np.asarray(value + (gammaln(beta + total) - gammaln(beta)).sum(axis=1))
