"""Weighted draws of a TVClust posterior that hear answers one by one, without a restart.

This is iterated batch importance sampling (Chopin 2002, Biometrika 89) on partitions. An answer s
multiplies the weight of draw z by

    p(s | z, earlier answers) = p(earlier answers and s | z) / p(earlier answers | z),

the noise integrated out under its conjugate prior; data, concentration and base measure have no
part in it. When the weights have become uneven, draws are resampled by their weights, and each goes
on for a few sweeps of the collapsed chain that it came from, under all answers so far. Both steps
keep the weighted draws at the posterior given all answers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesclust.constraints.base import Constraints
from bayesclust.inference.answers_in_turn import check_extends, one_by_one
from bayesclust.inference.chain import Chain
from bayesclust.typing import FloatArray, IntArray, Params

__all__ = ["Particles", "systematic"]

THINNING = 5
SWEEPS = 1
STIRRED = 0.5
LEAST = 0.5
"""Share of the draws below which the effective sample size calls for new ones, as is usual (Liu and Chen 1998)."""


def systematic(weights: FloatArray, rng: Generator, number: int | None = None) -> IntArray:
    """Draw indices, each as often as its weight says or once more.

    Parameters
    ----------
    weights : (S,) array of float
        Of sum 1.
    rng : Generator
    number : int or None, default None
        How many; None is S.

    Returns
    -------
    (number,) array of int64
        In ascending order; index s comes number w_s times in the mean.

    Examples
    --------
    >>> systematic(np.array([0.5, 0.0, 0.25, 0.25]), np.random.default_rng(0))
    array([0, 0, 2, 3])
    """
    number = len(weights) if number is None else number
    positions = (rng.random() + np.arange(number)) / number
    return (
        np.searchsorted(np.cumsum(weights), positions).clip(max=len(weights) - 1).astype(np.int64)
    )


class Particles:
    """Weighted draws from the posterior of a problem, to which answers are added.

    Parameters
    ----------
    chains : sequence of Chain
        Of one problem, not yet warmed up; those of mixtures are some
        too.
    number : int
        Draws to keep, S; they are taken from the chains in turn.
    num_warmup : int
        Sweeps of each chain before the first draw, during which proposals adapt.
    thinning : int, default 5
        Sweeps from one draw of a chain to the next.
    sweeps : int, default 1
        Sweeps by which each draw goes on after resampling. One parts the copies of a draw, and most
        answers bring another.
    least : float, default 0.5
        Share of `number` below which the effective sample size 1 / sum w^2 calls for resampling.
    stirred : float, default 0.5
        Share of the draws that go on by `sweeps` after an answer that does not call for resampling.
        Weights stay even where every draw contradicts the answers alike: what none of them looks
        like is found by moving alone.

    Attributes
    ----------
    problem : TVClustProblem
        With the answers heard so far.
    draws : (S, n) array of int
        Partitions; labels may have gaps.
    renewals : int
        How often draws were resampled and moved.

    References
    ----------
    Chopin (2002), A sequential particle filter method for static models, Biometrika 89, Sec. 3.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> from bayesclust.inference.samplers import collapsed_chain
    >>> from bayesclust.inference.schedule import Moves
    >>> from bayesclust.inference.problem import TVClustProblem
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (8, 2)), rng.normal(1.5, 1, (8, 2))]
    >>> problem = TVClustProblem(bc.families.FullGaussian().bind(X))
    >>> chain = collapsed_chain(problem, np.zeros(16, int), rng, Moves())
    >>> particles = Particles([chain], number=50, num_warmup=50)
    >>> def together():
    ...     return float(particles.weights @ (particles.draws[:, 0] == particles.draws[:, 15]))
    >>> before = together()
    >>> particles.hear([PairwiseConstraints([(0, 15)], [True], n_items=16)], rng)
    >>> together() > before, bool(particles.effective_size < 50)
    (True, True)
    """

    def __init__(
        self,
        chains: Sequence[Chain],
        number: int,
        num_warmup: int,
        *,
        thinning: int = THINNING,
        sweeps: int = SWEEPS,
        least: float = LEAST,
        stirred: float = STIRRED,
    ) -> None:
        self.problem, self.sweeps, self.least, self.stirred = (
            chains[0].problem,
            sweeps,
            least,
            stirred,
        )
        self.renewals, self._turn = 0, 0
        self._chain = chains[0]
        for chain in chains:
            for sweep in range(num_warmup):
                chain.sweep(adapt=True, freeze_noise=2 * sweep < num_warmup)
        self._states: list[dict[str, Any]] = []
        partitions = []
        for s in range(number):
            chain = chains[s % len(chains)]
            for _ in range(thinning):
                chain.sweep()
            self._states.append(copy.deepcopy(chain.snapshot()))
            partitions.append(chain.labels.copy())
        self.draws: IntArray = np.stack(partitions)
        self._log_weights = np.zeros(number)
        self._log_answers = self._log_prob(self.problem.constraints)

    @property
    def weights(self) -> FloatArray:
        """Weights of the draws, of sum 1, shape (S,)."""
        shares: FloatArray = softmax(self._log_weights)
        return shares

    @property
    def effective_size(self) -> float:
        """1 / sum w^2: how many equally weighted draws would be as good (Kong, Liu and Wong 1994)."""
        return float(1.0 / (self.weights**2).sum())

    def hear(self, constraints: Sequence[Constraints], rng: Generator) -> None:
        """Take in further answers.

        Parameters
        ----------
        constraints : sequence of Constraints
            All answers: those heard before, in their order, and further ones. Views of further
            kinds come last.
        rng : Generator

        Raises
        ------
        ValueError
            If answers that were heard are missing.
        """
        check_extends(self.problem.constraints, constraints)
        for stage in one_by_one(self.problem.constraints, constraints):
            self.weigh(stage)
            self.go_on(rng)
        self.problem = replace(self.problem, constraints=tuple(constraints))

    def weigh(self, constraints: Sequence[Constraints]) -> None:
        """Take in further answers by the weights alone.

        Parameters
        ----------
        constraints : sequence of Constraints
            As for `hear`.
        """
        before, self._log_answers = self._log_answers, self._log_prob(constraints)
        self._log_weights += self._log_answers - before
        self.problem = replace(self.problem, constraints=tuple(constraints))

    def go_on(self, rng: Generator) -> None:
        """Move the draws on after an answer: all of them, resampled, where their weights are uneven, else a part.

        Parameters
        ----------
        rng : Generator
        """
        if self.effective_size < self.least * len(self.draws):
            self.renew(rng)
        else:
            self.stir(rng)

    def renew(self, rng: Generator, number: int | None = None) -> None:
        """Resample the draws by their weights, and move each on by a few sweeps.

        Parameters
        ----------
        rng : Generator
        number : int or None, default None
            Draws to keep from now on; None keeps as many as there are.
        """
        chosen = systematic(self.weights, rng, number)
        repeated = np.append(False, chosen[1:] == chosen[:-1])
        own = zip(chosen, repeated, strict=True)
        self._states = [
            copy.deepcopy(self._states[s]) if again else self._states[s] for s, again in own
        ]
        self.draws, self._log_weights = self.draws[chosen], np.zeros(len(chosen))
        self._move(np.arange(len(chosen)), rng)
        self.renewals += 1

    def stir(self, rng: Generator) -> None:
        """Move the next few draws on, as they come in turn, by a few sweeps each; weights stay as they are.

        Parameters
        ----------
        rng : Generator
        """
        count, size = math.ceil(self.stirred * len(self.draws)), len(self.draws)
        if count:
            self._move((self._turn + np.arange(count)) % size, rng)
            self._turn = (self._turn + count) % size

    def _move(self, which: IntArray, rng: Generator) -> None:
        """Let some draws go on under all answers so far, of which each keeps its distribution."""
        noise = self._draw_noise(self.draws[which], rng)
        chain = self._chain
        chain.state.use(self.problem)
        chain.state.rng = rng
        for place, s in enumerate(which.tolist()):
            params = [
                {name: values[place] for name, values in of_view.items()} for of_view in noise
            ]
            own = {"noise": params, "generator": rng.bit_generator.state}
            chain.restore(self._states[s] | {"state": self._states[s]["state"] | own})
            for _ in range(self.sweeps):
                chain.sweep()
            self._states[s], self.draws[s] = chain.snapshot(), chain.labels
        self._log_answers = self._log_prob(self.problem.constraints)

    def _log_prob(self, constraints: Sequence[Constraints]) -> FloatArray:
        """log p(answers | z) of each draw, the noise integrated out."""
        values = np.zeros(len(self.draws))
        for view in constraints:
            values += view.noise.log_marginal(view.counts(self.draws))
        return values

    def _draw_noise(self, draws: IntArray, rng: Generator) -> list[Params]:
        """The noise of each view given each partition and the answers, with a leading axis of draws."""
        drawn = []
        for view in self.problem.constraints:
            start = view.noise.initial(view.n_sources)
            params, number = view.noise.draw(view.counts(draws), start, rng), len(draws)
            # known values come without the axis of draws
            drawn.append(
                {
                    name: np.broadcast_to(params[name], (number, *value.shape))
                    for name, value in start.items()
                }
            )
        return drawn
