"""A kind of side information: which of three items is the odd one out, and how such answers go wrong.

The question shows three items. Where exactly two of them share a cluster, the third is the odd one;
where all three do, or no two, a faultless source says "none". People who are not offered "none"
name one of the three all the same: how often is learned, as a row of the confusion matrix, and so
is everything else that they get wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust.constraints import Constraints, DirichletRows, NoiseModel
from bayesclust.typing import ArrayLike, CodeArray, Counts, FloatArray, IntArray, Params

WORDS = ("first", "second", "third", "none")
# under the equality patterns ijk, ij|k, ik|j, jk|i, i|j|k
TRUTH = (3, 2, 1, 0, 3)


@dataclass(frozen=True)
class OddNoise(NoiseModel):
    """Each source has a confusion matrix; its rows, one a true answer, are Dirichlet.

    Parameters
    ----------
    right, wrong : float, default 6 and 1
        Dirichlet weights of the right answer and of each wrong one: a right answer has mean
        probability 2/3, and a few dozen answers outweigh it.
    """

    right: float = 6.0
    wrong: float = 1.0

    kind: ClassVar[str] = "odd one out"
    truth: ClassVar[tuple[int, ...]] = TRUTH
    n_answers: ClassVar[int] = len(WORDS)
    # what is drawn, and the dimensions of each
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {
        "odd_confusion": ("source", "odd_truth", "odd_answer")
    }

    def __post_init__(self) -> None:
        if not (0 < self.right < np.inf and 0 < self.wrong < np.inf):
            raise ValueError(
                f"right and wrong must be positive weights; got {self.right!r} and {self.wrong!r}."
            )

    @property
    def free(self) -> tuple[str, ...]:
        """All of it is learned."""
        return tuple(self.parameters)

    @property
    def weights(self) -> FloatArray:
        """Of the prior, (truth, answer)."""
        return np.where(np.eye(self.n_answers, dtype=np.bool_), self.right, self.wrong)

    def initial(self, n_sources: int) -> Params:
        """Prior means."""
        mean = self.weights / self.weights.sum(axis=1, keepdims=True)
        return {"odd_confusion": np.tile(mean, (n_sources, 1, 1))}

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """p(answer | truth), (..., S, truth, answer)."""
        return np.asarray(params["odd_confusion"], dtype=np.float64)

    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        """From the Dirichlet posteriors, as normalised gammas kept off 0."""
        gammas = np.maximum(
            rng.standard_gamma(self.weights + self.fold(counts)), np.finfo(np.float64).tiny
        )
        return {"odd_confusion": gammas / gammas.sum(axis=-1, keepdims=True)}

    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        """Dirichlet density, summed over rows and sources."""
        density = ((self.weights - 1) * np.log(self.confusion(params))).sum(axis=-1) - log_beta(
            self.weights
        )
        return density.sum(axis=(-2, -1))

    def log_marginal(self, counts: Counts) -> Any:
        """log p(answers | partition): a ratio of multivariate beta functions."""
        return (log_beta(self.weights + self.fold(counts)) - log_beta(self.weights)).sum(
            axis=(-2, -1)
        )

    def dirichlet_rows(self) -> DirichletRows:
        """The same integral in the form that compiled samplers take; without it they ask `log_marginal`, and are slower."""
        rows, kinds = tuple(map(tuple, self.weights.tolist())), np.arange(self.n_answers**2)
        return DirichletRows(
            rows, kinds.reshape(self.n_answers, -1), np.zeros((self.n_answers, self.n_answers))
        )

    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        """E log under the Dirichlet posteriors: what mean field needs."""
        weights = self.weights + self.fold(counts)
        return np.asarray(digamma(weights) - digamma(weights.sum(axis=-1, keepdims=True)))


def log_beta(weights: FloatArray) -> FloatArray:
    """Log of the multivariate beta function over the last axis."""
    return np.asarray(gammaln(weights).sum(axis=-1) - gammaln(weights.sum(axis=-1)))


class OddOneOut(Constraints):
    """Answers "first", "second", "third" or "none" about triplets of items.

    What a user writes:
    ``bc.TVClust().fit(X, constraints=OddOneOut([(0, 1, 9)], ["third"], n_items=10))``. Likelihood,
    site weights, simulation, restriction, storage and all samplers follow from the table `truth`.

    Parameters
    ----------
    triplets : (m, 3) array of int
    answers : (m,) array of str or int
    n_items : int
    source : (m,) array of int, optional
    noise : OddNoise, optional
    name : str, default "odd"
    """

    kind: ClassVar[str] = OddNoise.kind
    vocabulary: ClassVar[tuple[str, ...]] = WORDS
    truth: ClassVar[CodeArray] = np.array(TRUTH, dtype=np.int8)
    members: ClassVar[tuple[str, ...]] = ("i", "j", "k")

    def __init__(
        self,
        triplets: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str = "odd",
    ) -> None:
        super().__init__(triplets, answers, n_items, source, noise, name)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        """Learned."""
        return OddNoise()

    @property
    def odd_items(self) -> IntArray:
        """The items named odd, (a,)."""
        named = self.answers < 3
        return np.asarray(self.items[named, self.answers[named]])
