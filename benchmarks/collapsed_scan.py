"""A sweep of the collapsed sampler against plain versions and the multiply-add floor, one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.inference.collapsed import CollapsedChain, TVClustProblem
from bayesclust.inference.schedule import Moves
from bayesclust.models.families import FullGaussian
from bayesclust.models.families.gaussian_full import BoundFullGaussian
from benchmarks.plain_scan import numba_scan, numpy_scan
from benchmarks.timing import race, table

SHAPES = ((1000, 2, 5), (2000, 10, 10), (5000, 38, 13))
NUMPY_ITEMS = 50


def mixture(n: int, d: int, K: int, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Overlapping clusters with covariances of their own, and their labels."""
    centres = rng.normal(size=(K, d)) * (2.0 if d < 5 else 1.0)
    roots = rng.normal(size=(K, d, d)) / np.sqrt(d)
    z = np.r_[np.arange(K), rng.integers(K, size=n - K)]
    return centres[z] + np.einsum("nde,ne->nd", roots[z], rng.normal(size=(n, d))), z


def alternatives(n: int, d: int, K: int) -> dict[str, Any]:
    """What is raced: each call is one sweep from the generating labels."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FullGaussian(scale=0.3, strength=1.0, mean_precision=0.05).bind(X)
    assert isinstance(family, BoundFullGaussian)
    problem, hyper = TVClustProblem(family), family.initial_hyper()

    def chain(moves: Moves) -> CollapsedChain:
        return CollapsedChain(problem, z, np.random.default_rng(1), moves)

    scan_only, default = chain(Moves(split_merge=0)), chain(Moves.default(n))
    generic = chain(Moves(split_merge=0, fast=False))
    kappa0, nu0, psi0 = family.parameters(hyper)
    constant = generic.state.constant
    plain, labels = {"z": z.copy(), "K": K}, z.copy()
    rng = np.random.default_rng(2)

    def numba_plain() -> None:
        plain["K"] = numba_scan(family.X, psi0, kappa0, nu0, constant, plain["z"], plain["K"], rng)

    def floor() -> None:
        for _ in range(K):
            family.X @ psi0

    return {
        "sweep": scan_only.sweep,
        "sweep with split-merge (default)": default.sweep,
        "sweep, generic kernel": generic.sweep,
        "plain numba Neal 3": numba_plain,
        f"plain numpy Neal 3 ({NUMPY_ITEMS} items)": lambda: numpy_scan(family, hyper, labels, np.arange(NUMPY_ITEMS), rng),
        "multiply-add floor (n K d^2)": floor,
    }


def run() -> list[dict[str, Any]]:
    """Race all shapes; returns rows for the record."""
    rows = []
    for n, d, K in SHAPES:
        timings = race(alternatives(n, d, K), repetitions=7)
        print(f"\nCollapsed sampler, n = {n}, d = {d}, K = {K}; CPU time of one sweep")
        print("\n".join(table(timings, "sweep")))
        rows += [{"n": n, "d": d, "K": K, "what": t.name, "seconds": t.seconds} for t in timings.values()]
    return rows
