"""A sweep of the collapsed sampler against plain versions (Neal's Algorithm 3) and the multiply-add floor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesclust.families import FullGaussian
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from benchmarks.data import mixture
from benchmarks.plain_scan import numba_scan, numpy_scan
from benchmarks.records import Race, Target
from benchmarks.timing import Entry, Run, Scale, race

SHAPES, FEW = ((1000, 2, 5), (2000, 10, 10), (5000, 38, 13)), ((200, 2, 3),)
NUMPY_ITEMS = 50
SWEEP, FLOOR = "sweep", "multiply-add floor (n K d^2)"
FAMILY = FullGaussian(scale=0.3, strength=1.0, mean_precision=0.05)


def alternatives(n: int, d: int, K: int) -> dict[str, Entry | Run]:
    """What is raced: each call is one sweep from the generating labels."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FAMILY.bind(X)
    assert isinstance(family, BoundFullGaussian)
    problem, hyper = TVClustProblem(family), family.initial_hyper()

    def chain(moves: Moves) -> collapsed_chain:
        return collapsed_chain(problem, z, np.random.default_rng(1), moves)

    scan_only = chain(Moves(split_merge=0))
    kappa0, nu0, psi0 = family.parameters(hyper)
    constant = chain(Moves(split_merge=0, fast=False)).state.constant
    plain: dict[str, Any] = {"z": z.copy(), "K": K}
    labels, rng = z.copy(), np.random.default_rng(2)

    def numba_plain() -> None:
        plain["K"] = numba_scan(family.X, psi0, kappa0, nu0, constant, plain["z"], plain["K"], rng)

    def floor() -> None:
        for _ in range(K):
            family.X @ psi0

    return {
        SWEEP: scan_only.sweep,
        "sweep with split-merge (default)": chain(Moves.default(n)).sweep,
        "sweep, generic kernel": chain(Moves(split_merge=0, fast=False)).sweep,
        "plain numba Neal 3": numba_plain,
        "plain numpy Neal 3": Entry(
            lambda: numpy_scan(family, hyper, labels, np.arange(NUMPY_ITEMS), rng), NUMPY_ITEMS / n
        ),
        FLOOR: floor,
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race all shapes."""
    for n, d, K in scale.pick(SHAPES, FEW):
        title, measured = (
            f"Collapsed sampler, n = {n}, d = {d}, K = {K}",
            "CPU time of one sweep from the generating labels",
        )
        targets = []
        if (n, d, K) == SHAPES[-1]:
            # 40 sweeps a second, within five times the floor
            targets = [Target(SWEEP, most=0.025, unit="s"), Target(FLOOR, least=0.2)]
        yield race(title, measured, alternatives(n, d, K), scale, reference=SWEEP, targets=targets)
