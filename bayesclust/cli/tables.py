"""Tables in text files: items, answers and labels, whose errors are named by file and line."""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

SAME = {"same": "same", "yes": "same", "true": "same", "1": "same", "must-link": "same"}
DIFFERENT = dict.fromkeys(("different", "no", "false", "0", "cannot-link"), "different")
WORDS: dict[int, dict[str, str]] = {
    2: SAME | DIFFERENT,
    3: {"yes": "yes", "no": "no", "dnk": "dnk", "?": "dnk"},
}
"""What may stand in the answer column of files about pairs and triplets."""
MEMBERS = ("i", "j", "k")
MISSING = ("", "na", "nan", "null")


@dataclass(frozen=True)
class Sheet:
    """A table of words."""

    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def wrong(self, line: int, fault: str) -> ValueError:
        """An error that says where the fault is."""
        return ValueError(f"{self.path}, line {line}: {fault}.")

    def column(self, name: str) -> int:
        """Where a column is, or refuse a name that no column has."""
        if name not in self.header:
            known = f"{', '.join(self.header)}{hint(name, self.header)}"
            raise self.wrong(1, f"there is no column {name!r}, only {known}")
        return self.header.index(name)

    def cells(self, name: str) -> list[str]:
        """The cells of a column."""
        at = self.column(name)
        return [cells[at] for _, cells in self.rows]

    def id_column(self, name: str | None) -> str | None:
        """The column that names the items: the one given, or the one called id."""
        if name is not None:
            return self.header[self.column(name)]
        return next((name for name in self.header if name.lower() == "id"), None)


def hint(name: str, known: list[str]) -> str:
    """Ask whether a known name was meant that looks like this one."""
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def read_sheet(path: Path, delimiter: str | None = None, header: bool = True) -> Sheet:
    """Read a table of words, with a line of column names or without."""
    if delimiter is None:
        delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    lines = [(line, [cell.strip() for cell in cells]) for line, cells in _lines(path, delimiter)]
    lines = [(line, cells) for line, cells in lines if any(cells)]
    if not lines:
        raise ValueError(
            f"{path} is empty: the first line names the columns, and the others hold the rows."
        )
    names = lines.pop(0)[1] if header else [str(at) for at in range(len(lines[0][1]))]
    sheet = Sheet(path, names, lines)
    if header:
        _check_header(sheet)
    if not lines:
        raise ValueError(f"{path} has a line of column names and no rows below it.")
    for line, cells in lines:
        if len(cells) != len(names):
            fault = f"there are {len(cells)} cells, but {len(names)} columns ({', '.join(names)})"
            raise sheet.wrong(line, f"{fault}: every row needs one cell for each")
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


def _check_header(sheet: Sheet) -> None:
    names = sheet.header
    if all(_is_number(name) for name in names):
        fault = f"the names of the columns are all numbers ({', '.join(names[:5])})"
        raise sheet.wrong(1, f"{fault}: put a line of names first, or pass --no-header")
    for at, name in enumerate(names):
        if not name:
            raise sheet.wrong(1, f"column {at + 1} has no name: give it one")
        if name in names[:at]:
            raise sheet.wrong(1, f"two columns are called {name!r}: rename one")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Items:
    """What is clustered."""

    path: Path
    names: list[str]
    named: str | None
    features: list[str]
    X: FloatArray


@dataclass(frozen=True)
class Answers:
    """Answers about pairs or triplets."""

    items: IntArray
    answers: list[str]
    source: IntArray
    sources: list[str] | None
    notes: list[str]

    def constraints(
        self, n_items: int, confusion: bool = False
    ) -> PairwiseConstraints | RelativeConstraints:
        """Them as constraints, where asked for with a confusion matrix as noise."""
        from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

        kind = PairwiseConstraints if self.items.shape[1] == 2 else RelativeConstraints
        found = kind(self.items, self.answers, n_items=n_items, source=self.source)
        return found.with_noise(found.learned_noise(confusion=True)) if confusion else found


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


