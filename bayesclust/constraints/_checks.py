"""Checks at the door of the views: each failure is one sentence with what was got, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from bayesclust.typing import ArrayLike, BoolArray, CodeArray, IntArray


def shown(value: Any, most: int = 80) -> str:
    """Write a value in one line that is not too long for a sentence."""
    words = " ".join(repr(value).split())
    return words if len(words) <= most else f"{words[: most - 4]} ..."


def plain_array(
    values: Any, what: str, hint: str = "pass one value for each place"
) -> np.ndarray[Any, Any]:
    """Return `values` as an array, or refuse what NumPy cannot read as one."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{what} has rows of different lengths: {hint}.") from None
    except TypeError:
        raise TypeError(f"{what} is no array but a {type(values).__name__}: {hint}.") from None


def real_array(values: Any, what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return `values` as an array of floats, or refuse what are no real numbers."""
    array = plain_array(values, what)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold numbers; got dtype {array.dtype}: pass real numbers.")
    return array.astype(np.float64)


def item_labels(labels: Any, n_items: int, what: str) -> np.ndarray[Any, Any]:
    """Return whole-number labels (..., n_items), or refuse them."""
    array = plain_array(labels, what)
    if array.shape[-1:] != (n_items,):
        raise ValueError(
            f"{what} must have shape (..., {n_items}); got {array.shape}: pass one label per item."
        )
    if array.dtype.kind not in "iub":
        raise TypeError(
            f"{what} must hold integers; got dtype {array.dtype}: number the clusters 0, 1, 2, ..."
        )
    return array


def each_is(values: Any, classes: tuple[type, ...], what: str) -> list[Any]:
    """Return `values` as a list if each of them is of one of the classes."""
    named = " or ".join(kind.__name__ for kind in classes)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{what} must be a list of {named}; got {type(values).__name__}: wrap a single one in a list."
        )
    found = list(values)
    for at, value in enumerate(found):
        if not isinstance(value, classes):
            raise TypeError(f"{what}[{at}] must be a {named}; got {type(value).__name__}.")
    return found


def random_generator(seed: Any, what: str = "seed") -> np.random.Generator:
    """Return the generator of a seed: None, an integer from 0, a Generator, a RandomState or what NumPy else takes."""
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**31 - 1, size=8))
    wrong = isinstance(seed, (bool, np.bool_, float, str))
    if isinstance(seed, Integral) and not wrong and seed < 0:
        raise ValueError(f"{what} must be an integer of at least 0; got {seed}.")
    try:
        if not wrong:
            return np.random.default_rng(seed)
    except (TypeError, ValueError):
        pass
    kind = type(seed).__name__
    raise TypeError(
        f"{what} must be None, an integer or a NumPy Generator; got {shown(seed)} of type {kind}."
    )


def positive_int(value: Any, what: str) -> int:
    """Return `value` as a positive int."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(
            f"{what} must be a positive integer; got {shown(value)} of type {type(value).__name__}."
        )
    if value < 1:
        raise ValueError(f"{what} must be a positive integer; got {value}.")
    return int(value)


def number_between(value: Any, what: str, interval: str) -> float:
    """Return `value` as a float inside `interval`, written as in mathematics: "[0, 1)", "(0, 1]" and so on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(
            f"{what} must be a number in {interval}; got {shown(value)} of type {type(value).__name__}."
        )
    number = float(value)
    low, high = (float(part) for part in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    below = number <= high if interval[-1] == "]" else number < high
    if not (above and below):
        raise ValueError(f"{what} must lie in {interval}; got {value}.")
    return number


def view_name(name: Any) -> str:
    """Return `name` if it can prefix the variables of a data set."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(
            f"name must be a word of letters, digits and underscores; got {shown(name)}."
        )
    return name


def item_tuples(items: ArrayLike, width: int, n_items: int, what: str) -> IntArray:
    """Return `items` as (m, width) integers in 0..n_items-1 without repeats inside a row."""
    array = plain_array(items, what, f"pass one row of {width} item indices per answer")
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, width), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(
            f"{what} must have shape (m, {width}); got {array.shape}: pass one row of {width} item indices per answer."
        )
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            f"{what} must hold integers; got dtype {array.dtype}: pass item indices 0 to n_items - 1."
        )
    outside = (array < 0) | (array >= n_items)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ValueError(
            f"{what}[{row}] names item {array[row, column]}, but with n_items={n_items} "
            f"items are numbered 0 to {n_items - 1}: correct the index or n_items."
        )
    _no_repeats(array, what)
    return array.astype(np.int64)


def _no_repeats(array: np.ndarray[Any, Any], what: str) -> None:
    ordered = np.sort(array, axis=1)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    if repeated.any():
        row, column = np.argwhere(repeated)[0]
        item = ordered[row, column]
        if array.shape[1] == 2:
            raise ValueError(f"{what}[{row}] links item {item} to itself: remove this row.")
        raise ValueError(
            f"{what}[{row}] = {tuple(array[row].tolist())} names item {item} more than once: "
            "a triplet needs three different items."
        )


