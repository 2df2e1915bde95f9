"""Checks of input: each failure is one sentence that says what was got, where, and what to do."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._lazy import nearest
from bayesclust.typing import ArrayLike, BoolArray, CodeArray, FloatArray, IntArray

# squares of larger values, summed over some features, overflow
LARGEST = 1e150

TAKEN = ("X", "item", "feature", "chain", "draw")
"""Names in results that constraints must not have."""
PARTS = ("items", "member", "answer", "answer_id", "source")
"""What results call parts of constraints, after their name."""
FITTING = "_fitting"
"""Attribute of an estimator that is being fitted."""
FEW_CELLS = 4_000
"""Of a table whose chains are fastest in a single thread."""
ANSWER_BYTES = 64
"""Of an answer, while many are made."""
DENSE_COPIES = 3
"""Of a sparse matrix that there must be memory for."""

MEMINFO = Path("/proc/meminfo")
OWN_GROUP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def kind_of(value: object) -> str:
    """Describe a value that is refused: an object of some class, or the class itself."""
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def shown(value: Any) -> str:
    """Write a value in one line of at most 80 letters, as part of a sentence."""
    words = " ".join(repr(value).split())
    return words if len(words) <= 80 else f"{words[:76]} ..."


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: 1 item, 1,200 items."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def rows_in_words(flags: BoolArray) -> str:
    """Say which rows have a flag, the first few."""
    rows = np.flatnonzero(flags.any(axis=1)).tolist()
    return ("row " if len(rows) == 1 else "rows ") + some_of(rows)


def rows_of_length_one(X: FloatArray, why: str) -> FloatArray:
    """Scale rows to length one; rows of zeros are refused, in a sentence that ends with `why`."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    if not length.all():
        raise ValueError(f"X has nothing but zeros in {rows_in_words(length == 0)}, {why}")
    return np.asarray(X / length)


def some_of(values: Sequence[Any], first: int = 5) -> str:
    """Write a list in words, the first few only."""
    words = [str(value) for value in values[:first]] or ["none"]
    if len(values) > first:
        return f"{', '.join(words)} and {len(values) - first} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def frozen(array: Any) -> Any:
    """Return `array` made read-only."""
    array.setflags(write=False)
    return array


SIZES = (
    "MinimalModification and MPCKMeans bound the sizes of clusters; in TVClust a least size would "
    "freeze moves of single items, and clusters stay small under "
    "partition_prior=bayesclust.partition_priors.Microclustering()."
)
INSTEAD = {
    "n_clusters": "MPCKMeans and DCRC are told the number, and TVClust finds it, at most k under "
    "partition_prior=bayesclust.partition_priors.KnownK(k).",
    "constraints": "fit takes them, after X.",
    "y": "to use labels of some items, pass constraints=bayesclust.LabelConstraints("
    "[(item, label), ...], n_items=len(X)) to fit.",
    "min_size": SIZES,
    "max_size": SIZES,
}
"""What to do in place of what many look for."""
CALLED_ELSEWHERE = {
    **dict.fromkeys(("k", "n_components"), "n_clusters"),
    **dict.fromkeys(("tune", "burn_in"), "num_warmup"),
    "draws": "num_samples",
    "chains": "num_chains",
    "seed": "random_state",
    "truth": "y",
}
"""Names here of what other packages call otherwise."""


def refuse_unknown(function: Callable[..., Any], given: Iterable[str]) -> None:
    """Refuse keywords that a function does not take, and say what it takes instead."""
    known = signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for word in (word for word in given if word not in known):
        own = CALLED_ELSEWHERE.get(word, word)
        near = own if own in known else nearest(word, known)
        hint = f"did you mean {near!r}?" if near else f"it takes {', '.join(known)}."
        told = INSTEAD.get(own, hint) if own not in known else hint
        raise TypeError(f"{function.__qualname__} takes no {word!r}: {told}")


