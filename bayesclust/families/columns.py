"""Columns of numbers: measured, rounded, counted, coded, or one value over and over.

A Gaussian cluster of many more items than the base measure is worth (15) that share a value of one
column wins by that alone. Such columns are found here, and each kind has a family that takes its
values for what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.checks import check_items, kind_of, rows_in_words
from bayesclust.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

FAMILY_OF = {
    "constant": "gaussian",
    "binary": "hurdle",
    "nearly constant": "hurdle",
    "categorical": "categorical",
    "counts": "poisson",
    "inflated": "hurdle",
    "continuous": "gaussian",
}
FEW = 7  # values of a column of codes, at most
PER_VALUE = 5  # items for each of them, at least
ALMOST_ALL = 0.95
LARGE_SHARE = 0.3
ENOUGH_TIES = 15  # what the base measure of the Gaussian families is worth
MOST_ATOMS = 5
ROUNDING = 1e-12
"""Standard deviation, as a share of the largest value, up to which a column is constant."""

Words = dict[int, list[str]]
"""The words of columns, by their positions."""


class TiedColumnsWarning(UserWarning):
    """Gaussian clusters are fitted to columns in which many items share one value."""


class CopiedColumnsWarning(UserWarning):
    """Clusters of full covariance are fitted to columns that are nearly copies of others."""


class Column(NamedTuple):
    """A column as it was found."""

    kind: str
    distinct: int  # values
    value: float  # the most frequent one; NaN without any
    share: float  # of the items seen that have it
    atoms: tuple[float, ...]  # values too frequent for a density, the most frequent first
    family: str  # that takes such values for what they are
    ties: int  # items that share a value which a Gaussian cluster would fit without variance


def describe_column(x: FloatArray) -> Column:
    """The kind of numbers that a column holds, missing cells (NaN) left out."""
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    n, m = int(counts.sum()), len(values)
    if m == 0:
        return Column("constant", 0, np.nan, 0.0, (), FAMILY_OF["constant"], 0)
    top = int(counts.argmax())
    share = float(counts[top]) / n
    constant = bool(constant_columns(x[:, None])[0])
    kind, atoms = ("constant", ()) if constant else _kind(values, counts, share)
    family = "bernoulli" if kind == "binary" and (values == (0, 1)).all() else FAMILY_OF[kind]
    tied = counts[np.isin(values, atoms)].sum() if atoms else counts[top]
    harmful = bool(atoms) or (kind == "categorical" and share >= LARGE_SHARE)
    ties = int(tied) if harmful and tied >= ENOUGH_TIES else 0
    return Column(kind, m, float(values[top]), share, atoms, family, ties)


def _kind(values: FloatArray, counts: IntArray, share: float) -> tuple[str, tuple[float, ...]]:
    n, m = int(counts.sum()), len(values)
    if m == 2 or share >= ALMOST_ALL:
        return ("binary" if m == 2 else "nearly constant"), (float(values[counts.argmax()]),)
    if m <= FEW and n >= PER_VALUE * m:
        return "categorical", ()
    if _counted(values, counts):
        return "counts", ()
    atoms = _atoms(values, counts)
    return ("inflated" if atoms else "continuous"), atoms


def _counted(values: FloatArray, counts: IntArray) -> bool:
    """Whole numbers from 0 or 1 on, each of which occurs up to the upper quartile."""
    if values[0] not in (0.0, 1.0) or (values != np.floor(values)).any():
        return False
    quartile = values[int(np.searchsorted(counts.cumsum(), 0.75 * counts.sum()))]
    return bool((values <= quartile).sum() == quartile - values[0] + 1)


def _atoms(values: FloatArray, counts: IntArray) -> tuple[float, ...]:
    """Values far more frequent than those around them and than nearly all others."""
    beside = np.maximum(np.r_[0, counts[:-1]], np.r_[counts[1:], 0])
    others = np.sort(counts)[:-3]
    usual = others[int(0.9 * (len(others) - 1))] if len(others) else counts.max()
    many = (counts >= 10) & (counts >= 5 * usual)
    gaps = np.diff(values)
    apart = np.zeros(len(values), bool)
    apart[[0, -1]] = gaps[[0, -1]] >= 10 * np.median(gaps)
    found = np.flatnonzero((counts >= 3 * beside) & (many | (apart & (counts >= 5))))
    often = found[np.argsort(-counts[found], kind="stable")][:MOST_ATOMS]
    return tuple(float(value) for value in values[often])


def describe_columns(X: Any) -> pd.DataFrame:
    """Describe what each column holds, and whether Gaussian clusters can model it.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        Missing cells (NaN) are left out.

    Returns
    -------
    pandas.DataFrame
        One row per column, named as in a DataFrame or numbered:

        - kind: "continuous", "inflated" (a few values stand out), "nearly constant", "counts",
          "categorical" (up to seven values), "binary", "constant", or "words";
        - distinct: number of different values;
        - value, share: the most frequent value, and the share of the items that have it;
        - atoms: the values that are too frequent for a density;
        - family: the one that models such values;
        - finding: "ties win clusters of their own", of Gaussian ones, where at least 15 items share
          one; "names each item" where no word of many occurs twice, or whole numbers count the
          items; else "fine".

    Raises
    ------
    TypeError, ValueError
        If X is no table of real numbers and words.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.c_[rng.normal(size=100), rng.normal(size=100).clip(min=0), rng.random(100) < 0.2]
    >>> bc.describe_columns(X)[["kind", "share", "atoms", "family", "finding"]]
             kind  share   atoms     family                         finding
    0  continuous   0.01      ()   gaussian                            fine
    1    inflated   0.51  (0.0,)     hurdle  ties win clusters of their own
    2      binary   0.79  (0.0,)  bernoulli  ties win clusters of their own
    """
    import pandas as pd

    coded, words = read_words(X)
    items = check_items(coded, missing=True)
    rows = []
    for j, x in enumerate(items.T):
        column = describe_column(x)
        found: dict[str, Any] = column._asdict()
        if words.get(j):
            word = words[j][int(column.value)]
            found |= {"kind": "words", "value": word, "atoms": ()}
            found |= {"family": "categorical", "ties": 0}
        found["finding"] = "ties win clusters of their own" if found["ties"] else "fine"
        if _are_names(x, words.get(j, [])) or _count_items(x):
            found["finding"] = "names each item"
        rows.append(found)
    table = pd.DataFrame(rows, index=getattr(X, "columns", None))
    return table.drop(columns="ties")


def _are_names(codes: Any, words: list[str]) -> bool:
    """Whether each item that has a word has one of its own."""
    return ENOUGH_TIES < len(words) == int(np.isfinite(codes).sum())


def _count_items(x: FloatArray) -> bool:
    """Whether a column has consecutive whole numbers, one for each of many items, in any order."""
    ordered = np.sort(x)
    return len(x) > ENOUGH_TIES and bool((np.diff(ordered) == 1).all() and ordered[0] % 1 == 0)


def refuse_names(X: Any, words: Words) -> None:
    """Refuse a column, of codes of words, that names items and says nothing of clusters."""
    for j, own in words.items():
        if _are_names(X.iloc[:, j], own):
            name = X.columns[j]
            raise ValueError(
                f"the column {name!r} of X has another word for each item, which tells nothing of "
                f"clusters: leave it out, or name the items by it, df.set_index({name!r}) or, in "
                f"the shell, --id {name}."
            )


def read_words(X: Any, known: Words | None = None) -> tuple[Any, Words]:
    """A data frame with codes in the place of words, and the words of each such column."""
    # Missing ones get NaN. Those that are not among the `known` ones are refused, and numbers that
    # are written as words: they may be measurements read as text.
    if not hasattr(X, "select_dtypes"):
        if known:
            raise TypeError(f"X must be a DataFrame with words, as in the fit; got {kind_of(X)}.")
        return X, {}
    import pandas as pd

    coded, found = X.copy(), {}
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind.startswith("mixed") and column.map(lambda one: isinstance(one, str)).any():
            raise TypeError(
                f"X mixes words and numbers in column {X.columns[j]!r}: convert it by "
                "astype(str) or, if they are codes, by astype('category')."
            )
        if kind not in ("string", "categorical"):
            if known and j in known and column.notna().any():
                raise TypeError(
                    f"column {X.columns[j]!r} of X holds {kind} values, but words in the fit: give "
                    "it these words."
                )
            continue
        if kind == "string":
            words = column.dropna().astype(object).str.replace(",", ".")
            if len(words) and pd.to_numeric(words, errors="coerce").notna().all():
                raise TypeError(
                    f"X holds numbers written as words in column {X.columns[j]!r}: convert them by "
                    "pandas.to_numeric or, if they are codes, by astype('category'); "
                    "pandas.read_csv reads decimal commas by decimal=','."
                )
        own = column.dropna().astype(object).unique()
        # categories have an order, as numbers have
        order = [one for one in getattr(column.dtype, "categories", sorted(own)) if one in own]
        found[j] = [str(one) for one in order] if known is None else known.get(j, [])
        place = pd.Index(found[j]).get_indexer(column.astype(object).map(str)).astype(float)
        unseen = column.notna().to_numpy() & (place < 0)
        if unseen.any():
            row = int(unseen.argmax())
            raise ValueError(
                f"column {X.columns[j]!r} of X has {column.iloc[row]!r} in row {row}, which the "
                "fit has not seen: leave the cell missing (NaN), or the item out."
            )
        coded.isetitem(j, np.where(column.isna(), np.nan, place))
    return coded, found


# Cells: which are refused, which are missing, which columns vary, and standard units.


def refuse_cells(flags: BoolArray, what: str, remedy: str, columns: IntArray | None = None) -> None:
    """Raise if any cell is flagged, naming the first such column (by `columns`) and its rows."""
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
    """Columns with at least two different values seen; the first one if there is none."""
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


def sparse(flags: BoolArray) -> dict[str, IntArray]:
    """Where the marked cells of each row start, shape (n + 1,), and the column of each."""
    row, column = np.nonzero(flags)
    start = np.searchsorted(row, np.arange(len(flags) + 1))
    return {"start": start.astype(np.int64), "column": column.astype(np.int64)}


def _cells_and_largest(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cells of columns, 0 for one without any value, and the largest of each, 1 if that is 0."""
    cells = np.where(np.isnan(X).all(axis=0), 0.0, X)
    largest = np.nanmax(np.abs(cells), axis=0)
    return cells, np.where(largest > 0, largest, 1.0)


