"""Mixtures of finitely many components: unknown (Miller and Harrison 2018) or known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp

from bayesclust.checks import check_choice, check_int, number_between, shown
from bayesclust.partition_priors.base import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray

NEGLIGIBLE, MOST_TERMS = -45.0, 1 << 20
"""Log of the last term of a series relative to the largest, and where a series is given up."""


def _log_share(t: Any, n: Any, number: Any, gamma: float) -> Any:
    """log of t! / (t - K)! Gamma(gamma t) / Gamma(gamma t + n), -inf where K > t."""
    over = np.maximum(np.subtract(t, number), 0)
    ways = gammaln(np.add(t, 1.0)) - gammaln(over + 1.0)
    value = ways + gammaln(gamma * t) - gammaln(np.add(gamma * t, n))
    return np.where(np.less(t, number), -np.inf, value)


class _Finite(PartitionPrior):
    """Symmetric Dirichlet(gamma) weights: W(m) = Gamma(m + gamma) / Gamma(gamma)."""

    w_parameters: ClassVar[tuple[str, ...]] = ("gamma",)
    gamma: Any

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {"gamma": Parameter.parse(self.gamma, "gamma")}

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        return np.asarray(gammaln(sizes + values["gamma"]) - gammaln(values["gamma"]))


@dataclass(frozen=True)
class KnownK(_Finite):
    """A mixture of a known number of components, some of which may stay empty.

    Parameters
    ----------
    n_clusters : int
        Number of components: no partition has more clusters.
    gamma : float or (shape, rate), default 1.0
        Parameter of the weights' Dirichlet distribution, or its Gamma prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import KnownK
    >>> prior = KnownK(2)
    >>> round(float(np.exp(prior.log_prob(np.array([2]), prior.initial()))), 6)
    0.666667
    """

    n_clusters: int
    gamma: Any = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_clusters", check_int(self.n_clusters, "n_clusters"))

    @property
    def most_clusters(self) -> int:  # type: ignore[override]
        """The largest possible number of clusters."""
        return self.n_clusters

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        return _log_share(self.n_clusters, n, number, values["gamma"])

    def stick_parameters(self, values: Values) -> tuple[Any, Any]:
        return -values["gamma"], self.n_clusters * values["gamma"]


@dataclass(frozen=True)
class MixtureOfFiniteMixtures(_Finite):
    """A finite mixture whose number of components is learned, and learned consistently.

    V(n, K) = sum_{t >= K} p(t) t! / (t - K)! Gamma(gamma t) / Gamma(gamma t + n) (Miller and
    Harrison 2018, Theorem 3.1).

    Parameters
    ----------
    gamma : float or (shape, rate), default 1.0
        Parameter of the weights' Dirichlet distribution, or its Gamma prior.
    n_components : ("poisson", mean) or ("geometric", p), default ("poisson", 1.0)
        Distribution of the number of components t: t - 1 is Poisson, or t geometric on 1, 2, ....

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import MixtureOfFiniteMixtures
    >>> prior = MixtureOfFiniteMixtures(n_components=("geometric", 0.5))
    >>> round(float(np.exp(prior.log_prob(np.array([2]), prior.initial()))), 6)
    0.772589
    """

    gamma: Any = 1.0
    n_components: Any = ("poisson", 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = tuple(self.n_components) if np.iterable(self.n_components) else ()
        if len(given) != 2:
            raise ValueError(
                f"n_components={shown(self.n_components)} is not a distribution: pass ('poisson', "
                "mean) or ('geometric', p)."
            )
        kind = check_choice(given[0], "n_components", ("poisson", "geometric"))
        number_between(given[1], "n_components[1]", "(0, 1)" if kind == "geometric" else "(0, inf)")
        object.__setattr__(self, "n_components", given)

    def log_pmf(self, t: Any) -> Any:
        """log p(t), t = 1, 2, ...."""
        kind, value = self.n_components
        if kind == "poisson":
            return (t - 1) * np.log(value) - value - gammaln(t)
        return np.log(value) + (t - 1) * np.log1p(-value)

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        n, number = np.broadcast_arrays(n, number)
        terms, last = 64, np.maximum(number, 1)[..., None]
        while True:
            t = last + np.arange(terms)
            share = _log_share(t, n[..., None], number[..., None], values["gamma"])
            series = self.log_pmf(t) + share
            small = series[..., -1] < series.max(axis=-1) + NEGLIGIBLE
            if (small | np.isneginf(series[..., -1])).all() or terms >= MOST_TERMS:
                return logsumexp(series, axis=-1)
            terms *= 4
