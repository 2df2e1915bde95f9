"""Bregman divergences: what an exponential family turns into when its variance goes to zero.

D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, with phi the convex conjugate of the family's
log-partition function (Banerjee et al. 2005). The mean of points minimises the sum of their
divergences to one centre, and D is linear in x but for phi(x):

    D(x, m) = phi(x) - <x, natural(m)> + offset(m),   natural(m) = grad phi(m),
    offset(m) = <m, natural(m)> - phi(m).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.checks import check_items
from bayesclust.typing import FloatArray

SMOOTHING = 0.3
"""Pseudo-count of every count or code, which keeps divergences finite (TVClust Sec. 5.3)."""


class Divergence:
    """A Bregman divergence between points and centres.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import as_divergence
    >>> euclidean = as_divergence("euclidean")
    >>> euclidean.between(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """

    name: str
    counts = False  # whether the data must be counts
    squared = False  # whether D(x, m) = |x - m|^2 without cancellation; natural(m) is then m

    def bind(self, X: Any) -> Divergence:
        """Take from the data what the divergence needs of them, such as units."""
        return self

    def shown(self, centers: FloatArray) -> FloatArray:
        """Centres as users see them, in the units of the data where there are such."""
        return centers

    def n_free(self, points: FloatArray) -> int:
        """Number of free coordinates of a centre; where points do not differ, none is."""
        return max(int((np.ptp(points, axis=0) > 0).sum()), 1)

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        """Check data and make points of them whose mean is the centre of a cluster, (n, d)."""
        raise self._unbound()

    def phi(self, points: FloatArray) -> FloatArray:
        """The convex function of each point, shape (n,)."""
        raise self._unbound()

    def natural(self, centers: FloatArray) -> FloatArray:
        """The gradient of phi at each centre, shape (K, d)."""
        raise self._unbound()

    def _unbound(self) -> TypeError:
        return TypeError(
            f"{type(self).__name__} has no points, phi or natural of its own: write them or, where "
            "it takes its units from the data, use what bind(X) returns."
        )

    def at_gamma(self, points: FloatArray, gamma: float) -> Any:
        """The family with density exp(-gamma D) up to h(x), bound to points, if there is one."""
        return None

    def log_peaks(self, points: FloatArray, gamma: float) -> FloatArray:
        """log of max_m of that density at each point, shape (n,)."""
        return gamma * self.phi(points)

    def offset(self, centers: FloatArray) -> FloatArray:
        """<m, natural(m)> - phi(m) for each centre m, shape (K,)."""
        return np.asarray((centers * self.natural(centers)).sum(axis=-1) - self.phi(centers))

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """The divergence of every point from every centre, shape (n, K)."""
        cross = points @ self.natural(centers).T
        # negative values are rounding
        return np.maximum(self.phi(points)[:, None] - cross + self.offset(centers), 0.0)

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """The divergence of every point from the centre in the same row, shape (n,)."""
        cross = (points * self.natural(centers)).sum(axis=1)
        return np.maximum(self.phi(points) - cross + self.offset(centers), 0.0)


class SmoothedColumns(Divergence):
    """A sum over columns of counts, or of `n_codes` codes that are exclusive, smoothed."""

    n_codes = 0

    def check(self, X: FloatArray) -> None:
        """Refuse cells that are not counts or codes."""
        raise NotImplementedError

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        items = check_items(X, least=least)
        self.check(items)
        return (items + SMOOTHING) / (1.0 + self.n_codes * SMOOTHING)

    def shown(self, centers: FloatArray) -> FloatArray:
        whole = centers * (1.0 + self.n_codes * SMOOTHING)
        return np.maximum(whole - SMOOTHING, 0.0)
