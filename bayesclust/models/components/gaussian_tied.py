"""Gaussian clusters with one covariance for all, means in hand.

With W, kappa_n, m_n, nu_n and Psi_n of `families.gaussian_tied`, the posterior is

    W ~ IW(nu_n, Psi_n),    mu_k | W ~ N(m_k, W / kappa_k)

W stands in the vector of hyper-parameters; only `log_total` integrates it out, and only
`draw_shared` draws it. `likeliest_shared` gives it its mean, where its inverse has its mode. Given
W, log p(x | mu) = log |R| - d/2 log 2 pi -
|R x - R mu|^2 / 2 with R'R its inverse, and in expectation over mu_k the quadratic form is larger by d / kappa_k.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import multigammaln

from bayesclust.models.components.base import Terms
from bayesclust.models.components.gaussian_full import FullComponents, draw_roots
from bayesclust.typing import FloatArray

LOG_TWO_PI = math.log(2 * math.pi)


class TiedComponents(FullComponents):
    """Statistics and terms of `FullComponents`: R (K, d, d), in every slice the same, R mu (K, d), offset (K,).

    `parameters` gives (kappa0, nu0, psi0), the latter two of W's prior.
    """

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        root, centre, offset = terms
        standard = rows[0] @ root[0].T
        squares = (
            xp.square(standard).sum(axis=1)[:, None]
            - 2.0 * (standard @ centre.T)
            + xp.square(centre).sum(axis=1)
        )
        return offset - 0.5 * squares

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        root, kappa, centre = self._centres(statistics, hyper)
        centre = centre + rng.standard_normal(centre.shape) / np.sqrt(kappa)[:, None]
        return self._terms(root, centre, np.zeros(len(kappa)))

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        root, kappa, centre = self._centres(statistics, hyper)
        return self._terms(root, centre, -0.5 * centre.shape[1] / kappa)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        root, kappa, centre = self._centres(statistics, hyper)
        d, weight = centre.shape[1], np.asarray(statistics[0])
        squares = ((root @ np.asarray(statistics[2])) * root).sum(axis=(1, 2)) - kappa * np.square(
            centre
        ).sum(axis=1)
        value = 0.5 * d * np.log(self.parameters(hyper)[0] / kappa) - 0.5 * squares
        return np.asarray(value + weight * (_log_diagonal(root) - 0.5 * d * LOG_TWO_PI))

    def log_total(self, statistics: Terms, hyper: FloatArray) -> float:
        kappa0, nu0, psi0 = self.parameters(hyper)
        kappa, nu, psi = self._pooled(statistics, hyper)
        d = len(psi)
        value = 0.5 * d * (np.log(kappa0 / kappa).sum() - (nu - nu0) * math.log(math.pi))
        value += multigammaln(nu / 2, d) - multigammaln(nu0 / 2, d)
        return float(
            value + 0.5 * nu0 * np.linalg.slogdet(psi0)[1] - 0.5 * nu * np.linalg.slogdet(psi)[1]
        )

    def draw_shared(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> FloatArray:
        _, nu, psi = self._pooled(statistics, hyper)
        return np.append(hyper[: -psi.size], draw_covariance(nu, psi, rng))

    def likeliest_shared(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        _, nu, psi = self._pooled(statistics, hyper)
        return np.append(hyper[: -psi.size], psi / (nu - len(psi) - 1))

    def _pooled(self, statistics: Terms, hyper: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        """(kappa_k (K,), nu_n, Psi_n)."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        weight, total, outer = (np.asarray(part) for part in statistics)
        kappa = kappa0 + weight
        psi = psi0 + outer.sum(axis=0) - (total / kappa[:, None]).T @ total
        return kappa, nu0 + weight.sum(), 0.5 * (psi + psi.T)

    def _centres(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(R (d, d), kappa_k (K,), R m_k (K, d))."""
        kappa = self.parameters(hyper)[0] + np.asarray(statistics[0])
        total = np.asarray(statistics[1])
        d = total.shape[1]
        root = np.linalg.inv(np.linalg.cholesky(hyper[-d * d :].reshape(d, d)))
        return root, kappa, (total / kappa[:, None]) @ root.T

    @staticmethod
    def _terms(root: FloatArray, centre: FloatArray, offset: FloatArray) -> Terms:
        number, d = centre.shape
        return (
            np.repeat(root[None], number, axis=0),
            centre,
            offset + _log_diagonal(root) - 0.5 * d * LOG_TWO_PI,
        )


def draw_covariance(nu: float, psi: FloatArray, rng: Generator) -> FloatArray:
    """Draw from the inverse Wishart distribution.

    Parameters
    ----------
    nu : float
        Degrees of freedom, above d - 1.
    psi : ndarray of shape (d, d)
        The mean is psi / (nu - d - 1).
    rng : Generator

    Returns
    -------
    ndarray of shape (d, d)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.components.gaussian_tied import draw_covariance
    >>> np.diag(draw_covariance(1e9, 2e9 * np.eye(2), np.random.default_rng(0))).round(2)
    array([2., 2.])
    """
    roots, _ = draw_roots(np.array([nu]), np.linalg.cholesky(psi)[None], rng)
    inverse = np.linalg.inv(roots[0])
    return np.asarray(inverse @ inverse.T)


def _log_diagonal(triangle: FloatArray) -> float:
    return float(np.log(np.diagonal(triangle)).sum())


__all__ = ["TiedComponents", "draw_covariance"]
