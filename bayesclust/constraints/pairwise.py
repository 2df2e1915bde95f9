"""Pairwise constraints: noisy answers to "are these two items in the same cluster?".

Answers are "same" and "different", or graded: a score from 0 to 1, of a matcher or a language
model. What a score is worth is learned, by the probabilities p(grade | together) and p(grade |
apart) of each source; their priors say that scores are the probabilities they pretend to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesclust import checks as check
from bayesclust import names as naming
from bayesclust.constraints import sampling
from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.noise import ALMOST_ONE, DirichletNoise, LinkNoise, NoiseModel, Prior
from bayesclust.constraints.queries import Asked
from bayesclust.typing import ArrayLike, CodeArray, FloatArray, IntArray, Seed


class PairwiseConstraints(Asked):
    """Answers "same" (may-link) or "different" (may-not-link) about pairs of items, maybe wrong.

    The side information E of TVClust (Khashabi et al., section 3). A pair may be asked several
    times, and answers may contradict each other.

    Parameters
    ----------
    pairs : (m, 2) array of int
        Two different items each; stored with the smaller one first.
    same : (m,) array of bool, int or str
        True, 1, "same", "yes" or "must-link"; False, 0 or -1, "different", "no" or "cannot-link".
    n_items, source, noise, name
        As for every `Constraints`; the noise is ``LinkNoise()`` and the name "links" by default.

    Attributes
    ----------
    items, answers, source, n_items, n_sources, noise, name, flipped
        As for every `Constraints`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (3, 1)], [True, False], n_items=4)
    >>> links
    <PairwiseConstraints 'links': 1 different, 1 same, on 4 items>
    >>> links.may_not_links
    array([[1, 3]])
    >>> links.log_prob([0, 0, 1, 1], {"p": [0.9], "q": [0.8]})  # log(0.9 * 0.8)
    -0.3285
    """

    kind: ClassVar[str] = "pairwise"
    vocabulary: ClassVar[tuple[str, ...]] = ("different", "same")
    truth: ClassVar[CodeArray] = check.frozen(np.array(LinkNoise.truth, dtype=np.int8))
    members: ClassVar[tuple[str, ...]] = ("i", "j")
    default_name: ClassVar[str] = "links"
    synonyms: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("yes", "y", "true", "1", "must", "must-link", "may-link"), "same"),
        **dict.fromkeys(("no", "n", "false", "0", "-1", "cannot", "cannot-link"), "different"),
        "may-not-link": "different",
    }
    _items_word: ClassVar[str] = "pairs"
    _answers_word: ClassVar[str] = "same"

    def __init__(
        self,
        pairs: ArrayLike,
        same: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(pairs, same, n_items, source, noise, name)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return LinkNoise()

    @classmethod
    def known_noise(cls, error_rate: float) -> NoiseModel:
        right = min(max(1.0 - error_rate, 1.0 - ALMOST_ONE), ALMOST_ONE)
        return LinkNoise(p=right, q=right)

    def unit_confidence(self) -> FloatArray:
        return np.ones((self.n_sources, 2))

    def costs(self, confidence: ArrayLike) -> FloatArray:
        """Return costs (S, 2, 5) for (S, 2) confidences xi1, xi2: -xi1 and xi2 if together."""
        own = np.asarray(confidence, dtype=np.float64)
        table = np.zeros((self.n_sources, self.n_answers, N_PATTERNS))
        table[:, :, 0] = own[:, ::-1] * [1.0, -1.0]
        return table

    def confidence_of(self, table: FloatArray) -> FloatArray:
        return np.stack([-table[:, 1, 0], table[:, 0, 0]], axis=1) + 0.0

    @classmethod
    def sample(
        cls,
        labels: ArrayLike,
        *,
        fraction: float | None = None,
        size: int | None = None,
        error_rate: ArrayLike = 0.0,
        n_sources: int = 1,
        seed: Seed = None,
        name: str | None = None,
    ) -> Self:
        """Ask about random pairs and answer by known labels, sometimes wrongly.

        Parameters
        ----------
        labels : (n,) array
            True clusters, of any sortable kind.
        fraction, size : float in (0, 1] or int
            Share of all n (n - 1) / 2 pairs (at least one), or number, drawn without replacement.
        error_rate : float or (n_sources,) array of float, default 0
            Probability that an answer is wrong, each independently.
        n_sources : int, default 1
            Sources among whom the pairs are dealt at random, in equal shares.
        seed : int, Generator or None
        name : str, optional

        Returns
        -------
        PairwiseConstraints
            Whose `flipped` tells which answers are wrong.

        Examples
        --------
        >>> import bayesclust as bc
        >>> labels = [0, 0, 1, 1, 2, 2]
        >>> links = bc.PairwiseConstraints.sample(labels, fraction=0.4, error_rate=0.1, seed=0)
        >>> len(links), int(links.flipped.sum())
        (6, 2)
        """
        truth = check.true_labels(labels, least=2)
        rng = check.check_random_state(seed, "seed")
        pairs, source = sampling.questions(2, len(truth), fraction, size, n_sources, rng)
        rates = check.rates_per_source(error_rate, n_sources, "error_rate")
        asked = cls(pairs, np.zeros(len(pairs), np.int8), len(truth), source, name=name)
        wrong = rng.random(len(pairs)) < rates[source]
        return asked._answered(asked.truths(truth) ^ wrong, truth)

    @classmethod
    def from_lists(
        cls,
        must_link: ArrayLike,
        cannot_link: ArrayLike,
        n_items: int,
        noise: NoiseModel | None = None,
        name: str | None = None,
    ) -> Self:
        """Make constraints of two lists of pairs.

        Parameters
        ----------
        must_link, cannot_link : (a, 2) and (b, 2) arrays of int
            Pairs answered "same" and "different".
        n_items, noise, name
            As for the constructor.

        Examples
        --------
        >>> import bayesclust as bc
        >>> bc.PairwiseConstraints.from_lists([(0, 1)], [(0, 2), (1, 2)], n_items=3)
        <PairwiseConstraints 'links': 2 different, 1 same, on 3 items>
        """
        n = check.check_int(n_items, "n_items")
        same = check.item_tuples(must_link, 2, n, "must_link")
        different = check.item_tuples(cannot_link, 2, n, "cannot_link")
        answers = np.repeat(np.array([1, 0], dtype=np.int8), [len(same), len(different)])
        return cls(np.concatenate([same, different]), answers, n, noise=noise, name=name)

    @classmethod
    def from_matrix(cls, E: Any, noise: NoiseModel | None = None, name: str | None = None) -> Self:
        """Make constraints of TVClust's matrix E of answers.

        Parameters
        ----------
        E : (n, n) array or scipy sparse matrix
            1 = same, 0 = different, NaN or not stored = not asked, on either side of the diagonal.
        noise, name
            As for the constructor.

        Examples
        --------
        >>> import bayesclust as bc
        >>> nan = float("nan")
        >>> bc.PairwiseConstraints.from_matrix([[1, 1, nan], [1, 1, 0], [nan, 0, 1]])
        <PairwiseConstraints 'links': 1 different, 1 same, on 3 items>
        """
        given: Any = E if sparse.issparse(E) else check.plain_array(E, "E")
        if given.dtype.kind not in "biuf":
            raise TypeError(f"E must hold numbers; got dtype {given.dtype}: use 1, 0 and NaN.")
        if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
            raise ValueError(
                f"E must have shape (n, n); got {given.shape}: "
                "pass one row and one column per item."
            )
        if sparse.issparse(E):
            stored = given.tocoo(copy=True)
            stored.sum_duplicates()
            rows, columns, values = stored.row, stored.col, stored.data
        else:
            rows, columns = np.nonzero(given == given)  # but for NaN
            values = given[rows, columns]
        for at in np.flatnonzero(~np.isin(values, (0.0, 1.0))):
            raise ValueError(
                f"E[{rows[at]}, {columns[at]}] is {values[at]:g}: entries are 1 (same), "
                "0 (different) or NaN (not asked)."
            )
        for item in rows[(rows == columns) & (values == 0)]:
            raise ValueError(
                f"E[{item}, {item}] is 0, but no item differs from itself: "
                "put 1 or NaN on the diagonal."
            )
        off = rows != columns
        pairs = np.sort(np.column_stack([rows, columns])[off], axis=1)
        answers = values[off].astype(np.int8)
        unique, first, row = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        for i, j in pairs[answers != answers[first][row.reshape(-1)]].tolist():
            raise ValueError(
                f"E[{i}, {j}] and E[{j}, {i}] contradict each other: make E symmetric, "
                "or pass both answers to PairwiseConstraints(pairs, same, n_items)."
            )
        return cls(unique, answers[first], given.shape[0], noise=noise, name=name)

    @classmethod
    def from_frame(
        cls, frame: Any, *, n_items: int | None = None, ids: Any = None, name: str | None = None
    ) -> Any:
        """Read constraints from a table as others are, or from one with scores.

        Parameters are those of `Constraints.from_frame`. A column "score" in place of "answer"
        makes graded constraints, as `from_scores` does.
        """
        named = naming.columns_of(frame)
        if "answer" in named or "score" not in named:
            return super().from_frame(frame, n_items=n_items, ids=ids, name=name)
        pairs, scores, number, source = cls._columns(frame, n_items, ids, "score")
        return cls.from_scores(pairs, scores, number, source, name=name)._naming(ids)

    @classmethod
    def from_scores(
        cls,
        pairs: ArrayLike,
        scores: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str | None = None,
    ) -> GradedConstraints:
        """Make graded constraints of scores: match scores, token probabilities, shares of votes.

        Parameters
        ----------
        pairs : (m, 2) array of int
        scores : (m,) array of float in [0, 1]
            From surely different to surely the same, if they are right about themselves.
        n_items, source, noise, name
            As for every `Constraints`; the noise is ``GradeNoise()`` by default.

        Returns
        -------
        GradedConstraints
            What a score means is learned for every source.

        Examples
        --------
        >>> import bayesclust as bc
        >>> bc.PairwiseConstraints.from_scores([(0, 1), (1, 2)], [0.97, 0.3], n_items=3).rows
        ((0, 1, '0.95-0.98'), (1, 2, '0.2-0.35'))
        """
        tuples = check.item_tuples(pairs, 2, check.check_int(n_items, "n_items"), "pairs")
        hint = "pass for each pair a score in [0, 1], where 1 speaks for the same cluster"
        given = check.check_array(scores, "scores", (len(tuples),), "biuf", hint)
        for row in np.flatnonzero(~((given >= 0) & (given <= 1))):
            raise ValueError(f"scores[{row}] is {given[row]}: {hint}.")
        grades = np.searchsorted(ENDS[1:-1], given, side="right")
        return GradedConstraints(tuples, grades, n_items, source, noise, name)

    @property
    def may_links(self) -> IntArray:
        """Pairs answered "same", (a, 2)."""
        return np.compress(self.answers == 1, self.items, axis=0)

    @property
    def may_not_links(self) -> IntArray:
        """Pairs answered "different", (b, 2)."""
        return np.compress(self.answers == 0, self.items, axis=0)


ENDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Ends of the grades, about as far apart as their logarithmic odds."""
GRADES = tuple(f"{low:g}-{high:g}" for low, high in pairwise(ENDS))
MIDDLES = (np.array(ENDS[1:]) + np.array(ENDS[:-1])) / 2


