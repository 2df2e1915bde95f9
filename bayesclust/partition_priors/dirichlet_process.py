"""The Dirichlet process, or Chinese restaurant process, and its concentration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust.partition_priors.base import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray

NAME = "concentration"


@dataclass(frozen=True)
class DirichletProcess(PartitionPrior):
    """Dirichlet process: W(m) = Gamma(m), V(n, K) = alpha^K Gamma(alpha) / Gamma(alpha + n).

    The expected number of clusters grows as alpha log(n) (TVClust Eq. 2).

    Parameters
    ----------
    concentration : float or (shape, rate), default (1.0, 1.0)
        alpha, or its Gamma prior.
    log_fixed : float or None, default None
        Holds log alpha at this value, however small or large; `concentration` is not read then.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import DirichletProcess
    >>> prior = DirichletProcess(2.0)
    >>> round(prior.log_prob(np.array([1, 1]), prior.initial()), 6)  # log(2 / 3)
    -0.405465
    """

    concentration: Any = (1.0, 1.0)
    log_fixed: float | None = None

    separable: ClassVar[bool] = True
    w_parameters: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        Parameter.parse(self.concentration, NAME)
        if not isinstance(self.concentration, float):
            numbers = np.asarray(self.concentration, dtype=np.float64)
            plain = float(numbers) if numbers.ndim == 0 else tuple(numbers.tolist())
            object.__setattr__(self, NAME, plain)

    @classmethod
    def from_log(cls, log_alpha: float) -> DirichletProcess:
        """Hold alpha at exp(log_alpha); the concentration is the nearest positive finite float.

        Examples
        --------
        >>> DirichletProcess.from_log(-1e6).log_fixed
        -1000000.0
        """
        least, most = np.log(np.nextafter(0.0, 1.0)), np.log(np.finfo(np.float64).max)
        return cls(float(np.exp(np.clip(log_alpha, least, most))), float(log_alpha))

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {NAME: Parameter.parse(self.concentration, NAME)}

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        return np.asarray(gammaln(sizes))

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        if self.log_fixed is None:
            alpha = values[NAME]
            return np.multiply(number, np.log(alpha)) + gammaln(alpha) - gammaln(np.add(alpha, n))
        # alpha^K Gamma(alpha) / Gamma(alpha + n) = alpha^(K - 1) / prod_{0 < j < n} (alpha + j)
        steps = np.logaddexp(self.log_fixed, np.log(np.arange(1, max(int(np.max(n)), 1))))
        rising = np.concatenate([np.zeros(2), np.cumsum(steps)])
        return np.subtract(number, 1) * self.log_fixed - rising[n]

    def stick_parameters(self, values: Values) -> tuple[Any, Any]:
        return 0.0, values[NAME]

    def update(
        self, values: Values, groups: Sequence[IntArray], rng: Generator
    ) -> dict[str, float]:
        """Draw alpha given one partition (Escobar and West 1995, Sec. 6) or several.

        One: eta | alpha ~ Beta(alpha + 1, n), then alpha is a mixture of Gamma(a + K, b - log eta)
        and Gamma(a + K - 1, b - log eta) with odds (a + K - 1) : n (b - log eta). Several (Teh et
        al. 2006, Eq. 47 to 49): with w_g ~ Beta(alpha + 1, n_g) and s_g ~ Bernoulli(n_g / (n_g +
        alpha)), alpha ~ Gamma(a + K - sum s, b - sum log w), K being all clusters.
        """
        one, alpha = self.parameters[NAME], values[NAME]
        if one.fixed is not None:
            return dict(values)
        n = np.array([sizes.sum() for sizes in groups])
        number = sum(len(sizes) for sizes in groups)
        if len(groups) == 1:
            rate = one.b - np.log(rng.beta(alpha + 1.0, n[0]))
            odds = (one.a + number - 1.0) / (n[0] * rate)
            shape = one.a + number - (0.0 if rng.random() < odds / (1.0 + odds) else 1.0)
        else:
            rate = one.b - np.log(rng.beta(alpha + 1.0, n)).sum()
            shape = one.a + number - (rng.random(len(n)) * (n + alpha) < n).sum()
        return {NAME: max(float(rng.gamma(shape) / rate), 1e-12)}
