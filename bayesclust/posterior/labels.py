"""Partitions as arrays of labels: canonical form and the checks of what users pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import kernel
from bayesclust.checks import plain_array
from bayesclust.typing import ArrayLike

__all__ = ["Labels", "as_labels", "as_partitions", "canonical", "label_rows", "partition_sizes"]

Labels = np.ndarray[Any, np.dtype[Any]]
ONE_EACH = "pass one label per item"


def canonical(z: ArrayLike, what: str = "labels") -> Labels:
    """Return partitions with labels 0, 1, ... in order of first appearance.

    Parameters
    ----------
    z : (..., n) array of int
        Labels; any integers.
    what : str, default "labels"
        What the sentences call them.

    Returns
    -------
    (..., n) array of int16
        Equal rows for equal partitions, whatever the labels were. int32 from 32768 items on.

    Raises
    ------
    ValueError, TypeError
        If the labels are not integers, or there is no axis of items.

    Examples
    --------
    >>> canonical([[7, 7, 2, 7], [1, 0, 1, 2]])
    array([[0, 0, 1, 0],
           [0, 1, 0, 2]], dtype=int16)
    """
    array = plain_array(z, what, ONE_EACH)
    if array.ndim == 0:
        raise ValueError(
            f"{what} must have shape (..., n); got a single number: pass an array with one label "
            "per item."
        )
    if array.dtype.kind not in "iub":
        raise TypeError(
            f"{what} must be integers; got dtype {array.dtype}: number the clusters 0, 1, 2, ..."
        )
    n = array.shape[-1]
    out = np.empty(array.shape, dtype=np.int16 if n <= np.iinfo(np.int16).max else np.int32)
    if array.size == 0:
        return out
    low = int(array.min())
    high = int(array.max())
    if low < 0 or high >= 4 * n + 1024:
        array = np.unique(array, return_inverse=True)[1].reshape(array.shape)
        high = int(array.max())
    rows = np.ascontiguousarray(array, dtype=np.int64).reshape(-1, n)
    _renumber(rows, out.reshape(-1, n), high + 1)
    return out


@kernel
def _renumber(z: Labels, out: Labels, n_labels: int) -> None:
    seen = np.full(n_labels, -1, np.int64)
    for row in range(z.shape[0]):
        count = 0
        for i in range(z.shape[1]):
            label = z[row, i]
            if seen[label] < 0:
                seen[label] = count
                count += 1
            out[row, i] = seen[label]
        for i in range(z.shape[1]):
            seen[z[row, i]] = -1


def as_labels(z: ArrayLike, what: str) -> Labels:
    """Return one partition (n,) in canonical form; `what` is what the caller calls it."""
    array = plain_array(z, what, ONE_EACH)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{what} must have shape (n,) with n at least 1; got {array.shape}: pass one label "
            "per item."
        )
    return canonical(array, what)


def as_partitions(draws: ArrayLike, what: str = "draws") -> Labels:
    """Return partitions (draws, n) in canonical form."""
    array = plain_array(draws, what, "pass one row of labels per draw")
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{what} must have shape (draws, n), both at least 1; got {array.shape}: pass one row "
            "of labels per draw."
        )
    return canonical(array, what)


def partition_sizes(z: Labels) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return cluster sizes (..., K) of partitions (..., n); zeros where one has fewer clusters."""
    rows = z.reshape(-1, z.shape[-1]).astype(np.int64)
    width = int(rows.max()) + 1
    flat = rows + np.arange(len(rows))[:, None] * width
    return np.bincount(flat.ravel(), minlength=len(rows) * width).reshape(*z.shape[:-1], width)


def label_rows(
    draws: Labels,
) -> tuple[np.ndarray[Any, np.dtype[np.uint32]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Number the labels of draws (B, n) through: rows (n, B), and the first row of each draw.

    Every label of every draw has a row of its own; the last "first row" is the number of rows.
    """
    first = np.concatenate([[0], np.cumsum(draws.max(axis=1).astype(np.int64) + 1)])
    return np.ascontiguousarray((draws + first[:-1, None]).T.astype(np.uint32)), first
