"""Columns of codes with their probabilities in hand; the notation is that of `families.coded`.

theta_kj ~ Dirichlet(beta_j + c_kj) for each cluster and column; log p(x | theta) = sum_j log
theta_kj,x_j over the cells seen, and E log theta_kjl = psi(beta_jl + c_kjl) - psi(B_j + s_kj).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust.models.components.base import Components, Terms, log_gammas
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class CodedComponents(Components):
    """Rows: which of the F codes of all columns an item shows (n, F). Statistics: weights (K,), shown (K, F).

    Terms: log theta (K, F).

    Parameters
    ----------
    first : ndarray of shape (d + 1,)
        Where each column's codes begin, and F.
    """

    first: IntArray

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        return weight.sum(axis=0), weight.T @ rows[0]

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        return rows[0] @ terms[0].T

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        weights = self.parameters(hyper) + np.asarray(statistics[1])
        logs = log_gammas(weights, rng)
        return (logs - self._spread(np.logaddexp.reduceat(logs, self.first[:-1], axis=1)),)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        weights = self.parameters(hyper) + np.asarray(statistics[1])
        return (digamma(weights) - self._spread(digamma(self._columns(weights))),)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        beta, total = self.parameters(hyper)[None, :], np.asarray(statistics[1])
        codes = (gammaln(beta + total) - gammaln(beta)).sum(axis=1)
        columns = gammaln(self._columns(beta)) - gammaln(self._columns(beta + total))
        return np.asarray(codes + columns.sum(axis=1))

    def _columns(self, values: FloatArray) -> FloatArray:
        """Sums over the codes of each column: (K, F) to (K, d)."""
        return np.add.reduceat(values, self.first[:-1], axis=1)

    def _spread(self, values: FloatArray) -> FloatArray:
        """A column's value for each of its codes: (K, d) to (K, F)."""
        return np.repeat(values, np.diff(self.first), axis=1)