def constant_columns(X: FloatArray) -> BoolArray:
    """Which columns have one value, but for rounding errors, or none."""
    cells, scale = _cells_and_largest(X)
    return np.asarray(np.nanstd(cells / scale, axis=0) <= ROUNDING)


def standard_columns(
    X: FloatArray, *, common_unit: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray]:
    """(X, centre, unit, which columns, variance of rounding) of columns that vary, at least one."""
    # Units are the cells' standard deviations or, with `common_unit`, the root mean variance.
    # a column without any value is constant
    cells, scale = _cells_and_largest(X)
    shrunk = cells / scale
    spread = np.nanstd(shrunk, axis=0)
    kept = np.flatnonzero(spread > ROUNDING)
    if len(kept) == 0:
        kept = np.array([0])
    scale = scale[kept]
    shrunk = shrunk[:, kept]
    spread = np.where(spread[kept] > ROUNDING, spread[kept], 1.0)
    if common_unit:
        scale = np.full(len(kept), scale.max())
        shrunk = cells[:, kept] / scale
        spread = np.full(len(kept), max(np.sqrt(np.nanvar(shrunk, axis=0).mean()), ROUNDING))
    centre = np.nanmean(shrunk, axis=0)
    Z = np.ascontiguousarray((X[:, kept] / scale - centre) / spread)
    # the resolution of a column: the median distance of neighbouring values, 0 if it is constant
    gaps = [np.diff(np.unique(x[~np.isnan(x)])) for x in Z.T]
    floor = np.array([np.median(own) if len(own) else 0.0 for own in gaps]) ** 2 / 12
    return Z, centre * scale, spread * scale, kept, floor
