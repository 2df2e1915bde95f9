"""What a family offers to samplers and bounds that hold the cluster parameters instead of integrating them out.

Every family here is an exponential family with a conjugate prior (TVClust Eq. 3, 4 and 7),

    log p(x | theta) = <T(x), eta(theta)> - A(eta(theta)) + log h(x),

so the data enter by sums of T(x), and a drawn parameter and the expectation over its posterior can
both be written as the same kind of *terms*: arrays, one slice per cluster, that `log_density` puts
together with the items. Functions that touch the items take the array module (numpy or jax.numpy)
as `xp`, and so run on shards of the data; what is as small as the parameters stays in NumPy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.typing import FloatArray, IntArray

Terms = tuple[Any, ...]
SMALL = 1 << 13
"""Numbers in a product of all items with all clusters, up to which one call is cheaper than one per cluster."""


@dataclass(frozen=True)
class Components(ABC):
    """K clusters whose parameters are in hand.

    Parameters
    ----------
    rows : tuple of ndarray
        The data, items on the first axis of each.
    parameters : callable
        Base-measure parameters from the vector of hyper-parameters.
    """

    rows: tuple[FloatArray, ...]
    parameters: Callable[[FloatArray], Any]

    @abstractmethod
    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        """Sums of T(x) over the items, weighted by `weight` (n, K); arrays (K, ...), the first of them the total weights."""

    @abstractmethod
    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        """Return log p(x_i | theta_k), or its expectation if the terms are expected ones: (n, K)."""

    @abstractmethod
    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        """Terms of parameters drawn from their posteriors given the statistics; from the prior where there are no items."""

    @abstractmethod
    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        """Terms that make `log_density` the expectation of log p(x | theta_k) over the posterior of theta_k."""

    @abstractmethod
    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """Return log of the integral over theta_k of prod_i p(x_i | theta_k)^weight_ik, shape (K,).

        For weights of 0 and 1 it is the log marginal likelihood of a cluster. For responsibilities,
        their sum over k is what the data contribute to the variational bound when q(theta) is at
        its optimum.
        """

    def log_total(self, statistics: Terms, hyper: FloatArray) -> float:
        """Return log p(X | partition): the sum of `log_marginal`, with what clusters share integrated out."""
        return float(self.log_marginal(statistics, hyper).sum())

    def draw_shared(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> FloatArray:
        """Return the hyper-parameters with what clusters share, if anything, drawn anew given the clusters."""
        return hyper

    def likeliest_shared(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """Return the same with its most probable value, by the density of `BoundFamily.log_shared_prior`."""
        return hyper


@dataclass(frozen=True)
class CoarsenedComponents(Components):
    """Components whose items all weigh less than one: p(x | theta)^power in the place of p(x | theta)."""

    inner: Components
    power: float

    @classmethod
    def of(cls, inner: Components, power: float) -> CoarsenedComponents:
        """Give the items of other components a weight in (0, 1)."""
        return cls(inner.rows, inner.parameters, inner, power)

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        return self.inner.statistics(xp, rows, weight)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        return self.power * self.inner.log_density(xp, rows, terms)

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        return self.inner.draw(self._weighed(statistics), hyper, rng)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        return self.inner.expected(self._weighed(statistics), hyper)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        return self.inner.log_marginal(self._weighed(statistics), hyper)

    def log_total(self, statistics: Terms, hyper: FloatArray) -> float:
        return self.inner.log_total(self._weighed(statistics), hyper)

    def draw_shared(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> FloatArray:
        return self.inner.draw_shared(self._weighed(statistics), hyper, rng)

    def likeliest_shared(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        return self.inner.likeliest_shared(self._weighed(statistics), hyper)

    def _weighed(self, statistics: Terms) -> Terms:
        return tuple(self.power * part for part in statistics)


def cells_and_seen(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows of a family that leaves missing cells out.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN.

    Returns
    -------
    cells : ndarray of shape (n, d)
        With 0 for missing ones.
    seen : ndarray of shape (n, d)
        1 where there is a value, else 0.
    """
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0), seen.astype(np.float64)


def log_gammas(shape: FloatArray, rng: Generator) -> FloatArray:
    """Draw logarithms of gamma variables, as Gamma(a) = Gamma(a + 1) U^(1/a): a small shape does not underflow to zero.

    Parameters
    ----------
    shape : ndarray
    rng : Generator

    Returns
    -------
    ndarray
        Of the form of `shape`; rate 1.
    """
    return np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape


def hard_statistics(components: Components, z: IntArray, number: int) -> Terms:
    """Statistics of the clusters of a partition.

    Parameters
    ----------
    components : Components
    z : ndarray of shape (n,)
        Labels 0..number-1; clusters may be empty.
    number : int

    Returns
    -------
    tuple of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import SphericalGaussian
    >>> components = SphericalGaussian().bind(np.arange(6.0).reshape(3, 2)).components()
    >>> hard_statistics(components, np.array([0, 2, 0]), 3)[0]
    array([2., 0., 1.])
    """
    if number * sum(row.size for row in components.rows) <= SMALL:
        return components.statistics(
            np, components.rows, (z[:, None] == np.arange(number)).astype(np.float64)
        )
    order = np.argsort(z, kind="stable")
    bounds = np.searchsorted(z[order], np.arange(number + 1))
    parts = []
    for k in range(number):
        items = order[bounds[k] : bounds[k + 1]]
        parts.append(
            components.statistics(
                np, tuple(row[items] for row in components.rows), np.ones((len(items), 1))
            )
        )
    return tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))


__all__ = ["Components", "Terms", "cells_and_seen", "hard_statistics", "log_gammas"]
