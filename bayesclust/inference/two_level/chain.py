"""The collapsed sampler of a model whose clusters are mixtures of components.

Classes are seldom ellipses. Where every cluster is one Gaussian, a class that is not splits into
several, the answers that hold it together are contradicted by the thousand, and the noise model
learns to dismiss them. Here components stay small and Gaussian, clusters are sets of components,
and answers act on clusters alone: they group components instead of fighting them (mixtures of
mixtures, Malsiner-Walli, Fruehwirth-Schnatter and Gruen 2017, with Dirichlet processes on both
levels).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.families.gaussian import FullState
from bayesclust.inference.collapsed import SPARE_SLOTS, CollapsedChain
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.proposals import Gain
from bayesclust.inference.schedule import Moves
from bayesclust.inference.seating import Seating
from bayesclust.inference.split_merge_shared import SharedMove
from bayesclust.inference.two_level.component_moves import move_components
from bayesclust.inference.two_level.levels import Levels, new_levels
from bayesclust.inference.two_level.scan import scan_two_level
from bayesclust.inference.two_level.scan_full import scan_full_two_level
from bayesclust.inference.two_level.splits import (
    split_merge_clusters,
    split_merge_components,
)
from bayesclust.models.nested import WITHIN, nested_log_prob, update_within
from bayesclust.models.priors import Concentration

FAST_SCANS = {FullState: scan_full_two_level}


@dataclass(frozen=True)
class TwoLevelProblem(TVClustProblem):
    """The model and the data; `within` is the prior of the concentration of components within a cluster."""

    within: Concentration = WITHIN


class TwoLevelChain(CollapsedChain):
    """One chain. `sweep` moves it on, `draw` tells where it is.

    Of `moves`, `single_site` moves single items and single components, `link_blocks` components
    that answers tie together, and `split_merge` is the number of proposals on each level.

    Parameters
    ----------
    problem : TwoLevelProblem
    z : ndarray of shape (n,)
        Labels 0..K-1 to start from, every cluster being one component.
    rng : Generator
    moves : Moves
    """

    problem: TwoLevelProblem

    def __init__(
        self, problem: TwoLevelProblem, z: NDArray[np.integer], rng: Generator, moves: Moves
    ) -> None:
        labels = np.asarray(z)
        self.beta, self.levels = (
            problem.within.initial(),
            new_levels(labels, labels, len(labels), len(labels)),
        )
        super().__init__(problem, labels, rng, moves)

    @property
    def labels(self) -> NDArray[np.int64]:
        return self.levels.clusters.z

    @property
    def n_clusters(self) -> int:
        return int(self.levels.clusters.number[0])

    @property
    def log_beta(self) -> float:
        """Logarithm of the concentration within clusters, which may be too small for a float itself."""
        return self.problem.within.log(self.beta)

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        variables, statistics = super().draw()
        variables |= {
            "component": self.seating.place[self.seating.z],
            "n_components": int(self.seating.number[0]),
            "within_concentration": self.beta,
        }
        if self.problem.within.log_fixed is not None:
            variables["log_within_concentration"] = self.log_beta
        return variables, statistics

    def log_joint(self) -> float:
        """log p(components, clusters, x, s, alpha, beta, noise, hyper-parameters), in the user's units."""
        return super().log_joint() + self.problem.within.log_prior(self.beta)

    def snapshot(self) -> dict[str, Any]:
        levels = self.levels
        above = {"clusters": levels.clusters._asdict(), "owner": levels.owner, "size": levels.size}
        return super().snapshot() | {"beta": self.beta, "levels": above}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.beta, above = snapshot["beta"], snapshot["levels"]
        self.levels = Levels(Seating(**above["clusters"]), above["owner"], above["size"])

    def _log_partition(self) -> float:
        alpha, beta = self.problem.concentration, self.problem.within
        return nested_log_prob(
            self.seating.z,
            self.labels,
            self.alpha,
            self.beta,
            log_alpha=alpha.log_fixed,
            log_beta=beta.log_fixed,
        )

    def _seat(self, z: NDArray[np.integer]) -> None:
        super()._seat(z)
        above = self.levels.clusters.place[self.levels.clusters.z]
        self.levels = new_levels(z, above, len(self.seating.slots), len(self.seating.slots))

    def _scan(self) -> None:
        move = (
            FAST_SCANS.get(type(self.state), scan_two_level) if self.moves.fast else scan_two_level
        )
        order = self.rng.permutation(self.problem.n_items)
        position, self.moved[0] = 0, 0
        while position < len(order):
            position = move(
                self.state,
                self.seating,
                self.levels,
                self.sites,
                self.table,
                self.log_alpha,
                self.log_beta,
                order,
                position,
                self.moved,
                self.rng,
            )
            self._make_room(1)
        self._move(bonded=False)

    def _move(self, *, bonded: bool) -> tuple[int, int]:
        """A pass over components, or over the groups that fresh bonds make."""
        moved, number = move_components(
            self.seating,
            self.levels,
            self.sites,
            self.table,
            self.log_alpha,
            self.log_beta,
            bonded,
            self.rng,
        )
        return int(moved), int(number)

    def _move_blocks(self) -> tuple[int, int]:
        moved, number = self._move(bonded=True)
        self.blocks_moved = moved / number
        return moved, number

    def _split_merge(self, proposals: int, *, joint: bool) -> None:
        accepted, rng = 0, self.rng
        for _ in range(proposals):
            self._make_room(SPARE_SLOTS)
            first, second = self.anchors.draw(rng)
            if self._number_with_noise(1, joint):
                accepted += self._propose_with_noise(first, second)
            else:
                accepted += self._propose(first, second, self.table, None)
            company = np.flatnonzero(self.labels == self.labels[first])
            second = int(company[rng.integers(len(company))])
            if second != first:
                accepted += self._propose_components(first, second)
        self.accepted = accepted / (2 * proposals) if proposals else np.nan

    def _propose(
        self, first: int, second: int, table: NDArray[np.float64], gain: Gain | None
    ) -> bool:
        seats = self.seating, self.levels, self.sites, table, self.log_alpha, self.log_beta
        return split_merge_clusters(*seats, first, second, self.rng, gain)

    def _propose_components(self, first: int, second: int) -> bool:
        """Propose to part or to join the components of two items of one cluster, which answers do not feel."""
        family, scans, rng = self.problem.family, self.moves.restricted_scans, self.rng
        if not family.n_shared:
            return bool(
                split_merge_components(
                    self.state, self.seating, self.levels, self.log_beta, first, second, scans, rng
                )
            )
        nobody = compile_sites((), self.problem.n_items), stack_tables((), [])
        cluster = self.levels.clusters.z[first]
        move = SharedMove(family, self.seating, *nobody, self.log_beta, self.hyper)
        accepted = move.propose(first, second, scans, rng)
        if accepted:
            self.levels.owner[self.seating.z[[first, second]]] = cluster
            self.hyper = self.hyper_sampler.redraw(self.state, self.seating, self.hyper, rng)
        return accepted

    def _update_concentration(self) -> None:
        super()._update_concentration()
        sizes = self.levels.size[self.levels.clusters.slots[: self.n_clusters]]
        number = int(self.seating.number[0])
        self.beta = update_within(self.problem.within, self.beta, number, sizes, self.rng)


__all__ = ["TwoLevelChain", "TwoLevelProblem"]
