"""Sweeps with several components to a cluster, and with columns of several kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesclust.families import FullGaussian, Product
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from benchmarks.data import mixture
from benchmarks.records import Race
from benchmarks.timing import Entry, Run, Scale, race

SHAPES, FEW = ((1000, 48, 20), (3000, 16, 20)), ((200, 4, 3),)
SWEEP, MIXED = "sweep of a mixture to a cluster", "sweep of mixed columns"
SCAN_ONLY = Moves(split_merge=0, link_blocks=False)


def mixtures(n: int, d: int, K: int) -> dict[str, Entry | Run]:
    """Each call is one sweep in which the generating clusters are components of one cluster."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FullGaussian(scale=0.3, strength=1.0, mean_precision=0.05).bind(X)
    problem = TwoLevelProblem(family, (), DirichletProcess(1.0), DirichletProcess(1.0))

    def sweep(*, fast: bool) -> Run:
        moves = Moves(split_merge=0, link_blocks=False, fast=fast)
        return collapsed_chain(problem, z, np.random.default_rng(1), moves).sweep

    return {SWEEP: sweep(fast=True), "generic kernel": sweep(fast=False)}


def kinds(n: int, d: int, K: int) -> dict[str, Entry | Run]:
    """Half of the columns are half zeros, a quarter are measured, a quarter are counts."""
    rng = np.random.default_rng(0)
    X, z = mixture(n, d, K, rng)
    half, rest = d // 2, d // 4
    X[:, :half][rng.random((n, half)) < 0.5] = 0.0
    counts = rng.poisson(np.exp(0.3 * X[:, half + rest :]))
    blocks = {
        "hurdle": X[:, :half],
        "gaussian_diagonal": X[:, half : half + rest],
        "poisson": counts.astype(np.float64),
    }
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    columns = np.split(np.arange(ends[-1]), ends[:-1])
    together = Product(list(zip(blocks, map(list, columns), strict=True))).bind(
        np.column_stack(list(blocks.values()))
    )
    alone = [
        Product([(name, list(range(block.shape[1])))]).bind(block) for name, block in blocks.items()
    ]

    def sweep(bound: Any) -> Run:
        return collapsed_chain(TVClustProblem(bound), z, np.random.default_rng(1), SCAN_ONLY).sweep

    one, parts = sweep(together), [sweep(bound) for bound in alone]
    return {
        MIXED: one,
        "its kinds of columns, one after the other": lambda: [part() for part in parts],
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race all shapes."""
    for n, d, K in scale.pick(SHAPES, FEW):
        about = f"n = {n}, d = {d}, K = {K}"
        measured = "CPU time of one sweep, from the generating labels on"
        yield race(
            f"A mixture to a cluster, {about}", measured, mixtures(n, d, K), scale, reference=SWEEP
        )
        yield race(
            f"Columns of several kinds, {about}", measured, kinds(n, d, K), scale, reference=MIXED
        )
