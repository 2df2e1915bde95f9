"""Tables in text files: items, answers and labels."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.names import WHOLE

if TYPE_CHECKING:
    from bayesclust.constraints.base import Constraints

Sheet = Any
"""A DataFrame of words."""
SCALING = "scaling"
"""The attribute of items and draws for mean and deviation of columns that --standardize scaled."""
MISSING = ("", "na", "nan", "null")
SAVED = "save it with commas, or with tabs as a file that ends in .tsv"


def read_sheet(path: Path) -> Sheet:
    """Read a table of words below a line of column names."""
    import pandas as pd

    how: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False}
    try:
        table: Sheet = pd.read_csv(path, sep=_separator(path), encoding="utf-8-sig", **how)
    except ValueError as error:
        raise ValueError(_unreadable(path, error)) from None
    table = table.apply(lambda column: column.str.strip())
    names = table.iloc[0].tolist()
    if between := _marks(names):
        raise ValueError(f"{path} seems to have {between} between its cells: {SAVED}.")
    if len(table) == 1:
        raise ValueError(f"{path} has no rows below its first line, which names the columns.")
    if "" in names or len(set(names)) < len(names):
        raise ValueError(
            f"{path} has the columns {', '.join(names)}: give each a name of its own, in line 1."
        )
    if pd.to_numeric(table.iloc[0], errors="coerce").notna().all():
        raise ValueError(
            f"{path} has numbers as the names of its columns: put a line of names first."
        )
    return table.iloc[1:].set_axis(names, axis=1).reset_index(drop=True)


def _separator(path: Path) -> str:
    return "\t" if path.suffix.lower() in (".tsv", ".tab") else ","


def _marks(names: Sequence[str]) -> str | None:
    """What stands between cells where a line that names columns was read as a single cell."""
    marks = {";": "semicolons", "\t": "tabs"} if len(names) == 1 else {}
    return next((word for mark, word in marks.items() if mark in names[0]), None)


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that pandas reads, and the line of the file where it begins."""
    with suppress(OSError, ValueError, csv.Error), path.open(encoding="utf-8-sig") as file:
        line, reader = 1, csv.reader(file if path.is_file() else (), delimiter=_separator(path))
        for cells in reader:
            if len(cells) > 1 or (cells and not cells[0].isspace()):
                yield line, cells
            line = reader.line_num + 1


def _unreadable(path: Path, error: ValueError) -> str:
    """Say why pandas could not read a table, and where."""
    from pandas.errors import EmptyDataError

    if isinstance(error, EmptyDataError):
        return f"{path} is empty: it needs a line that names the columns, and rows below."
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not in UTF-8: save it as CSV UTF-8."
    if opened := re.search(r"EOF inside string starting at row (\d+)", str(error)):
        line = int(opened[1]) + 1
        return f"{path}, line {line}: a quotation mark is not closed: close it or leave it out."
    records = _records(path)
    _, names = next(records, (1, []))
    line, cells = next((one for one in records if len(one[1]) > len(names)), (0, []))
    if between := _marks(names):
        decimals = re.search(r"\d,\d", ",".join(cells)) is not None
        also, points = (" and decimal commas", "write points, and ") if decimals else ("", "")
        return f"{path} seems to have {between} between its cells{also}: {points}{SAVED}."
    if cells:
        mark = "tab" if _separator(path) == "\t" else "comma"
        return (
            f"{path}, line {line} has {len(cells)} cells, the first line has {len(names)}: leave "
            f"some out, or put a cell that has a {mark} in quotes."
        )
    return f"{path} is not a table that can be read: {' '.join(str(error).split())}."


def place(path: Path, row: int) -> str:
    """The place of a row of a table: the line of the file, as editors count them."""
    line, _ = next(islice(_records(path), row + 1, None), (row + 2, []))
    return f"{path}, line {line}"


