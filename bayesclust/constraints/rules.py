"""Constraints that name clusters or speak of many items: spans, spreads and implications.

They hold or not, and have no table by equality pattern: methods that take statements use them
(`MinimalModification`, `InteractiveSession`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from bayesclust import checks as check
from bayesclust.constraints import statements as say
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import NoiseModel
from bayesclust.typing import ArrayLike

Reader = Callable[[Any, str, int], Any]
"""Of a value, what it is in and the number of items: the value, refused if it is of no use."""


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


def _listed(read: Reader, word: str) -> Reader:
    """A list of parts, at least one, no integer twice."""

    def read_all(values: Any, what: str, n_items: int) -> tuple[Any, ...]:
        if isinstance(values, (str, bytes)) or not isinstance(values, LISTS):
            raise TypeError(f"{what} has {values!r} where a list of {word}s is wanted.")
        found = tuple(read(value, what, n_items) for value in values)
        if not found:
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
    """Constraints each of which holds in a partition or not.

    A subclass names its `kind` and how the `parts` of a row are read, and says in the language of
    `Statement` what a row demands (`_statement_of`). They cannot be restricted to some items.

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
    def from_rows(cls, rows: Sequence[Any], n_items: int) -> Self:
        return cls(rows, n_items)

    @property
    def rows(self) -> tuple[Any, ...]:
        return self._rows

    def statements(self) -> list[say.Statement]:
        return [self._statement_of(*row) for row in self.rows]

    def restrict(self, items: ArrayLike) -> Self:
        raise TypeError(
            f"{type(self).__name__} cannot be restricted: make new ones of these items."
        )

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {len(self)} on {self.n_items} items>"


class SpanConstraints(Rules):
    """Items that are only in some clusters, by the numbers of the partition that is modified.

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


class SpreadConstraints(Rules):
    """Items that are in at most so many clusters, whichever these are; with one, all together.

    The generic span-limited constraint of incremental constrained clustering.

    Parameters
    ----------
    rows : sequence of (items, most)
        A list of different items, and the largest number of clusters, at least 1.
    n_items, name
        As for all `Rules`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spreads = bc.constraints.SpreadConstraints([([0, 1, 2], 2), ([1, 2, 3], 1)], n_items=4)
    >>> spreads.satisfied([0, 1, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "spread"
    parts: ClassVar[dict[str, Reader]] = {
        "list of items": _items,
        "largest number of clusters": _integer("the number of clusters", least=1),
    }

    def _statement_of(self, items: tuple[int, ...], most: int) -> say.Statement:
        return say.Spread(items, most)


class ImplicationConstraints(Rules):
    """Implications: where all pairs of a premise hold, all pairs of its conclusion do.

    The implication of incremental constrained clustering.

    Parameters
    ----------
    rows : sequence of (premise, conclusion)
        Two lists of links (i, j, same), with same True for "together" and False for "apart".
    n_items, name
        As for all `Rules`.

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
        "links of the premise": _links,
        "links of the conclusion": _links,
    }

    def _statement_of(self, premise: Any, conclusion: Any) -> say.Statement:
        violated = (say.Apart(i, j) if same else say.Together(i, j) for i, j, same in premise)
        concluded = (say.Together(i, j) if same else say.Apart(i, j) for i, j, same in conclusion)
        return say.Either((*violated, say.Every(tuple(concluded))))
