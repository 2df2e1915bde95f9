"""Class labels of some items, from several annotators who err: Dawid and Skene's (1979) noise.

There are L classes. Each cluster k has a latent class c_k, one of them or none: clusters without a
class and several clusters of one class are allowed. Given the partition,

    c_k ~ pi,    p(label l by annotator s of an item of k) = C_s[c_k, l]

with pi = (1 - none) / L for every class. The rows of C_s have Dirichlet priors, with weight on the
diagonal but for the last one, that of clusters without a class. With n_ksl labels l by s of items
of cluster k, c_k summed over,

    p(labels | z, C) = prod_k f(n_k),    f(n) = sum_c pi_c prod_{s,l} C_s[c, l]^{n_sl}

and f(0) = 1. So labels tie the items together that have some, and putting items with the labels m
into cluster k, instead of in one of their own, changes the logarithm by

    log f(n_k + m) - log f(n_k) - log f(m)

which is 0 where k has no labels. c_k is drawn for the conjugate draw of C alone. Where clusters are
mixtures, all components of a cluster share its class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust import checks as check
from bayesclust.constraints import sampling
from bayesclust.constraints import statements as say
from bayesclust.constraints.base import Constraints, draw_answers
from bayesclust.constraints.factor_graph import LabelSites
from bayesclust.constraints.noise import TINY, DirichletNoise, LinkNoise, NoiseModel, Prior
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.rules import Reader, Rules, read_item
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed

NONE = "none"
"""The word for clusters without a class."""
MOST_CLASSES = 127


@dataclass(frozen=True)
class LabelNoise(DirichletNoise):
    """Noise of class labels: a confusion matrix of every annotator (Dawid and Skene 1979).

    The parameter "confusion" has a row for each class and a last one for clusters without a class.

    Parameters
    ----------
    right, wrong : float, default 4 and 1
        Dirichlet weights in the row of a class: of the right label, and of all wrong ones together.
        The prior mean of being right is 4/5, as for `LinkNoise`.
    none : float in [0, 1), default 0.1
        Prior probability that a cluster has no class. Its labels have a row with weights 1.
    n_classes : int, default 2
        Number of classes L, which `LabelConstraints` sets.

    Examples
    --------
    >>> LabelNoise(n_classes=2).initial(n_sources=1)["confusion"]
    array([[[0.8, 0.2],
            [0.2, 0.8],
            [0.5, 0.5]]])
    """

    right: float = 4.0
    wrong: float = 1.0
    none: float = 0.1
    n_classes: int = 2

    kind: ClassVar[str] = "label"
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"confusion": ("source", "class", "label")}

    def __post_init__(self) -> None:
        for name in ("right", "wrong"):
            object.__setattr__(self, name, check.check_positive(getattr(self, name), name))
        object.__setattr__(self, "none", check.number_between(self.none, "none", "[0, 1)"))
        L = check.check_int(self.n_classes, "n_classes", most=MOST_CLASSES)
        # the class of an item's cluster is what a pattern is to other kinds
        object.__setattr__(self, "n_answers", L)
        object.__setattr__(self, "truth", tuple(range(L + 1)))

    def priors(self) -> dict[str, Prior]:
        L = self.n_classes
        rows = np.full((L + 1, L), self.wrong / max(L - 1, 1))
        np.fill_diagonal(rows, self.right)
        rows[L] = 1.0
        return {"confusion": rows}

    def confusion(self, params: Mapping[str, ArrayLike], xp: Any = np) -> FloatArray:
        # of any number of classes
        matrix: FloatArray = xp.asarray(params["confusion"])
        return matrix

    @property
    def class_weights(self) -> tuple[float, ...]:
        """Prior probability of each class of a cluster; last of none."""
        L = self.n_classes
        return (*[(1.0 - self.none) / L] * L, self.none)


class ClassLabels:
    """What can be said of labels given a partition, by constraints and by those out of a file."""

    class_weights: tuple[float, ...]

    def masses(self: Any, z: IntArray, table: FloatArray) -> FloatArray:
        """log(pi_c) plus the log probability of a cluster's labels, (K, L + 1), for labels z (n,).

        `table` is log p(label | class), (S * L, L + 1).
        """
        owner = z[self.items[:, 0]]
        mass = np.tile(np.log(np.maximum(self.class_weights, TINY)), (int(z.max()) + 1, 1))
        np.add.at(mass, owner, table[self.source * self.n_answers + self.answers])
        return mass

    def class_shares(self: Any, z: IntArray, table: FloatArray) -> FloatArray:
        """Probability of each class of every cluster, last of none, (K, L + 1)."""
        mass = self.masses(z, table)
        return np.exp(mass - logsumexp(mass, axis=1, keepdims=True))

    def shares_without(self: Any, z: IntArray, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same of the cluster of each label (m, L + 1), and by all labels but that one."""
        mass = self.masses(z, table)[z[self.items[:, 0]]]
        rest = mass - table[self.source * self.n_answers + self.answers]
        whole, without = (
            np.exp(one - logsumexp(one, axis=1, keepdims=True)) for one in (mass, rest)
        )
        return whole, without


