"""Distributions that weigh gamma each: the family whose limit is Kullback and Leibler's divergence.

    theta_k ~ Dirichlet(1, ..., 1),
    p(x_i | theta_k) ~ prod_j theta_kj^(gamma x_ij) = exp(-gamma (KL(x_i, theta_k) + H(x_i)))

with x_i a distribution and H its entropy: the multinomial family on gamma x pseudo-counts, whole or not. Multinomial
coefficients are continued to them by Gamma functions; they do not depend on the partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.families.base import HyperPrior
from bayesclust.models.families.multinomial import BoundMultinomial, log_coefficients
from bayesclust.models.families.scaled.base import Points, ReadPoints, ScaledFamily
from bayesclust.typing import ArrayLike

UNIFORM = HyperPrior("base_concentration", 1.0, 0.0)


@dataclass(frozen=True)
class ScaledMultinomial(ScaledFamily, BoundMultinomial):
    """Dirichlet-multinomial clusters of gamma x pseudo-counts; the base measure is uniform on the distributions."""

    @classmethod
    def at(cls, points: Points, gamma: float, read: ReadPoints) -> ScaledMultinomial:
        """Bind to distributions, shape (n, d)."""
        pseudo_counts = gamma * points
        return cls(pseudo_counts, float(log_coefficients(pseudo_counts).sum()), (UNIFORM,), gamma, read)

    def log_peaks(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        peaks: NDArray[np.float64] = log_coefficients(rows) + xlogy(rows, rows / self.gamma).sum(axis=1)
        return peaks

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.gamma * self.read(X)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.gamma * self.read(X)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "probability" (theta_k); its density of pseudo-counts can be evaluated, but not drawn from."""
        jnp, numpyro, dist = numpyro_modules()
        probability = numpyro.sample("probability", dist.Dirichlet(hyper[0] * jnp.ones(self.X.shape[1])))
        # validation would ask for whole counts
        return lambda z: dist.MultinomialProbs(probability[z], total_count=self.X.sum(axis=1), validate_args=False)
