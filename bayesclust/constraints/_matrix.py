"""Reading a matrix of pairwise answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesclust.constraints._checks import plain_array
from bayesclust.typing import CodeArray, IntArray


def answers_in_matrix(E: Any) -> tuple[IntArray, CodeArray, int]:
    """Return the pairs i < j, their answers and the number of items of an (n, n) matrix of 1, 0 and NaN."""
    rows, columns, values, n = _entries(E)
    other = ~np.isin(values, (0.0, 1.0))
    if other.any():
        at = int(np.argmax(other))
        raise ValueError(
            f"E[{rows[at]}, {columns[at]}] is {values[at]:g}: entries are 1 (same), 0 (different) or NaN (not asked)."
        )
    own = (rows == columns) & (values == 0)
    if own.any():
        item = rows[np.argmax(own)]
        raise ValueError(
            f"E[{item}, {item}] is 0, but no item differs from itself: put 1 or NaN on the diagonal."
        )
    off = rows != columns
    pairs = np.column_stack([np.minimum(rows, columns), np.maximum(rows, columns)])[off]
    answers = values[off].astype(np.int8)
    unique, first, row = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    unlike = answers != answers[first][row.reshape(-1)]
    if unlike.any():
        i, j = pairs[np.argmax(unlike)].tolist()
        raise ValueError(
            f"E[{i}, {j}] and E[{j}, {i}] contradict each other: make E symmetric, "
            "or pass both answers to PairwiseConstraints(pairs, same, n_items)."
        )
    return unique.astype(np.int64), answers[first], n


def _entries(E: Any) -> tuple[IntArray, IntArray, np.ndarray[Any, np.dtype[np.float64]], int]:
    """Return rows, columns and values of the entries that are answers, and n."""
    is_sparse: bool = sparse.issparse(E)
    if is_sparse:
        _check_square(E.shape)
        stored = E.tocoo(copy=True)
        stored.sum_duplicates()
        return (
            stored.row.astype(np.int64),
            stored.col.astype(np.int64),
            stored.data.astype(np.float64),
            E.shape[0],
        )
    dense = plain_array(E, "E")
    if dense.dtype.kind not in "biuf":
        raise TypeError(f"E must hold numbers; got dtype {dense.dtype}: use 1, 0 and NaN.")
    _check_square(dense.shape)
    rows, columns = np.nonzero(~np.isnan(dense.astype(np.float64)))
    return rows, columns, dense[rows, columns].astype(np.float64), len(dense)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(
            f"E must have shape (n, n); got {shape}: pass one row and one column per item."
        )


__all__ = ["answers_in_matrix"]