def explained[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses unknown keywords with a hint."""

    @wraps(function)
    def call(*args: P.args, **settings: P.kwargs) -> R:
        refuse_unknown(function, settings)
        return function(*args, **settings)

    return call


def all_or_nothing[**P, R](fit: Callable[P, R]) -> Callable[P, R]:
    """A `fit` that keeps nothing of an earlier one or, where it fails, all of it."""

    @wraps(fit)
    def call(*args: P.args, **settings: P.kwargs) -> R:
        fitted: Any = args[0]
        before = dict(vars(fitted))
        if FITTING in before:  # called by the fit of a subclass
            return fit(*args, **settings)
        earlier = object.__new__(type(fitted))
        earlier.__dict__.update(before)
        own = {name for name in before if not name.endswith("_")} | {*fitted._get_param_names()}
        fitted.__dict__ = {name: value for name, value in before.items() if name in own}
        fitted.__dict__[FITTING] = True
        given: Any = {name: earlier if one is fitted else one for name, one in settings.items()}
        try:
            found = fit(*args, **given)
        except BaseException:
            fitted.__dict__ = before
            raise
        del fitted.__dict__[FITTING]
        return found

    return call


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


def check_sizes(least: Any, most: Any, n_items: int | None = None) -> tuple[int, int]:
    """Return `min_size` and `max_size` of clusters, 1 and all items where they are None."""
    low = 1 if least is None else check_int(least, "min_size", most=n_items)
    high = max(low, n_items or low) if most is None else check_int(most, "max_size")
    if high < low:
        raise ValueError(f"max_size={high} is less than min_size={low}: raise it to that at least.")
    return low, high if n_items is None else min(high, n_items)


def check_flag(value: Any, name: str) -> bool:
    """Return a bool, refused if it is none."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def number_between(value: Any, name: str, interval: str) -> float:
    """Return `value` as a float inside `interval`, written "[0, 1)", "(0, 1]" and so on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise _wrong_kind(value, name, f"a number in {interval}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    low, high = (float(part) for part in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    below = number <= high if interval[-1] == "]" else number < high
    if not (above and below):
        raise ValueError(f"{name} must lie in {interval}; got {shown(value)}.")
    return number


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a positive finite float."""
    return number_between(value, name, "(0, inf)")


def n_threads(n_jobs: Any, *, cells: int | None = None) -> int:
    """Return a number of threads; None is one per processor that affinity and quota allow."""
    # None is 1 for chains on few `cells`: threads of short kernels wait for the interpreter's lock.
    if n_jobs is not None:
        return check_int(n_jobs, "n_jobs")
    if cells is not None and cells < FEW_CELLS:
        return 1
    allowed = getattr(os, "sched_getaffinity", None)
    number = len(allowed(0)) if allowed else os.cpu_count() or 1
    for folder in _control_groups():
        with suppress(OSError, ValueError):  # "max", or no such file: no limit here
            most, period = (folder / "cpu.max").read_text().split()
            number = min(number, max(1, int(most) // int(period)))
    return number


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """Return `value` if it is one of the words in `choices`."""
    if isinstance(value, str) and value in choices:
        return value
    options = " or ".join(f'"{choice}"' for choice in choices)
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} must be {options}; got {shown(value)}.")


def name_word(name: Any) -> str:
    """Return `name` if it can name the variables of a data set that holds others of ours."""
    if isinstance(name, str) and name in TAKEN:
        raise ValueError(f"name is {name!r}, as results call something else: give another.")
    if isinstance(name, str) and name.isidentifier():
        return name
    raise ValueError(f"name must be a word of letters, digits and underscores; got {shown(name)}.")


def refuse_names_of_parts(names: set[str]) -> None:
    """Refuse a name of constraints that results have for a part of others."""
    for taken in names.intersection(f"{name}_{part}" for name in names for part in PARTS):
        raise ValueError(
            f"constraints are named {taken!r}, as results call a part of others: give another name."
        )


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


def plain_array(
    values: Any, name: str, hint: str = "pass one value for each place"
) -> np.ndarray[Any, Any]:
    """Return `values` as an array, or refuse what NumPy cannot read as one, or would unmask."""
    masked: Any = ()
    if isinstance(values, np.ma.MaskedArray) and values.ndim:
        masked = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1))
    elif isinstance(values, (list, tuple)):
        listed = (isinstance(own, np.ma.MaskedArray) and np.ma.is_masked(own) for own in values)
        masked = np.flatnonzero(list(listed))
    for row in masked:
        raise ValueError(
            f"{name} has masked entries, first in row {row}: remove these rows or fill in values."
        )
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths: {hint}.") from None
    except TypeError:
        raise TypeError(f"{name} is not an array but a {type(values).__name__}: {hint}.") from None


