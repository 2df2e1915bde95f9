"""Checks of input: each failure is one sentence that says what was got, where, and what to do."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray

# squares of larger values, summed over some features, overflow
LARGEST = 1e150

FEW_CELLS = 4_000
"""Of a table whose chains are fastest in a single thread."""
DENSE_COPIES = 3
"""Of a sparse matrix that there must be memory for."""

MEMINFO = Path("/proc/meminfo")
OWN_GROUP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def kind_of(value: object) -> str:
    """What a value of no use is: an object of some class, or the class itself."""
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def shown(value: Any, most: int = 80) -> str:
    """Write a value in one line that is not too long for a sentence."""
    words = " ".join(repr(value).split())
    return words if len(words) <= most else f"{words[: most - 4]} ..."


def rows_in_words(flags: BoolArray) -> str:
    """Say which rows have a flag, the first few."""
    rows = np.flatnonzero(flags.any(axis=1)).tolist()
    return ("row " if len(rows) == 1 else "rows ") + some_of(rows)


def some_of(values: Sequence[Any], first: int = 5) -> str:
    """Write a list in words, the first few only."""
    words = [str(value) for value in values[:first]]
    if len(values) > first:
        return f"{', '.join(words)} and {len(values) - first} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def frozen(array: Any) -> Any:
    """Return `array` made read-only."""
    array.setflags(write=False)
    return array


# ---- numbers and words


def _wrong_kind(value: Any, name: str, wanted: str) -> TypeError:
    return TypeError(f"{name} must be {wanted}; got {shown(value)} of type {type(value).__name__}.")


def check_int(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """Return `value` as an int from `least` to `most`."""
    wanted = f"an integer {f'of at least {least}' if most is None else f'from {least} to {most}'}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise _wrong_kind(value, name, wanted)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be {wanted}; got {number}.")
    return number


def check_flag(value: Any, name: str) -> bool:
    """Return a bool, refused if it is none."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def number_between(value: Any, name: str, interval: str) -> float:
    """Return `value` as a float inside `interval`, written "[0, 1)", "(0, 1]" and so on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise _wrong_kind(value, name, f"a number in {interval}")
    number = float(value)
    low, high = (float(part) for part in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    below = number <= high if interval[-1] == "]" else number < high
    if not (above and below):
        raise ValueError(f"{name} must lie in {interval}; got {value}.")
    return number


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a positive finite float."""
    return number_between(value, name, "(0, inf)")


def n_threads(n_jobs: Any, *, cells: int | None = None) -> int:
    """Return a number of threads; None is one per processor that this process may use.

    For chains on a table of few `cells` None is one thread: their kernels are so short that threads
    would wait for the interpreter's lock more than they would gain.
    """
    if n_jobs is not None:
        return check_int(n_jobs, "n_jobs")
    if cells is not None and cells < FEW_CELLS:
        return 1
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def check_n_clusters(value: Any, n_items: int) -> int:
    """Return `value` as a number of clusters that so many items can make."""
    k = check_int(value, "n_clusters")
    if k > n_items:
        raise ValueError(
            f"n_clusters={k} is more than the {n_items} items of X: ask for fewer clusters."
        )
    return k


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """Return `value` if it is one of the words in `choices`."""
    if isinstance(value, str) and value in choices:
        return value
    options = " or ".join(f'"{choice}"' for choice in choices)
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} must be {options}; got {shown(value)}.")


def name_word(name: Any) -> str:
    """Return `name` if it can prefix the variables of a data set."""
    if isinstance(name, str) and name.isidentifier():
        return name
    raise ValueError(f"name must be a word of letters, digits and underscores; got {shown(name)}.")


def check_random_state(seed: Any, name: str = "random_state") -> Generator:
    """Return a generator for None, an integer, a Generator, a RandomState or a seed of NumPy's."""
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**31 - 1, size=8))
    wrong = isinstance(seed, (bool, np.bool_, float, str))
    if isinstance(seed, Integral) and not wrong and seed < 0:
        raise ValueError(f"{name} must be an integer of at least 0; got {seed}.")
    try:
        if not wrong:
            return np.random.default_rng(seed)
    except (TypeError, ValueError):
        pass
    raise _wrong_kind(seed, name, "None, an integer or a NumPy Generator")


def each_is(values: Any, classes: tuple[type, ...], name: str) -> list[Any]:
    """Return `values` as a list if each of them is of one of the classes."""
    named = " or ".join(kind.__name__ for kind in classes)
    got = type(values).__name__
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} must be a list of {named}; got {got}: wrap a single one in a list."
        )
    found = list(values)
    for at, value in enumerate(found):
        if not isinstance(value, classes):
            raise TypeError(f"{name}[{at}] must be a {named}; got {type(value).__name__}.")
    return found


