"""What the families of discrete columns share: columns that tell nothing are left out, missing cells are let through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesclust.checks import check_items, rows_in_words
from bayesclust.models.families.base import BoundFamily, Family
from bayesclust.typing import ArrayLike


def refuse_cells(
    flags: NDArray[np.bool_], what: str, remedy: str, columns: NDArray[np.intp] | None = None
) -> None:
    """Raise if any cell is flagged.

    Parameters
    ----------
    flags : ndarray of bool, shape (n, d)
    what : str
        What these cells are, in the plural.
    remedy : str
        What to do about them.
    columns : ndarray of int, optional
        The numbers that the user knows these columns by; 0, 1, ... if left out.

    Raises
    ------
    ValueError
        Naming the first column with such cells, and their rows.

    Examples
    --------
    >>> refuse_cells(np.array([[False, True], [False, False]]), "negative counts", "pass how often it was seen")
    Traceback (most recent call last):
    ValueError: X has negative counts in column 1, row 0: pass how often it was seen.
    """
    if flags.any():
        column = int(flags.any(axis=0).argmax())
        known = column if columns is None else int(columns[column])
        raise ValueError(
            f"X has {what} in column {known}, {rows_in_words(flags[:, column, None])}: {remedy}."
        )


def check_whole(
    X: NDArray[np.float64], what: str, remedy: str, columns: NDArray[np.intp] | None = None
) -> None:
    """Refuse cells that are negative or not whole; NaN passes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    what : str
        What the cells should be, in the plural, for the sentence.
    remedy : str
        What to do about others.
    columns : ndarray of int, optional
        The numbers that the user knows these columns by.

    Raises
    ------
    ValueError
        At the first such column.
    """
    refuse_cells(X < 0, f"negative {what}", remedy, columns)
    refuse_cells((np.floor(X) != X) & ~np.isnan(X), f"{what} that are not whole", remedy, columns)


def varying_columns(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Columns with at least two different values seen; the first one if there is none.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 0.0, np.nan], [1.0, 2.0, 5.0]]))
    array([1])
    """
    missing = np.isnan(X)
    lowest, highest = (
        np.where(missing, np.inf, X).min(axis=0),
        np.where(missing, -np.inf, X).max(axis=0),
    )
    kept: NDArray[np.intp] = np.flatnonzero(highest > lowest)
    return kept if len(kept) else np.zeros(1, np.intp)


def column_means(X: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
    """Means of the cells seen.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN.
    otherwise : float
        For columns without any value.

    Returns
    -------
    ndarray of shape (d,)
    """
    seen = ~np.isnan(X)
    number = seen.sum(axis=0)
    means: NDArray[np.float64] = np.where(seen, X, 0.0).sum(axis=0) / np.maximum(number, 1)
    return np.where(number > 0, means, otherwise)


def fill_in(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace missing cells by their column's mean.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN; those of a column without any value become 0.

    Returns
    -------
    ndarray of shape (n, d)
    """
    return np.where(np.isnan(X), column_means(X, 0.0), X)


def marked_cells(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The marked cells, row by row.

    Parameters
    ----------
    flags : ndarray of bool, shape (n, d)

    Returns
    -------
    start : ndarray of shape (n + 1,)
        Where the cells of each row begin.
    column : ndarray of int
        Their columns.
    """
    row, column = np.nonzero(flags)
    return np.searchsorted(row, np.arange(len(flags) + 1)).astype(np.int64), column.astype(np.int64)


@dataclass(frozen=True)
class BoundDiscrete(BoundFamily, ABC):
    """A family on the discrete columns `kept`, in the user's units, missing cells as NaN."""

    kept: NDArray[np.intp]

    takes_missing = True

    @abstractmethod
    def check(self, X: NDArray[np.float64]) -> None:
        """Refuse cells of the columns kept that the family cannot model."""

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X[:, self.kept]

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        rows = np.ascontiguousarray(check_items(X, least=1, missing=True)[:, self.kept])
        self.check(rows)
        return rows


class DiscreteFamily(Family, ABC):
    """A family on discrete columns, which models those that vary and leaves missing cells out."""

    @property
    def takes_missing(self) -> bool:
        return True

    @abstractmethod
    def check(self, X: NDArray[np.float64]) -> None:
        """Refuse cells that the family cannot model; NaN passes."""

    def varying(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The columns that vary, and their numbers, once the cells are checked."""
        X = check_items(X, missing=True)
        self.check(X)
        kept = varying_columns(X)
        return np.ascontiguousarray(X[:, kept]), kept


__all__ = [
    "BoundDiscrete",
    "DiscreteFamily",
    "check_whole",
    "column_means",
    "fill_in",
    "marked_cells",
    "refuse_cells",
    "varying_columns",
]
