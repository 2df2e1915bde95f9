"""The collapsed Dirichlet-process sampler with side information (TVClust Sec. 3, cluster parameters integrated out).

A sweep is: single-site updates of all items in random order (`scan`), moves of the groups that
links hold together, a few split-merge proposals, half of them with the noise integrated out,
Metropolis steps on the base measure's hyper-parameters, and conjugate draws of the concentration
and of the noise of every view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.families.gaussian import FullState
from bayesclust.inference.anchors import AnchorProposal
from bayesclust.inference.hyper import HyperSampler, log_data
from bayesclust.inference.joint_moves import NONE_DRAWN, SHARE, UnheardNoise
from bayesclust.inference.link_blocks import NOT_DRAWN, move_blocks
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.proposals import Gain
from bayesclust.inference.scan import scan
from bayesclust.inference.scan_full import scan_full
from bayesclust.inference.schedule import Moves, MoveSchedule
from bayesclust.inference.seating import Seating, new_seating, refresh
from bayesclust.inference.split_merge import DECIDE, attempt, split_merge
from bayesclust.inference.split_merge_shared import SharedMove
from bayesclust.inference.tally import Tally

FAST_SCANS = {FullState: scan_full}
SPARE_SLOTS = 4


class CollapsedChain:
    """One chain. `sweep` moves it on, `draw` tells where it is.

    Parameters
    ----------
    problem : TVClustProblem
    z : ndarray of shape (n,)
        Labels 0..K-1 to start from.
    rng : Generator
    moves : Moves
    """

    def __init__(
        self, problem: TVClustProblem, z: NDArray[np.integer], rng: Generator, moves: Moves
    ) -> None:
        self.rng, self.moves = rng, moves
        self._pose(problem)
        self.schedule = MoveSchedule(moves)
        self.hyper_sampler = HyperSampler(problem.family)
        self.hyper = self.hyper_sampler.start(np.asarray(z), rng)
        self.alpha = problem.concentration.initial()
        self.noise = [view.noise.initial(view.n_sources) for view in problem.constraints]
        self.moved = np.zeros(1, np.int64)
        self.accepted = self.blocks_moved = np.nan
        self._seat(np.asarray(z))

    def _pose(self, problem: TVClustProblem) -> None:
        """Take a problem, and all that follows from its data and answers alone."""
        self.problem = problem
        self.sites = compile_sites(problem.constraints, problem.n_items)
        self.anchors = AnchorProposal(problem.family.embedding(), problem.constraints)
        self.tally = Tally(problem.constraints, self.sites)
        self.unheard = UnheardNoise(self.tally)

    @staticmethod
    def default_moves(n_items: int) -> Moves:
        """What a sweep consists of if nothing is said."""
        return Moves.default(n_items)

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Parameters of each view's noise; with them goes the table log p(answer | pattern) that all moves read."""
        return self._noise

    @noise.setter
    def noise(self, noise: list[dict[str, Any]]) -> None:
        self._noise, self.table = noise, stack_tables(self.problem.constraints, noise)

    @property
    def log_alpha(self) -> float:
        """Logarithm of the concentration, which may be too small for a float itself."""
        return self.problem.concentration.log(self.alpha)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Cluster of each item, by its slot: what answers speak of."""
        return self.seating.z

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.seating.number[0])

    def sweep(self, *, adapt: bool = False, trust: bool = False) -> None:
        """One sweep over everything unknown.

        `adapt` tunes proposal scales; `trust` holds the noise at its prior mean. Both belong to the
        warm-up: a partition that has not yet seen the answers contradicts half of them, and would
        have them dismissed as noise for good.
        """
        self._make_room(SPARE_SLOTS)
        self._refresh()
        if self.moves.single_site:
            self._scan()
        self.blocks_moved = np.nan
        for _ in range(
            self.schedule.block_passes(self.rng, adapt=adapt) if len(self.sites.code) else 0
        ):
            moved, number = self._move_blocks()
            if adapt and not trust:
                self.schedule.record_blocks(moved, number)
        self.anchors.noting = adapt and not trust
        proposals = (
            self.schedule.proposals(self.rng, adapt=adapt) if self.problem.n_items > 1 else 0
        )  # each takes a pair
        self._split_merge(proposals, joint=not trust)
        self.hyper = self.hyper_sampler.update(
            self.state, self.seating, self.hyper, self.rng, adapt=adapt
        )
        self._update_concentration()
        if not trust:
            self._update_noise()

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(variables of the posterior, sample statistics) of the present state."""
        variables: dict[str, Any] = {
            "z": self.labels.copy(),
            "n_clusters": self.n_clusters,
            "concentration": self.alpha,
        }
        if self.problem.concentration.log_fixed is not None:
            variables["log_concentration"] = self.log_alpha
        # what clusters share stands behind them, and is not recorded: it is drawn anew where it is
        # asked for
        for prior, value in zip(self.problem.family.hyper_priors, self.hyper, strict=False):
            if prior.log_sd > 0:
                variables[prior.name] = float(value)
        for names, noise in zip(self.problem.noise_names, self.noise, strict=True):
            variables |= {names[name]: np.array(values) for name, values in noise.items()}
        statistics = {
            "log_joint": self.log_joint(),
            "moved": self.moved[0] / self.problem.n_items,
            "blocks_moved": self.blocks_moved,
            "split_merge_accept": self.accepted,
        }
        return variables, statistics

    def log_joint(self) -> float:
        """log p(z, x, s, alpha, noise, hyper-parameters), cluster parameters integrated out, in the user's units."""
        problem = self.problem
        value = self._log_partition() + problem.concentration.log_prior(self.alpha)
        value += (
            log_data(problem.family, self.state, self.seating, self.hyper)
            + problem.family.log_constant
        )
        value += problem.family.log_hyper_prior(self.hyper)
        value += sum(
            view.noise.log_prior(noise)
            for view, noise in zip(problem.constraints, self.noise, strict=True)
        )
        return float(value + (self.tally(self.labels) * self.table).sum())

    def _log_partition(self) -> float:
        in_use = self.seating.slots[: self.seating.number[0]]
        return self.problem.concentration.log_prob(self.state.count[in_use], self.alpha)

    def snapshot(self) -> dict[str, Any]:
        """Where the chain is, to the last bit; the clusters' statistics follow from it."""
        return {
            "seating": self.seating._asdict(),
            "hyper": self.hyper,
            "alpha": self.alpha,
            "noise": self.noise,
            "hyper_sampler": self.hyper_sampler.snapshot(),
            "schedule": self.schedule.snapshot(),
            "noted": self.anchors.noted,
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot of a chain of the same problem."""
        self.hyper, self.alpha, self.noise = snapshot["hyper"], snapshot["alpha"], snapshot["noise"]
        self.hyper_sampler.restore(snapshot["hyper_sampler"])
        self.schedule.restore(snapshot["schedule"])
        self.anchors.noted = snapshot["noted"]
        self.rng.bit_generator.state = snapshot["generator"]
        self.seating = Seating(**snapshot["seating"])
        self.state = self.problem.family.new_state(len(self.seating.slots), self.hyper)
        refresh(self.state, self.seating)

    def _seat(self, z: NDArray[np.integer]) -> None:
        number = int(z.max()) + 1
        capacity = max(16, 2 * number + SPARE_SLOTS)
        self.state = self.problem.family.new_state(capacity, self.hyper)
        self.seating = new_seating(z, capacity)
        refresh(self.state, self.seating)

    def _refresh(self) -> None:
        """Bring the clusters' state up to date for the scan."""
        refresh(self.state, self.seating)

    def _make_room(self, spare: int) -> None:
        number = int(self.seating.number[0])
        if number + spare > len(self.seating.slots):
            labels = self.seating.place[self.seating.z]
            self._seat(labels)

    def _scan(self) -> None:
        move = FAST_SCANS.get(type(self.state), scan) if self.moves.fast else scan
        order = self.rng.permutation(self.problem.n_items)
        position, self.moved[0] = 0, 0
        while position < len(order):
            position = move(
                self.state,
                self.seating,
                self.sites,
                self.table,
                self.log_alpha,
                order,
                position,
                self.moved,
                self.rng,
            )
            self._make_room(1)

    def _move_blocks(self) -> tuple[int, int]:
        """One pass; returns how many blocks moved, and how many there were."""
        blocks, position, moved = NOT_DRAWN, 0, np.zeros(1, np.int64)
        while blocks is NOT_DRAWN or position < len(blocks.begin):
            self._make_room(1)
            position, blocks = move_blocks(
                self.state,
                self.seating,
                self.sites,
                self.table,
                self.log_alpha,
                blocks,
                position,
                moved,
                self.rng,
            )
        number = len(blocks.begin)
        self.blocks_moved = moved[0] / number if number else np.nan
        return int(moved[0]), number

    def _split_merge(self, proposals: int, *, joint: bool) -> None:
        """Splits and merges; those with the noise integrated out leave it as it was, for `_update_noise` to draw anew."""
        with_noise, rows = self._number_with_noise(proposals, joint), self.unheard.rows
        at_once = (
            0
            if self.problem.family.n_shared
            else proposals
            if rows is not None
            else proposals - with_noise
        )
        # those with the noise integrated out come last: it is not drawn anew before the end of the
        # sweep
        accepted = self._propose_all(at_once, with_noise if rows is not None else 0)
        for position in range(at_once, proposals):
            first, second = self._anchors()
            if position < proposals - with_noise:
                accepted += self._propose(first, second, self.table, None)
            else:
                accepted += self._propose_with_noise(first, second)
        self.accepted = accepted / proposals if proposals else np.nan

    def _number_with_noise(self, proposals: int, joint: bool) -> int:
        """How many of these are made with the noise integrated out, if that is allowed and some of it is learned."""
        return int(self.rng.binomial(proposals, SHARE)) if joint and self.unheard else 0

    def _anchors(self) -> tuple[int, int]:
        """A pair for one proposal, and the slots that it needs."""
        self._make_room(SPARE_SLOTS)
        return self.anchors.draw(self.rng)

    def _propose_all(self, number: int, with_noise: int) -> int:
        """Split-merge proposals one after another, the last of them with noise; returns how many were accepted."""
        if number == 0:
            return 0
        answers, scans, accepted = (
            (self.sites, self.table, self.log_alpha),
            self.moves.restricted_scans,
            0,
        )
        anchors, places = self.anchors.pairs(number, self.rng), self.anchors.places
        drawn = self.unheard.draw(with_noise, self.rng) if with_noise else NONE_DRAWN
        while len(anchors):
            self._make_room(SPARE_SLOTS)
            chance = np.zeros(len(anchors))
            position, more, *_ = attempt(
                self.state,
                self.seating,
                *answers,
                places,
                drawn,
                anchors,
                chance,
                scans,
                DECIDE,
                self.rng,
            )
            self.anchors.note(anchors, chance)
            anchors, accepted = anchors[position:], accepted + more
        return accepted

    def _propose_with_noise(self, first: int, second: int) -> bool:
        """One proposal, the noise integrated out (`bayesclust.inference.joint_moves`)."""
        accepted = self._propose(first, second, *self.unheard.proposal(self.labels, self.rng))
        if accepted:
            self._update_noise()
        return accepted

    def _propose(
        self, first: int, second: int, table: NDArray[np.float64], gain: Gain | None
    ) -> bool:
        """One split-merge proposal, made by a table of answers, and decided."""
        family, scans, rng = self.problem.family, self.moves.restricted_scans, self.rng
        answers = (self.sites, table, self.log_alpha)
        if not family.n_shared:
            return split_merge(self.state, self.seating, *answers, first, second, scans, rng, gain)
        accepted = SharedMove(family, self.seating, *answers, self.hyper).propose(
            first, second, scans, rng, gain
        )
        if accepted:
            self.hyper = self.hyper_sampler.redraw(self.state, self.seating, self.hyper, rng)
        return accepted

    def _update_concentration(self) -> None:
        self.alpha = self.problem.concentration.update(
            self.alpha, self.n_clusters, self.problem.n_items, self.rng
        )

    def _update_noise(self) -> None:
        views: Sequence[Constraints] = self.problem.constraints
        if not views:
            return
        counts = self.tally.by_view(self.tally(self.labels))
        told = zip(views, counts, self.noise, strict=True)
        self.noise = [view.noise.draw(tally, noise, self.rng) for view, tally, noise in told]
