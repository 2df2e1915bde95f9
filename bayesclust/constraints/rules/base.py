"""What every kind of rule shares: rows checked at the door, each of which says something of a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bayesclust.constraints import _checks as check
from bayesclust.constraints.rules.statements import Labels, Statement
from bayesclust.typing import BoolArray

KINDS: dict[str, type[Rules]] = {}
"""Every kind of rules by its name; a subclass enters itself."""


class Rules(ABC):
    """Constraints that a partition satisfies or not, each of which may depend on more than who is with whom.

    Beside the views, whose answers are about pairs and triplets and may be wrong, rules can name
    clusters and speak of many items. A kind is one file with a subclass that names its `kind` and
    what a row is (`row_form`), checks a row (`_checked`) and says in the language of `Statement`
    what it demands (`statement`); solvers, storage and reports follow. Rules do not change once
    made.

    Parameters
    ----------
    rows : sequence
        One constraint each, in the form of the kind.
    n_items : int
        Number of items of the data; items are numbered 0 to n_items - 1.
    name : str, optional
        What reports call them; the kind's own word by default.

    Attributes
    ----------
    rows : tuple
        As checked: of plain integers, in tuples.
    n_items : int
    name : str
    kind : str
        What kind of rules they are, the same for all of a class.
    row_form : str
        A row in words, for the sentences of errors.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, and for items out of range or named twice where
        that cannot be meant.
    """

    kind: ClassVar[str]
    row_form: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        KINDS[cls.kind] = cls

    def __init__(self, rows: Any, n_items: int, name: str | None = None) -> None:
        self.n_items = check.positive_int(n_items, "n_items")
        self.name = self.kind if name is None else check.view_name(name)
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            raise TypeError(
                f"rows must be a list of rows {self.row_form}; got {type(rows).__name__}."
            )
        self.rows: tuple[Any, ...] = tuple(
            self._checked(row, f"rows[{at}]") for at, row in enumerate(rows)
        )

    @abstractmethod
    def _checked(self, row: Any, what: str) -> Any:
        """Return a row as tuples of plain integers, or refuse it in a sentence that calls it `what`."""

    @abstractmethod
    def statement(self, row: Any) -> Statement:
        """Return what a checked row says of a partition."""

    def statements(self) -> list[Statement]:
        """Return what each row says of a partition."""
        return [self.statement(row) for row in self.rows]

    def satisfied(self, labels: Labels) -> BoolArray:
        """Tell which rows a partition satisfies.

        Parameters
        ----------
        labels : (n_items,) array of int
            Numbers of clusters, as the rows use them.

        Returns
        -------
        (m,) array of bool

        Raises
        ------
        ValueError
            If there are not n_items labels.
        """
        given = check.plain_array(labels, "labels")
        if given.shape != (self.n_items,):
            raise ValueError(
                f"labels has shape {given.shape}: pass one for each of the {self.n_items} items."
            )
        given = check.item_labels(given, self.n_items, "labels")
        return np.array([statement.holds(given) for statement in self.statements()], dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {len(self)} on {self.n_items} items>"

    def _parts(self, row: Any, number: int, what: str) -> Sequence[Any]:
        """Return a row if it has so many parts."""
        if (
            isinstance(row, (str, bytes))
            or not isinstance(row, (Sequence, np.ndarray))
            or len(row) != number
        ):
            raise TypeError(f"{what} must be {self.row_form}; got {row!r}.")
        return list(row)

    def _item(self, value: Any, what: str) -> int:
        """Return the number of an item, in range."""
        item = whole(value, what, "an item")
        if not 0 <= item < self.n_items:
            raise ValueError(
                f"{what} names item {item}, but with n_items={self.n_items} items are numbered 0 to {self.n_items - 1}: "
                "correct the index or n_items."
            )
        return item

    def _items(self, values: Any, what: str) -> tuple[int, ...]:
        """Return the numbers of different items, at least one."""
        items = tuple(self._item(value, what) for value in listed(values, what, "items"))
        return different(items, what, "item")


def whole(value: Any, what: str, meaning: str) -> int:
    """Return `value` as an int."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(
            f"{what} has {value!r} where the number of {meaning} is wanted: pass an integer."
        )
    return int(value)


def clusters_named(values: Any, what: str) -> tuple[int, ...]:
    """Return the numbers of different clusters, at least one."""
    clusters = tuple(whole(value, what, "a cluster") for value in listed(values, what, "clusters"))
    if min(clusters) < 0:
        raise ValueError(f"{what} names cluster {min(clusters)}: clusters are numbered from 0.")
    return different(clusters, what, "cluster")


def listed(values: Any, what: str, meaning: str) -> Sequence[Any]:
    """Return `values` if it is a list that holds something."""
    if isinstance(values, (str, bytes)) or not isinstance(
        values, (Sequence, np.ndarray, set, frozenset, range)
    ):
        raise TypeError(f"{what} has {values!r} where a list of {meaning} is wanted.")
    found = sorted(values) if isinstance(values, (set, frozenset)) else list(values)
    if not found:
        raise ValueError(f"{what} has no {meaning}: name at least one, or leave the row out.")
    return found


def different(numbers: tuple[int, ...], what: str, meaning: str) -> tuple[int, ...]:
    """Return `numbers` if none comes twice."""
    for at, number in enumerate(numbers):
        if number in numbers[:at]:
            raise ValueError(f"{what} names {meaning} {number} more than once: name each once.")
    return numbers


__all__ = ["KINDS", "Rules"]
