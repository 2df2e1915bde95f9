"""Names of items, columns and sources, as users give them: read from tables, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesclust.checks import (
    is_missing,
    is_nobody,
    kind_of,
    plain_array,
    refuse_lazy,
    shown,
    some_of,
    true_labels,
)
from bayesclust.typing import ArrayLike

WHOLE = 2.0**53
"""Below it decimals hold all whole numbers."""
MEMBERS = "ijk"
"""Columns of the items of an answer."""


def columns_of(frame: Any) -> Any:
    """The names of the columns of a table of pandas, polars or pyarrow."""
    refuse_lazy(frame, "the table")
    found = getattr(frame, "column_names", getattr(frame, "columns", None))
    if found is None:
        raise TypeError(
            f"the table is {kind_of(frame)}: pass one whose columns have names, such as a "
            "pandas.DataFrame."
        )
    return found


def cells(frame: Any, column: str) -> np.ndarray[Any, Any]:
    """The values of a column of a table of pandas, polars or pyarrow."""
    own = frame[column]
    found: np.ndarray[Any, Any] = np.asarray(own) if hasattr(own, "to_pylist") else own.to_numpy()
    return found


def check_columns(frame: Any, members: Sequence[str], said: str, kind: str | None) -> Any:
    """The names of columns, those of items and answers among them, and of no other kind's items."""
    columns = columns_of(frame)
    for column in (*members, said):
        if column not in columns:
            others = f", only {some_of([*columns])}" if len(columns) else " and no other"
            raise ValueError(
                f"the table has no column {column!r}{others}: name its columns "
                f"{', '.join(members)}, {said} and, if there are several, source."
            )
    for column in MEMBERS if kind else ():
        if column in columns and column not in members:
            raise ValueError(
                f"the table has a column {column!r}, but {kind} are about {' and '.join(members)}: "
                "read it as the kind that it holds, or drop the column."
            )
    return columns


def dates_in_words(values: Any) -> Any:
    """Dates and durations as pandas writes them, anything else as it is."""
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is None or array.dtype.kind not in "mM":
        return values
    import pandas as pd

    return np.array([str(one) for one in pd.Index(array)], dtype=object)


def named_items(
    frame: Any, members: Sequence[str], n_items: Any, ids: ArrayLike | None
) -> tuple[Any, Any]:
    """Rows of a table as numbers of items, by their names if there are `ids`, and how many."""
    # A column of whole numbers in which cells were empty once is written as 3.0.
    columns = [dates_in_words(cells(frame, one)) for one in members]
    items = np.column_stack(columns)
    if ids is None and items.dtype.kind in "iu":
        return items, n_items
    # not of `items`: where one column has decimals, large numbers of another would be rounded
    rows = [list(names) for names in zip(*(own.tolist() for own in columns), strict=True)]
    for row, names in enumerate(rows if items.dtype.kind in "fO" else ()):
        if any(map(is_missing, names)):
            raise ValueError(f"row {row} lacks an item: name all of its items, or remove it.")
        if ids is None and any(isinstance(one, str) for one in names):
            raise TypeError(
                f"row {row} names items by words, {shown(names)}: pass ids, the names of all "
                "items in their order (such as df.index), in place of n_items."
            )
    if ids is None:
        whole = items.dtype.kind == "f" and (np.abs(items) < WHOLE).all() and not (items % 1).any()
        return items.astype(np.int64) if whole else items, n_items
    known = plain_array(dates_in_words(ids), "ids", hint := "pass one name for each item")
    listed = [plain_name(one) for one in known.ravel().tolist()]
    place = {one: at for at, one in enumerate(listed)}
    if known.ndim != 1:
        raise ValueError(f"ids has shape {known.shape}: {hint}.")
    if len(place) < len(listed):
        twice = next(one for at, one in enumerate(listed) if place[one] > at)
        raise ValueError(f"ids has {twice!r} twice: give each item a name of its own.")
    for row, names in enumerate(rows):
        rows[row] = [place.get(plain_name(one), -1) for one in names]
        for one, at in zip(names, rows[row], strict=True):
            if at < 0:
                there = some_of([*map(repr, place)])
                raise ValueError(f"row {row} names {one!r}, but ids are {there}: correct it.")
            if rows[row].count(at) > 1:
                raise ValueError(f"row {row} names {one!r} twice: remove this row.")
    return np.array(rows), len(place)


def plain_names(ids: Any) -> list[str]:
    """Names in words, as `plain_name` writes each."""
    return [plain_name(one) for one in np.ravel(dates_in_words(ids)).tolist()]


def plain_name(name: Any) -> str:
    """A name in words, of a whole number without its decimals, of a day without its midnight."""
    word = str(name).strip().removesuffix(" 00:00:00")
    whole = word.removesuffix(".0")
    return whole if whole.isdecimal() else word


def named_sources(frame: Any, rows: Any = slice(None)) -> Any:
    """Return the column "source" of a table, who answered, by row: names, or numbers from 0."""
    source = cells(frame, "source")
    names = source.tolist()
    for row, name in enumerate(names):
        if is_nobody(name):
            raise ValueError(
                f"row {row} has no source: say who answered, or leave the column source out."
            )
    source, names = source[rows], source[rows].tolist()
    if all(isinstance(name, str) for name in names):
        return source
    numbers = true_labels(source, least=0, name="source")
    known = np.unique(source).tolist() == list(range(int(numbers.max(initial=-1)) + 1))
    return numbers if known else np.array([plain_name(name) for name in names])


def check_same_names(
    own: Sequence[str] | None, names: Sequence[str] | None, what: str, remedy: str, other: str = "X"
) -> None:
    """Refuse what names items otherwise than X (or another), or in another order."""
    for mine, theirs in zip(own or (), names or (), strict=False):
        if mine != theirs:
            raise ValueError(
                f"{what} and {other} name items differently or in another order, {mine!r} there "
                f"and {theirs!r} in {other}: {remedy}."
            )
