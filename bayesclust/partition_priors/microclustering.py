"""Small clusters, as of records that refer to the same person (Betancourt et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust.constraints.entailment import by_first
from bayesclust.partition_priors.base import REMEMBERED, Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray

NEGLIGIBLE = 1e-18
"""Share of the likeliest size below which the largest sizes are left out of the recursion."""


@dataclass(frozen=True)
class Microclustering(PartitionPrior):
    """Clusters that stay small however many items there are: entity resolution, deduplication.

    Sizes are drawn one after another from a distribution mu on 1, 2, ... until they add up to n
    exactly, and items are dealt out at random: an exchangeable sequence of clusters. With u(n), the
    probability that a sum hits n,

        W(m) = m! mu(m),   V(n, K) = K! / (n! u(n)),   u(n) = sum_m mu(m) u(n - m),   u(0) = 1.

    mu is the negative binomial distribution without 0, mu(m) ~ Gamma(m + r) / m! p^m, so that an
    item can always be alone, as samplers that move items one by one require.

    Parameters
    ----------
    size_shape : float or (shape, rate), default (1.0, 1.0)
        r > 0, or its Gamma prior; 1 is the geometric distribution.
    size_growth : float or (a, b), default (2.0, 2.0)
        p in (0, 1), or its Beta prior: large values for larger clusters, of (r p) / (1 - p) items
        on average but for those that are left out.

    Notes
    -----
    Partitions of n items do not follow from those of n + 1, as they do under other priors: a
    prediction is of the last of n + 1 items.

    References
    ----------
    Betancourt, Zanella, Steorts: Random Partition Models for Microclustering Tasks. JASA 117, 2022,
    Sec. 3.1 and Eq. 3.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import Microclustering
    >>> prior = Microclustering(1.0, 0.5)  # sizes 1, 2, 3 have probability 1/2, 1/4, 1/8
    >>> round(float(np.exp(prior.log_prob(np.array([1, 1]), prior.initial()))), 6)
    0.5
    >>> bool(prior.simulate(1000, 5).max(axis=1).min() > 100)
    True
    """

    size_shape: Any = (1.0, 1.0)
    size_growth: Any = (2.0, 2.0)

    restricts: ClassVar[bool] = False

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {
            "size_shape": Parameter.parse(self.size_shape, "size_shape"),
            "size_growth": Parameter.parse(self.size_growth, "size_growth", unit=True),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size_growth == 0:
            raise ValueError(
                "size_growth=0 leaves every item alone: give a number in (0, 1) or a pair (a, b)."
            )

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        return gammaln(sizes + 1.0) + _log_mu(sizes, *_shape_growth(values))

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        n = np.asarray(n)
        log_u = _log_hits(int(n.max()), *_shape_growth(values))
        return gammaln(np.add(number, 1.0)) - gammaln(n + 1.0) - log_u[n]

    def sample(self, n: int, values: Values, rng: Generator, number: int | None = None) -> IntArray:
        """Labels (n,) by sizes drawn in turn given that they hit n, or (number, n) of several."""
        log_u = _log_hits(n, *_shape_growth(values))
        log_mu = _log_mu(np.arange(1, n + 1), *_shape_growth(values))
        labels = np.empty((number or 1, n), np.int64)
        for row in labels:
            sizes: list[int] = []
            left = n
            while left:
                share = np.exp(log_mu[:left] + log_u[left - 1 :: -1] - log_u[left])
                below = share.cumsum()
                sizes.append(int((below < rng.random() * below[-1]).sum()) + 1)
                left -= sizes[-1]
            dealt = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
            row[:] = by_first(dealt)[1]
        return labels[0] if number is None else labels


def _shape_growth(values: Values) -> tuple[float, float]:
    return values["size_shape"], values["size_growth"]


def _log_mu(sizes: IntArray, r: float, p: float) -> FloatArray:
    """log mu of sizes of at least 1: those of a negative binomial distribution, 0 left out."""
    some = math.log(-math.expm1(r * math.log1p(-p)))
    value = gammaln(sizes + r) - math.lgamma(r) - gammaln(sizes + 1.0)
    return np.asarray(value + sizes * math.log(p) + r * math.log1p(-p) - some)


@lru_cache(maxsize=REMEMBERED)
def _log_hits(n: int, r: float, p: float) -> FloatArray:
    """log u(0..n); mu is taken relative to its largest value, so that nothing underflows."""
    # imported here: it takes a tenth of a second, and few need it
    from scipy.signal import lfilter

    log_mu = _log_mu(np.arange(1, n + 1), r, p)
    largest = float(log_mu.max())
    mu = np.exp(log_mu - largest)
    most = int(np.flatnonzero(mu > NEGLIGIBLE)[-1]) + 1
    once = np.zeros(n)
    once[0] = 1.0
    hits = lfilter(mu[:most], np.append(1.0, -math.exp(largest) * mu[:most]), once)
    with np.errstate(divide="ignore"):
        return np.append(0.0, largest + np.log(hits))
