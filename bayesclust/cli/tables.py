"""Tables in text files: items, answers and labels, whose errors are named by file and line."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

Sheet = Any
"""A DataFrame of words: rows by line, the path of the file in its attributes."""
SAME = dict.fromkeys(("same", "yes", "true", "1", "must-link"), "same")
DIFFERENT = dict.fromkeys(("different", "no", "false", "0", "cannot-link"), "different")
WORDS = {2: SAME | DIFFERENT, 3: {"yes": "yes", "no": "no", "dnk": "dnk", "?": "dnk"}}
"""What may stand in the answer column of files about pairs and triplets."""
MISSING = ("", "na", "nan", "null")


class Items(NamedTuple):
    """What is clustered."""

    path: Path
    names: list[str]
    named: str | None
    features: list[str]
    X: FloatArray


class Answers(NamedTuple):
    """Answers about pairs or triplets, and the names of their sources if these are named."""

    constraints: PairwiseConstraints | RelativeConstraints
    sources: list[str] | None
    notes: list[str]


def wrong(sheet: Sheet, line: Any, fault: str) -> ValueError:
    """An error that says where the fault is."""
    return ValueError(f"{sheet.attrs['path']}, line {line}: {fault}.")


def hint(name: str, known: Sequence[str]) -> str:
    """Ask whether a known name was meant that looks like this one."""
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_column(sheet: Sheet, name: str) -> str:
    """Return the name of a column, or refuse one that no column has."""
    if name not in sheet:
        known = f"{', '.join(sheet)}{hint(name, list(sheet))}"
        raise wrong(sheet, 1, f"there is no column {name!r}, only {known}")
    return name


def id_column(sheet: Sheet, name: str | None) -> str | None:
    """The column that names the items: the one given, or the one called id."""
    if name is not None:
        return check_column(sheet, name)
    return next((own for own in sheet if own.lower() == "id"), None)


def read_sheet(path: Path, delimiter: str | None = None, header: bool = True) -> Sheet:
    """Read a table of words, in rows by line, with a line of column names or without."""
    import pandas as pd

    if delimiter is None:
        delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    rows = {line: [cell.strip() for cell in cells] for line, cells in _lines(path, delimiter)}
    rows = {line: cells for line, cells in rows.items() if any(cells)}
    if not rows:
        raise ValueError(
            f"{path} is empty: the first line names the columns, and the others hold the rows."
        )
    first = next(iter(rows))
    names = rows.pop(first) if header else [str(at) for at in range(len(rows[first]))]
    empty = pd.DataFrame()
    empty.attrs["path"] = path
    if header:
        _check_header(empty, names)
    if not rows:
        raise ValueError(f"{path} has a line of column names and no rows below it.")
    for line, cells in rows.items():
        if len(cells) != len(names):
            fault = f"there are {len(cells)} cells, but {len(names)} columns ({', '.join(names)})"
            raise wrong(empty, line, f"{fault}: every row needs one cell for each")
    sheet = pd.DataFrame(list(rows.values()), list(rows), names, dtype=object)
    sheet.attrs["path"] = path
    return sheet


def _lines(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    if len(delimiter) != 1:
        raise ValueError(f"the delimiter must be one character; got {delimiter!r}.")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                yield reader.line_num, cells
        except UnicodeDecodeError:
            raise ValueError(
                f"{path}, after line {reader.line_num}: no text in UTF-8: save it as such."
            ) from None
        except csv.Error as error:
            raise ValueError(
                f"{path}, line {reader.line_num}: no table ({error}): look for a stray quote."
            ) from None


def _check_header(sheet: Sheet, names: Sequence[str]) -> None:
    if all(_number(name) is not None for name in names):
        fault = f"the names of the columns are all numbers ({', '.join(names[:5])})"
        raise wrong(sheet, 1, f"{fault}: put a line of names first, or pass --no-header")
    for at, name in enumerate(names):
        if not name:
            raise wrong(sheet, 1, f"column {at + 1} has no name: give it one")
        if name in names[:at]:
            raise wrong(sheet, 1, f"two columns are called {name!r}: rename one")


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table of items is read."""
    table = parser.add_argument_group("how the table of items is read")
    columns: dict[str, Any] = {"nargs": "+", "metavar": "COLUMN"}
    named = "the column that names the items (default: id, if there is one)"
    table.add_argument("--id", metavar="COLUMN", help=named)
    table.add_argument("--features", help="columns to cluster by (default: all others)", **columns)
    dropped = "columns to leave out, such as known classes"
    table.add_argument("--drop", default=[], help=dropped, **columns)
    scaled = "scale columns to mean 0 and standard deviation 1"
    table.add_argument("--standardize", action="store_true", help=scaled)
    between = "between cells of all files (default: a comma; a tab in .tsv)"
    table.add_argument("--delimiter", metavar="CHAR", help=between)
    header = "the first line holds an item; columns are 0, 1, 2, ..."
    table.add_argument("--no-header", action="store_true", help=header)


