"""The prior over partitions: Chinese restaurant process, and its concentration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayesclust.checks import plain_array, shown

FEW = 32
"""Clusters up to which their factorials are faster one by one than as an array."""


def crp_log_prob(
    sizes: NDArray[np.integer], concentration: float, log_concentration: float | None = None
) -> float:
    """log p(partition) under the Chinese restaurant process.

    p(z) = alpha^K Gamma(alpha) / Gamma(alpha + n) prod_k Gamma(n_k)   (TVClust Eq. 2, multiplied out)

    Parameters
    ----------
    sizes : ndarray of shape (K,)
        Cluster sizes.
    concentration : float
        alpha > 0.
    log_concentration : float or None, default None
        log alpha, where alpha is too small or too large for a float; `concentration` is not read
        then. It takes O(n).

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.priors import crp_log_prob
    >>> round(float(np.exp(crp_log_prob(np.array([2]), 1.0)) + np.exp(crp_log_prob(np.array([1, 1]), 1.0))), 12)
    1.0
    """
    n, alpha = sizes.sum(), concentration
    if log_concentration is not None:
        # alpha^K Gamma(alpha) / Gamma(alpha + n) = alpha^(K - 1) / prod_{0 < j < n} (alpha + j)
        rising = np.logaddexp(log_concentration, np.log(np.arange(1, n))).sum()
        return float((len(sizes) - 1) * log_concentration - rising + gammaln(sizes).sum())
    few = sizes.tolist() if len(sizes) <= FEW else [0]
    factorials = (
        gammaln(sizes).sum() if 0 in few else sum(map(math.lgamma, few))
    )  # of few numbers, one by one
    return float(len(sizes) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + n) + factorials)


@dataclass(frozen=True)
class Concentration:
    """Gamma(shape, rate) prior of the concentration alpha, or a fixed value.

    Parameters
    ----------
    shape, rate : float, default 1
        The prior has mean shape / rate.
    fixed : float or None, default None
        Hold alpha at this value.
    log_fixed : float or None, default None
        The logarithm of `fixed`, where a float is too coarse for alpha itself; `from_log` sets
        both.
    """

    shape: float = 1.0
    rate: float = 1.0
    fixed: float | None = None
    log_fixed: float | None = None

    @classmethod
    def from_log(cls, log_alpha: float) -> Concentration:
        """Hold alpha at exp(log_alpha), however small or large: `fixed` is the nearest float that is positive and finite.

        Examples
        --------
        >>> Concentration.from_log(-1e6).log(alpha=5e-324)
        -1000000.0
        """
        least, most = np.log(np.nextafter(0.0, 1.0)), np.log(np.finfo(np.float64).max)
        return cls(fixed=float(np.exp(np.clip(log_alpha, least, most))), log_fixed=float(log_alpha))

    def log(self, alpha: float) -> float:
        """log alpha, for the alpha of a state under this prior."""
        return float(np.log(alpha)) if self.log_fixed is None else self.log_fixed

    def log_prob(self, sizes: NDArray[np.integer], alpha: float) -> float:
        """log p(partition | alpha), for the alpha of a state under this prior."""
        return crp_log_prob(sizes, alpha, self.log_fixed)

    def log_marginal(self, sizes: NDArray[np.integer]) -> float:
        """log p(partition), the concentration integrated out under its prior; exact to about 12 digits.

        In t = log alpha the integrand is log-concave, and falls at least exponentially at both
        ends, where the trapezoidal rule converges faster than any power of the step.
        """
        if self.fixed is not None:
            return self.log_prob(sizes, self.fixed)
        a, b, n, number = self.shape, self.rate, sizes.sum(), len(sizes)

        def log_integrand(t: NDArray[np.float64]) -> NDArray[np.float64]:
            alpha = np.exp(t)
            value: NDArray[np.float64] = (
                (a + number - 1.0) * t + gammaln(1.0 + alpha) - gammaln(alpha + n) - b * alpha
            )
            return value

        # far below the mode it goes as exp((a + K - 1) t), and far above as exp(-b alpha)
        lowest = min(np.log(a / b), 0.0) - 5.0 - 60.0 / min(a, 1.0)
        coarse = np.linspace(lowest, np.log(60.0 + 2.0 * (a + n)) - np.log(min(b, 1.0)), 4000)
        rough = log_integrand(coarse)
        near = np.flatnonzero(rough > rough.max() - 50.0)
        low, high = coarse[max(near[0] - 1, 0)], coarse[min(near[-1] + 1, len(coarse) - 1)]
        t = np.linspace(low, high, max(1000, int(50.0 * (high - low))))
        total = logsumexp(log_integrand(t)) + np.log(t[1] - t[0])
        return float(total + a * np.log(b) - gammaln(a) + gammaln(sizes).sum())

    @classmethod
    def parse(
        cls, value: float | tuple[float, float] | Concentration, name: str = "concentration"
    ) -> Concentration:
        """A fixed value from a number, a Gamma prior from a pair.

        Raises
        ------
        ValueError
            If a number is not positive and finite.
        """
        if isinstance(value, Concentration):
            return value
        numbers = plain_array(value, name)
        real = numbers.dtype.kind in "iuf" and numbers.shape in ((), (2,))
        if not (real and np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError(
                f"{name}={shown(value)} is neither a positive number nor a pair (shape, rate) of positive numbers; "
                "give one of these."
            )
        if numbers.ndim == 0:
            return cls(fixed=float(numbers))
        return cls(float(numbers[0]), float(numbers[1]))

    def initial(self) -> float:
        """The prior mean, or the fixed value."""
        return self.shape / self.rate if self.fixed is None else self.fixed

    def log_prior(self, alpha: float) -> float:
        """Log density of alpha; 0 where it is fixed."""
        if self.fixed is not None:
            return 0.0
        a, b = self.shape, self.rate
        return float(a * math.log(b) - gammaln(a) + (a - 1) * math.log(alpha) - b * alpha)

    def sample_prior(self, rng: Generator) -> float:
        """One draw from the prior."""
        return self.fixed if self.fixed is not None else float(rng.gamma(self.shape) / self.rate)

    def update(self, alpha: float, n_clusters: int, n_items: int, rng: Generator) -> float:
        """Draw alpha given the number of clusters, by the auxiliary variable of Escobar and West (1995, Sec. 6).

        eta | alpha ~ Beta(alpha + 1, n), then alpha is a mixture of Gamma(a + K, b - log eta) and
        Gamma(a + K - 1, b - log eta) with odds (a + K - 1) : n (b - log eta).
        """
        if self.fixed is not None:
            return self.fixed
        log_eta = np.log(rng.beta(alpha + 1.0, n_items))
        rate = self.rate - log_eta
        odds = (self.shape + n_clusters - 1.0) / (n_items * rate)
        shape = self.shape + n_clusters - (0.0 if rng.random() < odds / (1.0 + odds) else 1.0)
        return max(float(rng.gamma(shape) / rate), 1e-12)