def read_label(value: Any, what: str, n_items: int) -> int | str:
    """A class: a number from 0 on, or a word."""
    if isinstance(value, str) and value.strip():
        return str(value)
    return check.check_int(value, f"a label in {what}", least=0)


class LabelConstraints(ClassLabels, Rules):
    """Classes of some items, as one annotator or several name them, maybe wrongly.

    To `TVClust` with the samplers "collapsed" and "gibbs" a label is evidence about the class of
    its item's cluster, as a confusion matrix of its annotator says (Dawid and Skene 1979): clusters
    may have no class, and a class several clusters. `TVClust.predict_label_proba` classifies all
    items. To methods that know clusters by their items alone (`RDPMeans` and others) L labels are
    the L (L - 1) / 2 pairs that they imply. To `MinimalModification` a label is a rule: a cluster
    of the partition that is modified, by its number, or a new one.

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
    <LabelConstraints 'label': 1 cat, 1 dog from 2 sources, on 4 items>
    """

    kind: ClassVar[str] = "label"
    members: ClassVar[tuple[str, ...]] = ("i",)
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
        code = {label: at for at, label in enumerate(self.classes)}
        self.answers = check.frozen(np.array([code[label] for _, label in given], np.int8))
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
    def class_weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """Prior probability of each class of a cluster; last of none."""
        return getattr(self.noise, "class_weights", ())

    @property
    def rows(self) -> tuple[Any, ...]:
        pairs = zip(self.items[:, 0].tolist(), self.answers.tolist(), strict=True)
        return tuple((item, self.classes[answer]) for item, answer in pairs)

    def __len__(self) -> int:
        return len(self.items)

    __repr__ = Constraints.__repr__

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

    def check_range(self) -> None:
        if not self.in_range(1):
            raise ValueError(
                f"the constraints {self.name!r} were changed after they were made, and name items, "
                "classes or sources that there are not: make them anew."
            )

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
        return cls(rows, number, name, source=source)

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
        <LabelConstraints 'label': 2 0, 2 1, 2 2 from 2 sources, on 6 items>
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

    # ---- as evidence

    def evidence(self) -> Constraints:
        return self if isinstance(self.noise, LabelNoise) and self.classes else self.factors()

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
        shares = self.class_shares(z, self.noise.log_table(params))
        drawn = draw_answers(shares, rng).astype(np.int64)
        counts = np.zeros((self.n_sources * self.n_answers, shares.shape[1]), np.int64)
        np.add.at(counts, (self.codes, drawn[z[self.items[:, 0]]]), 1)
        return counts

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: Generator) -> Self:
        """Return other labels of the same items, drawn from the model given the partition z (n,).

        Classes of clusters are drawn from their prior.
        """
        owner = check.item_labels(z, self.n_items, "z")[self.items[:, 0]]
        number = int(np.max(z)) + 1
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
