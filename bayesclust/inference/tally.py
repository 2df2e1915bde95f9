"""How often each answer was given under each equality pattern: all that the noise of the answers depends on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.factor_graph import Sites, count_answers
from bayesclust.typing import IntArray


class Tally:
    """Counts the answers of all views in one pass, for partitions of one chain.

    The compiled twin of `Constraints.counts`, for one partition at a time, whose labels are not checked.

    Parameters
    ----------
    constraints : sequence of Constraints
    sites : Sites
        Compiled from these views.
    """

    def __init__(self, constraints: Sequence[Constraints], sites: Sites) -> None:
        self.constraints, self.sites = tuple(constraints), sites
        ends = np.cumsum([0, *(view.n_sources * view.n_answers for view in constraints)])
        self.shape = int(ends[-1]), N_PATTERNS
        self._parts = [
            (slice(a, b), slice(view.n_patterns))
            for a, b, view in zip(ends, ends[1:], constraints, strict=False)
        ]

    def __call__(self, z: IntArray) -> IntArray:
        """Counts under labels z, laid out as `stack_tables` lays out their tables."""
        counts = np.zeros(self.shape, np.int64)
        count_answers(self.sites, z, counts)
        return counts

    def by_view[Number: (np.int64, np.float64)](
        self, counts: NDArray[Number]
    ) -> list[NDArray[Number]]:
        """The part of each view in a table laid out so, of shape (n_sources * n_answers, n_patterns)."""
        return [counts[part] for part in self._parts]


__all__ = ["Tally"]
