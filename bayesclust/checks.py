"""Checks at the door of the estimators: each failure is one sentence with what was got, where, and what to do."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from bayesclust.constraints._checks import number_between, plain_array, random_generator, shown
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.rules.base import Rules
from bayesclust.typing import BoolArray, FloatArray

# squares of larger values, summed over some features, overflow
LARGEST = 1e150
CELLS = "pass one value per item and feature"


def check_items(
    X: Any, *, name: str = "X", counts: bool = False, least: int = 2, missing: bool = False
) -> FloatArray:
    """Return data as an array of items by features that every method can work on.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        One row per item. Columns may be constant.
    name : str, default "X"
        What the sentences call it.
    counts : bool, default False
        Whether the entries must be counts: whole, not negative, and not all zero in a row.
    least : int, default 2
        How many items there must be; one is enough where nothing is clustered.
    missing : bool, default False
        Whether NaN is let through, for methods that leave missing cells out.

    Returns
    -------
    ndarray of float64, shape (n, d), C-contiguous

    Raises
    ------
    TypeError
        If the entries are no real numbers, or X is sparse.
    ValueError
        If the shape is not (n, d) with n >= `least` and d >= 1, entries are missing (unless
        `missing`), infinite or so large that their squares overflow, or `counts` are no counts.

    Examples
    --------
    >>> check_items([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    >>> check_items([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
    ValueError: X has NaN in row 1: remove these items or fill in values.
    """
    array = _real_numbers(X, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (items, features); got {array.shape}. Reshape your data: "
            f"{name}.reshape(-1, 1) for one feature, {name}.reshape(1, -1) for one item."
        )
    n, d = array.shape
    if d == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: pass at least one column."
        )
    if n < least:
        fewer = "no items" if n == 0 else "one item (n_samples=1)"
        needed = "two items" if least == 2 else "one item" if least == 1 else f"{least} items"
        raise ValueError(f"{name} has {fewer}: pass at least {needed}.")
    _check_finite(np.where(np.isnan(array), 0.0, array) if missing else array, name)
    if counts:
        _check_counts(array, name)
    return array


def _real_numbers(X: Any, name: str) -> FloatArray:
    if hasattr(X, "toarray"):
        raise TypeError(
            f"{name} is a sparse {type(X).__name__}, but dense data is needed: pass {name}.toarray()."
        )
    if np.ma.is_masked(X):
        row = int(np.argmax(np.ma.getmaskarray(X).reshape(len(X), -1).any(axis=1)))
        raise ValueError(
            f"{name} has masked entries, first in row {row}: remove these items or fill in values."
        )
    array = (
        _from_frame(X, name)
        if hasattr(X, "columns") and hasattr(X, "dtypes")
        else plain_array(X, name, CELLS)
    )
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} has dtype {array.dtype}, pass real numbers."
        )
    if array.dtype.kind not in "biufO":
        raise TypeError(
            f"{name} must hold numbers; got dtype {array.dtype}: encode words and dates as numbers."
        )
    if array.dtype == object:
        for where, value in np.ndenumerate(array):
            if not _is_number(value):
                place = f"[{', '.join(map(str, where))}]" if where else ""
                raise TypeError(
                    f"{name} must hold numbers, but {name}{place} is a {type(value).__name__}: "
                    "every argument must be neither a string nor another object but a real number."
                )
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def _from_frame(X: Any, name: str) -> np.ndarray[Any, Any]:
    is_numeric = getattr(X, "select_dtypes", None)
    if is_numeric is not None:
        other = [str(column) for column in is_numeric(exclude=["number", "bool", "object"]).columns]
        if other:
            which, them = (
                ("column {} does not", "it") if len(other) == 1 else ("columns {} do not", "them")
            )
            raise TypeError(
                f"{name} must hold numbers, but {which.format(_some(other))}: drop {them} or encode {them} as numbers."
            )
    array: np.ndarray[Any, Any] = np.asarray(X)
    if array.dtype == object and hasattr(X, "isna"):
        array = np.where(X.isna().to_numpy(), np.nan, array)
    return array


def _is_number(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _check_finite(array: FloatArray, name: str) -> None:
    # NaN passes through extremes, and fails both comparisons
    if array.min() >= -LARGEST and array.max() <= LARGEST:
        return
    remedy = "remove these items or fill in values"
    for what, flags in (("NaN", np.isnan(array)), ("infinity", np.isinf(array))):
        if flags.any():
            raise ValueError(f"{name} has {what} in {rows_in_words(flags)}: {remedy}.")
    flags = np.abs(array) > LARGEST
    if flags.any():
        raise ValueError(
            f"{name} has values beyond {LARGEST:.0e} in {rows_in_words(flags)}: rescale the features."
        )


def _check_counts(array: FloatArray, name: str) -> None:
    for what, flags, remedy in (
        ("negative counts", array < 0, "pass how often each outcome was seen"),
        (
            "counts that are not whole",
            array != np.floor(array),
            "pass how often each outcome was seen",
        ),
        ("nothing but zeros", ~array.any(axis=1, keepdims=True), "remove items without counts"),
    ):
        if flags.any():
            raise ValueError(f"{name} has {what} in {rows_in_words(flags)}: {remedy}.")


def rows_in_words(flags: BoolArray) -> str:
    """Say which rows have a flag, the first few."""
    rows = np.flatnonzero(flags.any(axis=1)).tolist()
    return ("row " if len(rows) == 1 else "rows ") + _some(rows)


def _some(values: Sequence[Any], shown: int = 5) -> str:
    """Write a list in words, the first few only."""
    words = [str(value) for value in values[:shown]]
    if len(values) > shown:
        return f"{', '.join(words)} and {len(values) - shown} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def check_constraints(
    constraints: Any, n_items: int, *, kinds: Collection[str] | None = ("pairwise", "relative")
) -> list[Constraints]:
    """Return side information as a list of views on the items of the data.

    Parameters
    ----------
    constraints : None, Constraints or sequence of Constraints
    n_items : int
        Number of items of the data.
    kinds : collection of str or None, default ("pairwise", "relative")
        The kinds of views that the method can use; None is any view, one's own kinds included, but
        no rules.

    Returns
    -------
    list of Constraints
        Views have different names: the second of a name gets "_2" appended, and so on.

    Raises
    ------
    TypeError
        If something else than views is given, or a kind that the method cannot use.
    ValueError
        If a view is on another number of items.
    """
    if constraints is None:
        return []
    views = [constraints] if isinstance(constraints, (Constraints, Rules)) else constraints
    if not isinstance(views, (list, tuple)):
        raise TypeError(_no_view(views, "constraints"))
    checked: list[Any] = []
    for at, view in enumerate(views):
        if not isinstance(view, (Constraints, Rules)):
            raise TypeError(_no_view(view, f"constraints[{at}]"))
        usable = isinstance(view, Constraints) if kinds is None else view.kind in kinds
        if not usable:
            known = ("pairwise", "relative") if kinds is None else kinds
            raise TypeError(
                f"constraints[{at}] is a {type(view).__name__}, but only {' and '.join(known)} constraints can be used "
                "here: leave it out or choose another method."
            )
        if view.n_items != n_items:
            raise ValueError(
                f"the constraints {view.name!r} are on {view.n_items} items, but X has {n_items}: "
                "pass the X they were made for, or restrict(items) them."
            )
        checked.append(_renamed(view, {other.name for other in checked}))
    return checked


def _no_view(value: Any, what: str) -> str:
    return (
        f"{what} must be PairwiseConstraints or RelativeConstraints, or a list of them; got {type(value).__name__}: "
        "wrap your pairs or triplets in one of these."
    )


def _renamed(view: Any, taken: set[str]) -> Any:
    name, number = view.name, 2
    while name in taken:
        name, number = f"{view.name}_{number}", number + 1
    if name != view.name:
        view = copy.copy(view)
        view.name = name
    return view


def check_random_state(seed: Any, name: str = "random_state") -> np.random.Generator:
    """Return a NumPy generator.

    Parameters
    ----------
    seed : None, int, Generator, RandomState or anything `numpy.random.default_rng` takes
        A Generator is returned as it is, and so advances as it is used; a RandomState seeds a new
        one.
    name : str, default "random_state"
        What the sentences call it.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        If no generator can be made of it.

    Examples
    --------
    >>> int(check_random_state(0).integers(100))
    85
    """
    return random_generator(seed, name)


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a positive finite float."""
    return number_between(value, name, "(0, inf)")


def check_int(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """Return `value` as an int from `least` to `most`."""
    wanted = (
        f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be {wanted}; got {shown(value)} of type {type(value).__name__}."
        )
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be {wanted}; got {number}.")
    return number


def check_threads(n_jobs: Any) -> None:
    """Refuse anything but a number of threads, or None for one per processor."""
    if n_jobs is not None:
        check_int(n_jobs, "n_jobs")


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
    if not isinstance(value, str) or value not in choices:
        options = " or ".join(f'"{choice}"' for choice in choices)
        raise (ValueError if isinstance(value, str) else TypeError)(
            f"{name} must be {options}; got {shown(value)}."
        )
    return value
