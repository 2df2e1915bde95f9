"""Bregman divergences: the distances that an exponential family turns into when its variance goes to zero.

D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, with phi the convex conjugate of the family's log-partition function
(Banerjee et al. 2005). Whatever phi, the mean of points minimises the sum of their divergences to one centre, and D is
linear in x but for phi(x):

    D(x, m) = phi(x) - <x, natural(m)> + offset(m),   natural(m) = grad phi(m),   offset(m) = <m, natural(m)> - phi(m).

So a divergence needs phi and its gradient only; passes over items are the same compiled code for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import check_choice, check_items, check_positive
from bayesclust.typing import FloatArray


class Divergence(ABC):
    """A Bregman divergence between points and centres."""

    name: str
    squared = False
    """Whether D(x, m) = |x - m|^2, computed without the cancellation of the general form; natural(m) is then m."""

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


@dataclass(frozen=True)
class SquaredEuclidean(Divergence):
    """D(x, m) = |x - m|^2, the limit of spherical Gaussians of variance 1 / (2 gamma).

    Examples
    --------
    >>> SquaredEuclidean().between(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """

    name = "euclidean"
    squared = True

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return check_items(X, least=least)

    def phi(self, points: FloatArray) -> FloatArray:
        squares: FloatArray = np.square(points).sum(axis=-1)
        return squares

    def natural(self, centers: FloatArray) -> FloatArray:
        return centers

    def offset(self, centers: FloatArray) -> FloatArray:
        return np.zeros(len(centers))

    def between(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        columns = [np.square(points - center).sum(axis=1) for center in centers]
        return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))

    def paired(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        return self.phi(points - centers)


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) between distributions, the limit of multinomial counts.

    Rows of counts become distributions (x_j + smoothing) / sum_j (x_j + smoothing). Every item weighs the same, however
    many counts it has, as in TVClust section 5.3 (Table 4).

    Parameters
    ----------
    smoothing : float, default 0.3
        Pseudo-count of every outcome (Laplace smoothing); TVClust uses 0.3. It keeps divergences finite where an
        outcome was never seen.

    Examples
    --------
    >>> kl = KullbackLeibler()
    >>> rows = kl.points([[3, 0], [0, 3]])
    >>> rows.round(3)
    array([[0.917, 0.083],
           [0.083, 0.917]])
    >>> kl.between(rows, rows).round(3)
    array([[0.   , 1.998],
           [1.998, 0.   ]])
    """

    smoothing: float = 0.3
    name = "kl"

    def __post_init__(self) -> None:
        check_positive(self.smoothing, "smoothing")

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        counts = check_items(X, counts=True, least=least) + self.smoothing
        distributions: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return distributions

    def n_free(self, points: FloatArray) -> int:
        return max(int(points.shape[1]) - 1, 1)

    def phi(self, points: FloatArray) -> FloatArray:
        negative_entropy: FloatArray = (points * np.log(points)).sum(axis=-1)
        return negative_entropy

    def natural(self, centers: FloatArray) -> FloatArray:
        # the gradient is 1 + log m; distributions sum to one, so the 1 cancels against the offset
        return np.log(centers)


DIVERGENCES: dict[str, type[Divergence]] = {"euclidean": SquaredEuclidean, "kl": KullbackLeibler}


def as_divergence(divergence: Any) -> Divergence:
    """Return a divergence given by its name or as an object."""
    if isinstance(divergence, Divergence):
        return divergence
    if not isinstance(divergence, str):
        names = " or ".join(f'"{name}"' for name in DIVERGENCES)
        raise TypeError(f"divergence must be {names} or a Divergence; got {type(divergence).__name__}.")
    return DIVERGENCES[check_choice(divergence, "divergence", DIVERGENCES)]()