def check_array(
    values: Any, name: str, shape: tuple[Any, ...] | None, kinds: str, hint: str
) -> np.ndarray[Any, Any]:
    """Return `values` as an array of a shape and of one of NumPy's `kinds` of dtype, "" for any."""
    # In the shape a word is any length, ... in front any axes; an empty array is of every kind.
    array = plain_array(values, name, hint)
    wanted = array.shape if shape is None else shape
    if wanted[:1] == (...,):
        wanted = (*array.shape[: 1 - len(wanted)], *wanted[1:])
    fits = len(wanted) == array.ndim and all(
        isinstance(one, str) or one == length
        for one, length in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        words = str(shape).replace("'", "").replace("Ellipsis", "...")
        raise ValueError(f"{name} must have shape {words}; got {array.shape}: {hint}.")
    if array.size and kinds and array.dtype.kind not in kinds:
        what = "numbers" if "f" in kinds else "integers"
        raise TypeError(f"{name} must hold {what}; got dtype {array.dtype}: {hint}.")
    return array


def real_array(values: Any, name: str) -> FloatArray:
    """Return `values` as an array of floats, or refuse what is not numeric."""
    return check_array(values, name, None, "biuf", "pass real numbers").astype(np.float64)


def item_labels(labels: Any, n_items: int, name: str) -> np.ndarray[Any, Any]:
    """Return whole-number labels (..., n_items), or refuse them."""
    hint = "pass for each item the number of its cluster"
    return check_array(labels, name, (..., n_items), "biu", hint)


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, which alone differs from itself, or pandas' NA."""
    # NA is neither equal to itself nor different
    return bool(value is None or type(value).__name__ == "NAType" or value != value)


def is_nobody(name: Any) -> bool:
    """Whether the name of a source is missing or empty."""
    return is_missing(name) or (isinstance(name, str) and not name.strip())


def true_labels(labels: ArrayLike, least: int, name: str = "labels") -> IntArray:
    """Return labels of any kind as (n,) integers, equal where the labels are equal."""
    array = check_array(labels, name, ("n",), "", "pass one label per item")
    if len(array) < least:
        raise ValueError(f"{name} must name at least {least} items; got {len(array)}.")
    for row, value in enumerate(array.tolist()):
        if is_missing(value):
            raise ValueError(f"{name}[{row}] is {array[row]}: pass a label for every item.")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise TypeError(
            f"{name} must be of one kind that can be sorted: pass numbers or words, not a mix."
        ) from None


def check_items(
    X: Any, *, counts: bool = False, least: int = 2, missing: bool = False
) -> FloatArray:
    """Return data (n, d) as floats in C order: finite (NaN if `missing`), or `counts`."""
    array = _real_numbers(X)
    if array.ndim != 2:
        raise ValueError(
            f"X must have shape (items, features); got {array.shape}. Reshape your data: "
            "X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one item."
        )
    n, d = array.shape
    if d == 0:
        raise ValueError(
            f"X has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: "
            "pass at least one column."
        )
    if n < least:
        number = counted(n, "item")
        raise ValueError(f"X has {number} (n_samples={n}): pass at least {least}.")
    _check_finite(np.where(np.isnan(array), 0.0, array) if missing else array, least)
    if counts:
        how = "pass how often each outcome was seen"
        for what, flags, remedy in (
            ("negative counts", array < 0, how),
            ("counts that are not whole", array != np.floor(array), how),
            ("nothing but zeros", ~array.any(axis=1, keepdims=True), "remove items without counts"),
        ):
            if flags.any():
                raise ValueError(f"X has {what} in {rows_in_words(flags)}: {remedy}.")
    return array


def _real_numbers(X: Any) -> FloatArray:
    if hasattr(X, "toarray"):
        check_memory(
            DENSE_COPIES * 8 * math.prod(X.shape),
            f"the sparse X of shape {X.shape}, made dense,",
            "reduce its columns first, for instance by sklearn.decomposition.TruncatedSVD",
        )
        X = X.toarray()
    refuse_lazy(X, "X")
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        array = _from_frame(X)
    else:
        array = plain_array(X, "X", "pass one value per item and feature")
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: X has dtype {array.dtype}, pass real numbers."
        )
    if array.dtype.kind not in "biufO":
        raise TypeError(
            f"X must hold numbers; got dtype {array.dtype}: encode words and dates as numbers."
        )
    for where, value in np.ndenumerate(array) if array.dtype == object else ():
        try:
            float("" if isinstance(value, (str, bytes)) else value)
        except (TypeError, ValueError, OverflowError):
            place = f"[{', '.join(map(str, where))}]" if where else ""
            if len(where) == 2 and hasattr(X, "dtypes"):
                place += f" in column {X.columns[where[1]]!r}"
            raise TypeError(
                f"X must hold numbers, but X{place} is {shown(value)}: an argument must "
                f"be no string or other object but a number below {LARGEST:.0e}; family='mixed' of "
                "TVClust takes columns of words, in a DataFrame of pandas."
            ) from None
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def refuse_lazy(table: Any, name: str) -> None:
    """Refuse a table that has not been computed."""
    if hasattr(table, "collect") and not hasattr(table, "to_numpy"):
        raise TypeError(f"{name} is {kind_of(table)}, not yet computed: call its collect() first.")


