"""Which kernels of a chain are worth compiling by other processes, beside those that it begins with.

Calls of them with arrays as small as can be: only the types matter. A call that is not made like
those of the chain costs time, and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._beside import Call
from bayesclust.constraints.sites import Sites
from bayesclust.inference.anchors import Places
from bayesclust.inference.hyper import TOTAL, walk_clusters
from bayesclust.inference.joint_moves import NONE_DRAWN
from bayesclust.inference.link_blocks import NOT_DRAWN, move_blocks
from bayesclust.inference.schedule import Moves
from bayesclust.inference.seating import Seating, new_seating
from bayesclust.inference.split_merge import DECIDE, attempt
from bayesclust.models.families.base import BoundFamily

Seated = tuple[Any, Seating]
"""The clusters' state, and who sits where."""
Answers = tuple[Sites, NDArray[np.float64], float]
"""Sites, table and log alpha."""
_asked: set[tuple[Any, ...]] = set()


def is_first(*kind: Any) -> bool:
    """Whether no chain of a kind was made before: some are made by the hundred, and their kernels are asked for once."""
    first = kind not in _asked
    _asked.add(kind)
    return first


def of_one_item(family: BoundFamily, hyper: NDArray[np.float64]) -> Seated:
    """One cluster of one item."""
    return family.new_state(1, hyper), new_seating(np.zeros(1, np.int64), 1)


def calls_of_moves(
    seated: Seated,
    family: BoundFamily,
    answers: Answers,
    places: Places,
    moves: Moves,
    rng: Generator,
) -> list[Call]:
    """Those of what a sweep does after its scan, the longest to compile first."""
    calls: list[Call] = []
    if moves.split_merge and not family.n_shared:
        pairs = places, NONE_DRAWN, np.zeros((1, 2), np.int64), np.zeros(1)
        calls.append((attempt, (*seated, *answers, *pairs, moves.restricted_scans, DECIDE, rng)))
    if moves.link_blocks and len(answers[0].code):
        calls.append((move_blocks, (*seated, *answers, NOT_DRAWN, 0, np.zeros(1, np.int64), rng)))
    return calls


def calls_of_data(seated: Seated, family: BoundFamily) -> list[Call]:
    """Those of what steps of the hyper-parameters and the log joint ask of the data."""
    return [] if family.n_shared else [(walk_clusters, (*seated, TOTAL))]


__all__ = ["calls_of_data", "calls_of_moves", "is_first", "of_one_item"]
