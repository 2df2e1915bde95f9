"""Cells of data: which are refused, which are missing, which columns vary, and standard units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.checks import rows_in_words
from bayesclust.typing import BoolArray, FloatArray, IntArray


def refuse_cells(flags: BoolArray, what: str, remedy: str, columns: IntArray | None = None) -> None:
    """Raise if any cell is flagged, naming the first such column (by `columns`) and its rows.

    >>> refuse_cells(np.array([[False, True]]), "negative counts", "pass how often it was seen")
    Traceback (most recent call last):
    ValueError: X has negative counts in column 1, row 0: pass how often it was seen.
    """
    if flags.any():
        column = int(flags.any(axis=0).argmax())
        known = column if columns is None else int(columns[column])
        rows = rows_in_words(flags[:, column, None])
        raise ValueError(f"X has {what} in column {known}, {rows}: {remedy}.")


def check_whole(X: FloatArray, what: str, remedy: str, columns: IntArray | None = None) -> None:
    """Refuse cells that are negative or not whole; NaN passes."""
    refuse_cells(X < 0, f"negative {what}", remedy, columns)
    refuse_cells((np.floor(X) != X) & ~np.isnan(X), f"{what} that are not whole", remedy, columns)


def varying_columns(X: FloatArray) -> IntArray:
    """Columns with at least two different values seen; the first one if there is none.

    >>> varying_columns(np.array([[1.0, 0.0, np.nan], [1.0, 2.0, 5.0]]))
    array([1])
    """
    missing = np.isnan(X)
    lowest = np.where(missing, np.inf, X).min(axis=0)
    highest = np.where(missing, -np.inf, X).max(axis=0)
    kept = np.flatnonzero(highest > lowest)
    return kept if len(kept) else np.zeros(1, np.int64)


def column_means(X: FloatArray, otherwise: float) -> FloatArray:
    """Means of the cells seen, shape (d,); `otherwise` for columns without any value."""
    seen = ~np.isnan(X)
    number = seen.sum(axis=0)
    means: FloatArray = np.where(seen, X, 0.0).sum(axis=0) / np.maximum(number, 1)
    return np.where(number > 0, means, otherwise)


def fill_in(X: FloatArray) -> FloatArray:
    """Missing cells replaced by their column's mean, 0 for a column without any value."""
    return np.where(np.isnan(X), column_means(X, 0.0), X)


def cells_and_seen(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The cells with 0 for missing ones, and 1 where there is a value, else 0."""
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0), seen.astype(np.float64)


def marked_cells(flags: BoolArray) -> tuple[IntArray, IntArray]:
    """Where the marked cells of each row begin, shape (n + 1,), and their columns."""
    row, column = np.nonzero(flags)
    return np.searchsorted(row, np.arange(len(flags) + 1)).astype(np.int64), column.astype(np.int64)


def sparse(flags: BoolArray) -> dict[str, IntArray]:
    """The same as fields `start` and `column` of a cluster state."""
    return dict(zip(("start", "column"), marked_cells(flags), strict=True))


class StandardColumns(NamedTuple):
    """Informative columns, centred and divided by their standard deviation."""

    X: FloatArray
    centre: FloatArray
    unit: FloatArray
    floor: FloatArray  # variance of rounding
    kept: IntArray


def resolution(column: FloatArray) -> float:
    """Median distance between neighbouring distinct values; 0 for a constant column; NaN is left out.

    >>> resolution(np.array([1.0, 3.0, 2.0, 2.0]))
    1.0
    """
    values = np.unique(column[~np.isnan(column)])
    return float(np.median(np.diff(values))) if len(values) > 1 else 0.0


def standard_columns(X: FloatArray, *, common_unit: bool = False) -> StandardColumns:
    """Standardise by the cells seen, without the constant columns, which tell nothing.

    At least one column stays. With `common_unit` every column is divided by the root mean variance
    instead of its own standard deviation: spherical clusters have no private units.
    """
    # a column without any value is constant
    cells = np.where(np.isnan(X).all(axis=0), 0.0, X)
    largest = np.nanmax(np.abs(cells), axis=0)
    shrunk = cells / np.where(largest > 0, largest, 1.0)
    spread = np.nanstd(shrunk, axis=0)
    kept = np.flatnonzero(spread > 1e-12)
    if len(kept) == 0:
        kept = np.array([0])
    scale = np.where(largest > 0, largest, 1.0)[kept]
    shrunk = shrunk[:, kept]
    spread = np.where(spread[kept] > 1e-12, spread[kept], 1.0)
    if common_unit:
        scale = np.full(len(kept), scale.max())
        shrunk = cells[:, kept] / scale
        spread = np.full(len(kept), max(np.sqrt(np.nanvar(shrunk, axis=0).mean()), 1e-12))
    centre = np.nanmean(shrunk, axis=0)
    Z = np.ascontiguousarray((X[:, kept] / scale - centre) / spread)
    floor = np.array([resolution(column) for column in Z.T]) ** 2 / 12
    return StandardColumns(Z, centre * scale, spread * scale, floor, kept)