@dataclass(frozen=True)
class GradeNoise(DirichletNoise):
    """The meaning of a source's grades: p(grade | apart) and p(grade | together), both learned.

    A priori scores mean about what they say: the weights of the two rows are proportional to 1 - s
    and to s, where s = 0.1 + 0.8 score, since nothing is to be sure before any answers. If half of
    all pairs are together, so are 70% of those with a score of 0.75.

    Parameters
    ----------
    strength : float, default 18
        Sum of the Dirichlet weights of a row: as many answers weigh as much as the prior.
    pooled : bool, default False
        As for `LinkNoise`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> apart, together = bc.constraints.GradeNoise().initial(n_sources=1)["grades"][0]
    >>> (together / (apart + together)).round(2)[[0, 6, 11]]
    array([0.11, 0.56, 0.89])
    """

    strength: float = 18.0
    pooled: bool = False

    kind: ClassVar[str] = "graded"
    truth: ClassVar[tuple[int, ...]] = LinkNoise.truth
    n_answers: ClassVar[int] = len(GRADES)
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"grades": ("source", "together", "grade")}

    def __post_init__(self) -> None:
        check.check_flag(self.pooled, "pooled")
        object.__setattr__(self, "strength", check.check_positive(self.strength, "strength"))

    def priors(self) -> dict[str, Prior]:
        together = 0.1 + 0.8 * MIDDLES  # weights far below 1 would freeze draws of rare grades
        rows = np.stack([1 - together, together])
        return {"grades": self.strength * rows / rows.sum(axis=1, keepdims=True)}


