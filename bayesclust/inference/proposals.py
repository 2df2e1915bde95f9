"""Proposals of whole clusters, and whether they are taken: what every split-merge move ends with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._jit import FAST, kernel
from bayesclust.inference.seating import Seating, close_slot, use_slot

Gain = Callable[[NDArray[np.int64]], float]
"""log target(z) less what the proposal's own table of answers says of z, less the same of where the chain is."""


class Proposal(NamedTuple):
    """The items of the anchors' one or two clusters, seated in free slots as proposed."""

    log_ratio: float  # log of Metropolis and Hastings' ratio under the table of answers that made it
    items: NDArray[np.int64]
    before: NDArray[np.int64]  # (len(items),) their former slots


@kernel(fastmath=FAST)
def settle(seating: Seating, items: NDArray[np.int64], before: NDArray[np.int64], anchor: int, other: int) -> None:
    """Give back the slots that items left, and take into use those that the anchors have now."""
    z, first, second = seating.z, np.int64(-1), np.int64(-1)
    for t in range(len(items)):
        if items[t] == anchor:
            first = before[t]
        elif items[t] == other:
            second = before[t]
    close_slot(seating, first)
    if second != first:
        close_slot(seating, second)
    use_slot(seating, z[anchor])
    if z[other] != z[anchor]:
        use_slot(seating, z[other])


def decide(
    seating: Seating, proposal: Proposal, anchor: int, other: int, rng: Generator, gain: Gain | None = None
) -> bool:
    """Take a proposal with probability min(1, r), or put everything back.

    Parameters
    ----------
    seating : Seating
        Whose `z` holds the proposal.
    proposal : Proposal
    anchor, other : int
        The items that were parted or brought together.
    rng : Generator
    gain : callable, optional
        What r is raised by, in logarithms, as a function of z; nothing where the table of answers is that of the target.

    Returns
    -------
    bool
        Whether it was taken.
    """
    log_ratio, items, before = proposal
    if gain is not None:
        log_ratio += gain(seating.z)
    if math.log(rng.random()) < log_ratio:
        settle(seating, items, before, anchor, other)
        return True
    seating.z[items] = before
    return False


__all__ = ["Gain", "Proposal", "decide"]
