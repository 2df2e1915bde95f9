"""Data of the benchmarks."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints import PairwiseConstraints


def mixture(
    n: int, d: int, K: int, rng: Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Overlapping clusters with covariances of their own, and their labels."""
    centres = rng.normal(size=(K, d)) * (2.0 if d < 5 else 1.0)
    roots = rng.normal(size=(K, d, d)) / np.sqrt(d)
    z = np.r_[np.arange(K), rng.integers(K, size=n - K)]
    X = rng.normal(size=(n, d))
    for k in range(K):
        X[z == k] = centres[k] + X[z == k] @ roots[k].T
    return X, z


def answers(z: NDArray[np.int64], number: int, wrong: float, rng: Generator) -> PairwiseConstraints:
    """Links between random items, a share of them wrong."""
    pairs = rng.integers(len(z), size=(number + number // 100 + 9, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:number]
    same = (z[pairs[:, 0]] == z[pairs[:, 1]]) ^ (rng.random(len(pairs)) < wrong)
    return PairwiseConstraints(pairs, same, len(z))


def noisy_draws(n: int, draws: int, K: int = 8, seed: int = 0) -> NDArray[np.int64]:
    """Draws around one partition: a quarter of the items uncertain, small clusters that pass."""
    rng = np.random.default_rng(seed)
    truth, second = rng.integers(K, size=(2, n))
    doubt = np.where(rng.random(n) < 0.25, rng.uniform(0.05, 0.5, n), 0.005)
    moved = rng.random((draws, n)) < doubt
    z = np.where(moved, second, truth)
    return np.where(rng.random((draws, n)) < 0.002, K + rng.integers(3, size=(draws, n)), z)
