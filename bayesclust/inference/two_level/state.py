"""Chains of a model whose clusters are mixtures of components.

Classes are seldom ellipses. Where every cluster is one Gaussian, a class that is not splits into
several, the answers that hold it together are contradicted by the thousand, and the noise model
learns to explain them as errors. Here components stay small and Gaussian, clusters are sets of
components, and constraints act on clusters alone: they group components instead of fighting them
(mixtures of mixtures, Malsiner-Walli, Fruehwirth-Schnatter and Gruen 2017, with processes on both
levels).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.families.gaussian import FullState
from bayesclust.inference.assignment import Assignment, Target
from bayesclust.inference.chain import SPARE_SLOTS, State
from bayesclust.inference.moves.link_blocks import LinkBlocks
from bayesclust.inference.moves.propose import SplitMerge
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.moves.split_merge import split_merge
from bayesclust.inference.moves.split_merge_shared import SharedMove
from bayesclust.inference.noise import NONE_DRAWN, DrawnNoise
from bayesclust.inference.problem import TwoLevelProblem
from bayesclust.inference.two_level.component_moves import move_components
from bayesclust.inference.two_level.levels import Levels, TwoLevelTarget, new_levels
from bayesclust.inference.two_level.scan import scan_two_level
from bayesclust.inference.two_level.scan_full import scan_full_two_level
from bayesclust.inference.two_level.splits import split_merge_clusters
from bayesclust.partition_priors import NestedTables, nested_log_prob, nested_tables
from bayesclust.typing import IntArray

FAST_SCANS: Mapping[type, Any] = {FullState: scan_full_two_level}


class TwoLevelState(State):
    """Where a chain is: `clusters` and `assignment` are of components, `levels` of the clusters above them."""

    problem: TwoLevelProblem

    def __init__(self, problem: TwoLevelProblem, z: NDArray[np.integer], rng: Generator) -> None:
        labels = np.asarray(z)
        self.within: dict[str, float] = problem.within.initial()
        self.levels = new_levels(labels, labels, len(labels))
        super().__init__(problem, labels, rng)

    @property
    def labels(self) -> IntArray:
        return self.levels.clusters.z

    @property
    def n_clusters(self) -> int:
        return int(self.levels.clusters.number[0])

    @property
    def n_components(self) -> int:
        """Number of components in all clusters."""
        return int(self.assignment.number[0])

    @property
    def prior(self) -> NestedTables:  # type: ignore[override]
        values = tuple(self.values.items()), tuple(self.within.items())
        key = values, len(self.assignment.slots)
        if self._tables is None or self._tables[0] != key:
            among = self.problem.partition_prior.tables(self.n_items, key[1], self.values)
            tables = nested_tables(among, self.problem.within, key[1], self.within)
            self._tables = key, tables  # type: ignore[assignment]
        return self._tables[1]  # type: ignore[index, return-value]

    @property
    def target(self) -> TwoLevelTarget:  # type: ignore[override]
        return TwoLevelTarget(
            self.clusters, self.assignment, self.levels, self.sites, self.table, self.prior
        )

    def assign(self, z: NDArray[np.integer]) -> None:
        super().assign(z)
        above = self.levels.clusters.place[self.levels.clusters.z]
        self.levels = new_levels(z, above, len(self.assignment.slots))

    def update_partition_prior(self) -> None:
        clusters, number = self.levels.clusters, self.n_clusters
        sizes = self.levels.size[clusters.slots[:number]]
        self.values = self.problem.partition_prior.update(self.values, [sizes], self.rng)
        components = self.assignment.slots[: self.n_components]
        place, count = (
            clusters.place[self.levels.owner[components]],
            self.clusters.count[components],
        )
        groups = [count[place == g] for g in range(number)]
        self.within = self.problem.within.update(self.within, groups, self.rng)

    def log_partition(self) -> float:
        problem, values, within = self.problem, self.values, self.within
        priors = problem.partition_prior, problem.within
        value = nested_log_prob(self.assignment.z, self.labels, *priors, values, within)
        return value + priors[0].log_prior(values) + priors[1].log_prior(within)

    def draw(self) -> dict[str, Any]:
        below = {
            "component": self.assignment.place[self.assignment.z],
            "n_components": self.n_components,
        }
        return (
            super().draw()
            | below
            | {f"within_{name}": value for name, value in self.within.items()}
        )

    def snapshot(self) -> dict[str, Any]:
        levels = self.levels._asdict() | {"clusters": self.levels.clusters._asdict()}
        return super().snapshot() | {"within": dict(self.within), "levels": levels}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        super().restore(snapshot)
        self.within, levels = dict(snapshot["within"]), snapshot["levels"]
        self.levels = Levels(**levels | {"clusters": Assignment(**levels["clusters"])})


class TwoLevelScan(Scan):
    """A pass over all items, and one over all components."""

    def __init__(self, *, fast: bool = True) -> None:
        super().__init__(fast=fast, kernel=scan_two_level, fast_kernels=FAST_SCANS)
        self.move_components = True

    def __call__(self, state: TwoLevelState, *, adapt: bool, freeze_noise: bool) -> None:  # type: ignore[override]
        super().__call__(state, adapt=adapt, freeze_noise=freeze_noise)
        if self.move_components:
            move_components(state.target, False, state.rng)


class ComponentBlocks(LinkBlocks):
    """Passes over the groups of components that constraints hold together."""

    def run(self, state: TwoLevelState) -> tuple[int, int]:  # type: ignore[override]
        moved, number = move_components(state.target, True, state.rng)
        self.share_moved = moved / number
        return moved, number


class ClusterSplitMerge(SplitMerge):
    """Split-merge proposals on both levels: clusters as sets of components, and components within a cluster."""

    def propose(  # type: ignore[override]
        self, state: TwoLevelState, number: int, drawn: DrawnNoise, *, noting: bool
    ) -> float:
        accepted, rng = 0, state.rng
        for position in range(number):
            state.make_room(SPARE_SLOTS)
            first, second = self.anchors(state)
            integrated, target = position - number + len(drawn.table), state.target
            if integrated >= 0:
                target = target._replace(table=drawn.table[integrated])
            accepted += split_merge_clusters(
                target, drawn.rows, integrated >= 0, first, second, rng
            )
            mates = np.flatnonzero(state.labels == state.labels[first])
            second = int(mates[rng.integers(len(mates))])
            if second != first:
                accepted += self.propose_components(state, first, second)
        return accepted / 2

    def propose_components(self, state: TwoLevelState, first: int, second: int) -> bool:
        """Propose to part or to join the components of two items of one cluster, which constraints do not see."""
        nobody = compile_sites((), state.n_items), stack_tables((), [])
        cluster = state.labels[first]
        within = Target(state.clusters, state.assignment, *nobody, state.prior.within)
        before = state.n_components
        outside = before - int(state.levels.parts[cluster])
        if state.problem.family.n_shared:
            move = SharedMove(state.problem.family, within, state.hyper)
            accepted = move.propose(first, second, self.scans, outside, state.rng)
        else:
            pair, chance = np.array([[first, second]]), np.zeros(1)
            _, accepted = split_merge(
                within, pair, self.places(state), NONE_DRAWN, chance, self.scans, outside, state.rng
            )
        if accepted:
            state.levels.owner[state.assignment.z[[first, second]]] = cluster
            state.levels.parts[cluster] += state.n_components - before
            if state.problem.family.n_shared:
                state.redraw_shared()
        return bool(accepted)
