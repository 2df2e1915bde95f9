"""Bregman divergences: the distances that an exponential family turns into when its variance goes to zero.

D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, with phi the convex conjugate of the family's
log-partition function (Banerjee et al. 2005). Whatever phi, the mean of points minimises the sum of
their divergences to one centre, and D is linear in x but for phi(x):

    D(x, m) = phi(x) - <x, natural(m)> + offset(m),   natural(m) = grad phi(m),   offset(m) = <m, natural(m)> - phi(m).

So a divergence needs phi and its gradient only; passes over items are the same compiled code for
all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn

import numpy as np

from bayesclust.typing import FloatArray


class Divergence(ABC):
    """A Bregman divergence between points and centres."""

    name: str
    takes_missing = False
    """Whether missing cells (NaN) of the data are left out."""
    counts = False
    """Whether the data must be counts."""
    squared = False
    """Whether D(x, m) = |x - m|^2, computed without the cancellation of the general form; natural(m) is then m."""

    def bind(self, X: Any) -> Divergence:
        """Take from the data what the divergence needs of them, such as their units; most need nothing."""
        return self

    def shown(self, centers: FloatArray) -> FloatArray:
        """Return centres as users see them, in the units of the data where there are such."""
        return centers

    def n_free(self, points: FloatArray) -> int:
        """Return the number of free coordinates of a centre."""
        return int(points.shape[1])

    @abstractmethod
    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        """Check data and turn it into points whose mean is the centre of a cluster, shape (n, d)."""

    @abstractmethod
    def phi(self, points: FloatArray) -> FloatArray:
        """Return the convex function of each point, shape (n,)."""

    @abstractmethod
    def natural(self, centers: FloatArray) -> FloatArray:
        """Return the gradient of phi at each centre, shape (K, d)."""

    def offset(self, centers: FloatArray) -> FloatArray:
        """Return <m, natural(m)> - phi(m) for each centre m, shape (K,)."""
        offset: FloatArray = (centers * self.natural(centers)).sum(axis=-1) - self.phi(centers)
        return offset

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the divergence of every point from every centre, shape (n, K)."""
        cross = points @ self.natural(centers).T
        # what is negative is rounding
        return np.maximum(self.phi(points)[:, None] - cross + self.offset(centers), 0.0)

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the divergence of every point from the centre in the same row, shape (n,)."""
        cross = (points * self.natural(centers)).sum(axis=1)
        return np.maximum(self.phi(points) - cross + self.offset(centers), 0.0)


class Unbound(Divergence):
    """A divergence that takes something from the data, such as their covariance, before `bind` has seen them."""

    @abstractmethod
    def bind(self, X: Any) -> Divergence:
        """Check the data and take from them what is needed."""

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        self._refuse()

    def phi(self, points: FloatArray) -> FloatArray:
        self._refuse()

    def natural(self, centers: FloatArray) -> FloatArray:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} takes its units from the data: use what bind(X) returns."
        )
