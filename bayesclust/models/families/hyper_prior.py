"""Priors of the hyper-parameters of a base measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri


@dataclass(frozen=True)
class HyperPrior:
    """Log-normal prior of one positive hyper-parameter, cut off below, or a fixed value where ``log_sd`` is 0.

    Parameters
    ----------
    name : str
        The variable's name in the posterior.
    median : float
        Median before the cut, or the fixed value.
    log_sd : float
        Standard deviation of the logarithm before the cut.
    least : float, default 0
        Smallest value possible.

    Raises
    ------
    ValueError
        If the median is not positive and finite, `log_sd` or `least` is negative or infinite, or
        the cut leaves next to nothing of the prior.
    """

    name: str
    median: float
    log_sd: float
    least: float = 0.0

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("median", self.median, 0 < self.median < np.inf),
            ("log_sd", self.log_sd, 0 <= self.log_sd < np.inf),
            ("least", self.least, 0 <= self.least < np.inf),
        ):
            if not allowed:
                least = "positive" if what == "median" else "not negative"
                raise ValueError(
                    f"{what}={value!r} of the prior of {self.name} is not a finite number that is {least}."
                )
        if self.log_sd > 0 and self._cut > 0.999:
            raise ValueError(
                f"least={self.least!r} cuts off nearly all of the prior of {self.name} with median {self.median!r}: "
                "lower it or raise the median."
            )

    @property
    def _cut(self) -> float:
        """Probability that the cut takes away."""
        return (
            float(ndtr(np.log(self.least / self.median) / self.log_sd)) if self.least > 0 else 0.0
        )

    def log_prob(self, value: float) -> float:
        """Log density of the parameter's logarithm; 0 where it is fixed, -inf below ``least``."""
        if self.log_sd == 0:
            return 0.0
        if not self.least <= value < np.inf or value == 0:
            return -np.inf
        # of single numbers, for which NumPy's functions take several times as long
        standard = math.log(value / self.median) / self.log_sd
        return (
            -0.5 * standard**2
            - math.log(self.log_sd)
            - 0.5 * math.log(2 * math.pi)
            - math.log1p(-self._cut)
        )

    def sample(self, rng: Generator) -> float:
        """One draw."""
        if self.log_sd == 0:
            return self.median
        uniform = self._cut + (1.0 - self._cut) * rng.random()
        return float(self.median * np.exp(self.log_sd * ndtri(uniform)))


__all__ = ["HyperPrior"]
