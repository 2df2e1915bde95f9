"""Gaussian clusters that share one covariance, learned with the partition: for many columns.

    mu_k | W ~ N(m0, W / kappa0),    W ~ IW(nu0, Psi0), one for all clusters

Given W, clusters are independent, and in coordinates in which W is the identity those of
`squared_distance`: a predictive costs O(d). Given the partition alone, with n_k items of mean
xbar_k and scatter S_k in cluster k, W has the pooled scatter:

    C_k     = S_k + kappa0 n_k / (kappa0 + n_k) (xbar_k - m0)(xbar_k - m0)'
    W | X, z ~ IW(nu_n, Psi_n),    nu_n = nu0 + n,    Psi_n = Psi0 + sum_k C_k
    p(X | z) = pi^(-nd/2) Gamma_d(nu_n/2) / Gamma_d(nu0/2) |Psi0|^(nu0/2) / |Psi_n|^(nu_n/2)
               prod_k (kappa0 / (kappa0 + n_k))^(d/2)

by which W is drawn in every sweep. In a vector of hyper-parameters W stands behind the three that
have priors of their own. Data are centred at m0, so that m0 = 0 below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust._numpyro import numpyro_modules
from bayesclust.families import base
from bayesclust.families.base import Hyper, Terms
from bayesclust.families.gaussian import (
    BoundFullGaussian,
    GaussianFamily,
    Mahalanobis,
    draw_roots,
    log_diagonal,
)
from bayesclust.families.squared_distance import LOG_TWO_PI, NormalPrior, with_square
from bayesclust.typing import FloatArray


@dataclass(frozen=True)
class BoundTiedGaussian(BoundFullGaussian):
    """Clusters of one covariance; hyper = (scale, strength, mean precision, W row by row)."""

    # Columns are standardised. Slots must be set from their items again when W changes. Terms: R
    # (K, d, d), in every slice the same, R mu (K, d), offset (K,).

    @property
    def n_shared(self) -> int:
        return int(self.X.shape[1] ** 2)

    def parameters(self, hyper: Any) -> tuple[Any, Any, Any]:
        """(kappa0, nu0, Psi0) in our coordinates, the latter two of W; E[W] = Psi0 / strength."""
        return super().parameters(hyper[:3])

    def covariance(self, hyper: FloatArray) -> FloatArray:
        """W in our coordinates, (d, d)."""
        d = self.X.shape[1]
        return hyper[3:].reshape(d, d)

    def prior(self, hyper: FloatArray) -> NormalPrior:
        return NormalPrior(hyper[2:3], log_diagonal(self._root(hyper)[None]))

    def _root(self, hyper: FloatArray) -> FloatArray:
        """R with R'R the inverse of W."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.covariance(hyper))))

    def initial_hyper(self) -> FloatArray:
        """Prior medians, and the prior mean of W given them."""
        own = super().initial_hyper()
        return np.append(own, self.parameters(own)[2] / own[1])

    def sample_hyper(self, rng: Generator) -> FloatArray:
        own = super().sample_hyper(rng)
        return np.append(own, draw_covariance(*self.parameters(own)[1:], rng))

    def log_shared_prior(self, hyper: FloatArray) -> float:
        """Log density of the inverse of W, a Wishart matrix."""
        from scipy.stats import wishart

        _, nu0, psi0 = self.parameters(hyper)
        inverse = np.linalg.inv(self.covariance(hyper))
        return float(wishart.logpdf(inverse, nu0, np.linalg.inv(psi0)))

    def shared_sites(self, hyper: list[Any]) -> list[Any]:
        """Site "within_covariance", W in our coordinates, behind the others."""
        _, numpyro, dist = numpyro_modules()
        _, nu0, psi0 = self.parameters(hyper)
        wishart = dist.InverseWishart(nu0, scale_matrix=psi0)
        return [*hyper, numpyro.sample("within_covariance", wishart)]

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, _, dist = numpyro_modules()
        centre, lower = self.mean_site(jnp.linalg.cholesky(hyper[3]), hyper[2])
        return lambda z: dist.MultivariateNormal(centre[z], scale_tril=lower)

    # A state of `Clusters`, not one of full covariances; its items are written by `set_hyper`.

    State = base.Clusters

    def caches(self, slots: int) -> Mapping[str, Any]:
        items = np.zeros((len(self.X), self.X.shape[1] + 1))
        asked = items if self.powers[0] == self.powers[1] else items.copy()
        total = np.zeros((slots, items.shape[1]))
        return {"items": items, "asked": asked, "total": total, "level": np.zeros(slots)}

    def set_hyper(self, state: Any, hyper: FloatArray) -> None:
        """Also write the items in coordinates in which W is the identity."""
        super(BoundFullGaussian, self).set_hyper(state, hyper)
        T = with_square(self.X @ self._root(hyper).T)
        state.items[:], state.asked[:] = state.powers[0] * T, state.powers[1] * T

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        root, centre, offset = terms
        standard = rows[0] @ root[0].T
        squares = xp.square(standard).sum(axis=1)[:, None] - 2.0 * (standard @ centre.T)
        return offset - 0.5 * (squares + xp.square(centre).sum(axis=1))

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        root, kappa = self._root(hyper), hyper[2] + statistics[0]
        centre = (statistics[1] / kappa[:, None]) @ root.T
        number, d = centre.shape
        offset = np.full(number, log_diagonal(root) - 0.5 * d * LOG_TWO_PI)
        if rng is None:
            offset -= 0.5 * d / kappa
        else:
            centre = centre + rng.standard_normal(centre.shape) / np.sqrt(kappa)[:, None]
        return np.repeat(root[None], number, axis=0), centre, offset

    def log_marginals(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        mass, total, outer = (np.asarray(part) for part in statistics)
        root = self._root(hyper)
        squares = ((root @ outer) * root).sum(axis=(1, 2))
        sums = np.column_stack([total @ root.T, squares])
        return np.asarray(base.log_normalisers(self.prior(hyper), mass, sums))

    def log_total(self, statistics: Terms, hyper: FloatArray) -> float:
        kappa0, nu0, psi0 = self.parameters(hyper)
        kappa, nu, psi = self._pooled(statistics, hyper)
        d = len(psi)
        below = np.arange(d)  # Gamma_d's powers of pi cancel
        value = (gammaln((nu - below) / 2) - gammaln((nu0 - below) / 2)).sum()
        value += 0.5 * d * (np.log(kappa0 / kappa).sum() - (nu - nu0) * math.log(math.pi))
        # Psi0 is diagonal
        value += 0.5 * nu0 * np.log(psi0.diagonal()).sum()
        return float(value - nu * log_diagonal(np.linalg.cholesky(psi)))

    def draw_shared(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> FloatArray:
        _, nu, psi = self._pooled(statistics, hyper)
        return np.append(hyper[: -psi.size], draw_covariance(nu, psi, rng))

    def likeliest_shared(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """W at its mean given the clusters, where its inverse has its mode."""
        _, nu, psi = self._pooled(statistics, hyper)
        return np.append(hyper[: -psi.size], psi / (nu - len(psi) - 1))

    def _pooled(self, statistics: Terms, hyper: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """(kappa_k (K,), nu_n, Psi_n)."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        weight, total, outer = statistics
        kappa = kappa0 + weight
        psi = psi0 + outer.sum(axis=0) - (total / kappa[:, None]).T @ total
        return kappa, nu0 + weight.sum(), 0.5 * (psi + psi.T)


def draw_covariance(nu: float, psi: FloatArray, rng: Generator) -> FloatArray:
    """Draw from the inverse Wishart distribution of mean psi / (nu - d - 1), nu above d - 1."""
    roots, _ = draw_roots(np.array([nu]), np.linalg.cholesky(psi)[None], rng)
    inverse = np.linalg.inv(roots[0])
    return np.asarray(inverse @ inverse.T)


@dataclass(frozen=True)
class TiedGaussian(GaussianFamily):
    """Gaussian clusters that share one full covariance matrix, learned with the partition.

    For more than some 20 columns: a cluster of a `FullGaussian` would have to learn d^2 / 2 numbers
    from its own few items. Clusters that differ in shape are beyond it, unless they are mixtures.

    Parameters
    ----------
    scale, strength : float, HyperPrior or "learn", default "learn" and 15
        As in `FullGaussian`.
    mean_precision : float, HyperPrior or "learn", default "learn"
        kappa0: a cluster of n_k items costs about d / 2 log(n_k / kappa0) nats, at the 0.05 of the
        other families more, in many columns, than true clusters can win.

    Notes
    -----
    ``Psi0`` is that of `FullGaussian`. The covariance of a draw is not recorded: prediction draws
    it given the partition. By "variational" it is a point value, its mean given the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import TiedGaussian
    >>> bound = TiedGaussian(scale=0.5).bind(np.random.default_rng(0).normal(size=(40, 25)))
    >>> bound.covariance(bound.initial_hyper()).shape
    (25, 25)
    """

    mean_precision: Hyper = "learn"
    divergence = Mahalanobis
    bound_type = BoundTiedGaussian