def read_items(settings: argparse.Namespace, *, missing: bool = False) -> Items:
    """Read the table of items as the options say."""
    path = Path(settings.data)
    sheet = read_sheet(path, settings.delimiter, header=not settings.no_header)
    own = id_column(sheet, settings.id)
    names = [str(row) for row in range(len(sheet))]
    if own is not None:
        names = sheet[own].tolist()
        for line in sheet.index[sheet[own] == ""]:
            raise wrong(sheet, line, f"the item has no {own}: give it a name")
        for line, name in sheet[own][sheet[own].duplicated()].items():
            fault = f"{own} {name!r} stands in line {sheet.index[names.index(name)]} too"
            raise wrong(sheet, line, f"{fault}: names must differ")
    left_out = {check_column(sheet, name) for name in settings.drop}
    chosen = settings.features or [name for name in sheet if name != own]
    chosen = [check_column(sheet, name) for name in chosen if name not in left_out]
    if not chosen:
        raise wrong(sheet, 1, f"no columns are left to cluster by, of {', '.join(sheet)}")
    X = np.column_stack([_numbers(sheet, name, missing) for name in chosen])
    if settings.standardize:
        from sklearn.preprocessing import StandardScaler

        X = StandardScaler().fit_transform(X)
    return Items(path, names, own, chosen, X)


def _numbers(sheet: Sheet, column: str, missing: bool) -> FloatArray:
    words = sheet[column]
    gaps = words.str.lower().isin(MISSING)
    values = words.mask(gaps, "nan").map(_number).astype(np.float64)
    for line, word in words[values.isna() & ~gaps].items():
        fault = f"{column} is {word!r}, which is no number: leave the column out with"
        raise wrong(sheet, line, f"{fault} --drop {column}, or name items by it with --id {column}")
    for line in sheet.index[gaps & (not missing)]:
        fault = f"{column} is missing: fill it in, take the line out, or let fit have a --family"
        raise wrong(sheet, line, f"{fault} or --divergence that leaves missing cells out")
    for line in sheet.index[np.isinf(values)]:
        raise wrong(sheet, line, f"{column} is infinite: fill in a number")
    return np.asarray(values)


def read_answers(
    paths: Sequence[Path], size: int, items: Items, delimiter: str | None = None
) -> Answers:
    """Read answers about pairs or triplets."""
    import pandas as pd

    from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

    place = {name: at for at, name in enumerate(items.names)}
    tables: list[pd.DataFrame] = []
    notes: list[str] = []
    is_named = len(paths) > 1
    for path in paths:
        sheet = read_sheet(path, delimiter)
        is_named = is_named or "source" in sheet
        table = _answers(sheet, "ijk"[:size], items, place)
        tables.append(table.assign(source=sheet.get("source", path.stem)))
        ignored = [name for name in sheet if name not in tables[-1]]
        notes += [f"{path}: columns ignored: {', '.join(ignored)}."] if ignored else []
    table = pd.concat(tables)
    source, sources = pd.factorize(table["source"], sort=True)
    kind = PairwiseConstraints if size == 2 else RelativeConstraints
    rows = table[list("ijk"[:size])].to_numpy()
    made = kind(rows, table["answer"].to_numpy(), n_items=len(place), source=source)
    return Answers(made, sources.tolist() if is_named else None, notes)


def _answers(sheet: Sheet, members: str, items: Items, place: dict[str, int]) -> Sheet:
    """The items of each answer by number and the answer in words, or a refusal."""
    size = len(members)
    if not {*members, "answer"} <= set(sheet):
        needed = f"{', '.join(members)} and answer are needed"
        what = f"{'pairs' if size == 2 else 'triplets'} (and source, if several gave answers)"
        fault = f"the columns are {', '.join(sheet)}, but {needed} for {what}: rename them"
        raise wrong(sheet, 1, fault)
    for member in members:
        for line, name in sheet[member][~sheet[member].isin(place)].items():
            fault = f"no item of {items.path} has the {items.named} {name!r}"
            fault += hint(str(name), items.names)
            if items.named is None:
                rows = f"row numbers from 0 to {len(place) - 1}"
                fault = f"there is no item {name!r}: {items.path} names none, so items are {rows}"
            raise wrong(sheet, line, fault)
    table = sheet[list(members)].map(place.__getitem__)
    twice = (np.diff(np.sort(table.to_numpy(), axis=1), axis=1) == 0).any(axis=1)
    for line in sheet.index[twice]:
        fault = f"the answer names an item twice: it must be about {size} items"
        raise wrong(sheet, line, fault)
    table["answer"] = sheet["answer"].str.lower().map(WORDS[size])
    for line, word in sheet["answer"][table["answer"].isna()].items():
        plain = "same or different" if size == 2 else "yes, no or dnk"
        raise wrong(sheet, line, f"the answer is {word!r}: write {plain}")
    if "source" in sheet:
        for line in sheet.index[sheet["source"] == ""]:
            raise wrong(sheet, line, "the source is empty: say who gave the answer")
    return table
