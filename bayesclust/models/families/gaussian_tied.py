"""Gaussian clusters that share one covariance, which is learned with the partition: for many columns.

    mu_k | W ~ N(m0, W / kappa0),    W ~ IW(nu0, Psi0), one for all clusters

With n_k items of mean xbar_k and scatter S_k in cluster k, and given W, clusters are independent of
each other:

    kappa_k = kappa0 + n_k,    m_k = (kappa0 m0 + n_k xbar_k) / kappa_k
    p(X_k | W) = (2 pi)^(-n_k d/2) |W|^(-n_k/2) (kappa0 / kappa_k)^(d/2) exp(-tr(W^-1 C_k) / 2)
    C_k     = S_k + kappa0 n_k / kappa_k (xbar_k - m0)(xbar_k - m0)'

and in coordinates in which W is the identity a predictive costs O(d). Given the partition alone, W
has the pooled scatter:

    W | X, z ~ IW(nu_n, Psi_n),    nu_n = nu0 + n,    Psi_n = Psi0 + sum_k C_k
    p(X | z) = pi^(-nd/2) Gamma_d(nu_n/2) / Gamma_d(nu0/2) |Psi0|^(nu0/2) / |Psi_n|^(nu_n/2) prod_k
    (kappa0/kappa_k)^(d/2)

which is what `log_data` computes, and by which W is drawn in every sweep. In a vector of
hyper-parameters W stands behind the three that have priors of their own. Data are centred at m0, so
that m0 = 0 below. With a power, every item weighs so many items
(`families.base.BoundFamily.coarsened`): n_k, n_k xbar_k and S_k are multiplied by it.

Why this and not a low rank plus a diagonal for each cluster: in d columns a covariance has d (d +
1) / 2 numbers. Where n is about 10 d, a cluster of n / K items has not the data to learn its own,
of whatever form: a factor of rank r still takes d (r + 1) numbers from n / K items, r has to be
learned too, and the factors have no conjugate prior, so that they cannot be integrated out where
clusters open and close. All n items together do have the data for one covariance, of any shape, and
it stays conjugate. What is lost are clusters that differ in shape; ``cluster_model="mixture"`` makes them of
components of one shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import multigammaln

from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.components import Components
from bayesclust.models.components.gaussian_tied import TiedComponents, draw_covariance
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import STRENGTH
from bayesclust.models.families.gaussian_full import BoundFullGaussian, FullGaussian


class TiedState(NamedTuple):
    """Clusters with one covariance; C slots and the prior slot, d columns."""

    Y: NDArray[np.float64]  # (n, d), centred at m0, in coordinates in which W is the identity
    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    total: NDArray[np.float64]  # (C + 1, d) sum of y
    square: NDArray[np.float64]  # (C + 1,) sum of |y|^2
    mean: NDArray[np.float64]  # (C + 1, d) m_k
    kappa0: NDArray[np.float64]  # (1,)
    log_root: NDArray[np.float64]  # (1,) -log |W| / 2
    constant: NDArray[np.float64]  # (n + 1,) predictive's normaliser given the cluster's size
    precision: NDArray[np.float64]  # (n + 1,) and its precision, in half
    power: NDArray[np.float64]  # (2,) weight of an item in a cluster, and of one that is judged


@base.implements(base.clear_cluster, TiedState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    state.total[k] = 0.0
    state.square[k] = 0.0
    state.mean[k] = 0.0


@base.implements(base.add_item, TiedState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    share = power / (state.kappa0[0] + power * (state.count[k] + 1))
    square = 0.0
    for j in range(state.Y.shape[1]):
        y = state.Y[i, j]
        state.mean[k, j] += share * (y - state.mean[k, j])
        state.total[k, j] += y
        square += y * y
    state.square[k] += square
    state.count[k] += 1


@base.implements(base.remove_item, TiedState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    share = power / (state.kappa0[0] + power * (state.count[k] - 1))
    square = 0.0
    for j in range(state.Y.shape[1]):
        y = state.Y[i, j]
        state.mean[k, j] -= share * (y - state.mean[k, j])
        state.total[k, j] -= y
        square += y * y
    state.square[k] -= square
    state.count[k] -= 1


@base.implements(base.log_predictive, TiedState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    squared_distance = 0.0
    for j in range(state.Y.shape[1]):
        difference = state.Y[i, j] - state.mean[k, j]
        squared_distance += difference * difference
    n = state.count[k]
    return state.constant[n] - state.precision[n] * squared_distance


@base.implements(base.log_marginal, TiedState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return base.log_marginal_union(state, k, len(state.count) - 1)


@base.implements(base.log_marginal_union, TiedState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, power, kappa0 = state.Y.shape[1], state.power[0], state.kappa0[0]
    n = power * (state.count[a] + state.count[b])
    square = power * (state.square[a] + state.square[b])
    for j in range(d):
        square -= (power * (state.total[a, j] + state.total[b, j])) ** 2 / (kappa0 + n)
    value = n * (state.log_root[0] - 0.5 * d * math.log(2.0 * math.pi)) + 0.5 * d * math.log(
        kappa0 / (kappa0 + n)
    )
    return value - 0.5 * max(square, 0.0)


@base.implements(base.set_items, TiedState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    state.total[k] = 0.0
    state.square[k] = 0.0
    for i in items:
        for j in range(state.Y.shape[1]):
            y = state.Y[i, j]
            state.total[k, j] += y
            state.square[k] += y * y


@base.implements(base.derive, TiedState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    power = state.power[0]
    share = power / (state.kappa0[0] + power * state.count[k])
    for j in range(state.Y.shape[1]):
        state.mean[k, j] = share * state.total[k, j]


@dataclass(frozen=True)
class BoundTiedGaussian(BoundFullGaussian):
    """Clusters of one covariance in standardised columns; hyper = (scale, strength, mean precision, W row by row).

    Slots must be set from their items anew when W changes.
    """

    @property
    def n_shared(self) -> int:
        return int(self.X.shape[1] ** 2)

    def parameters(self, hyper: Any) -> tuple[float, float, NDArray[np.float64]]:
        """(kappa0, nu0, Psi0) in our coordinates, the latter two of W; E[W] = Psi0 / strength."""
        return super().parameters(hyper[:3])

    def covariance(self, hyper: NDArray[np.float64]) -> NDArray[np.float64]:
        """W in our coordinates, (d, d)."""
        d = self.X.shape[1]
        return hyper[3:].reshape(d, d)

    def initial_hyper(self) -> NDArray[np.float64]:
        """Prior medians, and the prior mean of W given them."""
        own = super().initial_hyper()
        return np.append(own, self.parameters(own)[2] / own[1])

    def sample_hyper(self, rng: Generator) -> NDArray[np.float64]:
        own = super().sample_hyper(rng)
        return np.append(own, draw_covariance(*self.parameters(own)[1:], rng))

    def log_shared_prior(self, hyper: NDArray[np.float64]) -> float:
        """Log density of the inverse of W, a Wishart matrix."""
        _, nu0, psi0 = self.parameters(hyper)
        covariance, d = self.covariance(hyper), len(psi0)
        value = 0.5 * nu0 * (np.linalg.slogdet(psi0)[1] - d * math.log(2)) - multigammaln(
            nu0 / 2, d
        )
        value -= 0.5 * (nu0 - d - 1) * np.linalg.slogdet(covariance)[1]
        return float(value - 0.5 * np.trace(np.linalg.solve(covariance, psi0)))

    def shared_sites(self, hyper: list[Any]) -> list[Any]:
        """Site "within_covariance", W in our coordinates, behind the others."""
        _, numpyro, dist = numpyro_modules()
        _, nu0, psi0 = self.parameters(hyper)
        return [
            *hyper,
            numpyro.sample("within_covariance", dist.InverseWishart(nu0, scale_matrix=psi0)),
        ]

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "mean", by this file's first formula; the last of `hyper` is W, a matrix."""
        jnp, numpyro, dist = numpyro_modules()
        lower = jnp.linalg.cholesky(hyper[3])
        mean = numpyro.sample(
            "mean", dist.MultivariateNormal(0.0, scale_tril=lower / jnp.sqrt(hyper[2]))
        )
        centre, lower = self.centre + self.unit * mean, self.unit[:, None] * lower
        return lambda z: dist.MultivariateNormal(centre[z], scale_tril=lower)

    def components(self) -> Components:
        return self.weighed(TiedComponents((self.X,), self.parameters))

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> Any:
        """Cluster state with empty slots."""
        (n, d), slots = self.X.shape, capacity + 1
        total, mean = np.zeros((2, slots, d))
        constant, precision = np.zeros((2, n + 1))
        state = TiedState(
            np.empty((n, d)),
            np.zeros(slots, np.int64),
            total,
            np.zeros(slots),
            mean,
            np.zeros(1),
            np.zeros(1),
            constant,
            precision,
            self.powers,
        )
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: Any, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters, the items in coordinates in which W is the identity, and the predictives' normalisers."""
        (n, d), kappa0 = self.X.shape, hyper[2]
        lower = np.linalg.cholesky(self.covariance(hyper))
        state.Y[:] = self.X @ np.linalg.inv(lower).T
        state.kappa0[0], state.log_root[0] = kappa0, -np.log(np.diagonal(lower)).sum()
        power, weight = state.power
        kappa = kappa0 + power * np.arange(n + 1)
        state.constant[:] = (
            0.5 * d * (np.log(kappa / (kappa + weight)) - weight * math.log(2 * math.pi))
        )
        state.constant[:] += weight * state.log_root[0]
        state.precision[:] = 0.5 * weight * kappa / (kappa + weight)

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X | W) of the rows of one cluster, by the formula in this file's first lines."""
        kappa0, covariance = hyper[2], self.covariance(hyper)
        n, d = self.power * len(X), X.shape[1]
        value = -0.5 * n * (d * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1])
        value += 0.5 * d * math.log(kappa0 / (kappa0 + n))
        return float(value - 0.5 * np.trace(np.linalg.solve(covariance, self._scatter(X, kappa0))))

    def log_data(
        self, clusters: Iterable[NDArray[np.float64]], hyper: NDArray[np.float64]
    ) -> float:
        kappa0, nu0, psi0 = self.parameters(hyper)
        groups = [rows for rows in clusters if len(rows)]
        d, sizes = len(psi0), self.power * np.array([len(rows) for rows in groups])
        nu, psi = nu0 + sizes.sum(), psi0 + sum(self._scatter(rows, kappa0) for rows in groups)
        value = (
            multigammaln(nu / 2, d)
            - multigammaln(nu0 / 2, d)
            - 0.5 * sizes.sum() * d * math.log(math.pi)
        )
        value += 0.5 * nu0 * np.linalg.slogdet(psi0)[1] - 0.5 * nu * np.linalg.slogdet(psi)[1]
        return float(value + 0.5 * d * np.log(kappa0 / (kappa0 + sizes)).sum())

    def _scatter(self, X: NDArray[np.float64], kappa0: float) -> Any:
        """C_k of the rows of a cluster, (d, d)."""
        if len(X) == 0:
            return np.zeros((X.shape[1], X.shape[1]))
        mean, n = X.mean(axis=0), self.power * len(X)
        return self.power * (X - mean).T @ (X - mean) + kappa0 * n / (kappa0 + n) * np.outer(
            mean, mean
        )


