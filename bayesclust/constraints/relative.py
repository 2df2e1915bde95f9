"""Relative constraints: noisy answers to "is i more similar to j than to k?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from bayesclust import checks as check
from bayesclust.constraints import sampling
from bayesclust.constraints.base import draw_answers
from bayesclust.constraints.noise import ConfusionNoise, NoiseModel, UniformNoise, square
from bayesclust.constraints.queries import Asked
from bayesclust.constraints.statements import Apart, Closer, Either, Every, Statement, Together
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, Seed

YES = 0
DNK = 2


class RelativeConstraints(Asked):
    """Answers "yes", "no" or "dnk" (do not know) about triplets of items, maybe wrong.

    The triplet (i, j, k) asks whether i is more similar to j than to k. The true answer
    is "yes" if i and j share a cluster without k, "no" if i and k do without j, and "dnk" otherwise
    (Pei et al., DCRC, Eq. 1).

    Parameters
    ----------
    triplets : (m, 3) array of int
        Three different items each.
    answers : (m,) array of str or int
        "yes" or True, "no" or False, "dnk" or "?", or the codes 0, 1, 2.
    n_items, source
        As for every `Constraints`.
    noise : UniformNoise or ConfusionNoise, optional
        How answers go wrong; ``UniformNoise()`` by default.
    name : str, optional
        "triplets" by default.

    Attributes
    ----------
    items, answers, source, n_items, n_sources, noise, name, flipped
        As for every `Constraints`; patterns are 0 = all same, 1 = ij|k, 2 = ik|j, 3 = jk|i, 4 = all
        different.

    Examples
    --------
    >>> import bayesclust as bc
    >>> triplets = bc.RelativeConstraints([(0, 1, 2), (2, 0, 3)], ["yes", "dnk"], n_items=4)
    >>> triplets
    <RelativeConstraints 'triplets': 1 yes, 0 no, 1 dnk, on 4 items>
    >>> triplets.truths([0, 0, 1, 1]) == triplets.answers
    array([ True, False])
    """

    kind: ClassVar[str] = "relative"
    vocabulary: ClassVar[tuple[str, ...]] = ("yes", "no", "dnk")
    truth: ClassVar[CodeArray] = check.frozen(np.array(UniformNoise.truth, dtype=np.int8))
    members: ClassVar[tuple[str, ...]] = ("i", "j", "k")
    default_name: ClassVar[str] = "triplets"
    synonyms: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("y", "true"), "yes"),
        **dict.fromkeys(("n", "false"), "no"),
        **dict.fromkeys(("?", "don't-know", "dont-know", "do-not-know"), "dnk"),
    }
    _items_word: ClassVar[str] = "triplets"
    _answers_word: ClassVar[str] = "answers"

    def __init__(
        self,
        triplets: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(triplets, answers, n_items, source, noise, name)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return UniformNoise()

    @classmethod
    def known_noise(cls, error_rate: float) -> NoiseModel:
        return UniformNoise(error_rate)

    @classmethod
    def learned_noise(cls, *, confusion: bool = False) -> NoiseModel:
        return ConfusionNoise() if confusion else UniformNoise()

    @property
    def unsure(self) -> BoolArray:
        return np.asarray(self.answers == DNK)

    def _statement(self, items: Sequence[int], answer: int) -> Statement:
        """What one triplet says, if it is right: less than probabilistic models read into it."""
        i, j, k = items
        if answer == DNK:
            both = Every((Together(i, j), Together(i, k)))
            return Either((both, Every((Apart(i, j), Apart(i, k)))))
        return Closer(i, j, k) if answer == YES else Closer(i, k, j)

    @classmethod
    def sample(
        cls,
        labels: ArrayLike,
        *,
        fraction: float | None = None,
        size: int | None = None,
        error_rate: ArrayLike = 0.05,
        confusion: ArrayLike | None = None,
        n_sources: int = 1,
        seed: Seed = None,
        name: str | None = None,
    ) -> Self:
        """Ask about random triplets and answer by known labels, sometimes wrongly.

        Parameters
        ----------
        labels, n_sources, seed, name
            As for `PairwiseConstraints.sample`.
        fraction, size : float in (0, 1] or int
            Share of all n (n - 1) (n - 2) / 2 questions (at least one), or number, drawn without
            replacement; (i, j, k) and (i, k, j) are one question.
        error_rate : float or (n_sources,) array of float, default 0.05
            Probability that an answer is wrong, both wrong ones equally likely (DCRC, Table I).
        confusion : (3, 3) or (n_sources, 3, 3) array of float, optional
            p(answer | truth) instead; rows are the truth and columns the answer, yes, no, dnk.

        Returns
        -------
        RelativeConstraints
            Whose `flipped` tells which answers are wrong.

        Examples
        --------
        >>> import bayesclust as bc
        >>> asked = bc.RelativeConstraints.sample([0, 0, 1, 1, 2], size=10, error_rate=0.0, seed=0)
        >>> asked.flipped.any()
        np.False_
        """
        truth = check.true_labels(labels, least=3)
        rng = check.check_random_state(seed, "seed")
        triplets, source = sampling.questions(3, len(truth), fraction, size, n_sources, rng)
        if confusion is None:
            rates = check.rates_per_source(error_rate, n_sources, "error_rate")
            table = UniformNoise().confusion({"noise": rates})
        else:
            given = check.real_array(confusion, "confusion")
            each = [given] * n_sources if given.ndim < 3 else list(given)
            if len(each) != n_sources:
                raise ValueError(
                    f"confusion must be one matrix or one per source ({n_sources}); got "
                    f"{len(each)}: set n_sources to the number of matrices."
                )
            table = np.stack([square(rows, 3, "confusion") for rows in each])
        asked = cls(triplets, np.zeros(len(triplets), np.int8), len(truth), source, name=name)
        return asked._answered(draw_answers(table[source, asked.truths(truth)], rng), truth)
