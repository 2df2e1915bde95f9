"""Chains on random problems, in the states that samplers find hard."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import kernel
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.families import FAMILIES
from bayesclust.inference.collapsed import CollapsedChain, Moves
from bayesclust.inference.problem import TVClustProblem
from bayesclust.models.priors import Concentration
from tests.judges.cases import all_views, data_for, learned

STARTS = ("one", "alone", "random")


def start(kind: str, n: int, rng: Generator) -> NDArray[np.int64]:
    """All in one cluster, each alone, or anything."""
    if kind == "one":
        return np.zeros(n, np.int64)
    if kind == "alone":
        return np.arange(n)
    labels: NDArray[np.int64] = np.unique(
        rng.integers(max(n // 4, 2), size=n), return_inverse=True
    )[1]
    return labels


def chain(
    name: str = "gaussian",
    *,
    n: int = 30,
    d: int = 2,
    kind: str = "random",
    seed: int = 0,
    views: bool = True,
    moves: Moves | None = None,
    alpha: float | tuple[float, float] = (1.0, 1.0),
) -> CollapsedChain:
    """A chain on random data with links of two sources and two views of triplets."""
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES[name])
    bound = family.bind(data_for(family, n, d, rng))
    own: tuple[Constraints, ...] = all_views(n, rng) if views else ()
    problem = TVClustProblem(bound, own, Concentration.parse(alpha))
    return CollapsedChain(
        problem, start(kind, n, rng), np.random.default_rng(seed + 1), moves or Moves()
    )


def check_seating(sampler: CollapsedChain) -> None:
    """Labels, slots, counts and sufficient statistics must tell one story."""
    seating, state = sampler.seating, sampler.state
    number = int(seating.number[0])
    in_use = seating.slots[:number]
    assert set(seating.z) == set(in_use)
    assert sorted(seating.slots) == list(range(len(seating.slots)))
    np.testing.assert_array_equal(seating.place[seating.slots], np.arange(len(seating.slots)))
    for k in in_use:
        assert state.count[k] == (seating.z == k).sum()
    empty = len(state.count) - 1
    assert empty == len(seating.slots)
    assert state.count[empty] == 0
    family, sites = (
        sampler.problem.family,
        compile_sites(sampler.problem.constraints, sampler.problem.n_items),
    )
    assert all(np.array_equal(a, b) for a, b in zip(sites, sampler.sites, strict=True))
    fresh = CollapsedChain(
        sampler.problem, seating.place[seating.z], np.random.default_rng(0), sampler.moves
    )
    fresh.hyper = sampler.hyper
    family.set_hyper(fresh.state, sampler.hyper)
    fresh._seat(seating.place[seating.z])
    wider = family.new_state(empty + 1, sampler.hyper)
    for name in state._fields:
        array, other = getattr(state, name), getattr(fresh.state, name)
        if array.ndim and len(getattr(wider, name)) == len(array) + 1:  # one for each slot
            np.testing.assert_allclose(
                array[in_use], other[:number], rtol=1e-6, atol=1e-8, err_msg=name
            )
            np.testing.assert_array_equal(array[empty], other[-1], err_msg=name)


def from_python(function: Any) -> Any:
    """What is compiled for kernels alone, to be called from a test."""
    return kernel(lambda *arguments: function(*arguments), cache=False)