def answer_codes(
    answers: ArrayLike, vocabulary: Sequence[str], m: int, what: str, items: str
) -> CodeArray:
    """Return `answers`, given as words or codes (bool for a vocabulary of two), as (m,) codes."""
    array = plain_array(answers, what)
    if array.shape != (m,) and not (array.size == 0 and m == 0):
        raise ValueError(
            f"{what} must have shape ({m},), one answer for each row of {items}; got {array.shape}: "
            "pass as many answers as rows."
        )
    if array.size == 0:
        return np.empty(0, dtype=np.int8)
    words = " or ".join(f'"{word}" ({code})' for code, word in enumerate(vocabulary))
    hint = f"answers are {words}"
    if array.dtype == np.bool_ and len(vocabulary) == 2:
        return array.astype(np.int8)
    if array.dtype.kind in "UTO":
        return _codes_of_words(array, vocabulary, what, hint)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{what} must hold words or integer codes; got dtype {array.dtype}: {hint}."
        )
    outside = (array < 0) | (array >= len(vocabulary))
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(f"{what}[{row}] is {array[row]}, which is not in the vocabulary: {hint}.")
    return array.astype(np.int8)


def _codes_of_words(
    array: np.ndarray[Any, Any], vocabulary: Sequence[str], what: str, hint: str
) -> CodeArray:
    lookup: dict[Any, int] = {word: code for code, word in enumerate(vocabulary)}
    codes = np.empty(len(array), dtype=np.int8)
    for row, word in enumerate(array.tolist()):
        code = lookup.get(word) if isinstance(word, str) else None
        if code is None:
            raise ValueError(f"{what}[{row}] is {word!r}, which is not in the vocabulary: {hint}.")
        codes[row] = code
    return codes


def source_numbers(source: ArrayLike | None, m: int, items: str) -> tuple[IntArray, int]:
    """Return (m,) source numbers and how many sources there are; None is one source."""
    if source is None:
        return np.zeros(m, dtype=np.int64), 1
    array = plain_array(source, "source")
    if array.size == 0 and m == 0:
        return np.empty(0, dtype=np.int64), 1
    if array.shape != (m,):
        raise ValueError(
            f"source must have shape ({m},), one number for each row of {items}; got {array.shape}: "
            "pass as many sources as rows."
        )
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            f"source must hold integers; got dtype {array.dtype}: number the sources 0, 1, 2, ..."
        )
    if array.min() < 0:
        row = int(np.argmax(array < 0))
        raise ValueError(f"source[{row}] is {array[row]}: number the sources 0, 1, 2, ...")
    present = np.unique(array)
    if present[-1] != len(present) - 1:
        missing = int(np.argmax(present != np.arange(len(present))))
        raise ValueError(
            f"source skips number {missing} (the largest is {present[-1]}): "
            "number the sources 0, 1, 2, ... without gaps."
        )
    return array.astype(np.int64), len(present)


def true_labels(labels: ArrayLike, least: int, what: str = "labels") -> IntArray:
    """Return labels of any kind as (n,) integers, equal where the labels are equal."""
    array = plain_array(labels, what)
    if array.ndim != 1:
        raise ValueError(
            f"{what} must have shape (n,); got {array.shape}: pass one label per item."
        )
    if len(array) < least:
        raise ValueError(f"{what} must name at least {least} items; got {len(array)}.")
    # only NaN differs from itself
    missing = np.array(
        [value is None or value != value for value in array.tolist()], dtype=np.bool_
    )
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{what}[{row}] is {array[row]}: pass a label for every item.")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise TypeError(
            f"{what} must be of one kind that can be sorted: pass numbers or words, not a mix."
        ) from None


def rates_per_source(
    value: ArrayLike, n_sources: int, what: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return error rates in [0, 1], one number or one per source, as (n_sources,)."""
    array = plain_array(value, what)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{what} must be a number in [0, 1], or one per source; got {shown(value)}."
        )
    array = array.astype(np.float64)
    if array.shape not in ((), (n_sources,)):
        raise ValueError(
            f"{what} must be one number or one per source ({n_sources}); got shape {array.shape}: "
            "set n_sources to the number of rates."
        )
    outside = ~((array >= 0) & (array <= 1))
    if outside.any():
        bad = array[outside].flat[0] if array.ndim else array
        raise ValueError(f"{what} must lie in [0, 1]; got {float(bad)}.")
    return np.broadcast_to(array, (n_sources,)).copy()


def chosen_items(items: ArrayLike, n_items: int) -> IntArray:
    """Return the items to keep, given as distinct indices or as a boolean mask, as indices."""
    array = plain_array(items, "items")
    if array.dtype == np.bool_:
        if array.shape != (n_items,):
            raise ValueError(
                f"a mask of items must have shape ({n_items},); got {array.shape}: pass one value per item."
            )
        array = np.flatnonzero(array)
    if array.size == 0:
        raise ValueError("items is empty: keep at least one item.")
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            f"items must be a list of indices or a mask; got shape {array.shape}, dtype {array.dtype}."
        )
    outside = (array < 0) | (array >= n_items)
    if outside.any():
        raise ValueError(
            f"items names {array[outside][0]}, but items are numbered 0 to {n_items - 1}: correct the index."
        )
    values, times = np.unique(array, return_counts=True)
    if (times > 1).any():
        raise ValueError(f"items names {values[times > 1][0]} more than once: pass each item once.")
    return array.astype(np.int64)


def frozen(array: Any) -> Any:
    """Return `array` made read-only."""
    array.setflags(write=False)
    return array


__all__ = [
    "BoolArray",
    "answer_codes",
    "chosen_items",
    "each_is",
    "frozen",
    "item_labels",
    "item_tuples",
    "number_between",
    "plain_array",
    "positive_int",
    "random_generator",
    "rates_per_source",
    "real_array",
    "shown",
    "source_numbers",
    "true_labels",
    "view_name",
]
