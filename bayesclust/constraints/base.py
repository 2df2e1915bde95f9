"""Constraints: what all kinds of side information share, and the check of what a method can use.

Most kinds are noisy answers about two or three items whose probability depends on the partition
through the items' *equality pattern* alone: a kind is then a table of true answers by pattern.
Others state something about clusters or about many items, which holds or does not hold.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations, count
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from bayesclust import checks as check
from bayesclust import names as naming
from bayesclust.constraints.noise import NoiseModel, may_be_hard, refuse_hard
from bayesclust.constraints.statements import (
    Apart,
    Either,
    Every,
    Formula,
    Labels,
    Statement,
    Together,
)
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

N_PATTERNS = 5
"""Equality patterns of three items; a pair uses the first two."""

PARTITIONS = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2))
"""Labels of three items under each equality pattern; of a pair the last two."""

# index 1[i=j] + 2 * 1[i=k] + 4 * 1[j=k]; 3, 5 and 6 cannot occur
_TRIPLET_PATTERN = np.array([4, 1, 2, -1, 3, -1, -1, 0], dtype=np.int8)

Needs = Literal["table", "classes", "evidence", "links", "statements"]


def equality_patterns(given: Any, xp: Any = np) -> Any:
    """Which members of tuples share a label, (..., t) to (...), in NumPy or in JAX (`xp`)."""
    # Of pairs 0 = same, 1 = different; of triplets 0 = all same, 1 = ij|k, 2 = ik|j, 3 = jk|i, 4 =
    # all different.
    labels = xp.asarray(given)
    first = labels[..., 0]
    second = labels[..., 1]
    if labels.shape[-1] == 2:
        return xp.asarray(first != second, dtype=np.int8)
    third = labels[..., 2]
    equalities = (first == second) + 2 * (first == third) + 4 * (second == third)
    return xp.asarray(_TRIPLET_PATTERN)[equalities]


def pattern_shares(r: Any, items: IntArray, xp: Any = np) -> Any:
    """Probability of each equality pattern of tuples, shape (patterns, m), given r (n, K)."""
    rows = [r[own] for own in items.T]
    if len(rows) == 2:
        same = xp.minimum(xp.einsum("fk,fk->f", *rows), 1.0)
        return xp.stack([same, 1.0 - same])
    a, b, c = rows
    ab, ac, bc = (xp.einsum("fk,fk->f", *both) for both in ((a, b), (a, c), (b, c)))
    every = xp.einsum("fk,fk,fk->f", a, b, c)
    apart = 1.0 - ab - ac - bc + 2.0 * every
    return xp.maximum(xp.stack([every, ab - every, ac - every, bc - every, apart]), 0.0)


def _arranged(items: IntArray) -> IntArray:
    """Put the smaller item of each pair first; triplets stay as they are."""
    return np.sort(items, axis=1) if items.shape[1] == 2 else items


def draw_answers(p: FloatArray, rng: Generator) -> CodeArray:
    """Draw answers (...) from the probabilities of each (..., answer)."""
    thresholds = np.cumsum(p, axis=-1)[..., :-1]
    above = rng.random(p.shape[:-1])[..., None] >= thresholds
    return np.asarray(above.sum(axis=-1), dtype=np.int8)


RING = 8  # items that each is paired with, as anchors of moves


def pairs_in_a_ring(items: IntArray) -> IntArray:
    """Each of some items with the next ones, in a ring, (m, 2)."""
    named = np.unique(items)
    steps = range(1, min(len(named), RING + 1))
    pairs = [np.column_stack([named, np.roll(named, -step)]) for step in steps]
    return np.concatenate([np.zeros((0, 2), np.int64), *pairs])


KINDS: dict[str, type[Constraints]] = {}
"""Every kind of constraints by its name; a subclass enters itself."""


class Reading(NamedTuple):
    """What draws (b) of partition and noise say of m answers."""

    truth: Any  # (b, m, T) probability of each truth
    without: Any  # (b, m, T) the same by all but the answer itself
    p: FloatArray  # (b, m, answers) probability of each answer, by all but itself
    hard: Any = None  # (b, m) probability that its query is hard, if some may be


class ByPattern:
    """What can be said of answers by pattern, whether or not they have a noise model."""

    @property
    def is_links(self: Any) -> bool:
        """Whether the answers are "different" and "same" about pairs."""
        return bool(self.kind == "pairwise")

    @property
    def has_table(self: Any) -> bool:
        """Whether a table says what each answer is worth in a partition; of labels none does."""
        return len(self.truth) > 0

    @property
    def noise_kind(self: Any) -> str:
        """The `kind` of a noise model for them."""
        return str(self.kind)

    @property
    def n_answers(self: Any) -> int:
        """Number of words in the vocabulary."""
        return len(self.vocabulary)

    @property
    def codes(self: Any) -> IntArray:
        """Row of each answer in the noise table, source * n_answers + answer, shape (m,)."""
        return np.asarray(self.source * self.n_answers + self.answers)

    @property
    def truth_words(self: Any) -> tuple[str, ...]:
        """What can be true, by code: the answers themselves, or what they speak for."""
        return tuple(dict.fromkeys(self.sides)) or self.vocabulary

    def said_by(self: Any, answers: ArrayLike) -> CodeArray:
        """The truths that answers speak for, as codes."""
        codes = np.asarray(answers)
        if not self.sides:
            return codes
        words = self.truth_words
        return np.array([words.index(side) for side in self.sides], dtype=np.int8)[codes]

    @property
    def given(self: Any) -> Any:
        """The constraints with a row for each answer."""
        return self

    @property
    def said(self: Any) -> CodeArray:
        """The truth that each answer speaks for, (m,): right where it is that of the partition."""
        return np.asarray(self.said_by(self.answers))

    def __len__(self: Any) -> int:
        return len(self.items)

    def in_range(self: Any, width: int) -> bool:
        """Whether rows name `width` items, an answer and a source that exist."""
        number = len(np.atleast_1d(self.items))
        arrays = (
            (self.items, (number, width), self.n_items),
            (self.answers, (number,), len(self.vocabulary)),
            (self.source, (number,), self.n_sources),
        )
        for given, shape, most in arrays:
            array = np.asarray(given)
            whole = array.dtype.kind in "iu" and array.shape == shape
            if not whole or (array.size and not 0 <= array.min() <= array.max() < most):
                return False
        return True

    def patterns(self: Any, z: ArrayLike) -> CodeArray:
        """Return the equality pattern of each row's items, (..., m), for labels z (..., n)."""
        labels = check.item_labels(z, self.n_items, "z")[..., self.items]
        return np.asarray(equality_patterns(labels))

    def truths(self: Any, z: ArrayLike) -> CodeArray:
        """Return a faultless source's answers, as codes (..., m), for labels z (..., n)."""
        return np.asarray(self.truth[self.patterns(z)])

    # ---- given draws z (b, n) and confusion matrices (b, S, truth, answer)

    def read(self: Any, z: IntArray, confusion: FloatArray | None) -> Reading:
        """What draws say of the answers; p is empty where there is no noise."""
        truths = self.truths(z)
        truth = truths[..., None] == np.arange(len(self.truth_words))
        p = np.empty(0)
        if confusion is not None:
            p = confusion[np.arange(len(truths))[:, None], self.source, truths]
        return Reading(truth, truth, p)

    def wrong(self: Any, z: IntArray, confusion: FloatArray | None) -> FloatArray:
        """Probability that each answer is wrong, (m,), on average over the draws."""
        return np.asarray((self.truths(z) != self.said).mean(axis=0))

    def forecast(self: Any, other: Any, z: IntArray, confusion: FloatArray) -> FloatArray:
        """Probability of each answer (b, m, answers) to the questions of `other`, given these."""
        return np.asarray(confusion[np.arange(len(z))[:, None], other.source, other.truths(z)])

    def draw_truths(self: Any, z: IntArray, confusion: FloatArray, rng: Generator) -> IntArray:
        """The truth of each question, (m,), of one draw z (n,), drawn where z leaves it open."""
        return np.asarray(self.truths(z), np.int64)

    def prior_shares(self: Any, s: FloatArray, t: FloatArray) -> FloatArray | None:
        """Prior probability (T,) of each truth under urns of Pitman and Yor (1997), if known."""
        patterns = np.stack([1 - s, t + s]) / (1 + t)
        if self.items.shape[1] == 3:
            two = (1 - s) * (t + s)
            patterns = np.stack([(1 - s) * (2 - s), two, two, two, (t + s) * (t + 2 * s)])
            patterns /= (1 + t) * (2 + t)
        return np.bincount(self.truth, patterns.mean(axis=1), len(self.truth_words))