def _from_frame(X: Any) -> np.ndarray[Any, Any]:
    if hasattr(X, "select_dtypes"):
        numeric = set(X.select_dtypes(include=["number", "bool"]).columns)
        others = [c for c, kind in X.dtypes.items() if c not in numeric and str(kind) != "object"]
    else:  # of polars, whose dates and times NumPy takes for numbers
        others = [c for c in X.columns if getattr(X[c].dtype, "is_temporal", bool)()]
    if others:
        raise TypeError(
            f"X must hold numbers, unlike column {some_of(others)}: drop such columns or "
            "encode them as numbers; family='mixed' of TVClust takes columns of words."
        )
    array: np.ndarray[Any, Any] = np.asarray(X)
    if array.dtype == object and hasattr(X, "isna"):
        array = np.where(X.isna().to_numpy(), np.nan, array)
    return array


def _check_finite(array: FloatArray, least: int) -> None:
    # NaN passes through extremes, and fails all comparisons
    most = max(array.max(), -array.min())
    if most == 0 or (1 / LARGEST if least > 1 else 0.0) <= most <= LARGEST:
        return
    if least > 1 and most < 1 / LARGEST:
        raise ValueError(
            f"X has nothing but zeros and values below {1 / LARGEST:.0e}, whose squares are "
            "lost: rescale the features."
        )
    hint = (
        "remove these items, fill in values, or use a family that takes NaN, such as "
        "'gaussian_diagonal' or 'mixed' of TVClust"
    )
    if np.isnan(array).any():
        raise ValueError(f"X has NaN in {rows_in_words(np.isnan(array))}: {hint}.")
    if np.isinf(array).any():
        where = rows_in_words(np.isinf(array))
        raise ValueError(f"X has infinity in {where}: remove these items or fill in values.")
    where = rows_in_words(np.abs(array) > LARGEST)
    raise ValueError(f"X has values beyond {LARGEST:.0e} in {where}: rescale the features.")


