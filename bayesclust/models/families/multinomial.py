"""Count vectors: multinomial clusters with a Dirichlet base measure.

    theta_k ~ Dirichlet(beta, ..., beta),    x_i | theta_k ~ Multinomial(N_i, theta_k)

With counts c_j summed over a cluster, C = sum_j c_j and B = d beta:

    p(X) = prod_i coefficient(x_i)  Gamma(B) / Gamma(B + C)  prod_j Gamma(beta + c_j) / Gamma(beta)

(the Dirichlet-multinomial ratio). The coefficients do not depend on the partition and are kept out
of the state. Items that weigh less than one have their counts multiplied by the weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.checks import check_items
from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components.base import Components
from bayesclust.models.components.multinomial import MultinomialComponents
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import hyper_prior
from bayesclust.typing import ArrayLike

CONCENTRATION_PRIOR = base.HyperPrior("base_concentration", 1.0, 1.0)


class MultinomialState(NamedTuple):
    """Clusters of count vectors; C slots and the prior slot, d columns. Items are kept by their non-zero columns."""

    X: NDArray[np.float64]  # (n, d)
    start: NDArray[np.int64]  # (n + 1,) where an item's non-zero columns begin
    column: NDArray[np.int64]  # (nnz,)
    size: NDArray[np.float64]  # (n,) N_i
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,) items
    total: NDArray[np.float64]  # (C + 1, d) c_j
    mass: NDArray[np.float64]  # (C + 1,) C
    beta: NDArray[np.float64]  # (1,)
    powers: NDArray[
        np.float64
    ]  # (2,) weight of an item in a cluster, and of one that the predictive is asked about


@base.implements(base.clear_cluster, MultinomialState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.mass[k] = 0.0


@device(fastmath=FAST, no_refcount=True)
def _shift(state: MultinomialState, i: int, k: int, sign: float) -> None:
    """Put an item's counts into the sums of a cluster, or take them out."""
    weight = sign * state.powers[0]
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        state.total[k, j] += weight * state.X[i, j]
    state.mass[k] += weight * state.size[i]


@base.implements(base.add_item, MultinomialState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, 1.0)
    state.count[k] += 1


@base.implements(base.remove_item, MultinomialState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    _shift(state, i, k, -1.0)
    state.count[k] -= 1


@base.implements(base.log_predictive, MultinomialState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    mass = state.mass[k] + state.beta[0] * state.X.shape[1]
    value = math.lgamma(mass) - math.lgamma(mass + state.powers[1] * state.size[i])
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x, weight = state.powers[1] * state.X[i, j], state.beta[0] + state.total[k, j]
        if x == 1.0:
            value += math.log(weight)
        else:
            value += math.lgamma(weight + x) - math.lgamma(weight)
    return value


@base.implements(base.log_marginal, MultinomialState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    d, beta = state.X.shape[1], state.beta[0]
    value = math.lgamma(d * beta) - math.lgamma(d * beta + state.mass[k])
    for j in range(d):
        if state.total[k, j] > 0:
            value += math.lgamma(beta + state.total[k, j]) - math.lgamma(beta)
    return value


@base.implements(base.log_marginal_union, MultinomialState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, beta = state.X.shape[1], state.beta[0]
    value = math.lgamma(d * beta) - math.lgamma(d * beta + state.mass[a] + state.mass[b])
    for j in range(d):
        total = state.total[a, j] + state.total[b, j]
        if total > 0:
            value += math.lgamma(beta + total) - math.lgamma(beta)
    return value


@base.implements(base.set_items, MultinomialState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.mass[k] = 0.0
    for i in items:
        _shift(state, i, k, 1.0)


@base.implements(base.derive, MultinomialState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    pass


def log_coefficients(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log multinomial coefficient of each row of counts."""
    coefficients: NDArray[np.float64] = gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1)
    return coefficients


@dataclass(frozen=True)
class BoundMultinomial(base.BoundFamily):
    """Dirichlet-multinomial clusters; hyper = (concentration beta of one column,)."""

    takes_power = True

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "probability" (theta_k), by this file's first formulas; here the multinomial coefficients count."""
        jnp, numpyro, dist = numpyro_modules()
        probability = numpyro.sample(
            "probability", dist.Dirichlet(hyper[0] * jnp.ones(self.X.shape[1]))
        )
        size = self.X.sum(axis=1).astype(np.int64)
        most = int(size.max())
        return lambda z: dist.MultinomialProbs(
            probability[z], total_count=size, total_count_max=most
        )

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return check_items(X, counts=True, least=1)

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_coefficients(rows)

    def embedding(self) -> NDArray[np.float64]:
        """Square roots of the shares: Euclidean distance is then Hellinger's."""
        return np.sqrt(self.X / self.X.sum(axis=1, keepdims=True))

    def components(self) -> Components:
        return self.weighed(MultinomialComponents((self.X,), lambda hyper: float(hyper[0])))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> MultinomialState:
        """Cluster state with empty slots."""
        row, column = np.nonzero(self.X)
        start = np.searchsorted(row, np.arange(len(self.X) + 1)).astype(np.int64)
        slots = capacity + 1
        state = MultinomialState(
            self.X,
            start,
            column.astype(np.int64),
            self.X.sum(axis=1),
            np.zeros(slots, np.int64),
            np.zeros((slots, self.X.shape[1])),
            np.zeros(slots),
            np.zeros(1),
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: MultinomialState, hyper: NDArray[np.float64]) -> None:
        """Write the concentration into a state."""
        state.beta[0] = float(hyper[0])

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X) less the multinomial coefficients, by the formula in this file's first lines."""
        beta, d = float(hyper[0]), X.shape[1]
        total = self.power * X.sum(axis=0)
        value = gammaln(d * beta) - gammaln(d * beta + total.sum())
        return float(value + (gammaln(beta + total) - gammaln(beta)).sum())


@dataclass(frozen=True)
class Multinomial(base.Family):
    """Count vectors (words in documents, visual words in images) with a Dirichlet base measure.

    Parameters
    ----------
    concentration : float, HyperPrior or "learn", default "learn"
        beta: prior pseudo-count of every column. It decides how different clusters are expected to
        be, so it is learned (log-normal with median 1, the uniform distribution, and standard
        deviation 1 of the logarithm).

    References
    ----------
    Khashabi et al., Eq. 3, 4, 7 and Sec. 5.4 (count data).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Multinomial
    >>> Multinomial(concentration=0.5).bind(np.array([[1.0, 0.0], [2.0, 3.0]])).initial_hyper()
    array([0.5])
    """

    concentration: float | str | base.HyperPrior = "learn"

    def bind(self, X: NDArray[np.float64]) -> BoundMultinomial:
        """Check that the data are counts.

        Raises
        ------
        ValueError
            If an entry is negative or not a whole number, or an item has no counts at all.
        """
        X = check_items(X, counts=True)
        prior = hyper_prior(self.concentration, CONCENTRATION_PRIOR)
        return BoundMultinomial(X, float(log_coefficients(X).sum()), (prior,))
