"""Losses that are sums over clusters.

Both losses of Dahl, Johnson and Müller (2022) are one formula with two potentials f,

    L(truth, estimate) = (a sum_S f(|S|) + (2 - a) sum_T f(|T|) - 2 sum_S sum_T f(|S n T|)) /
    scale(n),

where S runs over the clusters of the truth and T over those of the estimate. A new loss of this
form is a new class with its own `potential` and `scale`; the search for the best partition needs
nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import override

import numpy as np

from bayesclust.checks import number_between
from bayesclust.posterior.losses.base import Loss
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["VI", "AdditiveLoss", "Binder"]


@dataclass(frozen=True)
class AdditiveLoss(Loss):
    """A loss between partitions built from a convex potential of cluster sizes.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of separating what belongs together; joining what does not costs 2 - a. The default
        weighs both alike.

    Raises
    ------
    TypeError, ValueError
        If a is not a number, or lies outside (0, 2).
    """

    a: float = 1.0

    def __post_init__(self) -> None:
        number_between(self.a, "a", "(0, 2)")

    @abstractmethod
    def scale(self, n: int) -> float:
        """Return what the sums are divided by for n items."""

    @property
    @override
    def is_metric(self) -> bool:
        return self.a == 1

    @override
    def of_sums(
        self, truth: FloatArray, estimate: FloatArray, both: FloatArray, n: int
    ) -> FloatArray:
        value: FloatArray = (self.a * truth + (2 - self.a) * estimate - 2 * both) / self.scale(n)
        return value


@dataclass(frozen=True)
class VI(AdditiveLoss):
    """Variation of information, in bits, or its weighted form (Dahl, Johnson and Müller 2022).

    f(x) = x log2 x and scale(n) = n: (2 - a) H(truth | estimate) + a H(estimate | truth) with
    entropies to base 2. At a = 1 this is the metric of Meila (2007), between 0 and log2 n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting what belongs together; 2 - a is the price of joining what does not. Below
        1 the estimate has more clusters, above 1 fewer.

    Examples
    --------
    >>> VI().loss([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    >>> VI(a=0.5).loss([0, 0, 1, 1], [0, 0, 0, 0])
    1.5
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x log2 x, with 0 at 0."""
        x = np.asarray(counts, dtype=np.float64)
        value: FloatArray = x * np.log2(np.maximum(x, 1.0))
        return value

    def scale(self, n: int) -> float:
        """Return n."""
        return float(n)


@dataclass(frozen=True)
class Binder(AdditiveLoss):
    """Binder's loss, or its weighted form (Binder 1978; Dahl, Johnson and Müller 2022).

    f(x) = x^2 and scale(n) = n^2: 2 / n^2 times the sum over unordered pairs of a for each pair
    that the estimate separates and the truth joins, and of 2 - a for each that it joins and the
    truth separates. At a = 1 this is (1 - Rand index) (n - 1) / n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting what belongs together; 2 - a is the price of joining what does not. Below
        1 the estimate has more clusters, above 1 fewer. At the optimum of expected loss pairs count
        as joined where their posterior probability of being together exceeds (2 - a) / 2.

    Examples
    --------
    >>> Binder().loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.5
    >>> Binder(a=0.5).loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.75
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x^2."""
        x = np.asarray(counts, dtype=np.float64)
        value: FloatArray = x * x
        return value

    def scale(self, n: int) -> float:
        """Return n^2."""
        return float(n) * n