def item_tuples(items: ArrayLike, width: int, n_items: int, name: str) -> IntArray:
    """Return `items` as (m, width) integers in 0..n_items-1 without repeats inside a row."""
    hint = f"pass one row of {width} item indices per answer, or names of items by from_frame"
    array = plain_array(items, name, hint)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, width), dtype=np.int64)
    array = check_array(array, name, ("m", width), "iu", hint)
    for row, column in np.argwhere((array < 0) | (array >= n_items)):
        raise ValueError(
            f"{name}[{row}] names item {array[row, column]}, but with n_items={n_items} "
            f"items are numbered 0 to {n_items - 1}: correct the index or n_items."
        )
    ordered = np.sort(array, axis=1)
    for row, column in np.argwhere(ordered[:, 1:] == ordered[:, :-1]):
        item = ordered[row, column]
        if width == 2:
            raise ValueError(f"{name}[{row}] links item {item} to itself: remove this row.")
        raise ValueError(
            f"{name}[{row}] = {tuple(array[row].tolist())} names item {item} more than once: "
            "a triplet needs three different items."
        )
    return array.astype(np.int64)


def answer_codes(answers: ArrayLike, kind: Any, m: int, name: str, items: str) -> CodeArray:
    """Return answers as (m,) codes, from codes, truth values and words, synonyms included."""
    words = list(kind.vocabulary)
    listed = " or ".join(f'"{word}" ({code})' for code, word in enumerate(words))
    hint = f"pass for each row of {items} {listed}"
    if isinstance(answers, (list, tuple)):
        truths = sum(isinstance(one, (bool, np.bool_)) for one in answers)
        if 0 < truths < len(answers):  # beside numbers they would become numbers
            answers = np.array(answers, dtype=object)
    array = check_array(answers, name, (m,), "biufUTO", hint)
    if array.dtype.kind == "b" and len(words) == 2:
        return array.astype(np.int8)
    code = {word.lower(): at for at, word in enumerate(words)}
    code |= {word: code[meant] for word, meant in kind.synonyms.items()}
    number: dict[float, int] = {at: at for at in range(len(words))}
    values = array.tolist()
    if "-1" in code and any(isinstance(value, (int, float)) and value == -1 for value in values):
        number = {-1: code["-1"], 1: code["1"]}  # beside -1, 0 would be no answer
    for row, value in enumerate(values):
        at = None
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, str) or (isinstance(value, bool) and len(words) > 2):
            at = code.get("-".join(str(value).lower().replace("_", " ").split()))
        elif isinstance(value, (int, float)):
            at = number.get(value)
        if at is None:
            raise ValueError(
                f"{name}[{row}] is {value!r}, not an answer: {hint}; leave out rows without one."
            )
        values[row] = at
    return np.array(values, dtype=np.int8)


def refuse_truth_values(answers: Any, words: Sequence[str]) -> None:
    """Refuse answers of a table that are 0 and 1 alone, where these may mean no and yes."""
    given = answers.tolist() if len(words) > 2 else []
    codes = (isinstance(one, (int, float)) and not isinstance(one, bool) for one in given)
    if given and all(codes) and set(given) <= {0, 1}:
        meant = ", ".join(f"{code} {word}" for code, word in enumerate(words))
        raise ValueError(
            f"answer has nothing but 0 and 1, which may be codes ({meant}) or no and yes: write "
            "words, or True and False."
        )


