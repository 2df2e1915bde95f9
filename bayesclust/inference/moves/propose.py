"""The split-merge moves of a sweep: how many proposals, from which anchors, and with which of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import FAST, kernel
from bayesclust.inference.chain import SPARE_SLOTS, Move, State
from bayesclust.inference.moves.anchors import NOBODY, NOTED, WORTH_NOTING, Places, fill_pairs
from bayesclust.inference.moves.split_merge import split_merge
from bayesclust.inference.moves.split_merge_shared import SharedMove
from bayesclust.inference.noise import DrawnNoise
from bayesclust.inference.schedule import MoveSchedule
from bayesclust.typing import FloatArray, IntArray

INTEGRATED_SHARE = 0.5
"""Of the proposals, those made with the noise integrated out, where some of it is learned."""


@kernel(fastmath=FAST)
def draw_anchors(pairs: IntArray, places: Places, rng: np.random.Generator) -> None:
    """Draw the pairs, (P, 2), that are `NOBODY`."""
    fill_pairs(pairs, places, rng)


class SplitMerge(Move):
    """Split-merge proposals, half of them with the noise integrated out where it is learned.

    Those come last: the noise is not drawn again before the end of the sweep.
    """

    def __init__(self, schedule: MoveSchedule) -> None:
        self.schedule, self.scans = schedule, schedule.moves.restricted_scans
        self.noted: IntArray = np.zeros((0, 2), np.int64)
        self.accepted = np.nan

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        number = self.schedule.proposals(state.rng, adapt=adapt) if state.n_items > 1 else 0
        integrated = 0
        if state.integrated_noise and not freeze_noise:
            integrated = int(state.rng.binomial(number, INTEGRATED_SHARE))
        self.accepted = np.nan
        if number:
            drawn = state.integrated_noise.draw(integrated, state.rng)
            self.accepted = (
                self.propose(state, number, drawn, noting=adapt and not freeze_noise) / number
            )

    def propose(self, state: State, number: int, drawn: DrawnNoise, *, noting: bool) -> float:
        """Make the proposals; returns how many were accepted."""
        pairs, accepted = np.full((number, 2), NOBODY), 0
        if state.problem.family.n_shared:
            for position in range(number):
                state.make_room(SPARE_SLOTS)
                integrated = position - number + len(drawn.table)
                accepted += self.propose_shared(state, drawn, integrated)
            return accepted
        while len(pairs):
            state.make_room(SPARE_SLOTS)
            chance = np.zeros(len(pairs))
            position, more = split_merge(
                state.target, pairs, self.places(state), drawn, chance, self.scans, 0, state.rng
            )
            if noting:
                self.note(pairs, chance)
            pairs, accepted = pairs[position:], accepted + more
        return accepted

    def propose_shared(self, state: State, drawn: DrawnNoise, integrated: int) -> bool:
        """One proposal where clusters share a covariance; with drawn noise number `integrated`, if that is not negative."""
        target, rows = state.target, None
        if integrated >= 0:
            target, rows = target._replace(table=drawn.table[integrated]), drawn.rows
        move = SharedMove(state.problem.family, target, state.hyper, rows)
        accepted = move.propose(*self.anchors(state), self.scans, 0, state.rng)
        if accepted:
            state.redraw_shared()
        return accepted

    def anchors(self, state: State) -> tuple[int, int]:
        """One pair of items."""
        pair = np.full((1, 2), NOBODY)
        draw_anchors(pair, self.places(state), state.rng)
        return int(pair[0, 0]), int(pair[0, 1])

    def places(self, state: State) -> Places:
        """What anchors are drawn from."""
        return Places(state.embedding, state.asked, self.noted)

    def note(self, pairs: IntArray, chance: FloatArray) -> None:
        """Remember the pairs that are worth trying again, by how probably they were accepted."""
        self.noted = np.concatenate([self.noted, pairs[chance > WORTH_NOTING]])[-NOTED:]

    def statistics(self, state: State) -> dict[str, float]:
        return {"split_merge_accept": self.accepted}

    def snapshot(self) -> dict[str, Any]:
        return {"noted": self.noted}
