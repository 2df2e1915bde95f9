"""Constraints that name clusters or speak of many items: spans, spreads and implications.

They hold or do not hold in a partition, and have no table by equality pattern: methods that take
statements use them (`MinimalModification`, `InteractiveSession`).
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self, override

import numpy as np

from bayesclust import checks as check
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import NoiseModel
from bayesclust.constraints.statements import (
    Among,
    Apart,
    Either,
    Every,
    Spread,
    Statement,
    Together,
)
from bayesclust.typing import ArrayLike, IntArray

Link = tuple[int, int, bool]


class Rules(Constraints):
    """Constraints each of which holds in a partition or not.

    A kind is a subclass that names its `kind` and what a row is (`row_form`), checks a row
    (`_checked`), says in the language of `Statement` what it demands (`_statement_of`), and
    renumbers the items of a row (`_kept`).

    Parameters
    ----------
    rows : sequence
        One constraint each, in the form of the kind.
    n_items : int
        Number of items of the data; items are numbered 0 to n_items - 1.
    name : str, optional
        What reports call them; the kind's own word by default.
    """

    row_form: ClassVar[str]

    def __init__(self, rows: Any, n_items: int, name: str | None = None) -> None:
        self.n_items = check.positive_int(n_items, "n_items")
        self.name = self.kind if name is None else check.name_word(name)
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            raise TypeError(
                f"rows must be a list of rows {self.row_form}; got {type(rows).__name__}."
            )
        self._rows: tuple[Any, ...] = tuple(
            self._checked(row, f"rows[{at}]") for at, row in enumerate(rows)
        )

    @classmethod
    @override
    def default_noise(cls) -> NoiseModel:
        raise TypeError(f"{cls.__name__} hold or do not hold: they have no noise model.")

    @abstractmethod
    def _checked(self, row: Any, what: str) -> Any:
        """Return a row in plain integers and tuples, or refuse it in a sentence about `what`."""

    @abstractmethod
    def _statement_of(self, row: Any) -> Statement:
        """Return what a checked row says of a partition."""

    @abstractmethod
    def _kept(self, row: Any, position: IntArray) -> Any:
        """Return a row with its items renumbered (-1: left out), or None if nothing is left."""

    @classmethod
    @override
    def from_rows(cls, rows: Sequence[Any], n_items: int) -> Self:
        return cls(rows, n_items)

    @property
    @override
    def rows(self) -> tuple[Any, ...]:
        return self._rows

    @override
    def statements(self) -> list[Statement]:
        return [self._statement_of(row) for row in self._rows]

    @override
    def restrict(self, items: ArrayLike) -> Self:
        kept = check.chosen_items(items, self.n_items)
        position = np.full(self.n_items, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        rows = (self._kept(row, position) for row in self._rows)
        other = copy.copy(self)
        other.n_items = len(kept)
        other._rows = tuple(row for row in rows if row is not None)
        return other

    @override
    def __len__(self) -> int:
        return len(self._rows)

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {len(self)} on {self.n_items} items>"

    def _parts(self, row: Any, number: int, what: str) -> Sequence[Any]:
        """Return a row if it has so many parts."""
        listed = isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, (str, bytes))
        if not listed or len(row) != number:
            raise TypeError(f"{what} must be {self.row_form}; got {row!r}.")
        return list(row)

    def _item(self, value: Any, what: str) -> int:
        """Return the number of an item, in range."""
        item = _whole(value, what, "an item")
        if not 0 <= item < self.n_items:
            raise ValueError(
                f"{what} names item {item}, but with n_items={self.n_items} items are numbered "
                f"0 to {self.n_items - 1}: correct the index or n_items."
            )
        return item

    def _different_items(self, values: Any, what: str) -> tuple[int, ...]:
        """Return the numbers of different items, at least one."""
        items = tuple(self._item(value, what) for value in _listed(values, what, "items"))
        return _different(items, what, "item")


class SpanConstraints(Rules):
    """Items that are only in some clusters, by the numbers of the partition that is modified.

    The span-limited constraint of incremental constrained clustering: all items of S lie in
    clusters of C. A row counts as one constraint, satisfied when all its items are where they may
    be.

    Parameters
    ----------
    rows : sequence of (items, clusters)
        Two lists each, both with different numbers. Numbers past the clusters of the partition are
        new clusters.
    n_items : int
        Number of items of the data.
    name : str, default "span"
        What reports call them.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, empty lists, and numbers out of range or named
        twice.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spans = bc.SpanConstraints([([0, 1], [0, 2]), ([3], [1])], n_items=4)
    >>> spans.satisfied([0, 2, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "span"
    row_form: ClassVar[str] = "(list of items, list of clusters)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        items, clusters = self._parts(row, 2, what)
        return self._different_items(items, what), clusters_named(clusters, what)

    @override
    def _statement_of(self, row: Any) -> Statement:
        items, clusters = row
        return Every(tuple(Among(item, clusters) for item in items))

    @override
    def _kept(self, row: Any, position: IntArray) -> Any:
        items = _inside(row[0], position)
        return (items, row[1]) if items else None


class SpreadConstraints(Rules):
    """Items that are in at most so many clusters, whichever these are.

    The generic span-limited constraint of incremental constrained clustering: the items of S lie in
    at most gamma clusters. With gamma = 1 they are all together.

    Parameters
    ----------
    rows : sequence of (items, most)
        A list of different items, and the largest number of clusters, at least 1.
    n_items : int
        Number of items of the data.
    name : str, default "spread"
        What reports call them.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, no items, items out of range or named twice, and
        no clusters.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spreads = bc.constraints.SpreadConstraints([([0, 1, 2], 2), ([1, 2, 3], 1)], n_items=4)
    >>> spreads.satisfied([0, 1, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "spread"
    row_form: ClassVar[str] = "(list of items, largest number of clusters)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[int, ...], int]:
        items, most = self._parts(row, 2, what)
        number = _whole(most, what, "clusters")
        if number < 1:
            raise ValueError(f"{what} allows {number} clusters: allow at least 1.")
        return self._different_items(items, what), number

    @override
    def _statement_of(self, row: Any) -> Statement:
        return Spread(*row)

    @override
    def _kept(self, row: Any, position: IntArray) -> Any:
        items = _inside(row[0], position)
        return (items, row[1]) if items else None


class ImplicationConstraints(Rules):
    """Where all pairs of a premise are as it says, all pairs of a conclusion are as that says.

    The implication of incremental constrained clustering, between conjunctions of must-links and
    cannot-links.

    Parameters
    ----------
    rows : sequence of (premise, conclusion)
        Two lists of links (i, j, same), with same True for "together" and False for "apart".
    n_items : int
        Number of items of the data.
    name : str, default "implication"
        What reports call them.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, empty lists, items out of range or linked to
        themselves.

    Examples
    --------
    >>> import bayesclust as bc
    >>> row = ([(0, 1, True)], [(2, 3, True), (0, 2, False)])
    >>> rule = bc.ImplicationConstraints([row], n_items=4)
    >>> [bool(rule.satisfied(z)[0]) for z in ([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0])]
    [True, True, False]
    """

    kind: ClassVar[str] = "implication"
    row_form: ClassVar[str] = "(links of the premise, links of the conclusion)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[Link, ...], ...]:
        return tuple(
            tuple(self._link(link, what) for link in _listed(part, what, "links"))
            for part in self._parts(row, 2, what)
        )

    def _link(self, link: Any, what: str) -> Link:
        three = isinstance(link, (tuple, list)) and len(link) == 3
        if not three or not isinstance(link[2], (bool, np.bool_)):
            raise TypeError(
                f"{what} has {link!r} where a link (i, j, True or False for together or apart) "
                "is wanted."
            )
        i, j = (self._item(item, what) for item in link[:2])
        if i == j:
            raise ValueError(f"{what} links item {i} to itself: remove this link.")
        return i, j, bool(link[2])

    @override
    def _statement_of(self, row: Any) -> Statement:
        premise, conclusion = row
        violated = tuple(_said(i, j, not same) for i, j, same in premise)
        return Either((*violated, Every(tuple(_said(*link) for link in conclusion))))

    @override
    def _kept(self, row: Any, position: IntArray) -> Any:
        moved = tuple(
            tuple((int(position[i]), int(position[j]), same) for i, j, same in part) for part in row
        )
        return moved if min(min(link[:2]) for part in moved for link in part) >= 0 else None


def _said(i: int, j: int, same: bool) -> Statement:
    return Together(i, j) if same else Apart(i, j)


def _inside(items: Sequence[int], position: IntArray) -> tuple[int, ...]:
    return tuple(int(position[item]) for item in items if position[item] >= 0)


def _whole(value: Any, what: str, meaning: str) -> int:
    """Return `value` as an int."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(
            f"{what} has {value!r} where the number of {meaning} is wanted: pass an integer."
        )
    return int(value)


def clusters_named(values: Any, what: str) -> tuple[int, ...]:
    """Return the numbers of different clusters, at least one."""
    clusters = tuple(
        _whole(value, what, "a cluster") for value in _listed(values, what, "clusters")
    )
    if min(clusters) < 0:
        raise ValueError(f"{what} names cluster {min(clusters)}: clusters are numbered from 0.")
    return _different(clusters, what, "cluster")


def _listed(values: Any, what: str, meaning: str) -> Sequence[Any]:
    """Return `values` if it is a list that holds something."""
    kinds = (Sequence, np.ndarray, set, frozenset, range)
    if isinstance(values, (str, bytes)) or not isinstance(values, kinds):
        raise TypeError(f"{what} has {values!r} where a list of {meaning} is wanted.")
    found = sorted(values) if isinstance(values, (set, frozenset)) else list(values)
    if not found:
        raise ValueError(f"{what} has no {meaning}: name at least one, or leave the row out.")
    return found


def _different(numbers: tuple[int, ...], what: str, meaning: str) -> tuple[int, ...]:
    """Return `numbers` if none comes twice."""
    for at, number in enumerate(numbers):
        if number in numbers[:at]:
            raise ValueError(f"{what} names {meaning} {number} more than once: name each once.")
    return numbers
