"""Constraints that name clusters or speak of many items: spans, spreads and implications.

They hold or not, and have no table by equality pattern: methods that take statements use them
(`MinimalModification`, `InteractiveSession`). Those that name no cluster are evidence too. Rule G
of a source with p and q is said to hold with probability

    p(yes | z) = p where G holds in z, else 1 - q

which depends on z through that alone: as an answer about a pair, with "holds" in place of "same".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesclust import checks as check
from bayesclust import names as naming
from bayesclust.constraints import statements as say
from bayesclust.constraints.base import ByPattern, Constraints, Needs, pairs_in_a_ring
from bayesclust.constraints.entailment import by_first
from bayesclust.constraints.noise import LinkNoise, NoiseModel
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray, Seed

if TYPE_CHECKING:
    import pandas as pd

Reader = Callable[[Any, str, int], Any]
"""Function of a value, its place and the number of items: the value, or a refusal."""


def _integer(word: str, least: int = 0) -> Reader:
    def read(value: Any, what: str, n_items: int) -> int:
        most = n_items - 1 if word == "an item" else None
        return check.check_int(value, f"{word} in {what}", least=least, most=most)

    return read


def _link(value: Any, what: str, n_items: int) -> tuple[int, int, bool]:
    three = isinstance(value, (tuple, list)) and len(value) == 3
    if not three or not isinstance(value[2], (bool, np.bool_)):
        raise TypeError(
            f"{what} has {value!r} where a link (i, j, True or False for together or apart) "
            "is wanted."
        )
    i, j = (read_item(item, what, n_items) for item in value[:2])
    if i == j:
        raise ValueError(f"{what} links item {i} to itself: remove this link.")
    return i, j, bool(value[2])


def _listed(read: Reader, word: str, least: int = 1) -> Reader:
    """A list of parts, by default at least one, no integer twice."""

    def read_all(values: Any, what: str, n_items: int) -> tuple[Any, ...]:
        if isinstance(values, (str, bytes)) or not isinstance(values, LISTS):
            raise TypeError(f"{what} has {values!r} where a list of {word}s is wanted.")
        found = tuple(read(value, what, n_items) for value in values)
        if len(found) < least:
            raise ValueError(f"{what} has no {word}s: name at least one, or leave the row out.")
        for at, value in enumerate(found):
            if value in found[:at] and isinstance(value, int):
                raise ValueError(f"{what} names {word} {value} more than once: name each once.")
        return found

    return read_all


LISTS = (Sequence, np.ndarray)
read_item = _integer("an item")
_cluster = _integer("a cluster")
_items = _listed(read_item, "item")
_links = _listed(_link, "link")


class Rules(Constraints):
    """Constraints that a partition either satisfies or violates.

    A subclass names its `kind` and how the `parts` of a row are read, and says in the language of
    `Statement` what a row demands (`_statement_of`). Those that name clusters cannot be restricted
    to some items.

    Parameters
    ----------
    rows : sequence
        One constraint each, in the form of the kind.
    n_items : int
        Number of items, which are numbered from 0.
    name : str, optional
        What reports call them; the kind's own word by default.

    Raises
    ------
    TypeError, ValueError
        For rows of another form, empty lists, and numbers out of range or named twice.
    """

    parts: ClassVar[dict[str, Reader]]
    _row_word: ClassVar[str] = ""  # what a row is called, if not as the kind

    def __init__(self, rows: Any, n_items: int, name: str | None = None) -> None:
        self.n_items = check.check_int(n_items, "n_items")
        self.name = self.kind if name is None else check.name_word(name)
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            form = ", ".join(self.parts)
            raise TypeError(f"rows must be a list of rows ({form}); got {type(rows).__name__}.")
        self._rows = tuple(self._read(row, f"rows[{at}]") for at, row in enumerate(rows))

    def _read(self, row: Any, what: str) -> tuple[Any, ...]:
        """Return a row in plain integers and tuples."""
        listed = isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, (str, bytes))
        if not listed or len(row) != len(self.parts):
            raise TypeError(f"{what} must be ({', '.join(self.parts)}); got {row!r}.")
        parts = zip(self.parts.values(), row, strict=True)
        return tuple(read(value, what, self.n_items) for read, value in parts)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        raise TypeError(f"{cls.__name__} hold or do not hold: they have no noise model.")

    @abstractmethod
    def _statement_of(self, *row: Any) -> say.Statement:
        """Return what the parts of a row say of a partition."""

    @classmethod
    def from_rows(cls, rows: Sequence[Any], n_items: int, source: ArrayLike | None = None) -> Self:
        settings: Any = {} if source is None else {"source": source}
        return cls(rows, n_items, **settings)

    @property
    def rows(self) -> tuple[Any, ...]:
        return self._rows

    def _is_intact(self) -> bool:
        return True  # no kernel reads them

    def taken_for(self, needs: Needs) -> bool:
        return needs == "statements"

    def statements(self) -> list[say.Statement]:
        return [self._statement_of(*row) for row in self.rows]

    def restrict(self, items: ArrayLike) -> Self:
        raise TypeError(
            f"{type(self).__name__} cannot be restricted: make new ones of these items."
        )

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        kind = self._row_word or self.kind
        rows, items = check.counted(len(self), kind), check.counted(self.n_items, "item")
        return f"<{type(self).__name__} {self.name!r}: {rows} on {items}>"


class SpanConstraints(Rules):
    """Items that may only be in some clusters, numbered as in the partition to be modified.

    The span-limited constraint of incremental constrained clustering.

    Parameters
    ----------
    rows : sequence of (items, clusters)
        Two lists each; numbers past the clusters of the partition are new clusters.
    n_items, name
        As for all `Rules`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spans = bc.SpanConstraints([([0, 1], [0, 2]), ([3], [1])], n_items=4)
    >>> spans.satisfied([0, 2, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "span"
    parts: ClassVar[dict[str, Reader]] = {
        "list of items": _items,
        "list of clusters": _listed(_cluster, "cluster"),
    }

    def _statement_of(self, items: tuple[int, ...], clusters: tuple[int, ...]) -> say.Statement:
        return say.Every(tuple(say.Among(item, clusters) for item in items))


@dataclass(frozen=True)
class RuleNoise(LinkNoise):
    """Noise of rules as evidence: p is the probability that a rule that holds is said to hold.

    q is that one that does not hold is said not to. Where sources only ever say that rules hold, as
    they do by default, what counts is p / (1 - q). Parameters are those of `LinkNoise`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.constraints.RuleNoise(p=0.9, q=0.8).confusion({"p": [0.9], "q": [0.8]}).round(2)
    array([[[0.8, 0.2],
            [0.1, 0.9]]])
    """

    kind: ClassVar[str] = "rule"

    def _check_options(self) -> None:
        super()._check_options()
        if self.hard is not None:
            raise ValueError(f"hard is {self.hard}, but rules are no queries: leave it out.")


class ByFormula(ByPattern):
    """What can be said of rules given partitions, by constraints and by those out of a file."""

    formulas: Sequence[say.Formula]

    @property
    def noise_kind(self) -> str:
        return "rule"

    def patterns(self: Any, z: ArrayLike) -> CodeArray:
        """Return 0 where a rule holds and else 1, (..., m), for labels z (..., n)."""
        labels = check.item_labels(z, self.n_items, "z")
        found = np.empty((*labels.shape[:-1], len(self)), np.int8)
        for at, formula in enumerate(self.formulas):
            found[..., at] = ~say.holds(formula, labels)
        return found

    def prior_shares(self, s: FloatArray, t: FloatArray) -> None:
        """Not known: it differs from rule to rule."""

    def in_words(self, names: Sequence[Any]) -> list[str]:
        """What each row says, with the names of items."""
        return [say.in_words(formula, names) for formula in self.formulas]


class UncertainRules(ByFormula, Rules):
    """Rules about which items are together, which a source may be wrong about.

    To `TVClust` with the samplers "collapsed" and "gibbs" they are evidence: each is true or false
    of a partition, and its source says so with the probabilities of a `RuleNoise`. To
    `MinimalModification` and `InteractiveSession` they are rules.

    Parameters
    ----------
    rows : sequence
        One rule each, in the form of the kind.
    n_items, name
        As for all `Rules`.
    noise : RuleNoise, optional
        How sources err; `RuleNoise()` by default.
    source : (m,) array of int or str, optional
        Who stated each rule: numbers from 0 without gaps, or names; one source by default.
    answers : (m,) array of bool, optional
        Whether a rule is said to hold; by default all are. What is said not to hold is evidence
        alone.
    """

    vocabulary: ClassVar[tuple[str, ...]] = ("no", "yes")
    truth: ClassVar[CodeArray] = np.array([1, 0], np.int8)

    def __init__(
        self,
        rows: Any,
        n_items: int,
        name: str | None = None,
        noise: NoiseModel | None = None,
        source: ArrayLike | None = None,
        answers: ArrayLike | None = None,
    ) -> None:
        super().__init__(rows, n_items, name)
        m = len(self._rows)
        self.items = check.frozen(np.zeros((m, 0), np.int64))
        numbers, self.n_sources, self.source_names = check.source_numbers(source, m, "rows")
        self.source = check.frozen(numbers)
        self.answers = self._encode(np.ones(m, np.bool_) if answers is None else answers)
        self.flipped = None
        self.noise = self._checked_noise(RuleNoise() if noise is None else noise)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return RuleNoise()

    @property
    def formulas(self) -> list[say.Formula]:  # type: ignore[override]
        """What each row says, whether or not it is said to hold."""
        return [self._statement_of(*row).formula() for row in self._rows]

    @property
    def anchors(self) -> IntArray:
        named = (np.array(sorted(say.items_of(formula))) for formula in self.formulas)
        return np.concatenate([np.zeros((0, 2), np.int64), *map(pairs_in_a_ring, named)])

    def taken_for(self, needs: Needs) -> bool:
        return needs in ("statements", "evidence")

    def _is_intact(self) -> bool:
        named = set[int]().union(*map(say.items_of, self.formulas))
        return self.in_range(0) and named <= set(range(self.n_items))

    def statements(self) -> list[say.Statement]:
        if not self.answers.all():
            at = int(np.argmin(self.answers))
            raise TypeError(
                f"row {at} of {self.name!r} is said not to hold, which is evidence for TVClust "
                "alone: leave it out."
            )
        return super().statements()

    def satisfied(self, labels: say.Labels) -> BoolArray:
        hint = "pass for each item the number of its cluster"
        given = check.check_array(labels, "labels", (self.n_items,), "biu", hint)
        return np.asarray(self.truths(np.unique(given, return_inverse=True)[1]) == self.answers)

    def select(self, rows: Any) -> Self:
        other = super().select(rows)
        kept = np.arange(len(self))[rows]
        other._rows = tuple(self._rows[at] for at in kept.tolist())
        return other

    def restrict(self, items: ArrayLike) -> Self:
        kept = check.chosen_items(items, self.n_items)
        place = dict(zip(kept.tolist(), range(len(kept)), strict=True))
        inside = [say.items_of(formula) <= place.keys() for formula in self.formulas]
        other = self.select(np.array(inside, np.bool_))
        other.n_items = len(kept)
        other.item_names = None
        other._rows = tuple(self._renumbered(row, place) for row in other._rows)
        return other

    @staticmethod
    @abstractmethod
    def _renumbered(row: Any, place: Mapping[int, int]) -> tuple[Any, ...]:
        """A row with other numbers of its items."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per rule: what it says, answer and source."""
        table = super().to_frame()
        table.insert(0, "rule", self.in_words(self.item_names or range(self.n_items)))
        return table


class SpreadConstraints(UncertainRules):
    """Items that are in at most a given number of clusters; with one, all together.

    The generic span-limited constraint of incremental constrained clustering.

    Parameters
    ----------
    rows : sequence of (items, most)
        A list of different items, and the largest number of clusters, at least 1.
    n_items, name, noise, source, answers
        As for all `UncertainRules`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spreads = bc.constraints.SpreadConstraints([([0, 1, 2], 2), ([1, 2, 3], 1)], n_items=4)
    >>> spreads.satisfied([0, 1, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "spread"
    _row_word: ClassVar[str] = "group"
    parts: ClassVar[dict[str, Reader]] = {
        "list of items": _items,
        "largest number of clusters": _integer("the number of clusters", least=1),
    }

    def _statement_of(self, items: tuple[int, ...], most: int) -> say.Statement:
        return say.Spread(items, most)

    @staticmethod
    def _renumbered(row: Any, place: Mapping[int, int]) -> tuple[Any, ...]:
        items, most = row
        return tuple(place[i] for i in items), most

    @classmethod
    def from_frame(
        cls, frame: Any, *, n_items: int | None = None, ids: Any = None, name: str | None = None
    ) -> Self:
        """Read groups from a table with a line for each item of each.

        Parameters
        ----------
        frame : DataFrame
            Columns "group" and "i" (an item of it); of whole groups perhaps "most" (in how many
            clusters they are at most, 1 by default) and "source". Groups of no more items than
            that say nothing and are left out.
        n_items, ids, name
            As of `PairwiseConstraints.from_frame`.

        Examples
        --------
        >>> import pandas as pd
        >>> import bayesclust as bc
        >>> table = pd.DataFrame({"group": list("aaabb"), "i": [0, 2, 3, 1, 4]})
        >>> bc.constraints.SpreadConstraints.from_frame(table, n_items=5).rows
        (((0, 2, 3), 1), ((1, 4), 1))
        """
        items, group, number, source = cls._columns(frame, n_items, ids, "group", ("i",))
        for row in (row for row, name in enumerate(group.tolist()) if check.is_nobody(name)):
            raise ValueError(f"row {row} has no group: name one there, or remove the row.")
        columns = naming.columns_of(frame)
        most = np.asarray(frame["most"]) if "most" in columns else np.ones(len(items), np.int64)
        groups, owner = by_first(group)
        rows: list[Any] = []
        heads: list[Any] | None = None if source is None else []
        for at in range(len(groups)):
            own = owner == at
            for what, values in (("most", most), ("source", source)):
                if values is not None and len(np.unique(values[own])) > 1:
                    raise ValueError(
                        f"the group {groups[at]!r} has several values of {what}: give all of "
                        "its lines the same one."
                    )
            if own.sum() <= most[own][0]:  # holds in every partition
                continue
            rows.append((items[own, 0], most[own][0]))
            if heads is not None:
                heads.append(source[own][0])
        return cls(rows, number, name, source=heads)._naming(ids)

    @classmethod
    def sample(
        cls,
        labels: ArrayLike,
        *,
        size: int,
        members: int = 5,
        error_rate: float = 0.0,
        seed: Seed = None,
        name: str | None = None,
    ) -> Self:
        """Make groups of items of one class, some of them wrongly.

        Parameters
        ----------
        labels : (n,) array
            True classes, of any sortable kind.
        size, members : int
            How many groups, of how many items each, drawn again for each group; 5 items by default.
        error_rate : float, default 0
            Probability that a group is of random items that are not all of one class.
        seed : int, Generator or None
        name : str, optional

        Returns
        -------
        SpreadConstraints
            Whose `flipped` tells which groups are wrong.

        Examples
        --------
        >>> import bayesclust as bc
        >>> y = [0, 0, 0, 1, 1, 1]
        >>> groups = bc.constraints.SpreadConstraints.sample(y, size=2, members=3, seed=0)
        >>> groups.rows
        (((2, 1, 0), 1), ((3, 4, 5), 1))
        """
        truth = check.true_labels(labels, least=2)
        rng = check.check_random_state(seed, "seed")
        number = check.check_int(size, "size")
        each = check.check_int(members, "members", least=2, most=len(truth))
        rate = check.number_between(error_rate, "error_rate", "[0, 1]")
        times = np.bincount(truth)
        enough = np.flatnonzero(times >= each)
        wrong = rng.random(number) < rate
        if (not wrong.all() and not len(enough)) or (wrong.any() and len(times) < 2):
            raise ValueError(
                f"no class has {each} items, or all items are of one class: ask for groups of "
                "fewer members, or for none that are wrong."
            )
        rows = []
        for own in wrong:
            among = np.arange(len(truth))
            if not own:
                among = np.flatnonzero(
                    truth == rng.choice(enough, p=times[enough] / times[enough].sum())
                )
            chosen = rng.choice(among, each, replace=False)
            while own and len(np.unique(truth[chosen])) == 1:
                chosen = rng.choice(among, each, replace=False)
            rows.append((chosen, 1))
        made = cls(rows, len(truth), name)
        made.flipped = check.frozen(wrong)
        return made


class ImplicationConstraints(UncertainRules):
    """Implications: if all pairs of a premise hold, so do all pairs of its conclusion.

    The implication of incremental constrained clustering.

    Parameters
    ----------
    rows : sequence of (premise, conclusion)
        Two lists of links (i, j, same), with same True for "together" and False for "apart".
        Without a premise the conclusion is to hold: ``([], [(7, 1, False), (7, 2, False)])`` says
        that item 7 is in another cluster than items 1 and 2.
    n_items, name, noise, source, answers
        As for all `UncertainRules`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> row = ([(0, 1, True)], [(2, 3, True), (0, 2, False)])
    >>> rule = bc.ImplicationConstraints([row], n_items=4)
    >>> [bool(rule.satisfied(z)[0]) for z in ([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0])]
    [True, True, False]
    """

    kind: ClassVar[str] = "implication"
    parts: ClassVar[dict[str, Reader]] = {
        "links of the premise": _listed(_link, "link", least=0),
        "links of the conclusion": _links,
    }

    def _statement_of(self, premise: Any, conclusion: Any) -> say.Statement:
        violated = (say.Apart(i, j) if same else say.Together(i, j) for i, j, same in premise)
        concluded = (say.Together(i, j) if same else say.Apart(i, j) for i, j, same in conclusion)
        return say.Either((*violated, say.Every(tuple(concluded))))

    @staticmethod
    def _renumbered(row: Any, place: Mapping[int, int]) -> tuple[Any, ...]:
        return tuple(tuple((place[i], place[j], same) for i, j, same in part) for part in row)
