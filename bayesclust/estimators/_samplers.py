"""The samplers by name, and how their chains start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.runner import Chain
from bayesclust.inference.samplers import SAMPLERS, Sampler, default_moves
from bayesclust.inference.schedule import Moves
from bayesclust.inference.starts import dispersed_number, seeded_partition
from bayesclust.partition_priors import DirichletProcess, Nested
from bayesclust.typing import IntArray

BLOCKED, VARIATIONAL = "blocked", "variational"


def check_sampler(name: object, moves: object, prior: Nested) -> None:
    """Refuse a sampler that there is not, moves that it has not, and a partition prior that it does not take."""
    check_moves(moves)
    if callable(name) and not isinstance(name, type):
        return
    if not isinstance(name, str):
        kind = f"the class {name.__name__}" if isinstance(name, type) else f"a {type(name).__name__}"
        raise TypeError(
            f"sampler is {kind}: pass a name, or a function of (problem, z, rng, moves) that makes a "
            "bayesclust.inference.chain.Chain."
        )
    check_choice(name, "sampler", (*SAMPLERS, BLOCKED, VARIATIONAL))
    if name == BLOCKED and moves is not None:
        raise ValueError(
            "moves is given, but sampler='blocked' has no moves to choose from: leave moves=None."
        )
    if name in (BLOCKED, VARIATIONAL) and not isinstance(prior.among, DirichletProcess):
        raise ValueError(
            f"sampler={name!r} takes a DirichletProcess as partition_prior; got "
            f"{type(prior.among).__name__}: choose sampler='collapsed' or 'gibbs'."
        )


def check_moves(moves: object) -> None:
    """Refuse what is neither None nor `Moves`."""
    if not (moves is None or isinstance(moves, Moves)):
        raise TypeError(
            f"moves must be a bayesclust.Moves or None; got {type(moves).__name__}: pass for instance Moves()."
        )


def sampler_name(sampler: str | Sampler) -> str:
    """The name of a sampler in posteriors and checkpoints."""
    return sampler if isinstance(sampler, str) else f"{sampler.__module__}.{sampler.__qualname__}"


def chain_starts(
    name: str | Sampler,
    problem: TVClustProblem,
    given: IntArray | None,
    moves: Moves | None,
    rngs: list[Generator],
) -> list[Callable[[], Chain]]:
    """One callable per chain, or one for all where they advance together; from a given partition or dispersed ones."""

    def partition(chain: int) -> IntArray:
        if given is not None:
            return given
        most = problem.partition_prior.most_clusters
        number = min(dispersed_number(chain, problem.n_items), most or problem.n_items)
        return seeded_partition(problem.family.embedding(), number, rngs[chain])

    def blocked() -> Chain:
        # imported here: it loads JAX, which the other samplers do without
        from bayesclust.inference.blocked import BlockedChains

        return BlockedChains(
            problem, np.stack([partition(chain) for chain in range(len(rngs))]), rngs
        )

    if name == BLOCKED:
        return [blocked]
    sampler = SAMPLERS[name] if isinstance(name, str) else name
    chosen = default_moves(sampler, problem.n_items) if moves is None else moves

    def one_by_one(chain: int) -> Chain:
        return sampler(problem, partition(chain), rngs[chain], chosen)

    return [partial(one_by_one, chain) for chain in range(len(rngs))]