def items_asked(settings: argparse.Namespace, *, missing: bool = False) -> Items:
    """Read the table of items as the options say."""
    items = read_items(
        Path(settings.data),
        id_column=settings.id,
        features=settings.features,
        drop=settings.drop,
        delimiter=settings.delimiter,
        header=not settings.no_header,
        missing=missing,
    )
    if not settings.standardize:
        return items
    deviation = np.nanstd(items.X, axis=0)
    scaled = (items.X - np.nanmean(items.X, axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return replace(items, X=scaled)


def read_items(
    path: Path,
    *,
    id_column: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool = True,
    missing: bool = False,
) -> Items:
    """Read the data."""
    sheet = read_sheet(path, delimiter, header)
    own = sheet.id_column(id_column)
    names = [str(row) for row in range(len(sheet.rows))] if own is None else _names(sheet, own)
    left_out = {sheet.header[sheet.column(name)] for name in drop}
    chosen = list(features) if features else [name for name in sheet.header if name != own]
    chosen = [name for name in chosen if name not in left_out]
    if not chosen:
        raise sheet.wrong(1, f"no columns are left to cluster by, of {', '.join(sheet.header)}")
    X = np.column_stack([_numbers(sheet, name, missing) for name in chosen])
    return Items(path, names, own, chosen, X)


def _names(sheet: Sheet, column: str) -> list[str]:
    first: dict[str, int] = {}
    for (line, _), name in zip(sheet.rows, sheet.cells(column), strict=True):
        if not name:
            raise sheet.wrong(line, f"the item has no {column}: give it a name")
        if name in first:
            fault = f"{column} {name!r} stands in line {first[name]} too"
            raise sheet.wrong(line, f"{fault}: names must differ")
        first[name] = line
    return list(first)


def _numbers(sheet: Sheet, column: str, missing: bool) -> FloatArray:
    values = np.full(len(sheet.rows), np.nan)
    for row, word in enumerate(sheet.cells(column)):
        line, fault = sheet.rows[row][0], ""
        if word.lower() in MISSING and not missing:
            fault = "missing: fill it in, take the line out, or let fit have a --family or"
            fault += " --divergence that leaves missing cells out"
        elif word.lower() not in MISSING and not _is_number(word):
            fault = f"{word!r}, which is no number: leave the column out with --drop {column}, or"
            fault += f" name items by it with --id {column}"
        elif word.lower() not in MISSING:
            values[row] = float(word)
            fault = "" if math.isfinite(values[row]) else "infinite: fill in a number"
        if fault:
            raise sheet.wrong(line, f"{column} is {fault}")
    return values


def read_answers(
    paths: Sequence[Path], size: int, items: Items, delimiter: str | None = None
) -> Answers:
    """Read answers about pairs or triplets."""
    number = {name: at for at, name in enumerate(items.names)}
    rows: list[list[int]] = []
    words: list[str] = []
    given: list[str] = []
    notes: list[str] = []
    said = False
    for path in paths:
        sheet = read_sheet(path, delimiter)
        columns = _columns(sheet, size)
        said = said or "source" in sheet.header
        ignored = [
            name for at, name in enumerate(sheet.header) if at not in columns and name != "source"
        ]
        notes += [f"{path}: columns ignored: {', '.join(ignored)}."] if ignored else []
        by = sheet.header.index("source") if "source" in sheet.header else None
        for line, cells in sheet.rows:
            members = [_item(sheet, line, cells[at], items, number) for at in columns[:-1]]
            if len(set(members)) < size:
                fault = f"the answer names an item twice: it must be about {size} items"
                raise sheet.wrong(line, fault)
            rows.append(members)
            words.append(_answer(sheet, line, cells[columns[-1]], size))
            given.append(path.stem if by is None else cells[by])
            if not given[-1]:
                raise sheet.wrong(line, "the source is empty: say who gave the answer")
    sources, source = np.unique(given, return_inverse=True)
    named = sources.tolist() if said or len(sources) > 1 else None
    return Answers(np.array(rows, dtype=np.int64), words, source.astype(np.int64), named, notes)


def _columns(sheet: Sheet, size: int) -> list[int]:
    """Where the items and the answer are."""
    wanted = [*MEMBERS[:size], "answer"]
    if any(name not in sheet.header for name in wanted):
        needed = f"{', '.join(wanted[:-1])} and answer are needed"
        what = f"{'pairs' if size == 2 else 'triplets'} (and source, if several gave answers)"
        fault = f"the columns are {', '.join(sheet.header)}, but {needed} for {what}: rename them"
        raise sheet.wrong(1, fault)
    return [sheet.header.index(name) for name in wanted]


def _item(sheet: Sheet, line: int, name: str, items: Items, number: dict[str, int]) -> int:
    if name in number:
        return number[name]
    fault = f"no item of {items.path} has the {items.named} {name!r}{hint(name, items.names)}"
    if items.named is None:
        rows = f"row numbers from 0 to {len(items.names) - 1}"
        fault = f"there is no item {name!r}: {items.path} names none, so items are {rows}"
    raise sheet.wrong(line, fault)


def _answer(sheet: Sheet, line: int, word: str, size: int) -> str:
    words = WORDS[size]
    if word.lower() not in words:
        plain = "same or different" if size == 2 else "yes, no or dnk"
        raise sheet.wrong(line, f"the answer is {word!r}: write {plain}")
    return words[word.lower()]
