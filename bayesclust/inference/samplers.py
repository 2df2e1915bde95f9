"""The samplers of TVClust as lists of moves, and the chains that they start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.inference import chain, runner
from bayesclust.inference.assignment import dispersed_number, seeded_partition
from bayesclust.inference.batches import BatchProblem, BatchSplitMerge, BatchState
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.moves.link_blocks import LinkBlocks
from bayesclust.inference.moves.parameter_scan import ParameterScan
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.moves.split_merge import SplitMerge
from bayesclust.inference.shifts import Shifts
from bayesclust.inference.two_level.moves import ComponentBlocks, TwoLevelScan, TwoLevelSplitMerge
from bayesclust.inference.two_level.state import TwoLevelState
from bayesclust.partition_priors import CandidateLinks
from bayesclust.typing import IntArray

COLLAPSED, BLOCKED, VARIATIONAL = "collapsed", "blocked", "variational"

Sampler = Callable[[chain.TVClustProblem, NDArray[np.integer], Generator, chain.Moves], chain.Chain]
"""Makes a chain of a problem from labels 0..K-1."""


STATES: dict[type, type[chain.State]] = {
    chain.TwoLevelProblem: TwoLevelState,
    BatchProblem: BatchState,
}
"""The kinds of problems whose chains have a state of their own."""


def new_state(problem: chain.TVClustProblem, z: NDArray[np.integer], rng: Generator) -> Any:
    """The state of a chain of a problem of this kind."""
    return STATES.get(type(problem), chain.State)(problem, z, rng)


def group_moves(
    moves: chain.Moves, blocks: type[LinkBlocks] = LinkBlocks, splits: type[SplitMerge] = SplitMerge
) -> list[chain.Move]:
    """The moves of whole groups of items that are asked for."""
    asked: list[chain.Move] = [blocks()] if moves.link_blocks else []
    return [*asked, splits(moves)] if moves.split_merge else asked


def parameter_moves(problem: chain.TVClustProblem) -> list[chain.Move]:
    """The moves of everything but the partition."""
    return [chain.BaseMeasure(problem.family), chain.PartitionPriorParameters(), chain.Noise()]


def collapsed_chain(
    problem: chain.TVClustProblem, z: NDArray[np.integer], rng: Generator, moves: chain.Moves
) -> chain.Chain:
    """The collapsed sampler with side information (TVClust Sec. 3, parameters integrated out)."""
    # Where clusters are mixtures, `moves` are those of single items and components, of components
    # that constraints tie together, and proposals on each level.
    if isinstance(problem.partition_prior, CandidateLinks):
        # imported here: few need it, and it has a kernel to load
        from bayesclust.inference.moves import candidate_links as candidates

        linked = candidates.LinkedState(problem, z, rng)
        base, concentration, _ = parameter_moves(problem)
        moving = [candidates.LearnedNoise(), concentration, candidates.LinkScan(), base]
        return chain.Chain(linked, [chain.Refresh(), *moving])
    scan = Scan(fast=moves.fast)
    if isinstance(problem, chain.TwoLevelProblem):
        scan = TwoLevelScan(fast=moves.fast)
        groups = group_moves(moves, ComponentBlocks, TwoLevelSplitMerge)
    elif isinstance(problem, BatchProblem):
        groups = group_moves(moves, splits=BatchSplitMerge)
        groups += [Shifts()] if problem.has_shifts else []
    else:
        groups = group_moves(moves)
    moving = [chain.Refresh(), *([scan] if moves.single_site else []), *groups]
    return chain.Chain(new_state(problem, z, rng), [*moving, *parameter_moves(problem)])


def gibbs_chain(
    problem: chain.TVClustProblem, z: NDArray[np.integer], rng: Generator, moves: chain.Moves
) -> chain.Chain:
    """The paper's sampler (TVClust Eq. 13; Neal 2000, Algorithm 2): each sweep draws parameters."""
    scan: chain.Move = ParameterScan() if moves.single_site else chain.Refresh()
    state = chain.State(problem, z, rng)
    return chain.Chain(state, [scan, *group_moves(moves), *parameter_moves(problem)])


SAMPLERS: dict[str, Sampler] = {COLLAPSED: collapsed_chain, "gibbs": gibbs_chain}


def default_moves(sampler: Sampler, n_items: int) -> chain.Moves:
    """Single-site updates alone for the paper's sampler; else fewer proposals beyond 500 items."""
    # A proposal visits all items of one or two clusters several times, one by one.
    if sampler is gibbs_chain:
        return chain.Moves(link_blocks=False, split_merge=0.0)
    return chain.Moves(split_merge=min(1.0, 500.0 / n_items))


def chain_starts(
    sampler: str | Sampler,
    problem: chain.TVClustProblem | DCRCProblem,
    given: IntArray | None,
    moves: chain.Moves | None,
    rngs: list[Generator],
    finer: bool = False,
) -> list[Callable[[], runner.Chain]]:
    """One callable per chain, or one for all where they advance together."""
    # `given` are labels (n,) for all chains or (chains, n); if None, `dispersed_number` says.
    if isinstance(problem, DCRCProblem):
        return [partial(DCRCChain, problem, rng) for rng in rngs]

    def partition(c: int) -> IntArray:
        if given is not None:
            own: IntArray = given if given.ndim == 1 else given[c]
            return own
        if isinstance(problem.partition_prior, CandidateLinks):
            # imported here: few need it, and it has a kernel to load
            from bayesclust.inference.moves.candidate_links import linked_start

            return linked_start(problem, c)
        most = problem.partition_prior.most_clusters or problem.n_items
        number = min(dispersed_number(c, problem.n_items, finer=finer), most)
        return seeded_partition(problem.embedding(), number, rngs[c])

    def blocked() -> runner.Chain:
        # imported here: it loads JAX, which the other samplers do without
        from bayesclust.inference.blocked.chains import BlockedChains

        starts = np.stack([partition(c) for c in range(len(rngs))])
        return BlockedChains(problem, starts, rngs)

    if sampler == BLOCKED:
        return [blocked]
    make = SAMPLERS[sampler] if isinstance(sampler, str) else sampler
    chosen = default_moves(make, problem.n_items) if moves is None else moves

    def sequential(c: int) -> runner.Chain:
        return make(problem, partition(c), rngs[c], chosen)

    return [partial(sequential, c) for c in range(len(rngs))]
