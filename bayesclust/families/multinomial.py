"""Count vectors: multinomial clusters with a Dirichlet prior (TVClust Eq. 7 and Sec. 5.4).

    theta_k ~ Dirichlet(beta, ..., beta),    x_i | theta_k ~ Multinomial(N_i, theta_k)

T(x) = x, with N behind it, so that t holds the summed counts c_j. With C = sum_j c_j and B = d beta

    L = Gamma(B) / Gamma(B + C)  prod_j Gamma(beta + c_j) / Gamma(beta),    h(x) = coefficient(x)

(the Dirichlet-multinomial ratio): columns of codes, several in one item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Hyper, hyper_prior
from bayesclust.families.columns import sparse
from bayesclust.families.discrete import CONCENTRATION_PRIOR, BoundDirichlet, DirichletPrior
from bayesclust.families.divergence import SMOOTHING, Divergence
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class MultinomialState(NamedTuple):
    """Clusters of count vectors, items by non-zero columns; C slots and the prior slot."""

    X: FloatArray  # (n, d)
    start: IntArray  # (n + 1,) where an item's non-zero columns begin
    column: IntArray  # (nnz,)
    size: FloatArray  # (n,) N_i
    powers: FloatArray
    prior: DirichletPrior
    count: IntArray  # type: ignore[assignment]
    total: FloatArray  # (C + 1, d + 1) c_j, and their sum C


@base.implements(base.shift, MultinomialState)
def _shift(state, i, k, sign):  # type: ignore[no-untyped-def]
    weight = sign * state.powers[0]
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        state.total[k, j] += weight * state.X[i, j]
    state.total[k, state.X.shape[1]] += weight * state.size[i]


@base.implements(base.log_predictive, MultinomialState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    d, beta = state.X.shape[1], state.prior.beta[0]
    mass = state.total[k, d] + beta * d
    value = math.lgamma(mass) - math.lgamma(mass + state.powers[1] * state.size[i])
    for entry in range(state.start[i], state.start[i + 1]):
        j = state.column[entry]
        x, weight = state.powers[1] * state.X[i, j], beta + state.total[k, j]
        if x == 1.0:
            value += math.log(weight)
        else:
            value += math.lgamma(weight + x) - math.lgamma(weight)
    return value


@base.implements(base.derive, MultinomialState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    pass


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    """D(x, m) = sum_j x_j log(x_j / m_j) between distributions, the limit of multinomial counts."""

    # Rows of counts become distributions (x_j + c) / sum_j (x_j + c), so that items count the same,
    # however many counts they have (TVClust Sec. 5.3, Table 4, has c = 0.3).

    name = "kl"
    counts = True

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        counts = check_items(X, counts=True, least=least) + SMOOTHING
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def n_free(self, points: FloatArray) -> int:
        return max(int(points.shape[1]) - 1, 1)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray((points * np.log(points)).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        # the gradient is 1 + log m; distributions sum to one, so the 1 cancels against the offset
        return np.log(centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> BoundDirichlet:
        return BoundDirichlet.at_gamma(points, gamma, np.full(1, points.shape[1]))


@dataclass(frozen=True)
class BoundMultinomial(BoundDirichlet):
    """Dirichlet-multinomial clusters; hyper = (concentration beta of one column,)."""

    State = MultinomialState

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        dirichlet = dist.Dirichlet(hyper[0] * jnp.ones(self.X.shape[1]))
        probability, size = numpyro.sample("probability", dirichlet), self.X.sum(axis=1)
        size, most = size.astype(np.int64), int(size.max())
        return lambda z: dist.MultinomialProbs(
            probability[z], total_count=size, total_count_max=most
        )

    def transform(self, X: ArrayLike) -> FloatArray:
        return check_items(X, counts=True, least=1)

    def log_base(self, rows: FloatArray) -> FloatArray:
        """Log multinomial coefficients."""
        return np.asarray(gammaln(rows.sum(axis=1) + 1) - gammaln(rows + 1).sum(axis=1))

    def embedding(self) -> FloatArray:
        """Square roots of the shares: Euclidean distance is then Hellinger's."""
        return np.sqrt(self.X / self.X.sum(axis=1, keepdims=True))

    def caches(self, slots: int) -> Mapping[str, Any]:
        total = np.zeros((slots, self.X.shape[1] + 1))
        return {"X": self.X, "size": self.X.sum(axis=1), "total": total} | sparse(self.X > 0)


@dataclass(frozen=True)
class Multinomial(base.Family):
    """Count vectors (words in documents, visual words in images) with a Dirichlet prior.

    Parameters
    ----------
    concentration : float, HyperPrior or "learn", default "learn"
        beta: prior pseudo-count of every column, as in `Categorical`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Multinomial
    >>> Multinomial(concentration=0.5).bind(np.array([[1.0, 0.0], [2.0, 3.0]])).initial_hyper()
    array([0.5])
    """

    concentration: Hyper = "learn"
    divergence = KullbackLeibler

    def bind(self, X: FloatArray) -> BoundMultinomial:
        """Check that the data are counts, some in every row."""
        X = check_items(X, counts=True)
        prior = hyper_prior(self.concentration, CONCENTRATION_PRIOR)
        d = X.shape[1]
        return BoundMultinomial(X, (prior,), np.full(1, d), np.ones(d))
