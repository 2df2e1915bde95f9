"""A sweep with parameters drawn against a collapsed one and the multiply-add floor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesclust.families import FAMILIES
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, default_moves, gibbs_chain
from benchmarks.collapsed_scan import FAMILY, FEW, SHAPES
from benchmarks.data import mixture
from benchmarks.records import Race
from benchmarks.timing import Run, Scale, race


def alternatives(n: int, d: int, K: int) -> dict[str, Run]:
    """What is raced: each call is one sweep from the generating labels."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FAMILY.bind(X)
    assert isinstance(family, BoundFullGaussian)
    problem = TVClustProblem(family)
    drawn = gibbs_chain(problem, z, np.random.default_rng(1), default_moves(gibbs_chain, n))
    collapsed = collapsed_chain(problem, z, np.random.default_rng(1), Moves(split_merge=0))
    generic = collapsed_chain(
        problem, z, np.random.default_rng(1), Moves(split_merge=0, fast=False)
    )

    def floor() -> None:
        for _ in range(K):
            family.X @ np.eye(d)

    return {
        "sweep, parameters drawn": drawn.sweep,
        "sweep, collapsed": collapsed.sweep,
        "sweep, collapsed, generic kernel": generic.sweep,
        "multiply-add floor (n K d^2)": floor,
    }


def of_family(name: str, n: int, d: int, K: int) -> dict[str, Run]:
    """The two samplers with another family, whose base measure is learned."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    problem = TVClustProblem(FAMILIES[name]().bind(X))
    return {
        "sweep, parameters drawn": gibbs_chain(
            problem, z, np.random.default_rng(1), default_moves(gibbs_chain, n)
        ).sweep,
        "sweep, collapsed": collapsed_chain(
            problem, z, np.random.default_rng(1), Moves(split_merge=0)
        ).sweep,
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race all shapes and families."""
    for n, d, K in scale.pick(SHAPES, FEW):
        for name in scale.pick(
            ("gaussian", "gaussian_diagonal", "gaussian_spherical"), ("gaussian",)
        ):
            raced = alternatives(n, d, K) if name == "gaussian" else of_family(name, n, d, K)
            title = f"Parameters drawn, {name}, n = {n}, d = {d}, K = {K}"
            yield race(title, "CPU time of one sweep", raced, scale, reference="sweep, collapsed")
