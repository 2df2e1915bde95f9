"""Which moves a sweep mixes, and how often: the costly ones only as often as they are worth it.

A pass over the link blocks costs several scans. Where single items move freely it moves nothing
that the scan would not have moved, and where answers are many and certain no block ever leaves. So
the rate of such passes follows the share of blocks that moved in the second half of the warm-up; it
stays as it is from the first draw on, so that every draw comes from one transition kernel.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from numpy.random import Generator

WARMUP_BOOST = 5.0
WORTHWHILE = 0.01
"""Share of blocks moved above which every sweep passes over them."""
LEAST_RATE = 0.1
"""Passes per sweep that remain when none has moved: the warm-up may have been too short to see one."""


@dataclass(frozen=True)
class Moves:
    """What a sweep consists of.

    Parameters
    ----------
    link_blocks : bool, default True
        Move the groups that answers hold together as wholes (Swendsen and Wang's bonds), in every
        sweep of the warm-up and then as often as it was seen to be worth it.
    split_merge : float, default 1
        Split-merge proposals per sweep, on average where it is not a whole number; while warming
        up, when they matter most, `WARMUP_BOOST` times as many.
    restricted_scans : int, default 2
        Restricted scans of a launch (Jain and Neal recommend a few).
    fast : bool, default True
        Use a family's fast scan where it has one.
    single_site : bool, default True
        Scan the items one by one.

    Examples
    --------
    >>> import bayesclust as bc
    >>> est = bc.TVClust(sampler="gibbs", moves=bc.Moves())  # the paper's sampler, helped by moves of whole groups
    >>> est.moves.link_blocks
    True
    """

    link_blocks: bool = True
    split_merge: float = 1.0
    restricted_scans: int = 2
    fast: bool = True
    single_site: bool = True

    @classmethod
    def default(cls, n_items: int) -> Moves:
        """One split-merge proposal a sweep up to 500 items, then fewer, so that they cost no more than the scan.

        A proposal visits all items of one or two clusters several times, one by one.
        """
        return cls(split_merge=min(1.0, 500.0 / n_items))


@dataclass
class MoveSchedule:
    """How often a chain makes its costly moves.

    Parameters
    ----------
    moves : Moves
    """

    moves: Moves
    block_rate: float = 1.0
    blocks: int = field(default=0, init=False)
    moved: int = field(default=0, init=False)
    learning: bool = field(default=False, init=False)

    def block_passes(self, rng: Generator, *, adapt: bool) -> int:
        """Passes over the link blocks in this sweep."""
        if not self.moves.link_blocks:
            return 0
        if self.learning and not adapt:
            self._settle()
        return 1 if adapt or self.block_rate == 1.0 else int(rng.random() < self.block_rate)

    def proposals(self, rng: Generator, *, adapt: bool) -> int:
        """Split-merge proposals in this sweep."""
        return int(self.moves.split_merge * (WARMUP_BOOST if adapt else 1.0) + rng.random())

    def record_blocks(self, moved: int, number: int) -> None:
        """Take note of a pass in the part of the warm-up that is like what comes after it."""
        self.learning = True
        self.blocks, self.moved = self.blocks + number, self.moved + moved

    def snapshot(self) -> dict[str, Any]:
        """What was learned."""
        return {name: value for name, value in asdict(self).items() if name != "moves"}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take it up again."""
        for name, value in snapshot.items():
            setattr(self, name, value)

    def _settle(self) -> None:
        share = self.moved / self.blocks if self.blocks else 0.0
        self.block_rate = min(1.0, max(LEAST_RATE, share / WORTHWHILE))
        self.learning = False


__all__ = ["MoveSchedule", "Moves"]
