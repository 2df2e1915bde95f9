"""Plain collapsed scans (Neal's Algorithm 3, full covariances, no links), as one would write them first."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust.families.gaussian import BoundFullGaussian

Array = NDArray[np.float64]


def numpy_scan(
    family: BoundFullGaussian,
    hyper: Array,
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    rng: Generator,
) -> None:
    """Update the items given, every predictive from a fresh factorisation of the cluster's scatter."""
    kappa0, nu0, psi0 = family.parameters(hyper)
    X, d = family.X, family.X.shape[1]
    for i in items:
        z[i] = -1
        labels = np.unique(z[z >= 0])
        logits = np.empty(len(labels) + 1)
        for a, k in enumerate([*labels, -2]):
            rows = X[z == k]
            n = len(rows)
            kappa, nu = kappa0 + n, nu0 + n
            mean = rows.sum(axis=0) / kappa
            psi = psi0 + rows.T @ rows - kappa * np.outer(mean, mean)
            sign_logdet = np.linalg.slogdet(psi)[1]
            difference = X[i] - mean
            q = difference @ np.linalg.solve(psi, difference) * kappa / (kappa + 1)
            logits[a] = (
                math.log(n or 1.0)
                + gammaln((nu + 1) / 2)
                - gammaln((nu + 1 - d) / 2)
                + 0.5 * d * math.log(kappa / (math.pi * (kappa + 1)))
                - 0.5 * sign_logdet
                - 0.5 * (nu + 1) * math.log1p(q)
            )
        weights = np.exp(logits - logits.max())
        choice = rng.choice(len(weights), p=weights / weights.sum())
        z[i] = labels[choice] if choice < len(labels) else z.max() + 1


@njit(cache=True)
def _factor(psi: Array) -> tuple[Array, float]:
    lower = np.linalg.cholesky(psi)
    return lower, 2.0 * np.sum(np.log(np.diag(lower)))


@njit(cache=True)
def _rank_one(lower: Array, vector: Array, sign: float) -> None:
    d = len(vector)
    for a in range(d):
        r = math.sqrt(lower[a, a] ** 2 + sign * vector[a] ** 2)
        c, s = r / lower[a, a], vector[a] / lower[a, a]
        lower[a, a] = r
        for b in range(a + 1, d):
            lower[b, a] = (lower[b, a] + sign * s * vector[b]) / c
            vector[b] = c * vector[b] - s * lower[b, a]


@njit(cache=True)
def numba_scan(
    X: Array,
    psi0: Array,
    kappa0: float,
    nu0: float,
    constant: Array,
    z: NDArray[np.int64],
    K: int,
    rng: Generator,
) -> int:
    """One sweep with Cholesky factors updated by rank-one terms and a triangular solve per item and cluster.

    Returns the number of clusters; slots are compacted as clusters empty.
    """
    n, d = X.shape
    C = K + 64
    count, mean, logdet = np.zeros(C, np.int64), np.zeros((C, d)), np.zeros(C)
    lower = np.zeros((C, d, d))
    for k in range(K):
        rows = X[z == k]
        count[k] = len(rows)
        mean[k] = rows.sum(axis=0) / (kappa0 + len(rows))
        lower[k], logdet[k] = _factor(
            psi0 + rows.T @ rows - (kappa0 + len(rows)) * np.outer(mean[k], mean[k])
        )
    prior, prior_logdet = _factor(psi0)
    logits, solved = np.empty(C + 1), np.empty(d)
    for i in range(n):
        x, old = X[i], z[i]
        kappa = kappa0 + count[old]
        _rank_one(lower[old], (x - mean[old]) * math.sqrt(kappa / (kappa - 1.0)), -1.0)
        mean[old] -= (x - mean[old]) / (kappa - 1.0)
        logdet[old] = 2.0 * np.sum(np.log(np.diag(lower[old])))
        count[old] -= 1
        if count[old] == 0:
            K -= 1
            z[z == K] = old
            count[old], mean[old], lower[old], logdet[old] = count[K], mean[K], lower[K], logdet[K]
        for k in range(K + 1):
            factor = lower[k] if k < K else prior
            q = 0.0
            for a in range(d):
                value = x[a] - (mean[k, a] if k < K else 0.0)
                for b in range(a):
                    value -= factor[a, b] * solved[b]
                solved[a] = value / factor[a, a]
                q += solved[a] ** 2
            size = count[k] if k < K else 0
            kappa = kappa0 + size
            tail = math.log1p(q * kappa / (kappa + 1.0))
            logits[k] = constant[size] - 0.5 * (nu0 + size + 1.0) * tail
            logits[k] += (math.log(size) - 0.5 * logdet[k]) if k < K else -0.5 * prior_logdet
        weights = np.cumsum(np.exp(logits[: K + 1] - logits[: K + 1].max()))
        k = np.searchsorted(weights, rng.random() * weights[-1])
        if k == K:
            K += 1
            count[k], logdet[k] = 0, prior_logdet
            mean[k] = 0.0
            lower[k] = prior
        kappa = kappa0 + count[k]
        _rank_one(lower[k], (x - mean[k]) * math.sqrt(kappa / (kappa + 1.0)), 1.0)
        mean[k] += (x - mean[k]) / (kappa + 1.0)
        logdet[k] = 2.0 * np.sum(np.log(np.diag(lower[k])))
        count[k] += 1
        z[i] = k
    return K
