"""The Pitman-Yor process: cluster sizes with a power law (Pitman and Yor 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from bayesclust.partition_priors.base import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class PitmanYor(PartitionPrior):
    """Pitman-Yor process, whose number of clusters grows as a power of n, with many small ones.

    W(m) = Gamma(m - s) / Gamma(1 - s), V(n, K) = prod_{0<i<K} (t + i s) Gamma(t + 1) / Gamma(t +
    n); s = 0 is the Dirichlet process.

    Parameters
    ----------
    discount : float or (a, b), default (1.0, 3.0)
        s in [0, 1), or its Beta prior.
    concentration : float or (shape, rate), default (1.0, 1.0)
        t > 0, or its Gamma prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import PitmanYor
    >>> prior = PitmanYor(0.5, 1.0)
    >>> round(float(np.exp(prior.log_prob(np.array([1, 1]), prior.initial()))), 6)
    0.75
    """

    discount: Any = (1.0, 3.0)
    concentration: Any = (1.0, 1.0)

    separable: ClassVar[bool] = True
    w_parameters: ClassVar[tuple[str, ...]] = ("discount",)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {
            "discount": Parameter.parse(self.discount, "discount", unit=True),
            "concentration": Parameter.parse(self.concentration, "concentration"),
        }

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        s = values["discount"]
        return np.asarray(gammaln(sizes - s) - gammaln(1.0 - s))

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        s, t = values["discount"], values["concentration"]
        steps = np.log(t + s * np.arange(max(int(np.max(number)), 1)))
        rising = np.append(0.0, np.cumsum(steps)) - steps[0]
        return rising[number] + gammaln(t + 1.0) - gammaln(np.add(t, n))

    def stick_parameters(self, values: Values) -> tuple[Any, Any]:
        return values["discount"], values["concentration"]
