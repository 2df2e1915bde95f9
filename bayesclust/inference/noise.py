"""The noise of the constraints as chains see it: counts of answers, and noise integrated out of a move.

Given the noise, a partition that contradicts many answers is held in place by a noise that explains
them, and given the partition the noise stays what it is: two modes, one with unreliable sources and
one with another partition, that draws of one given the other hardly ever cross. In a joint move,
noise phi' is drawn from the prior; a split or merge to z' is proposed with it, q(z' | z, phi'), and
is accepted with the noise integrated out,

    min(1, r),    r = p(z', x) p(s | z') q(z | z', phi') / (p(z, x) p(s | z) q(z' | z, phi')),

whereupon the noise is drawn from p(phi | s, z'). As phi' does not depend on where the chain is, and
as phi is drawn given z' alone, the move from (z, phi) is reversible with the posterior p(z, phi |
x, s): a collapsed Metropolis-Hastings step (Liu 1994, J. Am. Stat. Assoc. 89) with an auxiliary
draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, kernel
from bayesclust.constraints import factor_graph
from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.factor_graph import (
    Dirichlets,
    Sites,
    count_answers,
    integrated_surplus,
    stack_dirichlets,
    stack_tables,
)
from bayesclust.inference.assignment import set_labels
from bayesclust.typing import FloatArray, IntArray


class Tally:
    """Counts the answers of all constraints in one pass: `Constraints.counts` for one partition, unchecked."""

    def __init__(self, constraints: Sequence[Constraints], sites: Sites) -> None:
        self.constraints, self.sites = tuple(constraints), sites
        self._parts = factor_graph.table_parts(constraints)
        self.shape = self._parts[-1][0].stop if constraints else 0, N_PATTERNS

    def __call__(self, z: IntArray) -> IntArray:
        """Counts under labels z, laid out as `stack_tables` lays out their tables."""
        counts = np.zeros(self.shape, np.int64)
        count_answers(self.sites, z, counts)
        return counts

    def split[Number: (np.int64, np.float64)](
        self, counts: NDArray[Number]
    ) -> list[NDArray[Number]]:
        """The part of each each in a table laid out so, (n_sources * n_answers, n_patterns)."""
        return [counts[part] for part in self._parts]


class DrawnNoise(NamedTuple):
    """Noise drawn from its prior for J proposals, and what integrates it out."""

    table: FloatArray  # (J, codes, 5) log p(answer | pattern, phi')
    rows: Dirichlets


NONE_DRAWN = DrawnNoise(np.zeros((0, 0, N_PATTERNS)), factor_graph.NONE)
"""For proposals that are all made by the noise as it is."""


class IntegratedNoise:
    """Draws noise from its prior; true where some is learned and all of that has Dirichlet rows."""

    def __init__(self, constraints: Sequence[Constraints], shape: tuple[int, int]) -> None:
        self.constraints, self.shape = tuple(constraints), shape
        self.rows = stack_dirichlets(constraints)

    def __bool__(self) -> bool:
        return self.rows is not None and any(each.noise.free for each in self.constraints)

    def draw(self, number: int, rng: Generator) -> DrawnNoise:
        """Noise for several proposals."""
        if self.rows is None or number == 0:
            return NONE_DRAWN
        tables = np.empty((number, *self.shape))
        for position in range(number):
            noises = [each.noise.sample_prior(each.n_sources, rng) for each in self.constraints]
            tables[position] = stack_tables(self.constraints, noises)
        return DrawnNoise(tables, self.rows)


@kernel(fastmath=FAST)
def gain_of_split(
    rows: Dirichlets,
    sites: Sites,
    table: FloatArray,
    z: IntArray,
    items: IntArray,
    merged: int,
) -> float:
    """log p(s | z) - log p(s | z, `table`), less the same where `items` share the free slot `merged`."""
    mass, split = np.zeros(len(rows.weight)), z[items]
    gain: float = integrated_surplus(rows, sites, table, z, mass)
    z[items] = merged
    gain -= integrated_surplus(rows, sites, table, z, mass)
    set_labels(z, items, split)
    return gain


__all__ = ["NONE_DRAWN", "DrawnNoise", "IntegratedNoise", "Tally", "gain_of_split"]
