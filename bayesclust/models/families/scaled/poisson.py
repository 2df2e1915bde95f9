"""Columns of counts that weigh gamma each: the family whose limit is the generalised I-divergence.

    lambda_kj ~ Gamma(1, 1 / mean_j),    p(x_ij | lambda_kj) ~ lambda_kj^(gamma x_ij) exp(-gamma lambda_kj)

A Poisson variable of rate gamma lambda at gamma x: the Poisson family on gamma x pseudo-counts,
whole or not, whose base measure has its mean multiplied by gamma. Factorials are continued by Gamma
functions.
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
from bayesclust.models.families.poisson import BoundPoisson, PoissonState
from bayesclust.models.families.scaled.base import Points, ReadPoints, ScaledFamily
from bayesclust.typing import ArrayLike

EXPONENTIAL = HyperPrior("base_shape", 1.0, 0.0)


@dataclass(frozen=True)
class ScaledPoisson(ScaledFamily, BoundPoisson):
    """Gamma-Poisson columns of gamma x pseudo-counts; rates vary around the columns' means exponentially."""

    takes_missing = takes_power = False

    @classmethod
    def at(cls, points: Points, gamma: float, read: ReadPoints) -> ScaledPoisson:
        """Bind to non-negative numbers, shape (n, d), with a positive mean in every column."""
        X = gamma * points
        bound = cls(X, 0.0, (EXPONENTIAL,), np.arange(X.shape[1]), X.mean(axis=0), gamma, read)
        return bound.with_rows(X)

    def log_peaks(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        peaks: NDArray[np.float64] = self.row_constants(rows) + (xlogy(rows, rows) - rows).sum(
            axis=1
        )
        return peaks

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.gamma * self.read(X)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.gamma * self.read(X)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "rate" (gamma lambda_kj); the density of pseudo-counts is given, none can be drawn from it."""
        jnp, numpyro, dist = numpyro_modules()
        shape, inverse_mean = self.parameters(hyper)
        rate = numpyro.sample(
            "rate", dist.Gamma(shape * jnp.ones(len(self.mean)), inverse_mean).to_event(1)
        )
        constants = self.row_constants(self.X)
        return lambda z: dist.Delta(
            self.X, constants + (self.X * jnp.log(rate[z]) - rate[z]).sum(axis=-1), event_dim=1
        )

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> PoissonState:
        """Cluster state with empty slots."""
        # what the family does for small counts asks for whole ones
        return (
            super()
            .new_state(capacity, hyper)
            ._replace(large=np.ones(self.X.shape[1], dtype=np.bool_))
        )
