"""Hyper-parameters of a base measure: their priors, and how users give them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri


@dataclass(frozen=True)
class HyperPrior:
    """Log-normal prior of one positive hyper-parameter, cut off below; a fixed value if ``log_sd`` is 0.

    Parameters
    ----------
    name : str
        The variable's name in the posterior.
    median : float
        Median before the cut, or the fixed value.
    log_sd : float
        Standard deviation of the logarithm before the cut.
    lower : float, default 0
        Smallest value possible.

    Raises
    ------
    ValueError
        If the median is not positive and finite, `log_sd` or `lower` is negative or infinite, or
        the cut leaves next to nothing of the prior.

    Examples
    --------
    >>> from bayesclust.families import HyperPrior
    >>> round(HyperPrior("base_scale", median=0.5, log_sd=1.0).log_prob(0.5), 3)
    -0.919
    """

    name: str
    median: float
    log_sd: float
    lower: float = 0.0

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("median", self.median, 0 < self.median < np.inf),
            ("log_sd", self.log_sd, 0 <= self.log_sd < np.inf),
            ("lower", self.lower, 0 <= self.lower < np.inf),
        ):
            if not allowed:
                kind = "positive" if what == "median" else "not negative"
                raise ValueError(
                    f"{what}={value!r} of the prior of {self.name} is not a finite number that is "
                    f"{kind}."
                )
        if self.log_sd > 0 and self._cut > 0.999:
            raise ValueError(
                f"lower={self.lower!r} cuts off nearly all of the prior of {self.name} with median "
                f"{self.median!r}: reduce it or raise the median."
            )

    @property
    def _cut(self) -> float:
        """Probability that the cut takes away."""
        if self.lower == 0:
            return 0.0
        return float(ndtr(np.log(self.lower / self.median) / self.log_sd))

    def log_prob(self, value: float) -> float:
        """Log density of the parameter's logarithm; 0 where it is fixed, -inf below ``lower``."""
        if self.log_sd == 0:
            return 0.0
        if not self.lower <= value < np.inf or value == 0:
            return -np.inf
        # math, since NumPy's functions take several times as long for single numbers
        standard = math.log(value / self.median) / self.log_sd
        norm = math.log(self.log_sd) + 0.5 * math.log(2 * math.pi) + math.log1p(-self._cut)
        return -0.5 * standard**2 - norm

    def sample(self, rng: Generator) -> float:
        """One draw."""
        if self.log_sd == 0:
            return self.median
        uniform = self._cut + (1.0 - self._cut) * rng.random()
        return float(self.median * np.exp(self.log_sd * ndtri(uniform)))


Hyper = float | str | HyperPrior
"""A hyper-parameter as users give it: a fixed value, "learn" or a prior."""


def hyper_prior(value: object, default: HyperPrior) -> HyperPrior:
    """The default prior for "learn", a prior of the user's own, or a fixed value."""
    if isinstance(value, HyperPrior):
        return replace(value, name=default.name)
    short = default.name.removeprefix("base_")
    kinds = "'learn', a positive number or a HyperPrior"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, Real)):
        raise TypeError(f"{short} is a {type(value).__name__}; give {kinds}.")
    if value == "learn":
        return default
    if isinstance(value, str) or not 0 < float(value) < np.inf:
        raise ValueError(
            f"{short}={value!r} is neither 'learn' nor a positive number; give {kinds}."
        )
    return HyperPrior(default.name, float(value), 0.0)


__all__ = ["Hyper", "HyperPrior", "hyper_prior"]
