"""The samplers by name, and how their chains start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.gibbs import GibbsChain
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.runner import Chain
from bayesclust.inference.schedule import Moves
from bayesclust.inference.starts import dispersed_number, seeded_partition
from bayesclust.inference.two_level.chain import TwoLevelChain, TwoLevelProblem
from bayesclust.typing import IntArray

ONE_BY_ONE: dict[str, type[CollapsedChain]] = {"collapsed": CollapsedChain, "gibbs": GibbsChain}
BLOCKED, VARIATIONAL = "blocked", "variational"


def check_sampler(name: object, moves: object) -> None:
    """Refuse a sampler that there is not, or moves that it has not."""
    if isinstance(name, type):
        if not issubclass(name, CollapsedChain) or issubclass(name, TwoLevelChain):
            raise TypeError(
                f"sampler is the class {name.__name__}, which is no sampler of plain clusters: pass a name or a subclass of "
                "bayesclust.inference.collapsed.CollapsedChain."
            )
        check_moves(moves)
        return
    check_choice(name, "sampler", (*ONE_BY_ONE, BLOCKED, VARIATIONAL))
    check_moves(moves)
    if name == BLOCKED and moves is not None:
        raise ValueError(
            "moves is given, but sampler='blocked' has no moves to choose from: leave moves=None."
        )


def check_moves(moves: object) -> None:
    """Refuse what is neither None nor `Moves`."""
    if not (moves is None or isinstance(moves, Moves)):
        raise TypeError(
            f"moves must be a bayesclust.Moves or None; got {type(moves).__name__}: pass for instance Moves()."
        )


def sampler_name(sampler: str | type[CollapsedChain]) -> str:
    """What a sampler is called in posteriors and checkpoints."""
    return sampler if isinstance(sampler, str) else f"{sampler.__module__}.{sampler.__qualname__}"


def chain_starts(
    name: str | type[CollapsedChain],
    problem: TVClustProblem,
    given: IntArray | None,
    moves: Moves | None,
    rngs: list[Generator],
) -> list[Callable[[], Chain]]:
    """One callable per chain, or one for all where they advance together; from a given partition or dispersed ones."""

    def partition(chain: int) -> IntArray:
        if given is not None:
            return given
        number = dispersed_number(chain, problem.n_items)
        return seeded_partition(problem.family.embedding(), number, rngs[chain])

    def blocked() -> Chain:
        # imported here: it loads JAX, which the other samplers do without
        from bayesclust.inference.blocked import BlockedChains

        return BlockedChains(
            problem, np.stack([partition(chain) for chain in range(len(rngs))]), rngs
        )

    if name == BLOCKED:
        return [blocked]
    chain_type: type[CollapsedChain] = name if isinstance(name, type) else ONE_BY_ONE[name]
    if isinstance(problem, TwoLevelProblem):
        chain_type = TwoLevelChain
    chosen = chain_type.default_moves(problem.n_items) if moves is None else moves

    def one_by_one(chain: int) -> Chain:
        return chain_type(problem, partition(chain), rngs[chain], chosen)

    return [partial(one_by_one, chain) for chain in range(len(rngs))]
