"""Snapshots of chains as text, exact to the last bit: arrays as bytes, numbers by their shortest exact form."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

ARRAY, KIND, SHAPE = "bytes", "dtype", "shape"


def to_text(snapshot: Any) -> str:
    """Write a nest of dicts, lists, arrays, numbers and words as JSON.

    Parameters
    ----------
    snapshot : dict, list, tuple, ndarray, number, str, bool or None
        Keys are words.

    Returns
    -------
    str

    Examples
    --------
    >>> from_text(to_text({"alpha": 0.1, "z": np.arange(3)}))
    {'alpha': 0.1, 'z': array([0, 1, 2])}
    """
    return json.dumps(snapshot, default=_plain)


def from_text(text: str) -> Any:
    """Read what `to_text` has written; tuples come back as lists.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict, list, ndarray, number, str, bool or None

    Raises
    ------
    ValueError
        If the text is no JSON.
    """
    return json.loads(text, object_hook=_array)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        encoded = base64.b64encode(array.tobytes()).decode("ascii")
        return {ARRAY: encoded, KIND: array.dtype.str, SHAPE: value.shape}
    raise TypeError(
        f"a snapshot cannot hold a {type(value).__name__}: give arrays, numbers, words, lists or dicts."
    )


def _array(value: dict[str, Any]) -> Any:
    if set(value) != {ARRAY, KIND, SHAPE}:
        return value
    data = np.frombuffer(base64.b64decode(value[ARRAY]), dtype=np.dtype(value[KIND]))
    return data.reshape(value[SHAPE]).copy()


__all__ = ["from_text", "to_text"]
