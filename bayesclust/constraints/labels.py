"""Class labels of some items, from several annotators who err: Dawid and Skene's (1979) noise.

There are L classes. Each cluster k has a latent class c_k, one of them or none: clusters without a
class and several clusters of one class are allowed. Given the partition,

    c_k ~ pi,    p(label l by annotator s of an item of k) = C_s[c_k, l]

with pi = (1 - none) / L for every class. The rows of C_s have Dirichlet priors (`LabelNoise`), the
last one, that of clusters without a class, without weight on one label. With n_ksl labels l by s of
items of cluster k, c_k summed over,

    p(labels | z, C) = prod_k f(n_k),    f(n) = sum_c pi_c prod_{s,l} C_s[c, l]^{n_sl}

and f(0) = 1. So labels tie the items together that have some, and putting items with the labels m
into cluster k, instead of in one of their own, changes the logarithm by

    log f(n_k + m) - log f(n_k) - log f(m)

which is 0 where k has no labels. c_k is drawn for the conjugate draw of C alone. Where clusters are
mixtures, all components of a cluster share its class.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, logsumexp, softmax

from bayesclust import checks as check
from bayesclust.constraints import sampling
from bayesclust.constraints import statements as say
from bayesclust.constraints.base import (
    ByPattern,
    Constraints,
    Needs,
    Reading,
    draw_answers,
    pairs_in_a_ring,
)
from bayesclust.constraints.factor_graph import LabelSites
from bayesclust.constraints.noise import (
    TINY,
    LinkNoise,
    NoiseModel,
    as_table,
    beta_or_known,
    log_norm,
)
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.rules import Reader, Rules, read_item
from bayesclust.typing import ArrayLike, Counts, FloatArray, IntArray, Params, Seed

NONE = "none"
"""The word for clusters without a class."""
MOST_CLASSES = 127
GRID = (np.arange(50) + 0.5) / 50
"""Accuracies of an annotator."""


@dataclass(frozen=True)
class LabelNoise(NoiseModel):
    """Noise of class labels: a confusion matrix of every annotator (Dawid and Skene 1979).

    The rows of an annotator's matrix, "confusion", have something in common, an "accuracy" a, so
    that few labels tell of all classes,

        a ~ Beta(accuracy),   row c ~ Dirichlet(alike * (a on the diagonal, (1 - a) / (L - 1) off))

    and a last row is of clusters without a class, with Dirichlet weights 1. a is on a grid, on
    which it is drawn with the rows integrated out.

    Parameters
    ----------
    accuracy : (a, b), default (4, 1)
        The Beta(a, b) prior of every annotator, of mean 0.8 as for `LinkNoise`.
    alike : float, default 10
        How many labels the common accuracy counts for in the row of each class.
    none : float in [0, 1), default 0.1
        Prior probability that a cluster has no class.
    n_classes : int, default 2
        Number of classes L, which `LabelConstraints` sets.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.constraints.LabelNoise(n_classes=2).initial(n_sources=1)["confusion"].round(2)
    array([[[0.8, 0.2],
            [0.2, 0.8],
            [0.5, 0.5]]])
    """

    accuracy: tuple[float, float] = (4.0, 1.0)
    alike: float = 10.0
    none: float = 0.1
    n_classes: int = 2

    kind: ClassVar[str] = "label"
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {
        "accuracy": ("source",),
        "confusion": ("source", "class", "class_label"),
    }

    def __post_init__(self) -> None:
        pair = beta_or_known(self.accuracy, "accuracy", "(0, 1)")
        if not isinstance(pair, tuple):
            raise TypeError(f"accuracy must be the weights (a, b) of a Beta prior; got {pair}.")
        object.__setattr__(self, "accuracy", pair)
        object.__setattr__(self, "alike", check.check_positive(self.alike, "alike"))
        object.__setattr__(self, "none", check.number_between(self.none, "none", "[0, 1)"))
        L = check.check_int(self.n_classes, "n_classes", most=MOST_CLASSES)
        # the class of an item's cluster is what a pattern is to other kinds
        object.__setattr__(self, "n_answers", L)
        object.__setattr__(self, "truth", tuple(range(L + 1)))

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(self.parameters)

    @property
    def class_weights(self) -> tuple[float, ...]:
        """Prior probability of each class of a cluster; last of none."""
        L = self.n_classes
        return (*[(1.0 - self.none) / L] * L, self.none)

    @cached_property
    def log_grid(self) -> FloatArray:
        """log p(a) of the values of `GRID`."""
        a, b = self.accuracy
        density = (a - 1) * np.log(GRID) + (b - 1) * np.log1p(-GRID)
        return np.asarray(density - logsumexp(density))

    def weights(self, accuracy: ArrayLike) -> FloatArray:
        """Return Dirichlet weights of the rows, (..., L + 1, L), given accuracies (...)."""
        a = np.asarray(accuracy)[..., None, None]
        L = self.n_classes
        own = np.eye(L)
        rows = self.alike * (a * own + (1 - a) / max(L - 1, 1) * (1 - own))
        return np.concatenate([rows, np.ones((*rows.shape[:-2], 1, L))], axis=-2)

    def initial(self, n_sources: int) -> Params:
        a = np.full(n_sources, np.exp(self.log_grid) @ GRID)
        rows = self.weights(a)
        return {"accuracy": a, "confusion": rows / rows.sum(axis=-1, keepdims=True)}

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(params["confusion"])

    def _log_evidence(self, counts: Any) -> tuple[FloatArray, FloatArray]:
        """log p(labels, a) by value of the grid, (..., S, grid), and counts, (..., 1, L + 1, L)."""
        tallies = np.asarray(counts)
        shape = *tallies.shape[:-2], -1, 1, self.n_classes, self.n_classes + 1
        tallies = tallies.reshape(shape).swapaxes(-1, -2)
        rows = self.weights(GRID)
        gain = log_norm(rows + tallies) - log_norm(rows)
        return gain.sum(axis=-1) + self.log_grid, tallies

    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        log_p, tallies = self._log_evidence(counts)
        p = softmax(log_p, axis=-1)
        at = (np.cumsum(p, axis=-1)[..., :-1] <= rng.random((*p.shape[:-1], 1))).sum(axis=-1)
        a = GRID[at]
        gammas = np.maximum(rng.standard_gamma(self.weights(a) + tallies[..., 0, :, :]), TINY)
        return {"accuracy": a, "confusion": gammas / gammas.sum(axis=-1, keepdims=True)}

    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        a = np.asarray(params["accuracy"])
        at = np.abs(a[..., None] - GRID).argmin(axis=-1)
        rows = self.weights(a)
        logs = np.log(np.maximum(np.asarray(params["confusion"]), TINY))
        density = ((rows - 1) * logs).sum(axis=-1) - log_norm(rows)
        value = (self.log_grid[at] + density.sum(axis=-1)).sum(axis=-1)
        return float(value) if np.ndim(value) == 0 else value

    def log_marginal(self, counts: Counts) -> Any:
        value = logsumexp(self._log_evidence(counts)[0], axis=-1).sum(axis=-1)
        return float(value) if np.ndim(value) == 0 else value

    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        log_p, tallies = self._log_evidence(counts)
        rows = self.weights(GRID) + tallies
        logs = digamma(rows) - digamma(rows.sum(axis=-1, keepdims=True))
        return np.einsum("...g,...gcl->...cl", softmax(log_p, axis=-1), logs)


class ClassLabels(ByPattern):
    """What can be said of labels given a partition, by constraints and by those out of a file."""

    class_weights: tuple[float, ...]

    @property
    def truth_words(self: Any) -> tuple[str, ...]:
        return (*self.vocabulary, NONE)

    def masses(self: Any, z: IntArray, table: FloatArray) -> FloatArray:
        """log(pi_c) plus the log probability of a cluster's labels, (K, L + 1), for labels z (n,).

        `table` is log p(label | class), (S * L, L + 1).
        """
        owner = z[self.items[:, 0]]
        mass = np.tile(np.log(np.maximum(self.class_weights, TINY)), (int(z.max()) + 1, 1))
        np.add.at(mass, owner, table[self.codes])
        return mass

    def class_shares(self, z: IntArray, confusion: FloatArray) -> FloatArray:
        """Probability of each class of every cluster of one draw, last of none, (K, L + 1)."""
        mass = self.masses(z.astype(np.int64), log_rows(confusion))
        return softmax(mass, axis=1)

    def read(self: Any, z: IntArray, confusion: FloatArray | None) -> Reading:
        if confusion is None:
            raise ValueError(
                f"the labels {self.name!r} are read by their noise, which the posterior does not "
                "have: pass the posterior_ of a sampler's fit."
            )
        shares = np.empty((2, len(z), len(self), len(self.truth_words)))
        for at, (labels, own) in enumerate(zip(z.astype(np.int64), confusion, strict=True)):
            table = log_rows(own)
            mass = self.masses(labels, table)[labels[self.items[:, 0]]]
            shares[0, at] = mass
            shares[1, at] = mass - table[self.codes]
        shares = softmax(shares, axis=-1)
        p = np.einsum("bmc,bmca->bma", shares[1], confusion[:, self.source])
        return Reading(shares[0], shares[1], p)

    def wrong(self: Any, z: IntArray, confusion: FloatArray | None) -> FloatArray:
        right = self.read(z, confusion).truth[:, np.arange(len(self)), self.answers]
        return np.asarray(1 - right.mean(axis=0))

    def forecast(self, other: Any, z: IntArray, confusion: FloatArray) -> FloatArray:
        found = []
        for labels, own in zip(z, confusion, strict=True):
            classes = self.class_shares(labels, own)[labels[other.items[:, 0]]]
            found.append(np.einsum("mc,mca->ma", classes, own[other.source]))
        return np.array(found)

    def draw_truths(self: Any, z: IntArray, confusion: FloatArray, rng: Generator) -> IntArray:
        classes = draw_answers(self.class_shares(z, confusion), rng).astype(np.int64)
        return np.asarray(classes[z[self.items[:, 0]]])

    def prior_shares(self, s: FloatArray, t: FloatArray) -> FloatArray:
        return np.array(self.class_weights)


def log_rows(confusion: FloatArray) -> FloatArray:
    """log p(label | class), (S * L, L + 1), of confusion matrices (S, L + 1, L)."""
    return as_table(np.log(np.maximum(confusion, TINY)))


def read_label(value: Any, what: str, n_items: int) -> int | str:
    """A class: a number from 0 on, or a word."""
    if check.is_missing(value) or value == "":
        raise ValueError(f"{what} has no label: leave the row out.")
    if isinstance(value, str) and value.strip():
        return str(value)
    if isinstance(value, float) and value.is_integer():  # of a column with an empty cell
        value = int(value)
    return check.check_int(value, f"a label in {what}", least=0)


class LabelConstraints(ClassLabels, Rules):
    """Classes of some items, as one annotator or several name them, maybe wrongly.

    To `TVClust` a label is evidence about the class of its item's cluster, as a confusion matrix of
    its annotator says (Dawid and Skene 1979): clusters may have no class, and a class several
    clusters. `TVClust.predict_label_proba` classifies all items. To methods that know clusters by
    their items alone (`RDPMeans` and others) L labels are the L (L - 1) / 2 pairs that they imply.
    To `MinimalModification` a label is a rule: a cluster of the partition that is modified, by its
    number, or a new one.

    Parameters
    ----------
    rows : sequence of (item, label)
        Also an (m, 2) array of int. Labels are numbers from 0 on or words. An item may have
        several, of one annotator too.
    n_items, name
        As for all `Rules`.
    noise : LabelNoise or LinkNoise, optional
        How labels go wrong, `LabelNoise()` by default; or how the pairs do that they imply, to
        which they are then reduced everywhere.
    source : (m,) array of int or str, optional
        Who gave each label: numbers from 0 without gaps, or names; one annotator by default.
    classes : sequence, optional
        All classes, if there are some that no row names; by default those named, in order.

    Attributes
    ----------
    items, answers, source, n_sources, source_names, flipped
        As of other `Constraints`: items (m, 1), and classes as codes.
    classes : tuple
        The classes, as given.

    Examples
    --------
    >>> import bayesclust as bc
    >>> labels = bc.LabelConstraints([(0, 1), (3, 0), (2, 1)], n_items=4)
    >>> labels.satisfied([1, 1, 0, 1])
    array([ True, False, False])
    >>> labels.factors()
    <PairwiseConstraints 'label': 2 different, 1 same, on 4 items>
    >>> named = bc.LabelConstraints([(0, "cat"), (0, "dog")], n_items=4, source=["ann", "bob"])
    >>> named
    <LabelConstraints 'label': 2 labels from 2 sources, on 4 items>
    """

    kind: ClassVar[str] = "label"
    members: ClassVar[tuple[str, ...]] = ("i",)
    vocabulary: tuple[str, ...]  # type: ignore[misc]
    parts: ClassVar[dict[str, Reader]] = {"item": read_item, "label": read_label}

    def __init__(
        self,
        rows: Any,
        n_items: int,
        name: str | None = None,
        noise: NoiseModel | None = None,
        source: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(rows, n_items, name)
        given = self._rows
        self.items = check.frozen(np.array([[item] for item, _ in given], np.int64).reshape(-1, 1))
        numbers, self.n_sources, self.source_names = check.source_numbers(
            source, len(given), "rows"
        )
        self.source = check.frozen(numbers)
        self.classes = _classes([label for _, label in given], classes)
        # words by themselves, for files and tables
        self.vocabulary = tuple(map(str, self.classes))
        codes = [self.classes.index(label) for _, label in given]
        self.answers = check.frozen(np.array(codes, np.int8))
        self.flipped = None
        self.noise = self._checked_noise(LabelNoise() if noise is None else noise)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return LabelNoise()

    def _checked_noise(self, noise: Any) -> NoiseModel:
        if isinstance(noise, LabelNoise):
            return replace(noise, n_classes=max(len(self.classes), 1))
        if isinstance(noise, LinkNoise):
            return noise
        raise TypeError(
            f"noise must be a LabelNoise, or a LinkNoise of the pairs that labels imply; got "
            f"{type(noise).__name__}."
        )

    @property
    def n_patterns(self) -> int:
        """Number of classes of a cluster, none among them: what patterns are to other kinds."""
        return len(self.truth_words)

    @property
    def class_weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """Prior probability of each class of a cluster; last of none."""
        return getattr(self.noise, "class_weights", ())

    @property
    def rows(self) -> tuple[Any, ...]:
        pairs = zip(self.items[:, 0].tolist(), self.answers.tolist(), strict=True)
        return tuple((item, self.classes[answer]) for item, answer in pairs)

    def with_classes(self, classes: Sequence[Any]) -> Self:
        """Return the same labels among all these classes, which hold those that are used."""
        found = _classes([label for _, label in self.rows], classes)
        other = copy.copy(self)
        other.answers = check.frozen(
            np.array([found.index(label) for _, label in self.rows], np.int8)
        )
        other.classes = found
        other.vocabulary = tuple(map(str, found))
        other.noise = other._checked_noise(self.noise)
        return other

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        sources = "" if self.n_sources == 1 else f" from {self.n_sources} sources,"
        labels, items = check.counted(len(self), "label"), check.counted(self.n_items, "item")
        return f"<{type(self).__name__} {self.name!r}: {labels}{sources} on {items}>"

    def _statement_of(self, item: int, label: Any) -> say.Statement:
        if isinstance(label, str):
            raise TypeError(
                f"the label of item {item} is {label!r}, but here labels are rules about the "
                "clusters of a partition: pass their numbers in place of words."
            )
        return say.Among(item, (label,))

    def _encode(self, answers: ArrayLike) -> Any:
        codes = check.check_array(answers, "answers", (len(self),), "iu", "pass codes of classes")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.classes):
            raise ValueError(
                f"answers must be codes from 0 to {len(self.classes) - 1}, those of classes."
            )
        return check.frozen(codes.astype(np.int8))

    def _is_intact(self) -> bool:
        return self.in_range(1)

    def restrict(self, items: ArrayLike) -> Self:
        return Constraints.restrict(self, items)

    @classmethod
    def from_frame(
        cls, frame: Any, *, n_items: int | None = None, ids: Any = None, name: str | None = None
    ) -> Self:
        """Read labels from a table with columns "i", "answer" (the class), perhaps "source".

        Parameters are those of `PairwiseConstraints.from_frame`.
        """
        items, answers, number, source = cls._columns(frame, n_items, ids)
        rows = list(zip(items[:, 0].tolist(), answers.tolist(), strict=True))
        return cls(rows, number, name, source=source)._naming(ids)

    @classmethod
    def sample(
        cls,
        labels: ArrayLike,
        *,
        fraction: float | None = None,
        size: int | None = None,
        error_rate: ArrayLike = 0.0,
        n_sources: int = 1,
        per_item: int = 1,
        seed: Seed = None,
        name: str | None = None,
    ) -> Self:
        """Label random items by known classes, sometimes wrongly.

        Parameters
        ----------
        labels : (n,) array
            True classes, of any sortable kind, numbered in their order.
        fraction, size : float in (0, 1] or int
            Share of all items (at least one), or number, drawn without replacement.
        error_rate : float or (n_sources,) array of float, default 0
            Probability that a label is wrong, each independently; wrong ones are equally likely.
        n_sources, per_item : int, default 1
            Annotators, and how many of them label each item: random ones, as evenly as can be.
        seed : int, Generator or None
        name : str, optional

        Returns
        -------
        LabelConstraints
            Whose `flipped` tells which labels are wrong.

        Examples
        --------
        >>> import bayesclust as bc
        >>> y = [0, 0, 1, 1, 2, 2]
        >>> labels = bc.LabelConstraints.sample(y, size=3, n_sources=2, per_item=2, seed=0)
        >>> labels
        <LabelConstraints 'label': 6 labels from 2 sources, on 6 items>
        """
        truth = check.true_labels(labels, least=2)
        rng = check.check_random_state(seed, "seed")
        n = len(truth)
        each = check.check_int(per_item, "per_item")
        S = check.check_int(n_sources, "n_sources", least=each)
        rates = check.rates_per_source(error_rate, S, "error_rate")
        chosen = rng.choice(n, sampling.how_many(fraction, size, n), replace=False)
        order = rng.permutation(S)
        source = order[np.arange(len(chosen) * each) % S]
        if len(np.unique(source)) < S:
            raise ValueError(
                f"{len(source)} labels are too few for {S} sources: ask for more items."
            )
        items = np.repeat(chosen, each)
        L = int(truth.max()) + 1
        wrong = rng.random(len(items)) < rates[source]
        if L > 1:
            given = (truth[items] + wrong * rng.integers(1, L, size=len(items))) % L
        else:
            given = truth[items]
        made = cls(np.column_stack([items, given]), n, name, source=source, classes=range(L))
        made.flipped = check.frozen(given != truth[items])
        return made

    def evidence(self) -> Constraints:
        own = isinstance(self.noise, LabelNoise) and self.classes
        return self if own else self.factors().evidence()

    def taken_for(self, needs: Needs) -> bool:
        return needs in ("classes", "evidence")

    def factors(self) -> Constraints:
        first, second = np.triu_indices(len(self), k=1)
        items = self.items[:, 0]
        first, second = np.compress(items[first] != items[second], (first, second), axis=1)
        return PairwiseConstraints(
            np.column_stack([items[first], items[second]]),
            self.answers[first] == self.answers[second],
            self.n_items,
            noise=self.noise if isinstance(self.noise, LinkNoise) else None,
            name=self.name,
        )

    @property
    def units(self) -> IntArray:
        """All labels of an item are one unit."""
        return np.asarray(np.unique(self.items[:, 0], return_inverse=True)[1])

    @property
    def anchors(self) -> IntArray:
        return pairs_in_a_ring(self.items[:, 0])

    def sites(self, noise_params: Mapping[str, ArrayLike]) -> LabelSites:
        """Return the labels as compiled samplers read them."""
        named, row = np.unique(self.items[:, 0], return_inverse=True)
        rows = np.full(self.n_items, -1)
        rows[named] = np.arange(len(named))
        evidence = np.zeros((len(named), len(self.class_weights)))
        np.add.at(evidence, row, self.noise.log_table(noise_params)[self.codes])
        log_class = np.log(np.maximum(self.class_weights, TINY))
        return LabelSites(rows, named.astype(np.int64), evidence, log_class)

    def log_prob(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike]) -> Any:
        """Return log p(labels | z, noise), classes summed over, of one partition z (n,)."""
        labels = check.item_labels(z, self.n_items, "z")
        table = self.noise.log_table(self._checked_params(noise_params))
        return float(logsumexp(self.masses(labels, table), axis=1).sum())

    def draw_counts(self, z: IntArray, params: Mapping[str, Any], rng: Generator) -> IntArray:
        """Draw the class of every cluster, and count labels by it: (S * L, L + 1)."""
        classes = self.draw_truths(z, self.noise.confusion(params), rng)
        counts = np.zeros((self.n_sources * self.n_answers, len(self.truth_words)), np.int64)
        np.add.at(counts, (self.codes, classes), 1)
        return counts

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: Generator) -> Self:
        """Return other labels of the same items, drawn from the model given the partition z (n,).

        Classes of clusters are drawn from their prior.
        """
        labels = check.item_labels(z, self.n_items, "z")
        owner = labels[self.items[:, 0]]
        number = int(labels.max()) + 1
        classes = draw_answers(np.tile(self.class_weights, (number, 1)), rng).astype(np.int64)
        confusion = self.noise.confusion(self._checked_params(noise_params))
        made = self.with_answers(draw_answers(confusion[self.source, classes[owner]], rng))
        made.flipped = check.frozen(made.answers != classes[owner])
        return made


def _classes(named: list[Any], given: Sequence[Any] | None) -> tuple[Any, ...]:
    """All classes in order, those given or those that rows name."""
    words = sum(isinstance(label, str) for label in named)
    if 0 < words < len(named):
        raise TypeError("labels are numbers in some rows and words in others: use one of both.")
    if given is None:
        found = tuple(sorted(set(named)))
    else:
        found = tuple(read_label(label, "classes", 0) for label in given)
        for label in set(named) - set(found):
            raise ValueError(f"a row has the label {label!r}, which is not among classes.")
        if len(set(found)) < len(found):
            raise ValueError("classes has a class twice: name each once.")
    if len(found) > MOST_CLASSES:
        raise ValueError(f"there are {len(found)} classes, but at most {MOST_CLASSES} can be kept.")
    if NONE in found:
        raise ValueError(f"a class is called {NONE!r}, the word for no class: rename it.")
    return found