@dataclass(frozen=True)
class TiedGaussian(base.Family):
    """Gaussian clusters that share one full covariance matrix, learned with the partition.

    For many columns, say more than 20: each cluster of a `FullGaussian` would have to learn d^2 / 2
    numbers from its own few items, which prefers few and wide clusters or, where columns are not
    Gaussian, many spurious ones. One covariance has all items to be learned from; it is a metric in
    which clusters are spheres, as in linear discriminant analysis. Clusters that differ in shape
    are beyond it, unless they are mixtures (``TVClust(cluster_model="mixture")``).

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of each column's variance (psi).
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation, of independent columns, is worth (nu0 - d - 1 > 0):
        the covariance is drawn towards it with a weight of strength / (strength + n).
    mean_precision : float, HyperPrior or "learn", default "learn"
        kappa0: a cluster's mean has covariance W / kappa0 around the mean of the data. A cluster of
        n_k items costs about d / 2 log(n_k / kappa0) nats: at the 0.05 of the other families more,
        in many columns, than true clusters can win; and K means of d numbers each tell kappa0 well.

    Notes
    -----
    ``Psi0 = strength * diag(scale * s_j**2 + r_j**2 / 12)`` as in `FullGaussian`, with s_j a
    column's standard deviation and r_j its resolution. With n items the prior's share in W is about
    15 / (15 + n), 4% where n = 350: enough to keep W regular where columns are collinear or d is
    near n, and too little to matter else. The covariance of a draw is not recorded: given the
    partition its distribution is known, and prediction draws it from there.

    By "variational" the covariance is a point value, its mean given the rest.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7; Murphy (2007), Sec. 9; the pooled scatter is that of linear
    discriminant analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import TiedGaussian
    >>> bound = TiedGaussian(scale=0.5).bind(np.random.default_rng(0).normal(size=(40, 25)))
    >>> bound.covariance(bound.initial_hyper()).shape
    (25, 25)
    """

    scale: float | str | base.HyperPrior = "learn"
    strength: float | str | base.HyperPrior = STRENGTH
    mean_precision: float | str | base.HyperPrior = "learn"

    def bind(self, X: NDArray[np.float64]) -> BoundTiedGaussian:
        """Standardise the columns and fill in the base measure."""
        full = FullGaussian(self.scale, self.strength, self.mean_precision).bind(X)
        return BoundTiedGaussian(
            **{field.name: getattr(full, field.name) for field in fields(full)}
        )
