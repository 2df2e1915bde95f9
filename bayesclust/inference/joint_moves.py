"""Moves of the partition together with the noise of the answers.

Given the noise, a partition that contradicts many answers is held in place by a noise that explains them, and given the
partition the noise stays what it is: two modes, one with unreliable sources and one with another partition, that draws of
one given the other hardly ever cross. Here noise phi' is drawn from the prior, as if no answer had been heard; a split or
merge to z' is proposed with it, q(z' | z, phi'), and is accepted with the noise integrated out,

    min(1, r),    r = p(z', x) p(s | z') q(z | z', phi') / (p(z, x) p(s | z) q(z' | z, phi')),

whereupon the noise is drawn from p(phi | s, z'). As phi' does not depend on where the chain is, and as phi is drawn given
z' alone, the move from (z, phi) is reversible with the posterior p(z, phi | x, s): a collapsed Metropolis-Hastings step
(Liu 1994, J. Am. Stat. Assoc. 89) with an auxiliary draw.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.sites import stack_tables
from bayesclust.inference.proposals import Gain
from bayesclust.inference.tally import Tally
from bayesclust.typing import FloatArray, IntArray

SHARE = 0.5
"""Of the proposals, those made together with the noise, where some of it is learned."""

REMEMBERED = 1024


class UnheardNoise:
    """The noise as it is before there are answers.

    Parameters
    ----------
    tally : Tally
        Of the answers.
    """

    def __init__(self, tally: Tally) -> None:
        self.tally, self.views = tally, tally.views
        self._learned = [bool(view.noise.free) for view in self.views]
        self._heard = np.zeros(tally.shape)
        for part, learned in zip(tally.by_view(self._heard), self._learned, strict=True):
            part[:] = learned
        # where noise must inform it is an integral, and a chain comes back to the same counts
        self._log_marginal = lru_cache(maxsize=REMEMBERED)(self._log_marginal_of)

    def __bool__(self) -> bool:
        """Whether any of it is learned."""
        return any(self._learned)

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
        drawn = [view.noise.sample_prior(view.n_sources, rng) for view in self.views]
        table = stack_tables(self.views, drawn)
        heard = table * self._heard
        here = self._surplus(z, heard)
        return table, lambda proposed: self._surplus(proposed, heard) - here

    def _surplus(self, z: NDArray[np.int64], heard: FloatArray) -> float:
        """log p(s | z) - log p(s | z, noise) of the noise that has this table, 0 where the noise is known."""
        counts: IntArray = self.tally(z)
        value = -float((counts * heard).sum())
        for number, part in enumerate(self.tally.by_view(counts)):
            if self._learned[number]:
                value += self._log_marginal(number, part.tobytes())
        return value

    def _log_marginal_of(self, number: int, tally: bytes) -> float:
        view = self.views[number]
        shape = view.n_sources * view.n_answers, view.n_patterns
        return float(view.noise.log_marginal(np.frombuffer(tally, np.int64).reshape(shape)))


__all__ = ["SHARE", "UnheardNoise"]
