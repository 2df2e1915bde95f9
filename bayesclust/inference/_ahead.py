"""Which kernels of a chain are worth compiling by other processes, beside those that it begins with.

Calls of them with arrays as small as can be: only the types matter. A call that is not made like those of the chain costs
time, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._beside import Call
from bayesclust.constraints.sites import Sites
from bayesclust.inference.hyper import derive_all, proposed_log_marginal, total_log_marginal
from bayesclust.inference.link_blocks import NOT_DRAWN, move_blocks
from bayesclust.inference.schedule import Moves
from bayesclust.inference.seating import Seating, new_seating
from bayesclust.inference.split_merge import DECIDE, attempt
from bayesclust.models.families.base import BoundFamily

Answers = tuple[Sites, NDArray[np.float64], float]
"""Sites, table and log alpha."""


def of_one_item(family: BoundFamily, hyper: NDArray[np.float64]) -> tuple[Any, Seating]:
    """(clusters' state, seating) with one cluster of one item."""
    return family.new_state(1, hyper), new_seating(np.zeros(1, np.int64), 1)


def calls_of_moves(
    family: BoundFamily, hyper: NDArray[np.float64], answers: Answers, moves: Moves, rng: Generator
) -> list[Call]:
    """Those of what a sweep does after its scan, the longest to compile first."""
    state, seating = of_one_item(family, hyper)
    calls: list[Call] = []
    if moves.split_merge and not family.n_shared:
        pairs, chance = np.zeros((1, 2), np.int64), np.zeros(1)
        calls.append((attempt, (state, seating, *answers, pairs, chance, moves.restricted_scans, DECIDE, rng)))
    if moves.link_blocks and len(answers[0].code):
        calls.append((move_blocks, (state, seating, *answers, NOT_DRAWN, 0, np.zeros(1, np.int64), rng)))
    return calls


def calls_of_data(family: BoundFamily, hyper: NDArray[np.float64]) -> list[Call]:
    """Those of what steps of the hyper-parameters and the log joint ask of the data."""
    if family.n_shared:
        return []
    kernels = [total_log_marginal, *((proposed_log_marginal, derive_all) if len(family.free) else ())]
    return [(kernel, of_one_item(family, hyper)) for kernel in kernels]


__all__ = ["calls_of_data", "calls_of_moves", "of_one_item"]
