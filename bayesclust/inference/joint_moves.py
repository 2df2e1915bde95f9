"""Moves of the partition together with the noise of the answers.

Given the noise, a partition that contradicts many answers is held in place by a noise that explains
them, and given the partition the noise stays what it is: two modes, one with unreliable sources and
one with another partition, that draws of one given the other hardly ever cross. Here noise phi' is
drawn from the prior, as if no answer had been heard; a split or merge to z' is proposed with it,
q(z' | z, phi'), and is accepted with the noise integrated out,

    min(1, r),    r = p(z', x) p(s | z') q(z | z', phi') / (p(z, x) p(s | z) q(z' | z, phi')),

whereupon the noise is drawn from p(phi | s, z'). As phi' does not depend on where the chain is, and
as phi is drawn given z' alone, the move from (z, phi) is reversible with the posterior p(z, phi |
x, s): a collapsed Metropolis-Hastings step (Liu 1994, J. Am. Stat. Assoc. 89) with an auxiliary
draw.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device
from bayesclust.constraints.base import N_PATTERNS
from bayesclust.constraints.factor_graph import (
    NONE,
    Dirichlets,
    Sites,
    stack_dirichlets,
    stack_tables,
    unheard_surplus,
)
from bayesclust.inference.proposals import Gain
from bayesclust.inference.seating import seat_each
from bayesclust.inference.tally import Tally
from bayesclust.typing import FloatArray, IntArray

SHARE = 0.5
"""Of the proposals, those made together with the noise, where some of it is learned."""

REMEMBERED = 1024


class Drawn(NamedTuple):
    """Noise drawn as if no answer had been heard, for several proposals, and what integrates it out."""

    table: NDArray[np.float64]  # (J, codes, 5) log p(answer | pattern, phi')
    rows: Dirichlets


NONE_DRAWN = Drawn(np.zeros((0, 0, N_PATTERNS)), NONE)
"""For proposals that are all made by the noise as it is."""


@device(fastmath=FAST)
def gain_of_split(
    rows: Dirichlets,
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    merged: int,
) -> float:
    """What answers say of a partition beyond `table`, less the same where its `items` share the free slot `merged`."""
    mass, split = np.zeros(len(rows.weight), np.float64), z[items]
    gain: float = unheard_surplus(rows, sites, table, z, mass)
    z[items] = merged
    gain -= unheard_surplus(rows, sites, table, z, mass)
    seat_each(z, items, split)
    return gain


class UnheardNoise:
    """The noise as it is before there are answers.

    Parameters
    ----------
    tally : Tally
        Of the answers.
    """

    def __init__(self, tally: Tally) -> None:
        self.tally, self.constraints = tally, tally.constraints
        self._learned = [bool(view.noise.free) for view in self.constraints]
        self._heard = np.zeros(tally.shape)
        for part, learned in zip(tally.by_view(self._heard), self._learned, strict=True):
            part[:] = learned
        # where noise must inform it is an integral, and a chain comes back to the same counts
        self._log_marginal = lru_cache(maxsize=REMEMBERED)(self._log_marginal_of)
        self.rows = stack_dirichlets(self.constraints)

    def __bool__(self) -> bool:
        """Whether any of it is learned."""
        return any(self._learned)

    def draw(self, number: int, rng: Generator) -> Drawn:
        """Noise for several proposals that compiled code decides; all of it that is learned must have `rows`."""
        if self.rows is None:
            raise ValueError(
                "this noise has no rows to integrate out: make proposals one by one, by `proposal`."
            )
        tables = np.empty((number, *self.tally.shape))
        for position in range(number):
            tables[position] = self._table(rng)
        return Drawn(tables, self.rows)

    def proposal(self, z: NDArray[np.int64], rng: Generator) -> tuple[NDArray[np.float64], Gain]:
        """A table of answers to propose by, and what the answers then say of a partition beyond that table.

        Parameters
        ----------
        z : ndarray of shape (n,)
            Where the chain is.
        rng : Generator

        Returns
        -------
        table : ndarray
            log p(answer | pattern, phi'), phi' of the prior.
        gain : callable
            log p(s | z') - log p(s | z', phi') less the same of z, in nats.
        """
        table = self._table(rng)
        return table, self.gain(table, z)

    def gain(self, table: NDArray[np.float64], z: NDArray[np.int64]) -> Gain:
        """What answers say of other partitions than z beyond such a table, as a function of them."""
        heard = table * self._heard
        here = self._surplus(z, heard)
        return lambda proposed: self._surplus(proposed, heard) - here

    def _table(self, rng: Generator) -> NDArray[np.float64]:
        return stack_tables(
            self.constraints,
            [view.noise.sample_prior(view.n_sources, rng) for view in self.constraints],
        )

    def _surplus(self, z: NDArray[np.int64], heard: FloatArray) -> float:
        """log p(s | z) - log p(s | z, noise) of the noise that has this table, 0 where the noise is known."""
        counts: IntArray = self.tally(z)
        value = -float((counts * heard).sum())
        for number, part in enumerate(self.tally.by_view(counts)):
            if self._learned[number]:
                value += self._log_marginal(number, part.tobytes())
        return value

    def _log_marginal_of(self, number: int, tally: bytes) -> float:
        view = self.constraints[number]
        shape = view.n_sources * view.n_answers, view.n_patterns
        return float(view.noise.log_marginal(np.frombuffer(tally, np.int64).reshape(shape)))


__all__ = ["NONE_DRAWN", "SHARE", "Drawn", "UnheardNoise"]
