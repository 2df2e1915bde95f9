"""What every kind of side information shares: a view is item tuples, answers, and a table by equality pattern."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesclust.constraints import _checks as check
from bayesclust.constraints.noise import NoiseModel
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

# index 1[i=j] + 2 * 1[i=k] + 4 * 1[j=k]; 3, 5 and 6 cannot occur
_TRIPLET_PATTERN = np.array([4, 1, 2, -1, 3, -1, -1, 0], dtype=np.int8)


def equality_patterns(labels: ArrayLike) -> CodeArray:
    """Return which of the items of each tuple share a label.

    Parameters
    ----------
    labels : (..., t) array of int
        Labels of the members of each tuple, t = 2 or 3.

    Returns
    -------
    (...) array of int8
        For pairs 0 = same, 1 = different; for triplets (i, j, k) 0 = all same, 1 = ij|k, 2 = ik|j, 3 = jk|i,
        4 = all different.

    Examples
    --------
    >>> equality_patterns([[0, 0, 1], [0, 1, 0], [0, 1, 2]])
    array([1, 2, 4], dtype=int8)
    """
    labels = np.asarray(labels)
    first, second = labels[..., 0], labels[..., 1]
    if labels.shape[-1] == 2:
        return np.asarray(first != second, dtype=np.int8)
    third = labels[..., 2]
    return np.asarray(_TRIPLET_PATTERN[(first == second) + 2 * (first == third) + 4 * (second == third)], dtype=np.int8)


class View(ABC):
    """Side information that depends on a partition only through the equality pattern of the items of each answer.

    A subclass names its kind, its vocabulary and the true answer under each pattern; likelihood, site weights,
    simulation and restriction follow. Views are immutable: methods return new ones.

    Parameters
    ----------
    items : (m, t) array of int
        The t = 2 or 3 different items that each answer is about.
    answers : (m,) array of str or int
        Answers, as words or codes of the vocabulary.
    n_items : int
        Number of items of the data; items are numbered 0 to n_items - 1.
    source : (m,) array of int, optional
        Who gave each answer, numbered from 0 without gaps; one source by default.
    noise : NoiseModel, optional
        How answers go wrong; the default of the kind says "more likely right than wrong".
    name : str, optional
        What the view is called in data sets and posteriors.

    Attributes
    ----------
    items, answers, source : read-only arrays, (m, t) int64, (m,) int8, (m,) int64
    flipped : (m,) array of bool or None
        Which answers are known to be unlike the truth, where answers were simulated.
    n_items, n_sources, n_answers : int
    noise : NoiseModel
    name : str
    """

    kind: ClassVar[str]
    vocabulary: ClassVar[tuple[str, ...]]
    truth: ClassVar[CodeArray]
    members: ClassVar[tuple[str, ...]]
    _items_word: ClassVar[str]
    _answers_word: ClassVar[str]

    def __init__(
        self,
        items: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str | None = None,
    ) -> None:
        self.n_items = check.positive_int(n_items, "n_items")
        width, where = len(self.members), self._items_word
        self.items: IntArray = check.frozen(
            self._arrange(check.item_tuples(items, width, self.n_items, where))
        )
        m = len(self.items)
        self.answers: CodeArray = check.frozen(
            check.answer_codes(answers, self.vocabulary, m, self._answers_word, where)
        )
        numbers, self.n_sources = check.source_numbers(source, m, where)
        self.source: IntArray = check.frozen(numbers)
        self.noise = self._checked_noise(noise)
        self.name = check.view_name(self._default_name() if name is None else name)
        self.flipped: BoolArray | None = None

    @classmethod
    @abstractmethod
    def default_noise(cls) -> NoiseModel:
        """Return the noise model used when none is given."""

    @classmethod
    @abstractmethod
    def _default_name(cls) -> str: ...

    def _arrange(self, items: IntArray) -> IntArray:
        return items

    def _checked_noise(self, noise: NoiseModel | None) -> NoiseModel:
        if noise is None:
            return self.default_noise()
        if not isinstance(noise, NoiseModel):
            raise TypeError(f"noise must be a NoiseModel; got {type(noise).__name__}.")
        if noise.kind != self.kind:
            raise ValueError(
                f"{type(noise).__name__} is for {noise.kind} constraints, but these are {self.kind}: "
                f"pass {type(self.default_noise()).__name__}."
            )
        return noise

    @property
    def n_answers(self) -> int:
        """Number of words in the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_patterns(self) -> int:
        """Number of equality patterns of a tuple."""
        return len(self.truth)

    @property
    def codes(self) -> IntArray:
        """Row of each answer in the noise table, source * n_answers + answer, shape (m,)."""
        return self.source * self.n_answers + self.answers

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        tally = np.bincount(self.answers, minlength=self.n_answers)
        answers = ", ".join(f"{count} {word}" for word, count in zip(self.vocabulary, tally, strict=True))
        sources = "" if self.n_sources == 1 else f", {self.n_sources} sources"
        return f"<{type(self).__name__} {self.name!r}: {answers}; {self.n_items} items{sources}>"

    def patterns(self, z: ArrayLike) -> CodeArray:
        """Return the equality pattern of every answer's items.

        Parameters
        ----------
        z : (..., n) array of int
            Partitions, as labels.

        Returns
        -------
        (..., m) array of int8
        """
        return equality_patterns(np.asarray(z)[..., self.items])

    def truths(self, z: ArrayLike) -> CodeArray:
        """Return the answer that a faultless source would give, as codes (..., m), for labels z (..., n)."""
        truths: CodeArray = self.truth[self.patterns(z)]
        return truths

    def counts(self, z: ArrayLike) -> IntArray:
        """Count the answers of each code under each pattern.

        Parameters
        ----------
        z : (..., n) array of int

        Returns
        -------
        (..., n_sources * n_answers, n_patterns) array of int64
        """
        patterns = self.patterns(z)
        batch = patterns.shape[:-1]
        n_codes, n_patterns = self.n_sources * self.n_answers, self.n_patterns
        cell = (self.codes * n_patterns + patterns).reshape(-1, len(self))
        offset = np.arange(len(cell))[:, None] * (n_codes * n_patterns)
        tally = np.bincount((cell + offset).ravel(), minlength=len(cell) * n_codes * n_patterns)
        return tally.reshape(*batch, n_codes, n_patterns)

    def log_prob(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike]) -> Any:
        """Return log p(answers | z, noise).

        Parameters
        ----------
        z : (..., n) array of int
        noise_params : dict of arrays
            Parameters of `noise`, the axis of sources after any batch axes, which broadcast with those of z.

        Returns
        -------
        float, or (...) array of float
        """
        value = (self.counts(z) * self.noise.log_table(noise_params)).sum(axis=(-2, -1))
        return float(value) if np.ndim(value) == 0 else value

    def site_logits(self, z: ArrayLike, i: int, n_clusters: int, noise_params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return what each choice of cluster for one item does to the log probability of the answers.

        A plain twin of the compiled kernels, for reading and for tests.

        Parameters
        ----------
        z : (..., n) array of int
            Labels in 0..n_clusters-1; the label of item i itself is not read.
        i : int
        n_clusters : int
        noise_params : dict of arrays

        Returns
        -------
        (..., n_clusters + 1) array of float
            Change of `log_prob` when item i joins cluster k, relative to a new cluster of its own (the last entry, 0).
        """
        z = np.asarray(z)
        mine = (self.items == i).any(axis=1)
        table = self.noise.log_table(noise_params)
        logits = np.empty((*z.shape[:-1], n_clusters + 1))
        moved = z.copy()
        for k in range(n_clusters + 1):
            moved[..., i] = k
            patterns = equality_patterns(moved[..., self.items[mine]])
            codes = np.broadcast_to(self.codes[mine], patterns.shape)
            flat = np.broadcast_to(table, (*patterns.shape[:-1], *table.shape[-2:]))
            picked = flat.reshape(*flat.shape[:-2], -1)
            cell = codes * self.n_patterns + patterns
            logits[..., k] = np.take_along_axis(picked, cell, axis=-1).sum(axis=-1)
        return logits - logits[..., -1:]

    def with_answers(self, answers: ArrayLike) -> Self:
        """Return the same questions with other answers, shape (m,), as words or codes."""
        other = copy.copy(self)
        codes = check.answer_codes(answers, self.vocabulary, len(self), self._answers_word, self._items_word)
        other.answers, other.flipped = check.frozen(codes), None
        return other

    def with_noise(self, noise: NoiseModel) -> Self:
        """Return the same answers under another noise model."""
        other = copy.copy(self)
        other.noise = self._checked_noise(noise)
        return other

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: np.random.Generator) -> Self:
        """Return the same questions with answers drawn from the model.

        Parameters
        ----------
        z : (n,) array of int
        noise_params : dict of arrays
        rng : numpy.random.Generator

        Returns
        -------
        View
            Its `flipped` tells which answers came out unlike the truth.
        """
        truths = self.truths(z)
        answers = draw_answers(self.noise.confusion(noise_params), self.source, truths, rng)
        other = self.with_answers(answers)
        other.flipped = check.frozen(answers != truths)
        return other

    def restrict(self, items: ArrayLike) -> Self:
        """Return the view on some of the items, re-indexed; answers about any other item are left out.

        Parameters
        ----------
        items : (k,) array of int, or (n,) array of bool
            The items to keep, in their new order, or a mask.

        Returns
        -------
        View
            With n_items = k and the same number of sources.

        Raises
        ------
        ValueError
            If an item is out of range or named twice, or a mask has the wrong length.
        """
        kept = check.chosen_items(items, self.n_items)
        position = np.full(self.n_items, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        moved = position[self.items]
        inside = (moved >= 0).all(axis=1)
        other = copy.copy(self)
        other.n_items = len(kept)
        other.items = check.frozen(self._arrange(moved[inside]))
        other.answers = check.frozen(self.answers[inside])
        other.source = check.frozen(self.source[inside])
        other.flipped = None if self.flipped is None else check.frozen(self.flipped[inside])
        return other

    def to_frame(self) -> pd.DataFrame:
        """Return one row per answer: the items (columns i, j and k), the answer as a word, and the source."""
        import pandas as pd

        columns: dict[str, Any] = {name: self.items[:, t] for t, name in enumerate(self.members)}
        columns["answer"] = np.array(self.vocabulary, dtype=object)[self.answers]
        columns["source"] = self.source
        return pd.DataFrame(columns)


def draw_answers(
    confusion: FloatArray, source: IntArray, truths: CodeArray, rng: np.random.Generator
) -> CodeArray:
    """Draw an answer for each question from its source's row of the confusion matrix.

    Parameters
    ----------
    confusion : (S, A, A) array of float
        p(answer | truth) of each source.
    source : (m,) array of int
    truths : (m,) array of int
    rng : numpy.random.Generator

    Returns
    -------
    (m,) array of int8
    """
    cumulative = np.cumsum(confusion[source, truths], axis=-1)[:, :-1]
    return (rng.random(len(source))[:, None] >= cumulative).sum(axis=1).astype(np.int8)


__all__ = ["Sequence", "View", "draw_answers", "equality_patterns"]
