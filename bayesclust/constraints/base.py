"""What every kind of side information shares: a view is item tuples, answers, and a table by equality pattern."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesclust.constraints import _checks as check
from bayesclust.constraints.noise import NoiseModel
from bayesclust.constraints.patterns import draw_answers, equality_patterns
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


class Constraints(ABC):
    """Side information that depends on a partition only through the equality pattern of the items of each answer.

    A subclass names its kind, its vocabulary and the true answer under each pattern; likelihood,
    site weights, simulation and restriction follow. A view does not change: methods return new
    ones.

    Parameters
    ----------
    items : (m, t) array of int
        The t = 2 or 3 different items that each answer is about.
    answers : (m,) array of str or int
        Answers, as words or codes of the vocabulary (bool is a code where there are two).
    n_items : int
        Number of items of the data; items are numbered 0 to n_items - 1.
    source : (m,) array of int, optional
        Who gave each answer, numbered from 0 without gaps; one source by default.
    noise : NoiseModel, optional
        How answers go wrong; by default that of the kind, which says "more likely right than
        wrong".
    name : str
        What the view is called in data sets and posteriors.

    Attributes
    ----------
    items : (m, t) array of int64, read-only
    answers : (m,) array of int8, read-only
        Codes: positions in the vocabulary.
    source : (m,) array of int64, read-only
    flipped : (m,) array of bool, or None
        Which answers are unlike the truth; known only where answers were simulated.
    n_items, n_sources : int
    noise : NoiseModel
    name : str
    kind : str
        What kind of view it is, the same for all views of a class.
    vocabulary : tuple of str
        Answers in words, by code.
    truth : (n_patterns,) array of int8
        The answer that a faultless source gives under each equality pattern.
    members : tuple of str
        Names of the t items of an answer.

    Raises
    ------
    TypeError, ValueError
        For wrong shapes and kinds, an item out of range or named twice in a row, an answer outside
        the vocabulary, sources that are negative or skip a number, a noise model of another kind.
    """

    kind: ClassVar[str]
    vocabulary: ClassVar[tuple[str, ...]]
    truth: ClassVar[CodeArray]
    members: ClassVar[tuple[str, ...]]
    # what the constructor calls its first two arguments, for the sentences of errors
    _items_word: ClassVar[str] = "items"
    _answers_word: ClassVar[str] = "answers"

    def __init__(
        self,
        items: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None,
        noise: Any,
        name: str,
    ) -> None:
        self.n_items = check.positive_int(n_items, "n_items")
        tuples = check.item_tuples(items, len(self.members), self.n_items, self._items_word)
        numbers, self.n_sources = check.source_numbers(source, len(tuples), self._items_word)
        self.items: IntArray = check.frozen(self._arrange(tuples))
        self.source: IntArray = check.frozen(numbers)
        self.answers: CodeArray = check.frozen(self._encode(answers))
        self.flipped: BoolArray | None = None
        self.noise = self.default_noise() if noise is None else self._checked_noise(noise)
        self.name = check.view_name(name)

    @classmethod
    @abstractmethod
    def default_noise(cls) -> NoiseModel:
        """Return the noise model used when none is given."""

    def _arrange(self, items: IntArray) -> IntArray:
        """Put the items of each answer in the order in which the kind keeps them."""
        return items

    def _encode(self, answers: ArrayLike) -> CodeArray:
        return check.answer_codes(
            answers, self.vocabulary, len(self), self._answers_word, self._items_word
        )

    def _checked_noise(self, noise: Any) -> NoiseModel:
        usual = type(self.default_noise()).__name__
        if not isinstance(noise, NoiseModel):
            raise TypeError(
                f"noise must be a noise model; got {type(noise).__name__}: pass for instance {usual}()."
            )
        if noise.kind != self.kind:
            raise TypeError(
                f"{type(noise).__name__} is for {noise.kind} constraints, but these are {self.kind}: "
                f"pass for instance {usual}()."
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
        answers = ", ".join(
            f"{count} {word}" for word, count in zip(self.vocabulary, tally, strict=True)
        )
        sources = "" if self.n_sources == 1 else f" from {self.n_sources} sources"
        return f"<{type(self).__name__} {self.name!r}: {answers}{sources}, on {self.n_items} items>"

    def patterns(self, z: ArrayLike) -> CodeArray:
        """Return the equality pattern of every answer's items, (..., m) of int8, for labels z (..., n)."""
        return equality_patterns(check.item_labels(z, self.n_items, "z")[..., self.items])

    def truths(self, z: ArrayLike) -> CodeArray:
        """Return the answer that a faultless source would give, as codes (..., m) of int8, for labels z (..., n)."""
        truths: CodeArray = self.truth[self.patterns(z)]
        return truths

    def counts(self, z: ArrayLike) -> IntArray:
        """Count the answers of each code under each pattern.

        Parameters
        ----------
        z : (..., n) array of int
            Partitions, as labels.

        Returns
        -------
        (..., n_sources * n_answers, n_patterns) array of int64
        """
        patterns = self.patterns(z)
        batch, shape = patterns.shape[:-1], (self.n_sources * self.n_answers, self.n_patterns)
        n_tables, n_cells = prod(batch), prod(shape)
        cell = (self.codes * self.n_patterns + patterns).reshape(n_tables, len(self))
        cell += n_cells * np.arange(n_tables)[:, None]
        tally = np.bincount(cell.ravel(), minlength=n_tables * n_cells)
        return tally.reshape(*batch, *shape).astype(np.int64, copy=False)

    def log_prob(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike]) -> Any:
        """Return log p(answers | z, noise).

        Parameters
        ----------
        z : (..., n) array of int
            Partitions, as labels.
        noise_params : dict of arrays
            Parameters of `noise`, whose axis of sources follows batch axes that broadcast with
            those of z, if any.

        Returns
        -------
        float, or (...) array of float
        """
        value = (self.counts(z) * self.noise.log_table(noise_params)).sum(axis=(-2, -1))
        return float(value) if np.ndim(value) == 0 else value

    def site_logits(
        self, z: ArrayLike, i: int, n_clusters: int, noise_params: Mapping[str, ArrayLike]
    ) -> FloatArray:
        """Return what each choice of cluster for one item does to the log probability of the answers.

        The plain twin of the compiled kernels, for reading and for tests.

        Parameters
        ----------
        z : (..., n) array of int
            Labels in 0..n_clusters-1; the label of item i itself is not read.
        i : int
            The item.
        n_clusters : int
            Number of clusters.
        noise_params : dict of arrays
            Parameters of `noise`, as for `log_prob`.

        Returns
        -------
        (..., n_clusters + 1) array of float
            Change of `log_prob` when item i joins cluster k, relative to a new cluster of its own
            (the last entry, 0).
        """
        moved = np.array(z)
        mine = (self.items == i).any(axis=1)
        by_code = self.noise.log_table(noise_params)[..., self.codes[mine], :]
        values = []
        for k in range(n_clusters + 1):
            moved[..., i] = k
            pattern = equality_patterns(moved[..., self.items[mine]])
            chosen = (pattern[..., None] == np.arange(self.n_patterns)) * by_code
            values.append(chosen.sum(axis=(-2, -1)))
        logits: FloatArray = np.stack(values, axis=-1)
        return logits - logits[..., -1:]

    def with_answers(self, answers: ArrayLike) -> Self:
        """Return the same questions with other answers, shape (m,), as words or codes."""
        other = copy.copy(self)
        other.answers, other.flipped = check.frozen(self._encode(answers)), None
        return other

    def with_noise(self, noise: NoiseModel) -> Self:
        """Return the same questions and answers with another noise model."""
        other = copy.copy(self)
        other.noise = self._checked_noise(noise)
        return other

    def simulate(
        self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Self:
        """Return the same questions with answers drawn from the model.

        Parameters
        ----------
        z : (n,) array of int
            Partition, as labels.
        noise_params : dict of arrays
            Parameters of `noise`, each with a leading axis of sources.
        rng : numpy.random.Generator

        Returns
        -------
        Constraints
            Its `flipped` tells which answers came out unlike the truth.
        """
        return self._answered(
            draw_answers(self.noise.confusion(noise_params), self.source, self.truths(z), rng), z
        )

    def _answered(self, answers: ArrayLike, z: ArrayLike) -> Self:
        """Return the same questions with simulated answers, of which the truth is known."""
        other = self.with_answers(answers)
        other.flipped = check.frozen(other.answers != self.truths(z))
        return other

    def restrict(self, items: ArrayLike) -> Self:
        """Return the view on some of the items, re-indexed; answers about any other item are left out.

        Parameters
        ----------
        items : (k,) array of int, or (n,) array of bool
            The items to keep, in their new order, or a mask.

        Returns
        -------
        Constraints
            With n_items = k. Sources keep their numbers, whether or not any of their answers are
            left.

        Raises
        ------
        TypeError, ValueError
            If an item is out of range or named twice, none is left, or a mask has the wrong length.
        """
        kept = check.chosen_items(items, self.n_items)
        position = np.full(self.n_items, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        inside = (position[self.items] >= 0).all(axis=1)
        other = copy.copy(self)
        other.n_items = len(kept)
        other.items = check.frozen(self._arrange(position[self.items[inside]]))
        other.answers, other.source = (
            check.frozen(self.answers[inside]),
            check.frozen(self.source[inside]),
        )
        other.flipped = None if self.flipped is None else check.frozen(self.flipped[inside])
        return other

    def to_frame(self) -> pd.DataFrame:
        """Return one row per answer: the items (columns i, j and for triplets k), the answer in words, the source."""
        import pandas as pd

        columns: dict[str, Any] = {name: self.items[:, t] for t, name in enumerate(self.members)}
        columns["answer"] = np.array(self.vocabulary, dtype=object)[self.answers]
        columns["source"] = self.source
        return pd.DataFrame(columns)


__all__ = ["Constraints", "draw_answers", "equality_patterns"]
