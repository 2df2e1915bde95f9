"""Proposals of whole clusters, and whether they are taken: what every split-merge move ends with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import FAST, kernel
from bayesclust.inference.seating import Seating, close_slot, use_slot

Gain = Callable[[NDArray[np.int64]], float]
"""log target(z) less what the proposal's own table of answers says of z, less the same of where the chain is."""


class Proposal(NamedTuple):
    """The items of the anchors' one or two clusters, seated in free slots as proposed."""

    log_ratio: (
        float  # log of Metropolis and Hastings' ratio under the table of answers that made it
    )
    items: NDArray[np.int64]  # the two anchors first
    before: NDArray[np.int64]  # (len(items),) their former slots


@kernel(fastmath=FAST)
def settle(seating: Seating, items: NDArray[np.int64], before: NDArray[np.int64]) -> None:
    """Give back the slots that the anchors left, and take into use those that they have now."""
    first, second = seating.z[items[0]], seating.z[items[1]]
    close_slot(seating, before[0])
    if before[1] != before[0]:
        close_slot(seating, before[1])
    use_slot(seating, first)
    if second != first:
        use_slot(seating, second)


def hopeless(
    seating: Seating,
    bound: float,
    items: NDArray[np.int64],
    log_uniform: float,
    gain: Gain | None = None,
) -> bool:
    """Whether a merge is refused however surely a split would undo it, so that it need not be asked how surely.

    The ratio of a merge has the probability q of that split as a factor, which takes several scans
    to learn, and q <= 1.

    Parameters
    ----------
    seating : Seating
        As it is before the merge.
    bound : float
        log r - log q under the table of answers that proposes.
    items : ndarray of int
        Of the two clusters.
    log_uniform : float
        Logarithm of the uniform number that decides.
    gain : callable, optional
        As in `decide`.

    Returns
    -------
    bool
    """
    if gain is not None:
        before = seating.z[items]
        seating.z[items] = before[0]
        bound += gain(seating.z)
        seating.z[items] = before
    return log_uniform >= bound


def decide(
    seating: Seating, proposal: Proposal, log_uniform: float, gain: Gain | None = None
) -> bool:
    """Take a proposal with probability min(1, r), or put everything back.

    Parameters
    ----------
    seating : Seating
        Whose `z` holds the proposal.
    proposal : Proposal
    log_uniform : float
        Logarithm of the uniform number that decides.
    gain : callable, optional
        What r is raised by, in logarithms, as a function of z; nothing where the table of answers
        is that of the target.

    Returns
    -------
    bool
        Whether it was taken.
    """
    log_ratio, items, before = proposal
    if gain is not None:
        log_ratio += gain(seating.z)
    if log_uniform < log_ratio:
        settle(seating, items, before)
        return True
    seating.z[items] = before
    return False


__all__ = ["Gain", "Proposal", "decide", "hopeless"]