class GradedConstraints(Constraints):
    """Scores from 0 to 1 for pairs being of one cluster, cut into grades whose meaning is learned.

    Made by `PairwiseConstraints.from_scores`. `source_reliability` has the learned curve, the
    probability of together given the grade. An answer is wrong if it is on the other side of 0.5.

    Parameters
    ----------
    items : (m, 2) array of int
    answers : (m,) array of str or int
        Grades in words, such as "0.9-0.95", or numbered from 0 in their order.
    n_items, source, noise, name
        As for every `Constraints`; the noise is ``GradeNoise()`` and the name "grades" by default.

    Examples
    --------
    >>> import bayesclust as bc
    >>> scored = bc.PairwiseConstraints.from_scores([(0, 1), (1, 2)], [0.97, 0.3], n_items=3)
    >>> scored.cut()
    <PairwiseConstraints 'grades': 1 different, 1 same, on 3 items>
    """

    kind: ClassVar[str] = GradeNoise.kind
    vocabulary: ClassVar[tuple[str, ...]] = GRADES
    truth: ClassVar[CodeArray] = PairwiseConstraints.truth
    sides: ClassVar[tuple[str, ...]] = tuple(np.where(MIDDLES < 0.5, "different", "same").tolist())
    members: ClassVar[tuple[str, ...]] = PairwiseConstraints.members
    default_name: ClassVar[str] = "grades"

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return GradeNoise()

    def unit_confidence(self) -> FloatArray:
        """Return confidence (S, truth, answer): a right answer costs -|2 score - 1|."""
        weight = 2 * MIDDLES - 1
        rows = np.stack([np.minimum(weight, 0), np.minimum(-weight, 0)])
        return np.tile(rows, (self.n_sources, 1, 1))

    def cut(self) -> PairwiseConstraints:
        """Return links, "same" from a score of 0.5 on, for methods that take them alone."""
        links = PairwiseConstraints(self.items, self.said, self.n_items, name=self.name)
        links.source, links.n_sources = self.source, self.n_sources
        links.source_names = self.source_names
        return links
