"""A kind of constraints: which of three items is the odd one out, and how such answers go wrong.

The question shows three items. Where exactly two of them share a cluster, the third is the odd one;
where all three do, or no two, a faultless source says "none". People who are not offered "none"
name one of the three all the same: how often is learned, as a row of the confusion matrix, and so
is everything else that they get wrong.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesclust.constraints import Constraints, DirichletNoise, NoiseModel
from bayesclust.constraints.noise import Prior
from bayesclust.typing import CodeArray, IntArray

WORDS = ("first", "second", "third", "none")
# under the equality patterns ijk, ij|k, ik|j, jk|i, i|j|k
TRUTH = (3, 2, 1, 0, 3)


@dataclass(frozen=True)
class OddNoise(DirichletNoise):
    """Each source has a confusion matrix; its rows, one for each true answer, are Dirichlet.

    All samplers, variational methods, NumPyro programs and diagnostics follow from these weights.

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

    def priors(self) -> dict[str, Prior]:
        """Dirichlet weights, (truth, answer)."""
        right = np.eye(self.n_answers, dtype=np.bool_)
        return {"odd_confusion": np.where(right, self.right, self.wrong)}


class OddOneOut(Constraints):
    """Answers "first", "second", "third" or "none" about triplets of items.

    What a user writes:
    ``bc.TVClust().fit(X, constraints=OddOneOut([(0, 1, 9)], ["third"], n_items=10))``. Likelihood,
    simulation, restriction, storage, statements, limits and all samplers follow from
    the table `truth`.

    Parameters
    ----------
    items : (m, 3) array of int
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
    default_name: ClassVar[str] = "odd"

    @classmethod
    def default_noise(cls) -> NoiseModel:
        """Learned."""
        return OddNoise()

    @property
    def odd_items(self) -> IntArray:
        """The items named odd, (a,)."""
        named = self.answers < 3
        return np.asarray(self.items[named, self.answers[named]])
