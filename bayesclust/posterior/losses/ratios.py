"""Losses that are ratios: corrected for chance, or for how much there is to know.

With the sums A, B and C of `bayesclust.posterior.losses.base` each of them is

    L(truth, estimate) = (M - C) / D,

M being the mean or the larger one of A and B, and D a polynomial of A, B and C. What a class adds
to `potential` is the coefficients of both, from which the search for the best partition takes its
steps.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, override

import numpy as np

from bayesclust.posterior.losses.additive import VI
from bayesclust.posterior.losses.base import Loss
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["ID", "NID", "NVI", "OneMinusARI", "RatioForm", "RatioLoss"]


class RatioForm(NamedTuple):
    """Coefficients of M = larger max(A, B) + (1 - larger) (A + B) / 2 and of the denominator D.

    D = constant + average (A + B) / 2 + product A B + smaller min(A, B) + shared C.
    """

    larger: float = 0.0
    constant: float = 0.0
    average: float = 0.0
    product: float = 0.0
    smaller: float = 0.0
    shared: float = 0.0


class RatioLoss(Loss):
    """A loss (M - C) / D; where both are 0, as of two partitions that leave no choice, it is 0."""

    @abstractmethod
    def form(self, n: int) -> RatioForm:
        """Return the coefficients for n items."""

    @override
    def of_sums(
        self, truth: FloatArray, estimate: FloatArray, both: FloatArray, n: int
    ) -> FloatArray:
        larger, constant, average, product, smaller, shared = self.form(n)
        mean, most, least = (
            (truth + estimate) / 2,
            np.maximum(truth, estimate),
            np.minimum(truth, estimate),
        )
        above = larger * most + (1 - larger) * mean - both
        below = (
            constant + average * mean + product * truth * estimate + smaller * least + shared * both
        )
        # equal partitions have equal sums, but for rounding
        distinct = above > 1e-12 * (truth + estimate + 1)
        value: FloatArray = np.where(distinct, above / np.where(distinct, below, 1.0), 0.0)
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class OneMinusARI(RatioLoss):
    """One minus the Rand index adjusted for chance (Hubert and Arabie 1985); Fritsch and Ickstadt (2009) maximise its mean.

    f(x) = x (x - 1) / 2, the pairs in a cluster: ((A + B) / 2 - C) / ((A + B) / 2 - A B / N) with
    N = f(n). It is 0 for equal partitions, about 1 for independent ones and above 1 for less
    agreement than by chance. No metric.

    Examples
    --------
    >>> OneMinusARI().loss([0, 0, 1, 1], [0, 0, 1, 2])
    0.429
    """

    is_metric = False

    @override
    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x (x - 1) / 2."""
        x = np.asarray(counts, dtype=np.float64)
        value: FloatArray = x * (x - 1) / 2
        return value

    @override
    def form(self, n: int) -> RatioForm:
        return RatioForm(average=1.0, product=-2.0 / max(n * (n - 1), 1))


class _Entropic(RatioLoss):
    """Ratios of entropies: f(x) = x log2 x, so that n H = f(n) - A of the truth, and so on."""

    is_metric = True

    @override
    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x log2 x, with 0 at 0."""
        return VI().potential(counts)

    def _all(self, n: int) -> float:
        return float(self.potential(n))


class NVI(_Entropic):
    """Normalised variation of information: VI over the joint entropy, 1 - I / H(truth, estimate), from 0 to 1.

    A metric (Vinh, Epps and Bailey 2010, Theorem 1, after Kraskov et al. 2005).

    Examples
    --------
    >>> NVI().loss([0, 0, 1, 1], [0, 1, 0, 1])
    1.0
    >>> NVI().loss([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """

    @override
    def form(self, n: int) -> RatioForm:
        return RatioForm(constant=self._all(n) / 2, shared=-0.5)


class ID(_Entropic):
    """Information distance, in bits: the larger entropy less the mutual information, max(H(truth), H(estimate)) - I.

    A metric (Vinh, Epps and Bailey 2010), at least half of VI and at most all of it.

    Examples
    --------
    >>> ID().loss([0, 0, 1, 1], [0, 1, 0, 1])
    1.0
    """

    @override
    def form(self, n: int) -> RatioForm:
        return RatioForm(larger=1.0, constant=float(n))


class NID(_Entropic):
    """Normalised information distance: 1 - I / max(H(truth), H(estimate)), from 0 to 1.

    A metric (Vinh, Epps and Bailey 2010, Theorem 2), and the normalisation that they recommend.

    Examples
    --------
    >>> NID().loss([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """

    @override
    def form(self, n: int) -> RatioForm:
        return RatioForm(larger=1.0, constant=self._all(n), smaller=-1.0)