def read_named(path: Path, id_name: str | None, usual: str | None = None) -> Sheet:
    """Read a table of words by item: names of the column given or called id, or row numbers."""
    # `usual` is the column of a fit that names its items, if the table has that.
    sheet = read_sheet(path)
    known = (name for name in sheet if name == usual or name.lower() == "id")
    own = id_name or next(known, None)
    if own is None:
        return sheet
    check_columns(sheet, path, [own])
    for name in sheet[own][sheet[own].duplicated() | (sheet[own] == "")]:
        raise ValueError(f"{path} has {own} {name!r} twice, or empty: name each item once.")
    return sheet.set_index(own)


def read_labels(path: Path, sheet: Sheet, items: Iterable[Any]) -> list[str]:
    """Take labels from the table of a file, in the order of the items where it names them."""
    called = [name for name in sheet if name.lower() in ("label", "cluster")] or list(sheet)
    if len(called) != 1:
        raise ValueError(
            f"{path} has the columns {', '.join(sheet)}: rename that of the labels to label "
            "or cluster."
        )
    labels = sheet[called[0]]
    if sheet.index.name is not None:
        names = [str(item) for item in items]
        for item in labels.index.symmetric_difference(names):
            raise ValueError(
                f"{path} names other items than the other files do, such as {item!r}: pass one "
                "label for each."
            )
        labels = labels[names]
    for item in labels.index[_missing(labels)]:
        raise ValueError(f"{path} has no label for {item!r}: give every item one.")
    own: list[str] = labels.tolist()
    return own


def _missing(column: Any) -> Any:
    """Which cells have no value."""
    return column.isna() | column.str.lower().isin(MISSING)


def check_columns(sheet: Sheet, path: Path, names: Iterable[str]) -> None:
    """Refuse names that no column has."""
    for name in names:
        if name not in sheet:
            raise ValueError(f"{path} has no column {name!r}, only {', '.join(sheet)}.")


