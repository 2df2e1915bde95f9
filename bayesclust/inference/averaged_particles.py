"""Weighted draws of several models that hear the same answers, each model weighed by how well it predicted them.

Which view of the data suits the user's classes is not known before there are answers, and the
density of the data cannot tell: it knows nothing of classes. Answers can. Models m are weighed by
what each makes of every answer given all others,

    w_m proportional to exp sum_a log p(s_a | all other answers, data, m)

(pseudo-Bayesian model averaging: Geisser and Eddy 1979; Yao, Vehtari, Simpson and Gelman 2018,
Bayesian Anal. 13, Sec. 3.4), which is computed anew from the present draws. Bayes factors, of which
the particles' weights give an estimate on the way (Chopin 2002, Eq. 8), would hold it against a
model for good what its few draws said before they had found their place. The number of draws that
each model has follows its weight, at every renewal, so that time is spent where the posterior is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesclust.constraints.base import Constraints
from bayesclust.inference.answers_in_turn import check_extends, one_by_one
from bayesclust.inference.particles import LEAST, Particles
from bayesclust.inference.problem import TVClustProblem
from bayesclust.typing import FloatArray, IntArray

__all__ = ["AveragedParticles", "leave_one_out"]

FEWEST = 8
"""Draws that the least likely model keeps, so that it can come back when answers speak for it."""


def leave_one_out(view: Constraints, draws: IntArray, weights: FloatArray) -> FloatArray:
    """Return log p(answer | data, all other answers) of each answer of a view, the noise integrated out.

    It is minus the log of the mean of 1 / p(answer | z, other answers) over draws given all answers
    (Geisser and Eddy 1979, J. Am. Stat. Assoc. 74; Gelfand, Dey and Chang 1992, Eq. 9), steady here
    because an answer whose noise has a prior is never all but impossible.

    Parameters
    ----------
    view : Constraints
    draws : (S, n) array of int
        Given all answers.
    weights : (S,) array of float
        Of sum 1.

    Returns
    -------
    (m,) array of float
        In nats.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> links = PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> leave_one_out(links, np.array([[0, 0, 1]]), np.ones(1)).round(3)  # each as by the prior Beta(4, 1)
    array([-0.223, -0.223])
    """
    counts = view.counts(draws)
    whole = view.noise.log_marginal(counts)
    inverse = np.empty(counts.shape)  # of an answer of each code about items of each pattern
    for code, pattern in np.ndindex(counts.shape[1:]):
        others = counts.copy()
        others[:, code, pattern] = np.maximum(others[:, code, pattern] - 1, 0)
        inverse[:, code, pattern] = np.exp(view.noise.log_marginal(others) - whole)
    own = inverse[np.arange(len(draws))[:, None], view.codes, view.patterns(draws)]
    values: FloatArray = -np.log(weights @ own)
    return values


class AveragedParticles:
    """Weighted draws of several models.

    Parameters
    ----------
    parts : sequence of Particles
        Of models of the same items that have heard the same answers.

    Attributes
    ----------
    parts : tuple of Particles

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> from bayesclust.inference.samplers import collapsed_chain
    >>> from bayesclust.inference.schedule import Moves
    >>> from bayesclust.inference.problem import TVClustProblem
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (8, 2)), rng.normal(3, 1, (8, 2))]
    >>> data = bc.families.FullGaussian().bind(X)
    >>> problems = [TVClustProblem(data), TVClustProblem(data.coarsened(0.01))]
    >>> chains = [collapsed_chain(problem, np.zeros(16, int), rng, Moves()) for problem in problems]
    >>> averaged = AveragedParticles([Particles([chain], number=20, num_warmup=50) for chain in chains])
    >>> pairs, said = [(0, 1), (2, 3), (4, 12), (5, 13)], [True, True, False, False]
    >>> averaged.hear([PairwiseConstraints(pairs, said, n_items=16)], rng)
    >>> bool(averaged.shares[0] > 0.5)  # the data foresaw the answers
    True
    """

    def __init__(self, parts: Sequence[Particles]) -> None:
        self.parts = tuple(parts)
        self._number = sum(len(part.draws) for part in parts)

    @property
    def problem(self) -> TVClustProblem:
        """The first model, with the answers heard so far."""
        return self.parts[0].problem

    @property
    def scores(self) -> FloatArray:
        """Sum of log p(answer | data, all other answers) under each model, in nats, shape (models,)."""
        return np.array([self._score(part) for part in self.parts])

    @staticmethod
    def _score(part: Particles) -> float:
        views, weights = part.problem.constraints, part.weights
        return float(
            sum(leave_one_out(view, part.draws, weights).sum() for view in views if len(view))
        )

    @property
    def shares(self) -> FloatArray:
        """Weight of each model, proportional to exp(`scores`), shape (models,)."""
        found: FloatArray = softmax(self.scores)
        return found

    @property
    def draws(self) -> IntArray:
        """Partitions, model after model, shape (S, n); labels may have gaps."""
        return np.concatenate([part.draws for part in self.parts])

    @property
    def weights(self) -> FloatArray:
        """Weights of the draws, of sum 1, shape (S,)."""
        parts = zip(self.shares, self.parts, strict=True)
        return np.concatenate([share * part.weights for share, part in parts])

    @property
    def effective_size(self) -> float:
        """1 / sum w^2 over the draws of all models."""
        return float(1.0 / (self.weights**2).sum())

    @property
    def renewals(self) -> int:
        """How often draws of some model were resampled and moved."""
        return sum(part.renewals for part in self.parts)

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
            for part in self.parts:
                part.weigh(stage)
            if self.effective_size < LEAST * self._number:
                for part, number in zip(self.parts, self._numbers(), strict=True):
                    part.renew(rng, number)
            else:
                for part in self.parts:
                    part.go_on(rng)
        for part in self.parts:
            part.problem = replace(part.problem, constraints=tuple(constraints))

    def _numbers(self) -> list[int]:
        """How many draws each model is to have: as its share says, but `FEWEST` at least, or half of an even share."""
        fewest = min(FEWEST, self._number // (2 * len(self.parts)))
        wanted = fewest + (self._number - fewest * len(self.parts)) * self.shares
        numbers = np.floor(wanted).astype(np.int64)
        for place in np.argsort(numbers - wanted)[: self._number - numbers.sum()]:
            numbers[place] += 1
        return [int(number) for number in numbers]
