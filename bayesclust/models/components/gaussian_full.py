"""Gaussian clusters with full covariance, parameters in hand.

With nu_n, kappa_n, m_n and Psi_n of `families.gaussian_full`, the posterior is

    Sigma_k ~ IW(nu_n, Psi_n),    mu_k | Sigma_k ~ N(m_n, Sigma_k / kappa_n)

and log p(x | mu, Sigma) = log |R| - d/2 log 2 pi - |R x - R mu|^2 / 2 with R'R the precision. In
expectation (Bishop 2006, Eq. 10.64 and 10.65) the precision is nu_n Psi_n^-1, the quadratic form is
larger by d / kappa_n, and

    E log |Sigma^-1| = sum_j psi((nu_n - j) / 2) + d log 2 - log |Psi_n|,    j = 0, ..., d - 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln, multigammaln

from bayesclust.models.components.base import Components, Terms
from bayesclust.typing import FloatArray, IntArray


class FullComponents(Components):
    """Statistics: weights (K,), sums (K, d), sums of x x' (K, d, d). Terms: R (K, d, d), R mu (K, d), offset (K,).

    JAX makes use of the symmetry of x x'. NumPy does not: arrays of all products of columns, fresh
    in every sweep, would cost it several times what the matrix products cost.
    """

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        (X,) = rows
        if xp is np:
            weighted = weight.T[:, :, None] * X
            return weight.sum(axis=0), weighted.sum(axis=1), np.swapaxes(weighted, 1, 2) @ X
        d = X.shape[1]
        first, second, where = _triangle(d)
        # products of columns once each: half the work of x x', and one matrix product for all
        # clusters
        products = weight.T @ (X[:, first] * X[:, second])
        return weight.sum(axis=0), weight.T @ X, products[:, where].reshape(-1, d, d)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        root, centre, offset = terms
        (X,) = rows
        if xp is np:
            number, d = centre.shape
            standard = (X @ root.reshape(number * d, d).T).reshape(-1, number, d)
            standard -= centre
            return offset - 0.5 * np.einsum("nkd,nkd->nk", standard, standard)
        first, second, _ = _triangle(X.shape[1])
        # |R x - R mu|^2 multiplied out: x' (R'R) x by the products of columns, as for the
        # statistics
        transposed = xp.swapaxes(root, 1, 2)
        precision = xp.matmul(transposed, root)[:, first, second] * np.where(
            first == second, 1.0, 2.0
        )
        linear = xp.matmul(transposed, centre[:, :, None])[:, :, 0]
        squares = (
            (X[:, first] * X[:, second]) @ precision.T
            - 2.0 * (X @ linear.T)
            + xp.square(centre).sum(axis=1)
        )
        return offset - 0.5 * squares

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        kappa, nu, mean, lower = self._posterior(statistics, hyper)
        number, d = mean.shape
        root, log_root = draw_roots(nu, lower, rng)
        step = np.linalg.solve(root, rng.standard_normal((number, d, 1)))[..., 0]
        mean = mean + step / np.sqrt(kappa)[:, None]
        offset = log_root - 0.5 * d * math.log(2 * math.pi)
        return root, np.einsum("kab,kb->ka", root, mean), offset

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        kappa, nu, mean, lower = self._posterior(statistics, hyper)
        d = mean.shape[1]
        root = np.sqrt(nu)[:, None, None] * np.linalg.inv(lower)
        log_precision = digamma(0.5 * (nu[:, None] - np.arange(d))).sum(axis=1) - 2 * _log_diagonal(
            lower
        )
        offset = 0.5 * (log_precision - d * math.log(math.pi) - d / kappa)
        return root, np.einsum("kab,kb->ka", root, mean), offset

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        kappa0, nu0, psi0 = self.parameters(hyper)
        weight = statistics[0]
        kappa, nu, mean, lower = self._posterior(statistics, hyper)
        d = mean.shape[1]
        value = 0.5 * d * (np.log(kappa0 / kappa) - weight * math.log(math.pi))
        value += _log_gamma(nu / 2, d) - multigammaln(nu0 / 2, d)
        value += 0.5 * nu0 * np.linalg.slogdet(psi0)[1] - nu * _log_diagonal(lower)
        return np.asarray(value)

    def _posterior(
        self, statistics: Terms, hyper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(kappa_n, nu_n, m_n, Cholesky factor of Psi_n) of every cluster."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        weight, total, outer = (np.asarray(part) for part in statistics)
        kappa = kappa0 + weight
        mean = total / kappa[:, None]
        psi = psi0 + outer - kappa[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return kappa, nu0 + weight, mean, np.linalg.cholesky(0.5 * (psi + np.swapaxes(psi, 1, 2)))


def draw_roots(nu: FloatArray, lower: FloatArray, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Draw roots R of precisions, (R'R)^-1 ~ IW(nu, L L').

    Parameters
    ----------
    nu : ndarray of shape (K,)
        Degrees of freedom, above d - 1.
    lower : ndarray of shape (K, d, d)
        Cholesky factors L.
    rng : Generator

    Returns
    -------
    R : ndarray of shape (K, d, d)
    log_root : ndarray of shape (K,)
        log |R|.
    """
    number, d, _ = lower.shape
    # R'R = L^-T A A' L^-1 with A Bartlett's triangle of a standard Wishart matrix
    bartlett = np.tril(rng.standard_normal((number, d, d)), -1)
    diagonal = np.arange(d)
    bartlett[:, diagonal, diagonal] = np.sqrt(rng.chisquare(nu[:, None] - diagonal))
    root = np.swapaxes(bartlett, 1, 2) @ np.linalg.inv(lower)
    return root, _log_diagonal(bartlett) - _log_diagonal(lower)


def _triangle(d: int) -> tuple[IntArray, IntArray, IntArray]:
    """Rows and columns of the upper triangle, and where each entry of the whole matrix stands in it."""
    first, second = np.triu_indices(d)
    where = np.zeros((d, d), np.int64)
    where[first, second] = where[second, first] = np.arange(len(first))
    return first, second, where.ravel()


def _log_diagonal(triangle: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.diagonal(triangle, axis1=1, axis2=2)).sum(axis=1))


def _log_gamma(a: FloatArray, d: int) -> FloatArray:
    return np.asarray(
        0.25 * d * (d - 1) * math.log(math.pi)
        + gammaln(a[:, None] - 0.5 * np.arange(d)).sum(axis=1)
    )