def add_id(parser: Any, usual: str = "id") -> None:
    """Add the option that names the items of a table."""
    named = f"the column that names the items (default: {usual}, if there is one)"
    parser.add_argument("--id", metavar="COLUMN", help=named)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table of items is read."""
    table = parser.add_argument_group("how the table of items is read")
    add_id(table)
    dropped = "columns to leave out, such as known classes"
    table.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help=dropped)
    scaled = "scale columns to mean 0 and standard deviation 1"
    table.add_argument("--standardize", action="store_true", help=scaled)


def read_cells(path: Path, id_name: str | None, usual: str | None = None) -> Sheet:
    """Read a table of words by item, in which missing cells are NaN."""
    words = read_named(path, id_name, usual)
    return words.mask(words.apply(_missing))


def as_numbers(cells: Sheet, path: Path, may_spell: Iterable[str], remedy: str) -> tuple[Any, Any]:
    """Cells as numbers, and which columns have words, or refuse words in others than these."""
    import pandas as pd

    X = cells.apply(pd.to_numeric, errors="coerce").astype(np.float64)
    spelled = X.isna() & cells.notna()
    refused = np.argwhere((spelled & ~cells.columns.isin(list(may_spell))).to_numpy())
    if refused.size:
        row, at = refused[0]
        word = cells.iloc[row, at]
        if re.fullmatch(r"[-+]?\d*,\d+", word):
            remedy = "write decimals with a point"
        raise ValueError(
            f"{path}: {X.columns[at]} of item {X.index[row]} is {word!r}, which is not a number: "
            f"{remedy.format(X.columns[at])}."
        )
    return X, spelled.any()


def refuse_missing(X: Any, path: Path, remedy: str) -> None:
    """Refuse cells without a value, where the method needs all."""
    for row, at in np.argwhere(X.isna().to_numpy()):
        raise ValueError(
            f"{path}: {X.columns[at]} of item {X.index[row]} is missing: fill it in, or {remedy}."
        )


def read_items(settings: argparse.Namespace) -> Any:
    """Read numbers by item and feature, and words for --family mixed; missing cells are NaN."""
    # The mean and the standard deviation of scaled columns stand in `attrs[SCALING]`.
    from sklearn.preprocessing import StandardScaler

    path = Path(settings.data)
    cells = read_cells(path, settings.id)
    check_columns(cells, path, settings.drop)
    cells = cells.drop(columns=settings.drop)
    batches = getattr(settings, "batches", None)
    if batches is not None:
        check_columns(cells, path, [batches])
        sites = cells.pop(batches)
    may_spell = cells.columns if getattr(settings, "family", None) == "mixed" else ()
    remedy = "leave the column out with --drop {0} or name items by it with --id {0}"
    if hasattr(settings, "family"):
        remedy += ", or take words by --family mixed"
    X, spelled = as_numbers(cells, path, may_spell, remedy)
    scaling = {}
    if settings.standardize:
        numbers = X.columns[~spelled]
        scaler = StandardScaler()
        X[numbers] = scaler.fit_transform(X[numbers])
        each = zip(numbers, scaler.mean_.tolist(), scaler.scale_.tolist(), strict=True)
        scaling = {column: (mean, sd) for column, mean, sd in each}
    X = X.assign(**{column: cells[column] for column in X.columns[spelled]})
    if batches is not None:
        X[batches] = sites
    X.attrs[SCALING] = scaling
    return X


def _read_own_answers(path: Path, kind: type[Constraints]) -> Sheet:
    """Read the answers of one file."""
    import pandas as pd

    own = read_sheet(path)
    if "count" in own and kind.members:
        own["count"] = _counts(own, path)
    for column in {"answer", "group"}.intersection(own):
        own[column] = own[column].mask(_missing(own[column]))
    for column in {"score", "most"}.intersection(own):
        own[column] = pd.to_numeric(own[column], errors="coerce")
    return own


def _refuse_by_line(own: Sheet, path: Path, kind: type[Constraints], items: Any) -> None:
    """Refuse the answers of one file by its line, if there is anything wrong with them."""
    try:  # each line once: rows are those of the file
        kind.from_frame(own.drop(columns="count", errors="ignore"), ids=list(map(str, items)))
    except ValueError as error:
        said, where = str(error), f"{path}: "
        if row := re.search(r"^rows?[ [](\d+)\]?|\[(\d+)\]", said):
            begins = row[1] is not None
            where = place(path, int(row[1] or row[2])) + ("" if begins else ": ")
            said = said.replace(row[0], "", 1)
        numbered = getattr(items, "name", "") is None and " names " in said
        hint = " Name items by a column of theirs: --id COLUMN." if numbered else ""
        raise ValueError(f"{where}{said}{hint}") from None


def _counts(table: Sheet, path: Path) -> Any:
    """How often each answer of a table was given."""
    import pandas as pd

    cells = table["count"].where(~_missing(table["count"]), "1")
    numbers = pd.to_numeric(cells, errors="coerce")
    for row, cell in cells[~((numbers >= 0) & (numbers % 1 == 0) & (numbers < WHOLE))].items():
        raise ValueError(
            f"{place(path, row)} has the count {cell!r}: give a whole number from 0 on, or leave "
            "the cell empty for one answer."
        )
    return numbers.astype(np.int64)


def read_answers(paths: Sequence[Path], kind: type[Constraints], items: Any) -> Any:
    """Read answers about pairs or triplets of named items; of several files each is a source."""
    import pandas as pd

    read = [_read_own_answers(path, kind) for path in paths]
    named = read
    if len(paths) > 1:
        each = zip(read, paths, strict=True)
        named = [own.assign(source=own.get("source", path.stem)) for own, path in each]
    table: Sheet = pd.concat(named, ignore_index=True)
    if kind.members and "count" in table:
        table["count"] = table["count"].fillna(1).astype(np.int64)
    try:
        return kind.from_frame(table, ids=list(map(str, items)))
    except ValueError as error:
        for own, path in zip(read, paths, strict=True):
            _refuse_by_line(own, path, kind, items)
        raise ValueError(f"{', '.join(map(str, paths))}: {error}") from None