def source_numbers(
    source: ArrayLike | None, m: int, items: str
) -> tuple[IntArray, int, tuple[str, ...] | None]:
    """Return (m,) source numbers, how many sources there are, and their names, sorted, or None."""
    if source is None:
        return np.zeros(m, dtype=np.int64), 1, None
    hint = f"name the sources of all rows of {items}, or number them 0, 1, 2, ... without gaps"
    given = plain_array(source, "source", hint)
    named = given.shape == (m,) and given.dtype.kind not in "iu"
    for row, name in enumerate(given.tolist() if named else ()):
        if is_nobody(name):
            raise ValueError(f"source[{row}] is {name!r}: {hint}.")
    if given.shape == (m,) and all(isinstance(name, str) for name in given.tolist()) and m:
        names, numbers = np.unique(np.char.strip(given.astype(str)), return_inverse=True)
        return numbers.astype(np.int64), len(names), tuple(names.tolist())
    array = check_array(given, "source", (m,), "iu", hint).astype(np.int64)
    present = np.unique(array)
    if not np.array_equal(present, np.arange(len(present))):
        raise ValueError(f"source has the numbers {some_of(present.tolist())}: {hint}.")
    return array, max(len(present), 1), None


def rates_per_source(value: ArrayLike, n_sources: int, name: str) -> FloatArray:
    """Return error rates in [0, 1], one number or one per source, as (n_sources,)."""
    hint = f"pass a number in [0, 1], or one for each of {n_sources} sources"
    array = check_array(value, name, None, "iuf", hint).astype(np.float64)
    if array.shape not in ((), (n_sources,)):
        raise ValueError(f"{name} has shape {array.shape}: {hint}.")
    for rate in array[~((array >= 0) & (array <= 1))].tolist():
        raise ValueError(f"{name} must lie in [0, 1]; got {rate}.")
    return np.broadcast_to(array, (n_sources,)).copy()


def repeated_rows(count: ArrayLike) -> IntArray:
    """Return the number of each row as often as it counts."""
    hint = "pass how often each answer was given, whole numbers from 0 on"
    times = check_array(count, "count", ("m",), "iu", hint)
    if (times < 0).any():
        raise ValueError(f"count is {shown(times.tolist())}: {hint}.")
    number = sum(times.tolist())
    check_memory(ANSWER_BYTES * number, f"keeping {number:,} answers", "give lower counts")
    return np.repeat(np.arange(len(times)), times)


def chosen_items(items: ArrayLike, n_items: int) -> IntArray:
    """Return the items to keep, given as distinct indices or as a boolean mask, as indices."""
    hint = "pass a list of indices, or a mask with one value per item"
    array = check_array(items, "items", ("k",), "biu", hint)
    if array.dtype.kind == "b":
        array = np.flatnonzero(check_array(array, "items", (n_items,), "b", hint))
    if array.size == 0:
        raise ValueError("items is empty: keep at least one item.")
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
    """Return how many bytes can be had without taking them from others, None if that is unknown."""
    # Swap counts, since slow work is still work; so do files of control groups that can be dropped.
    found = []
    with suppress(OSError, KeyError, ValueError, IndexError):
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines() if ":" in line)
        free = [int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree")]
        found.append(1024 * sum(free))
    for folder in _control_groups():
        with suppress(OSError, ValueError):  # "max", or no such file: no limit here
            most = int((folder / "memory.max").read_text())
            used = int((folder / "memory.current").read_text())
            kinds = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            found.append(most - used + int(kinds.get("inactive_file", 0)))
    return max(min(found), 0) if found else None


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


def _control_groups() -> list[Path]:
    """The folder of the process's control group, and those of the groups above it."""
    try:
        groups = OWN_GROUP.read_text().splitlines()
        group = next(line.split("::", 1)[1] for line in groups if line.startswith("0::"))
    except (OSError, StopIteration):
        return []
    here = GROUPS / group.strip("/")
    return [folder for folder in (here, *here.parents) if folder.is_relative_to(GROUPS)]