class Constraints(ByPattern, ABC):
    """Side information that depends on a partition through the equality pattern of some items.

    A subclass names its kind, its vocabulary and the true answer under each pattern. Larger tuples
    than three have too many patterns: state them as `Rules`. Methods return new constraints.

    Parameters
    ----------
    items : (m, t) array of int
        The t = 2 or 3 different items of each row.
    answers : (m,) array of str or int
        Words of the vocabulary or synonyms, in any case, or codes (bool where there are two).
    n_items : int
        Number of items, which are numbered from 0.
    source : (m,) array of int or str, optional
        Who gave each answer: numbers from 0 without gaps, or names; one source by default.
    noise : NoiseModel, optional
        How answers go wrong; by default that of the kind.
    name : str, optional
        Name in data sets and posteriors; `default_name` otherwise.

    Attributes
    ----------
    items, answers, source, n_items, n_sources, noise, name
        As given; answers are codes, sources numbers, and arrays are read-only.
    source_names : tuple of str, or None
        Where sources were given by name.
    flipped : (m,) array of bool, or None
        Which answers are unlike the truth, where answers were simulated.
    kind, vocabulary, members, truth
        The kind, its answers in words by code, the names of the t items of a row, and the answer of
        a faultless source under each equality pattern, (n_patterns,) of int8.
    sides
        Where answers are grades of a truth, which truth each speaks for, in words; else empty.

    Raises
    ------
    TypeError, ValueError
        For wrong shapes and kinds, items out of range or twice in a row, unknown answers, sources
        that skip a number, noise of another kind.
    """

    kind: ClassVar[str]
    vocabulary: ClassVar[tuple[str, ...]] = ()
    truth: ClassVar[CodeArray] = np.empty(0, dtype=np.int8)
    members: ClassVar[tuple[str, ...]] = ()
    default_name: ClassVar[str] = "constraints"
    synonyms: ClassVar[Mapping[str, str]] = {}
    sides: ClassVar[tuple[str, ...]] = ()
    # names of the constructor's first two arguments, for error messages
    _items_word: ClassVar[str] = "items"
    _answers_word: ClassVar[str] = "answers"

    n_items: int
    n_sources: int
    source_names: tuple[str, ...] | None
    item_names: list[str] | None = None
    name: str
    items: IntArray
    answers: CodeArray
    source: IntArray
    flipped: BoolArray | None
    noise: NoiseModel
    formulas: Sequence[Formula] = ()  # of rules: what each says

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls
        if len(cls.members) > 3 or len(cls.truth) > N_PATTERNS:
            raise TypeError(
                f"{cls.__name__} asks about {len(cls.members)} items at once, but a table by "
                "equality pattern can have 2 or 3: split the rows, or state them as rules."
            )

    def __init__(
        self,
        items: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: Any = None,
        name: str | None = None,
    ) -> None:
        self.n_items = check.check_int(n_items, "n_items")
        tuples = check.item_tuples(items, len(self.members), self.n_items, self._items_word)
        numbers, self.n_sources, self.source_names = check.source_numbers(
            source, len(tuples), self._items_word
        )
        self.items = check.frozen(_arranged(tuples))
        self.source = check.frozen(numbers)
        self.answers = self._encode(answers)
        self.flipped = None
        self.noise = self._checked_noise(self.default_noise() if noise is None else noise)
        self.name = check.name_word(self.default_name if name is None else name)

    @classmethod
    @abstractmethod
    def default_noise(cls) -> NoiseModel:
        """Return the noise model used when none is given."""

    @classmethod
    def known_noise(cls, error_rate: float) -> NoiseModel:
        """Return a noise model in which an answer is wrong with a known probability."""
        raise TypeError(
            f"{cls.__name__} has no noise model with one known error rate: pass noise=None, which "
            "takes that of the constraints."
        )

    @classmethod
    def learned_noise(cls, *, confusion: bool = False) -> NoiseModel:
        """Return a noise model that is learned: the usual one, or a confusion matrix."""
        return cls.default_noise()

    def _encode(self, answers: ArrayLike) -> CodeArray:
        name = self._answers_word
        codes = check.answer_codes(answers, self, len(self), name, self._items_word)
        return np.asarray(check.frozen(codes))

    def _checked_noise(self, noise: Any) -> NoiseModel:
        if not isinstance(noise, NoiseModel) or noise.kind != self.noise_kind:
            usual = type(self.default_noise()).__name__
            raise TypeError(
                f"noise must be a noise model of {self.noise_kind!r} constraints; got "
                f"{type(noise).__name__}: pass for instance {usual}()."
            )
        own = tuple(np.asarray(self.truth).tolist())
        if own and tuple(noise.truth) != own:
            raise ValueError(
                f"{type(self).__name__}.truth is {own}, and {type(noise).__name__}.truth is "
                f"{tuple(noise.truth)}: give both the true answer under each equality pattern."
            )
        return noise

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        n_items: int | None = None,
        ids: ArrayLike | None = None,
        name: str | None = None,
    ) -> Self:
        """Read constraints from a table, as `to_frame` writes it.

        Parameters
        ----------
        frame : DataFrame, of pandas or polars, or table of pyarrow
            Columns "i", "j" and for triplets "k", "answer" in words or codes, perhaps "source", and
            "count", how often an answer was given; other columns are ignored.
        n_items : int, optional
            Number of items, where they are named by their numbers.
        ids : (n,) array, optional
            Names of the items in the order of the data, such as ``df.index``, if not. A fit
            refuses a data frame whose index has other names or another order.
        name : str, optional
            By default that of the kind.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> import pandas as pd
        >>> import bayesclust as bc
        >>> table = pd.DataFrame({"i": ["ann"], "j": ["bob"], "answer": ["same"]})
        >>> bc.PairwiseConstraints.from_frame(table, ids=["bob", "eve", "ann"]).items
        array([[0, 2]])
        """
        items, answers, number, source = cls._columns(frame, n_items, ids)
        check.refuse_truth_values(answers, cls.vocabulary)
        codes = check.answer_codes(answers, cls, len(items), "answer", "the table")
        return cls(items, codes, number, source, name=name)._naming(ids)

    def _naming(self, ids: Any) -> Self:
        """Remember the names of the items, which those of the data are compared with."""
        if ids is not None:
            self.item_names = naming.plain_names(ids)
        return self

    @classmethod
    def _columns(
        cls,
        frame: Any,
        n_items: int | None,
        ids: ArrayLike | None,
        said: str = "answer",
        members: Sequence[str] | None = None,
    ) -> tuple[Any, ...]:
        """Items, answers (the column `said`), number of items and sources of a table."""
        by_answer = members is None
        members = cls.members if members is None else members
        if (n_items is None) == (ids is None):
            given = "neither" if ids is None else "both"
            raise TypeError(f"pass n_items or ids to say which items there are; got {given}.")
        columns = naming.check_columns(frame, members, said, cls.__name__ if by_answer else None)
        items, number = naming.named_items(frame, members, n_items, ids)
        rows: Any = slice(None)
        if "count" in columns and by_answer:
            rows = check.repeated_rows(naming.cells(frame, "count"))
        source = naming.named_sources(frame, rows) if "source" in columns else None
        return items[rows], naming.cells(frame, said)[rows], number, source

    @property
    def n_patterns(self) -> int:
        """Number of equality patterns of a tuple."""
        return len(self.truth)

    def __repr__(self) -> str:
        tally = np.bincount(self.answers, minlength=self.n_answers)
        answers = ", ".join(
            f"{count} {word}" for word, count in zip(self.vocabulary, tally, strict=True)
        )
        sources = "" if self.n_sources == 1 else f" from {self.n_sources} sources"
        items = check.counted(self.n_items, "item")
        return f"<{type(self).__name__} {self.name!r}: {answers}{sources}, on {items}>"

    def _repr_html_(self) -> str:
        import pandas as pd

        parts = [pd.DataFrame(self.rows[:5])]
        if self.members:
            table = self.to_frame()
            parts = [pd.crosstab(table["source"], table["answer"]), table.head()]
        return f"<p>{escape(repr(self))}</p>" + "".join(part.to_html() for part in parts)

    def counts(self, z: ArrayLike) -> IntArray:
        """Count answers by code and pattern, (..., S * n_answers, n_patterns), for z (..., n)."""
        patterns = self.patterns(z)
        batch = patterns.shape[:-1]
        shape = (self.n_sources * self.n_answers, self.n_patterns)
        n_tables = prod(batch)
        n_cells = prod(shape)
        cell = (self.codes * self.n_patterns + patterns).reshape(n_tables, len(self))
        cell += n_cells * np.arange(n_tables)[:, None]
        tally = np.bincount(cell.ravel(), minlength=n_tables * n_cells)
        return tally.reshape(*batch, *shape).astype(np.int64, copy=False)

    def draw_counts(self, z: IntArray, params: Mapping[str, Any], rng: Generator) -> IntArray:
        """`counts` of one partition, by truths that are drawn where it does not tell them."""
        return self.counts(z)

    def log_prob(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike]) -> Any:
        """Return log p(answers | z, noise), a float or (...), for partitions as labels z (..., n).

        The axis of sources of each parameter follows batch axes that broadcast with those of z.
        """
        params = self._checked_params(noise_params)
        value = (self.counts(z) * self.noise.log_table(params)).sum(axis=(-2, -1))
        return float(value) if np.ndim(value) == 0 else value

    def _checked_params(self, given: Any) -> dict[str, FloatArray]:
        """The noise's parameters as arrays of their shapes, behind any batch axes."""
        shapes = {name: own.shape for name, own in self.noise.initial(self.n_sources).items()}
        if isinstance(given, Mapping) and set(shapes) <= set(given):
            params = {name: check.real_array(given[name], name) for name in shapes}
            if all(own in ((), params[name].shape[-len(own) :]) for name, own in shapes.items()):
                return params
        words = " and ".join(f"{name!r} of shape {shape}" for name, shape in shapes.items())
        raise ValueError(f"noise_params must be a dict of {words}, behind any batch axes.")

    def with_answers(self, answers: ArrayLike) -> Self:
        """Return the same questions with other answers, shape (m,), as words or codes."""
        other = copy.copy(self)
        other.answers = self._encode(answers)
        other.flipped = None
        return other

    def with_noise(self, noise: NoiseModel) -> Self:
        """Return the same questions and answers with another noise model."""
        other = copy.copy(self)
        other.noise = self._checked_noise(noise)
        return other

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: Generator) -> Self:
        """Return the same questions with answers drawn from the model, given labels z (n,).

        `flipped` of what is returned tells which answers came out unlike the truth.
        """
        confusion = self.noise.confusion(self._checked_params(noise_params))
        return self._answered(draw_answers(confusion[self.source, self.truths(z)], rng), z)

    def _answered(self, answers: ArrayLike, z: ArrayLike) -> Self:
        """Return the same questions with simulated answers, whose truth is known."""
        other = self.with_answers(answers)
        other.flipped = check.frozen(other.said != self.truths(z))
        return other

    def restrict(self, items: ArrayLike) -> Self:
        """Return the constraints among some items, numbered from 0; sources keep their numbers.

        `items` (k,) are those to keep, in their new order, or a mask (n,) of bool.
        """
        kept = check.chosen_items(items, self.n_items)
        position = np.full(self.n_items, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        inside = (position[self.items] >= 0).all(axis=1)
        other = self.select(inside)
        other.n_items = len(kept)
        other.item_names = None
        other.items = check.frozen(_arranged(position[other.items]))
        return other

    def select(self, rows: Any) -> Self:
        """Return some rows: a mask (m,), a slice or numbers."""
        other = copy.copy(self)
        for name in ("items", "answers", "source"):
            setattr(other, name, check.frozen(getattr(self, name)[rows]))
        other.flipped = None if self.flipped is None else check.frozen(self.flipped[rows])
        return other

    @property
    def units(self) -> IntArray:
        """Number of the unit that each row belongs to, (m,): units are held out as wholes."""
        return np.arange(len(self))

    @property
    def anchors(self) -> IntArray:
        """Pairs of items (k, 2) that a move may try to join or to part."""
        return self.items[:, :2]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per answer: items (i, j, of triplets k), answer and source, by name."""
        import pandas as pd

        items, names = self.items, self.item_names
        if names is not None and len(names) == self.n_items:
            items = np.array(names, dtype=object)[items]
        table = pd.DataFrame(items, columns=list(self.members))
        words = np.array(self.vocabulary, dtype=object)[self.answers]
        source = self.source
        if self.source_names is not None:
            source = np.array(self.source_names, dtype=object)[source]
        return table.assign(answer=words, source=source)

    # ---- what methods other than sampling need

    def check_range(self) -> None:
        """Refuse arrays that were changed so that kernels would read beyond their ends."""
        if not self._is_intact():
            raise ValueError(
                f"the constraints {self.name!r} were changed after they were made, and name items, "
                "answers or sources that do not exist, or an item twice: make them again."
            )

    def _is_intact(self) -> bool:
        whole = self.in_range(len(self.members)) and isinstance(self.noise, NoiseModel)
        return whole and not (self.items == np.roll(self.items, 1, axis=1)).any()

    def factors(self) -> Constraints:
        """Return the constraints as answers by equality pattern: these here, or an equivalent."""
        return self

    def taken_for(self, needs: Needs) -> bool:
        """Whether a method that `needs` this takes them."""
        return self.is_links if needs == "links" else len(self.members) > 1

    def evidence(self) -> Constraints:
        """Return the constraints as evidence, classes of items among them; else as `factors`."""
        own: Any = self
        return own.by_query() if may_be_hard(own) else self.factors()

    @classmethod
    def from_rows(cls, rows: Sequence[Any], n_items: int, source: ArrayLike | None = None) -> Self:
        """Make constraints of such `rows` as these have, with the usual noise and name."""
        return cls([row[:-1] for row in rows], [row[-1] for row in rows], n_items, source)

    @property
    def rows(self) -> tuple[Any, ...]:
        """Each row as plain values: the items, then the answer in words."""
        pairs = zip(self.items.tolist(), self.answers.tolist(), strict=True)
        return tuple((*row, self.vocabulary[answer]) for row, answer in pairs)

    def statements(self) -> list[Statement]:
        """Return what each row says of a partition, if it is right."""
        return list(map(self._statement, self.items.tolist(), self.said.tolist()))

    def _statement(self, items: Sequence[int], said: int) -> Statement:
        """The patterns under which what is said is true: one of them must hold."""
        options: list[Statement] = []
        for pattern in np.flatnonzero(self.truth == said):
            labels = PARTITIONS[pattern][-len(items) :]
            pairs = combinations(zip(items, labels, strict=True), 2)
            pairwise = [Together(i, j) if a == b else Apart(i, j) for (i, a), (j, b) in pairs]
            options.append(pairwise[0] if len(pairwise) == 1 else Every(tuple(pairwise)))
        return options[0] if len(options) == 1 else Either(tuple(options))

    @property
    def unsure(self) -> BoolArray:
        """Which statements come from answers "don't know", (m,)."""
        return np.zeros(len(self), dtype=np.bool_)

    def satisfied(self, labels: Labels) -> BoolArray:
        """Tell which rows a partition satisfies, (m,), given the cluster of each item (n,)."""
        hint = "pass for each item the number of its cluster"
        given = check.check_array(labels, "labels", (self.n_items,), "biu", hint)
        return np.array([statement.holds(given) for statement in self.statements()], dtype=np.bool_)

    # ---- small-variance limits: costs of answers instead of probabilities

    def unit_confidence(self) -> FloatArray:
        """Return confidence 1 in every source (S, truth, answer): a true answer costs -1."""
        return np.tile(-np.eye(self.n_answers), (self.n_sources, 1, 1))

    def costs(self, confidence: ArrayLike) -> FloatArray:
        """Return the cost of each source's answers by pattern, (S, n_answers, 5).

        The confidence (S, truth, answer) holds costs c[t, a], p(a | t) ~ exp(-gamma c[t, a]).
        """
        own = np.asarray(confidence, dtype=np.float64)
        table = np.zeros((self.n_sources, self.n_answers, N_PATTERNS))
        table[:, :, : self.n_patterns] = np.swapaxes(own[:, self.truth], 1, 2)
        return table

    def confidence_of(self, table: FloatArray) -> FloatArray:
        """Return the confidence that gives a table of `costs`."""
        patterns = [int(np.flatnonzero(self.truth == a)[0]) for a in range(self.truth.max() + 1)]
        return np.asarray(np.swapaxes(table[:, :, patterns], 1, 2) + 0.0)


def check_constraints(
    constraints: Any, n_items: int, *, needs: Needs = "table", names: Sequence[str] | None = None
) -> list[Constraints]:
    """Return side information as a list of constraints on the items of the data, or refuse it."""
    # A method `needs` answers by equality pattern ("table"), or labels of items too ("classes"), or
    # rules too ("evidence"), or answers about pairs alone ("links"), or what holds or not
    # ("statements"); labels become pairs for "table" and "links". The second of a name gets "_2".
    listed = isinstance(constraints, (list, tuple))
    given = [] if constraints is None else constraints if listed else [constraints]
    checked: list[Constraints] = []
    for at, one in enumerate(given):
        what = f"constraints[{at}]" if listed else "constraints"
        if not isinstance(one, Constraints):
            raise TypeError(
                f"{what} must be PairwiseConstraints, RelativeConstraints, LabelConstraints or "
                f"another kind; got {type(one).__name__}: wrap your pairs, for instance in "
                f"bayesclust.PairwiseConstraints.from_lists(must_link, cannot_link, n_items="
                f"{n_items}), or a table in .from_frame(table, n_items={n_items})."
            )
        if len(one) and any(one is other for other in given[:at]):
            raise ValueError(
                f"{what} is an object that stands before it, too: its answers would count twice."
            )
        if one.n_items != n_items:
            raise ValueError(
                f"the constraints {one.name!r} are on {one.n_items} items, but X has {n_items}: "
                "pass the X they were made for, or restrict(items) them; bayesclust.cross_validate "
                "holds answers out in place of items."
            )
        if one.item_names is not None:
            what, remedy = f"the constraints {one.name!r}", "read them with ids=X.index"
            naming.check_same_names(one.item_names, names, what, remedy)
        found = one
        if needs == "table":
            refuse_hard([one], "this method")
        if needs != "statements":
            found = one.evidence() if needs in ("classes", "evidence") else one.factors()
            if not found.taken_for(needs):
                usable = "pairs or labels" if needs == "links" else "pairs, triplets or labels"
                remedy = "cut() it" if hasattr(one, "cut") else "leave it out"
                raise TypeError(
                    f"constraints[{at}] is a {type(one).__name__}, but this method uses "
                    f"constraints about {usable} alone: {remedy}, or use TVClust with "
                    "sampler='collapsed', which takes all."
                )
        found.check_range()
        taken = {other.name for other in checked}
        if found.name in taken:
            found = copy.copy(found)
            numbered = (f"{one.name}_{number}" for number in count(2))
            found.name = next(name for name in numbered if name not in taken)
        checked.append(found)
    check.refuse_names_of_parts({one.name for one in checked})
    return checked
