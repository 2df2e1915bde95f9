"""A word to those who ask Gaussian clusters of columns that are nothing of the kind."""

from __future__ import annotations

import warnings

import numpy as np

from bayesclust.families.base import BoundFamily, Family
from bayesclust.families.columns import Column, TiedColumnsWarning, describe_column
from bayesclust.families.gaussian import BoundColumns
from bayesclust.families.mixed import BoundProduct
from bayesclust.typing import FloatArray, IntArray

SHOWN = 3


def bind_family(family: Family, items: FloatArray) -> BoundFamily:
    """Bind a family to the items, with one warning if it takes columns for Gaussian in which many items share a value.

    Parameters
    ----------
    family : Family
    items : ndarray of shape (n, d)

    Returns
    -------
    BoundFamily

    Warns
    -----
    TiedColumnsWarning
        Saying what was seen in which columns, and what to do.
    """
    bound = family.bind(items)
    tied = tied_columns(bound, items)
    if tied:
        warnings.warn(_sentence(tied, len(items)), TiedColumnsWarning, stacklevel=6)
    return bound


def tied_columns(bound: BoundFamily, items: FloatArray) -> dict[int, Column]:
    """Return the user's columns that a family takes for Gaussian though many items share a value of them.

    Parameters
    ----------
    bound : BoundFamily
    items : ndarray of shape (n, d)

    Returns
    -------
    dict of int to Column
    """
    found = {int(j): describe_column(items[:, j]) for j in _gaussian_columns(bound, items.shape[1])}
    return {j: column for j, column in found.items() if column.ties}


def _gaussian_columns(bound: BoundFamily, d: int) -> IntArray:
    """The user's columns that are Gaussian within a cluster, but for those behind a hurdle."""
    if isinstance(bound, BoundColumns):
        return np.arange(d)
    if not isinstance(bound, BoundProduct):
        return np.zeros(0, np.int64)
    taken = [
        own
        for part, own in zip(bound.parts, bound.given, strict=True)
        if isinstance(part, BoundColumns)
    ]
    columns = np.sort(np.concatenate([*taken, np.zeros(0, np.int64)])).astype(np.int64)
    behind = [j for j, atoms in enumerate(bound.atoms) if atoms]
    return np.setdiff1d(columns, behind)


def _sentence(tied: dict[int, Column], n: int) -> str:
    said = [
        f"column {j} ({', '.join(f'{atom:g}' for atom in column.atoms or (column.value,))} in {column.ties / n:.0%})"
        for j, column in tied.items()
    ]
    shown = ", ".join(said[:SHOWN]) + (
        f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    )
    return (
        f"in {shown} of X many items share a value, which Gaussian clusters may fit by clusters of "
        "their own: see bayesclust.describe_columns(X), and compare the clusters with and without "
        "these columns."
    )


__all__ = ["bind_family", "tied_columns"]
