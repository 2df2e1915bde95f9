"""Tables in text files, read so that whatever is wrong can be named by file and line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

__all__ = ["Sheet", "hint", "read_sheet"]


@dataclass(frozen=True)
class Sheet:
    """A table of words.

    Parameters
    ----------
    path : pathlib.Path
    header : list of str
        Names of the columns.
    rows : list of (int, list of str)
        The line that each row ends in, counted from 1, and its cells.
    """

    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def at(self, line: int) -> str:
        """Say where a line is."""
        return f"{self.path}, line {line}"

    def column(self, name: str) -> int:
        """Return where a column is, or refuse a name that no column has."""
        if name not in self.header:
            raise ValueError(
                f"{self.at(1)}: there is no column {name!r}, only {', '.join(self.header)}{hint(name, self.header)}."
            )
        return self.header.index(name)


def hint(name: str, known: list[str]) -> str:
    """Ask whether a known name was meant that looks like this one."""
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def read_sheet(path: Path, delimiter: str | None = None, header: bool = True) -> Sheet:
    r"""Read a table of words.

    Parameters
    ----------
    path : pathlib.Path
    delimiter : str, optional
        What stands between cells; by default a tab in files named .tsv or .tab, and otherwise a
        comma.
    header : bool, default True
        Whether the first line names the columns. Otherwise they are called 0, 1, 2, ...

    Returns
    -------
    Sheet
        Without blank lines, and without the blanks around cells.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no text in UTF-8, there are no rows, rows have different numbers of cells, columns
        have no names or the same one, or all names of columns are numbers.
    """
    if delimiter is None:
        delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    lines = [(line, [cell.strip() for cell in cells]) for line, cells in _lines(path, delimiter)]
    lines = [(line, cells) for line, cells in lines if any(cells)]
    if not lines:
        raise ValueError(
            f"{path} is empty: the first line names the columns, and the others hold the rows."
        )
    names = lines.pop(0)[1] if header else [str(at) for at in range(len(lines[0][1]))]
    if header:
        _check_header(path, names)
    if not lines:
        raise ValueError(f"{path} has a line of column names and no rows below it.")
    for line, cells in lines:
        if len(cells) != len(names):
            raise ValueError(
                f"{path}, line {line}: there are {len(cells)} cells, but {len(names)} columns ({', '.join(names)}): "
                "every row needs one cell for each."
            )
    return Sheet(path, names, lines)


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


def _check_header(path: Path, names: list[str]) -> None:
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{path}, line 1: the names of the columns are all numbers ({', '.join(names[:5])}): put a line of names first, "
            "or pass --no-header."
        )
    for at, name in enumerate(names):
        if not name:
            raise ValueError(f"{path}, line 1: column {at + 1} has no name: give it one.")
        if name in names[:at]:
            raise ValueError(f"{path}, line 1: two columns are called {name!r}: rename one.")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