# ---- arrays


def plain_array(
    values: Any, name: str, hint: str = "pass one value for each place"
) -> np.ndarray[Any, Any]:
    """Return `values` as an array, or refuse what NumPy cannot read as one."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths: {hint}.") from None
    except TypeError:
        raise TypeError(f"{name} is no array but a {type(values).__name__}: {hint}.") from None


def real_array(values: Any, name: str) -> FloatArray:
    """Return `values` as an array of floats, or refuse what are no real numbers."""
    array = plain_array(values, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers; got dtype {array.dtype}: pass real numbers.")
    return array.astype(np.float64)


def _check_integers(array: np.ndarray[Any, Any], name: str, hint: str) -> None:
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must hold integers; got dtype {array.dtype}: {hint}")


def _wrong_shape(array: np.ndarray[Any, Any], name: str, wanted: str, hint: str) -> ValueError:
    return ValueError(f"{name} must have shape {wanted}; got {array.shape}: {hint}.")


def _one_each(values: ArrayLike, m: int, name: str, items: str, word: str) -> np.ndarray[Any, Any]:
    """Return one value for each of m rows as an array."""
    array = plain_array(values, name)
    if array.shape != (m,) and not array.size == m == 0:
        wanted = f"({m},), one {word} for each row of {items}"
        raise _wrong_shape(array, name, wanted, f"pass as many {word}s as rows")
    return array.reshape(m)


def item_labels(labels: Any, n_items: int, name: str) -> np.ndarray[Any, Any]:
    """Return whole-number labels (..., n_items), or refuse them."""
    array = plain_array(labels, name)
    if array.shape[-1:] != (n_items,):
        raise _wrong_shape(array, name, f"(..., {n_items})", "pass one label per item")
    if array.dtype != np.bool_:
        _check_integers(array, name, "number the clusters 0, 1, 2, ...")
    return array


def true_labels(labels: ArrayLike, least: int, name: str = "labels") -> IntArray:
    """Return labels of any kind as (n,) integers, equal where the labels are equal."""
    array = plain_array(labels, name)
    if array.ndim != 1:
        raise _wrong_shape(array, name, "(n,)", "pass one label per item")
    if len(array) < least:
        raise ValueError(f"{name} must name at least {least} items; got {len(array)}.")
    for row, value in enumerate(array.tolist()):
        # only NaN differs from itself, and pandas' NA is neither equal nor different
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise ValueError(f"{name}[{row}] is {array[row]}: pass a label for every item.")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise TypeError(
            f"{name} must be of one kind that can be sorted: pass numbers or words, not a mix."
        ) from None


def check_items(
    X: Any, *, name: str = "X", counts: bool = False, least: int = 2, missing: bool = False
) -> FloatArray:
    """Return data (n, d) as floats in C order: finite (NaN if `missing`), or `counts`."""
    array = _real_numbers(X, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (items, features); got {array.shape}. Reshape your data: "
            f"{name}.reshape(-1, 1) for one feature, {name}.reshape(1, -1) for one item."
        )
    n, d = array.shape
    if d == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: "
            "pass at least one column."
        )
    if n < least:
        fewer = "no items" if n == 0 else "one item (n_samples=1)"
        needed = {1: "one item", 2: "two items"}.get(least, f"{least} items")
        raise ValueError(f"{name} has {fewer}: pass at least {needed}.")
    _check_finite(np.where(np.isnan(array), 0.0, array) if missing else array, name)
    if counts:
        how = "pass how often each outcome was seen"
        for what, flags, remedy in (
            ("negative counts", array < 0, how),
            ("counts that are not whole", array != np.floor(array), how),
            ("nothing but zeros", ~array.any(axis=1, keepdims=True), "remove items without counts"),
        ):
            if flags.any():
                raise ValueError(f"{name} has {what} in {rows_in_words(flags)}: {remedy}.")
    return array


def _real_numbers(X: Any, name: str) -> FloatArray:
    if hasattr(X, "toarray"):
        check_memory(
            DENSE_COPIES * 8 * math.prod(X.shape),
            f"the sparse {name} of shape {X.shape}, made dense,",
            "reduce its columns first, for instance by sklearn.decomposition.TruncatedSVD",
        )
        X = X.toarray()
    if np.ma.is_masked(X):
        row = int(np.argmax(np.ma.getmaskarray(X).reshape(len(X), -1).any(axis=1)))
        raise ValueError(
            f"{name} has masked entries, first in row {row}: remove these items or fill in values."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        array = _from_frame(X, name)
    else:
        array = plain_array(X, name, "pass one value per item and feature")
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} has dtype {array.dtype}, pass real numbers."
        )
    if array.dtype.kind not in "biufO":
        raise TypeError(
            f"{name} must hold numbers; got dtype {array.dtype}: encode words and dates as numbers."
        )
    for where, value in np.ndenumerate(array) if array.dtype == object else ():
        try:
            float("" if isinstance(value, (str, bytes)) else value)
        except OverflowError:
            row = where[0] if where else 0
            raise ValueError(
                f"{name} has values beyond {LARGEST:.0e} in row {row}: rescale the features."
            ) from None
        except (TypeError, ValueError):
            place = f"[{', '.join(map(str, where))}]" if where else ""
            raise TypeError(
                f"{name} must hold numbers, but {name}{place} is a {type(value).__name__}: "
                "every argument must be neither a string nor another object but a real number."
            ) from None
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def _from_frame(X: Any, name: str) -> np.ndarray[Any, Any]:
    if hasattr(X, "select_dtypes"):
        others = list(X.select_dtypes(exclude=["number", "bool", "object"]).columns)
        if others:
            one = len(others) == 1
            which = f"column {others[0]} does not" if one else f"columns {some_of(others)} do not"
            them = "it" if one else "them"
            raise TypeError(
                f"{name} must hold numbers, but {which}: drop {them}, encode {them} as numbers, "
                "or take family='mixed' of TVClust."
            )
    array: np.ndarray[Any, Any] = np.asarray(X)
    if array.dtype == object and hasattr(X, "isna"):
        array = np.where(X.isna().to_numpy(), np.nan, array)
    return array


def _check_finite(array: FloatArray, name: str) -> None:
    # NaN passes through extremes, and fails both comparisons
    if array.min() >= -LARGEST and array.max() <= LARGEST:
        return
    for what, flags in (("NaN", np.isnan(array)), ("infinity", np.isinf(array))):
        if flags.any():
            where = rows_in_words(flags)
            raise ValueError(f"{name} has {what} in {where}: remove these items or fill in values.")
    where = rows_in_words(np.abs(array) > LARGEST)
    raise ValueError(f"{name} has values beyond {LARGEST:.0e} in {where}: rescale the features.")


# ---- constraints


def item_tuples(items: ArrayLike, width: int, n_items: int, name: str) -> IntArray:
    """Return `items` as (m, width) integers in 0..n_items-1 without repeats inside a row."""
    hint = f"pass one row of {width} item indices per answer"
    array = plain_array(items, name, hint)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, width), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != width:
        raise _wrong_shape(array, name, f"(m, {width})", hint)
    _check_integers(array, name, "pass item indices 0 to n_items - 1.")
    outside = (array < 0) | (array >= n_items)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ValueError(
            f"{name}[{row}] names item {array[row, column]}, but with n_items={n_items} "
            f"items are numbered 0 to {n_items - 1}: correct the index or n_items."
        )
    ordered = np.sort(array, axis=1)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    if repeated.any():
        row, column = np.argwhere(repeated)[0]
        if width == 2:
            item = ordered[row, column]
            raise ValueError(f"{name}[{row}] links item {item} to itself: remove this row.")
        raise ValueError(
            f"{name}[{row}] = {tuple(array[row].tolist())} names item {ordered[row, column]} "
            "more than once: a triplet needs three different items."
        )
    return array.astype(np.int64)


def answer_codes(
    answers: ArrayLike, vocabulary: Sequence[str], m: int, name: str, items: str
) -> CodeArray:
    """Return `answers`, given as words or codes (bool for a vocabulary of two), as (m,) codes."""
    array = _one_each(answers, m, name, items, "answer")
    if m == 0:
        return np.empty(0, dtype=np.int8)
    hint = "answers are " + " or ".join(f'"{word}" ({c})' for c, word in enumerate(vocabulary))
    if array.dtype == np.bool_ and len(vocabulary) == 2:
        return array.astype(np.int8)
    known: list[Any] = list(range(len(vocabulary)))
    if array.dtype.kind in "UTO":
        known = list(vocabulary)
    elif array.dtype.kind not in "iu":
        got = array.dtype
        raise TypeError(f"{name} must hold words or integer codes; got dtype {got}: {hint}.")
    code = {value: at for at, value in enumerate(known)}
    of_kind = type(known[0])
    codes = np.empty(m, dtype=np.int8)
    for row, value in enumerate(array.tolist()):
        if not isinstance(value, of_kind) or value not in code:
            raise ValueError(f"{name}[{row}] is {value!r}, which is not in the vocabulary: {hint}.")
        codes[row] = code[value]
    return codes


def source_numbers(source: ArrayLike | None, m: int, items: str) -> tuple[IntArray, int]:
    """Return (m,) source numbers and how many sources there are; None is one source."""
    if source is None:
        return np.zeros(m, dtype=np.int64), 1
    array = _one_each(source, m, "source", items, "number")
    if m == 0:
        return np.empty(0, dtype=np.int64), 1
    hint = "number the sources 0, 1, 2, ..."
    _check_integers(array, "source", hint)
    if array.min() < 0:
        row = int(np.argmax(array < 0))
        raise ValueError(f"source[{row}] is {array[row]}: {hint}")
    present = np.unique(array)
    if present[-1] != len(present) - 1:
        missing = int(np.argmax(present != np.arange(len(present))))
        raise ValueError(
            f"source skips number {missing} (the largest is {present[-1]}): {hint} without gaps."
        )
    return array.astype(np.int64), len(present)


def rates_per_source(value: ArrayLike, n_sources: int, name: str) -> FloatArray:
    """Return error rates in [0, 1], one number or one per source, as (n_sources,)."""
    array = plain_array(value, name)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} must be a number in [0, 1], or one per source; got {shown(value)}."
        )
    array = array.astype(np.float64)
    if array.shape not in ((), (n_sources,)):
        raise ValueError(
            f"{name} must be one number or one per source ({n_sources}); got shape {array.shape}: "
            "set n_sources to the number of rates."
        )
    for rate in array.ravel().tolist():
        if not 0 <= rate <= 1:
            raise ValueError(f"{name} must lie in [0, 1]; got {rate}.")
    return np.broadcast_to(array, (n_sources,)).copy()


def chosen_items(items: ArrayLike, n_items: int) -> IntArray:
    """Return the items to keep, given as distinct indices or as a boolean mask, as indices."""
    array = plain_array(items, "items")
    if array.dtype == np.bool_:
        if array.shape != (n_items,):
            raise _wrong_shape(array, "a mask of items", f"({n_items},)", "pass one value per item")
        array = np.flatnonzero(array)
    if array.size == 0:
        raise ValueError("items is empty: keep at least one item.")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        got = f"shape {array.shape}, dtype {array.dtype}"
        raise TypeError(f"items must be a list of indices or a mask; got {got}.")
    for item in array[(array < 0) | (array >= n_items)].tolist():
        raise ValueError(
            f"items names {item}, but items are numbered 0 to {n_items - 1}: correct the index."
        )
    values, times = np.unique(array, return_counts=True)
    for item in values[times > 1].tolist():
        raise ValueError(f"items names {item} more than once: pass each item once.")
    return array.astype(np.int64)


# --- memory, before the work begins


def available_memory() -> int | None:
    """Return how many bytes this process can still take, or None where the system does not tell."""
    found = (_left_of_machine(), _left_of_group(), _left_of_limit())
    known = [left for left in found if left is not None]
    return max(min(known), 0) if known else None


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that needs more bytes than there are; `what` is the subject of the sentence."""
    left = available_memory()
    if left is not None and needed > left:
        raise MemoryError(
            f"{what} needs {_gib(needed)} GiB of memory, but only {_gib(left)} GiB are left: "
            f"{remedy}."
        )


def _gib(number: int) -> str:
    return f"{number / 2**30:,.1f}" if number >= 2**27 else f"{number / 2**30:.3f}"


def _left_of_machine() -> int | None:
    """What can be had without taking it from others; swap counts, since slow work is still work."""
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines() if ":" in line)
        return 1024 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError, IndexError):
        return None


def _left_of_group() -> int | None:
    """What the control group and those above it leave; files that can be dropped count as left."""
    try:
        groups = OWN_GROUP.read_text().splitlines()
        group = next(line.split("::", 1)[1] for line in groups if line.startswith("0::"))
    except (OSError, StopIteration):
        return None
    here = GROUPS / group.strip("/")
    found = []
    for folder in (here, *here.parents):
        if not folder.is_relative_to(GROUPS):
            break
        try:
            most = int((folder / "memory.max").read_text())
            used = int((folder / "memory.current").read_text())
            kinds = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # "max", or no such file: no limit here
            continue
        found.append(most - used + int(kinds.get("inactive_file", 0)))
    return min(found, default=None)


def _left_of_limit() -> int | None:
    """What the process's own limit of address space leaves (ulimit -v)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return most - taken
