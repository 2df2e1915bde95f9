"""A collapsed sweep against a plain one (Neal's Algorithm 3) and the multiply-add floor."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesclust.families import FullGaussian
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.inference.chain import Chain, Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, default_moves
from benchmarks.data import mixture
from benchmarks.records import Race, Target
from benchmarks.timing import Run, Scale, race

SHAPES, FEW = ((1000, 2, 5), (2000, 10, 10), (5000, 38, 13)), ((200, 2, 3),)
SWEEP, FLOOR = "sweep", "multiply-add floor (n K d^2)"
FAMILY = FullGaussian(scale=0.3, strength=1.0, mean_precision=0.05)
Array = NDArray[np.float64]


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
    """One sweep by rank-one updates of Cholesky factors; returns the number of clusters."""
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


def alternatives(n: int, d: int, K: int) -> dict[str, Run]:
    """What is raced: each call is one sweep from the generating labels."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FAMILY.bind(X)
    assert isinstance(family, BoundFullGaussian)
    problem, hyper = TVClustProblem(family), family.initial_hyper()

    def chain(moves: Moves) -> Chain:
        return collapsed_chain(problem, z, np.random.default_rng(1), moves)

    scan_only = chain(Moves(split_merge=0))
    kappa0, nu0, psi0 = family.parameters(hyper)
    sizes = np.arange(n + 1)
    constant = gammaln((nu0 + sizes + 1) / 2) - gammaln((nu0 + sizes + 1 - d) / 2)
    constant += 0.5 * d * np.log((kappa0 + sizes) / (np.pi * (kappa0 + sizes + 1)))
    labels, rng, number = z.copy(), np.random.default_rng(2), [K]

    def plain() -> None:
        number[0] = numba_scan(family.X, psi0, kappa0, nu0, constant, labels, number[0], rng)

    def floor() -> None:
        for _ in range(K):
            family.X @ psi0

    return {
        SWEEP: scan_only.sweep,
        "sweep with split-merge (default)": chain(default_moves(collapsed_chain, n)).sweep,
        "sweep, generic kernel": chain(Moves(split_merge=0, fast=False)).sweep,
        "plain numba Neal 3": plain,
        FLOOR: floor,
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race all shapes."""
    for n, d, K in scale.pick(SHAPES, FEW):
        title = f"Collapsed sampler, n = {n}, d = {d}, K = {K}"
        measured = "CPU time of one sweep from the generating labels"
        targets = []
        if (n, d, K) == SHAPES[-1]:
            # 40 sweeps a second, within five times the floor
            targets = [Target(SWEEP, most=0.025, unit="s"), Target(FLOOR, least=0.2)]
        yield race(title, measured, alternatives(n, d, K), scale, reference=SWEEP, targets=targets)
