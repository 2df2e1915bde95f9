"""What the families on the way to the small-variance limit share.

TVClust's Lemma 3 scales an exponential family so that means stay and covariances go as 1 / gamma.
By its Bregman divergence D, the density of an item is then

    p(x | mu) = exp(-gamma D(x, mu)) max_m p(x | m),

and with a conjugate base measure of mu that does not change with gamma the marginal likelihood of a
cluster becomes exp(-gamma sum_i D(x_i, mean)) but for what is small beside the exponent.
Multinomial and Poisson families scale by their data: an item of weight gamma is gamma x
pseudo-counts, which need not be whole, and the conjugate formulas stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.models.families.base import BoundFamily

Points = NDArray[np.float64]
ReadPoints = Callable[[Any], Points]


@dataclass(frozen=True)
class ScaledFamily(BoundFamily, ABC):
    """A family at gamma, bound to points.

    Attributes
    ----------
    gamma : float
        What an item weighs, in units of 1 / D.
    read : callable
        How rows of the user's data become points.
    """

    gamma: float
    read: ReadPoints

    @abstractmethod
    def log_peaks(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log of max_mu p(x | mu) of rows in our coordinates, in the user's units; shape (m,)."""
