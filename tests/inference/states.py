"""Chains on random problems, in the states that samplers find hard."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.families import FAMILIES
from bayesclust.inference.chain import Chain, Moves, State, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import all_views, data_for, learned

STARTS = ("one", "alone", "random")


def start(kind: str, n: int, rng: Generator) -> NDArray[np.int64]:
    """All in one cluster, each alone, or anything."""
    if kind == "one":
        return np.zeros(n, np.int64)
    if kind == "alone":
        return np.arange(n)
    labels = rng.integers(max(n // 4, 2), size=n)
    found: NDArray[np.int64] = np.unique(labels, return_inverse=True)[1]
    return found


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
) -> Chain:
    """A chain on random data with links of two sources and triplets twice."""
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES[name])
    bound = family.bind(data_for(family, n, d, rng))
    own: tuple[Constraints, ...] = all_views(n, rng) if views else ()
    problem = TVClustProblem(bound, own, DirichletProcess(alpha))
    labels = start(kind, n, rng)
    return collapsed_chain(problem, labels, np.random.default_rng(seed + 1), moves or Moves())


def state_of(*arguments: str, **options: object) -> State:
    """The state of such a chain."""
    state: State = chain(*arguments, **options).state  # type: ignore[arg-type]
    return state


def arrays_in(value: Any) -> list[Any]:
    """The arrays in tuples of tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for part in value for array in arrays_in(part)]


def check_assignment(state: State) -> None:
    """Labels, slots, counts and sufficient statistics must agree."""
    assignment, clusters = state.assignment, state.clusters
    number = int(assignment.number[0])
    in_use = assignment.slots[:number]
    assert set(assignment.z) == set(in_use)
    assert sorted(assignment.slots) == list(range(len(assignment.slots)))
    every = np.arange(len(assignment.slots))
    np.testing.assert_array_equal(assignment.place[assignment.slots], every)
    for k in in_use:
        assert clusters.count[k] == (assignment.z == k).sum()
    empty = len(clusters.count) - 1
    assert empty == len(assignment.slots)
    assert clusters.count[empty] == 0
    problem = state.problem
    sites = compile_sites(problem.constraints, problem.n_items)
    if problem.labels:  # whose evidence follows from the noise
        sites = sites._replace(labels=state.sites.labels)
    pairs = zip(arrays_in(sites), arrays_in(state.sites), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)
    fresh = State(problem, assignment.place[assignment.z], np.random.default_rng(0))
    fresh.hyper = state.hyper
    fresh.assign(assignment.place[assignment.z])
    wider = problem.family.new_state(empty + 1, state.hyper)
    for name in clusters._fields:
        array, other = getattr(clusters, name), getattr(fresh.clusters, name)
        one_each = isinstance(array, np.ndarray) and array.ndim
        if one_each and len(getattr(wider, name)) == len(array) + 1:  # one for each slot
            close = {"rtol": 1e-6, "atol": 1e-8, "err_msg": name}
            np.testing.assert_allclose(array[in_use], other[:number], **close)
            np.testing.assert_array_equal(array[empty], other[-1], err_msg=name)
