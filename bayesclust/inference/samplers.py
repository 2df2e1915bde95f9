"""The samplers of TVClust as lists of moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.inference.chain import Chain, Move, State
from bayesclust.inference.moves.link_blocks import LinkBlocks
from bayesclust.inference.moves.parameter_scan import ParameterScan
from bayesclust.inference.moves.parameters import (
    BaseMeasure,
    Noise,
    PartitionPriorParameters,
    Refresh,
)
from bayesclust.inference.moves.propose import SplitMerge
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.problem import TVClustProblem, TwoLevelProblem
from bayesclust.inference.schedule import Moves, MoveSchedule
from bayesclust.inference.two_level.state import (
    ClusterSplitMerge,
    ComponentBlocks,
    TwoLevelScan,
    TwoLevelState,
)

Sampler = Callable[[TVClustProblem, NDArray[np.integer], Generator, Moves], Chain]
"""What makes a chain of a problem from labels 0..K-1."""


def group_moves(schedule: MoveSchedule) -> list[Move]:
    """The moves of whole groups of items that are asked for."""
    moves: list[Move] = []
    if schedule.moves.link_blocks:
        moves.append(LinkBlocks(schedule))
    if schedule.moves.split_merge:
        moves.append(SplitMerge(schedule))
    return moves


def parameter_moves(problem: TVClustProblem) -> list[Move]:
    """The moves of everything but the partition."""
    return [BaseMeasure(problem.family), PartitionPriorParameters(), Noise()]


def collapsed_chain(
    problem: TVClustProblem, z: NDArray[np.integer], rng: Generator, moves: Moves
) -> Chain:
    """The collapsed sampler with side information (TVClust Sec. 3, cluster parameters integrated out); mixtures included."""
    if isinstance(problem, TwoLevelProblem):
        return mixture_chain(problem, z, rng, moves)
    scan: list[Move] = [Scan(fast=moves.fast)] if moves.single_site else []
    state = State(problem, z, rng)
    groups = group_moves(MoveSchedule(moves))
    return Chain(state, [Refresh(), *scan, *groups, *parameter_moves(problem)])


def gibbs_chain(
    problem: TVClustProblem, z: NDArray[np.integer], rng: Generator, moves: Moves
) -> Chain:
    """The paper's own sampler (TVClust Eq. 13; Neal 2000, Algorithm 2): each sweep draws parameters."""
    scan: Move = ParameterScan() if moves.single_site else Refresh()
    state = State(problem, z, rng)
    return Chain(state, [scan, *group_moves(MoveSchedule(moves)), *parameter_moves(problem)])


def mixture_chain(
    problem: TwoLevelProblem, z: NDArray[np.integer], rng: Generator, moves: Moves
) -> Chain:
    """The collapsed sampler of clusters that are mixtures; it starts with one component in each.

    Of `moves`, `single_site` moves single items and single components, `link_blocks` components
    that constraints tie together, and `split_merge` is the number of proposals on each level.
    """
    schedule, steps = MoveSchedule(moves), [Refresh()]
    own: list[Move] = []
    if moves.single_site:
        own.append(TwoLevelScan(fast=moves.fast))
    if moves.link_blocks:
        own.append(ComponentBlocks(schedule))
    if moves.split_merge:
        own.append(ClusterSplitMerge(schedule))
    state = TwoLevelState(problem, z, rng)
    return Chain(state, [*steps, *own, *parameter_moves(problem)])


SAMPLERS: dict[str, Sampler] = {"collapsed": collapsed_chain, "gibbs": gibbs_chain}


def default_moves(sampler: Sampler, n_items: int) -> Moves:
    """What a sweep consists of if nothing is said: the paper's sampler has single-site updates alone."""
    if sampler is gibbs_chain:
        return Moves(link_blocks=False, split_merge=0.0)
    return Moves.default(n_items)
