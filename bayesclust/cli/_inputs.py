"""Items and answers from text files, in which items may have names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesclust.cli._sheet import Sheet, hint, read_sheet
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

__all__ = ["Answers", "Items", "read_answers", "read_items"]

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
class Items:
    """What is clustered.

    Parameters
    ----------
    path : pathlib.Path
    names : list of str
        Of the items; their row numbers from 0 where there is no column of names.
    named : str or None
        The column that names them.
    features : list of str
    X : (n, d) array of float
        Missing cells are NaN.
    """

    path: Path
    names: list[str]
    named: str | None
    features: list[str]
    X: FloatArray


@dataclass(frozen=True)
class Answers:
    """Answers about pairs or triplets.

    Parameters
    ----------
    items : (m, 2 or 3) array of int
    answers : list of str
    source : (m,) array of int
    sources : list of str or None
        Names of the sources; None where nothing names them.
    notes : list of str
        Which columns were passed over.
    """

    items: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    answers: list[str]
    source: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    sources: list[str] | None
    notes: list[str]

    def view(self, n_items: int) -> PairwiseConstraints | RelativeConstraints:
        """Return them as constraints on this many items."""
        from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

        kind = PairwiseConstraints if self.items.shape[1] == 2 else RelativeConstraints
        return kind(self.items, self.answers, n_items=n_items, source=self.source)


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
    """Read the data.

    Parameters
    ----------
    path : pathlib.Path
    id_column : str, optional
        The column that names the items; by default one called id, if there is one.
    features : sequence of str, optional
        The columns to cluster by; by default all others.
    drop : sequence of str
        Columns to leave out.
    delimiter : str, optional
    header : bool, default True
    missing : bool, default False
        Whether cells may be missing: empty, NA, NaN or null.

    Returns
    -------
    Items

    Raises
    ------
    OSError, ValueError
        With file and line, if the table cannot be read, a column is not there, items have no name
        or the same one, or cells are no numbers.
    """
    sheet = read_sheet(path, delimiter, header)
    own = id_column or next((name for name in sheet.header if name.lower() == "id"), None)
    names = [str(row) for row in range(len(sheet.rows))] if own is None else _names(sheet, own)
    left_out = {sheet.header[sheet.column(name)] for name in drop}
    chosen = list(features) if features else [name for name in sheet.header if name != own]
    chosen = [name for name in chosen if name not in left_out]
    if not chosen:
        raise ValueError(
            f"{sheet.at(1)}: no columns are left to cluster by, of {', '.join(sheet.header)}."
        )
    X = np.column_stack([_numbers(sheet, name, missing) for name in chosen])
    return Items(path, names, own, chosen, X)


def _names(sheet: Sheet, column: str) -> list[str]:
    at = sheet.column(column)
    first: dict[str, int] = {}
    for line, cells in sheet.rows:
        name = cells[at]
        if not name:
            raise ValueError(f"{sheet.at(line)}: the item has no {column}: give it a name.")
        if name in first:
            raise ValueError(
                f"{sheet.at(line)}: {column} {name!r} stands in line {first[name]} too: names must differ."
            )
        first[name] = line
    return list(first)


def _numbers(sheet: Sheet, column: str, missing: bool) -> FloatArray:
    at = sheet.column(column)
    values = np.empty(len(sheet.rows))
    for row, (line, cells) in enumerate(sheet.rows):
        word = cells[at]
        if word.lower() in MISSING:
            if not missing:
                raise ValueError(
                    f"{sheet.at(line)}: {column} is missing: fill it in, take the line out, or choose a --family or "
                    "--divergence that leaves missing cells out."
                )
            values[row] = np.nan
            continue
        try:
            values[row] = float(word)
        except ValueError:
            raise ValueError(
                f"{sheet.at(line)}: {column} is {word!r}, which is no number: leave the column out with --drop {column}, "
                f"or name items by it with --id {column}."
            ) from None
        if not math.isfinite(values[row]):
            raise ValueError(f"{sheet.at(line)}: {column} is infinite: fill in a number.")
    return values


def read_answers(
    paths: Sequence[Path], size: int, items: Items, delimiter: str | None = None
) -> Answers:
    """Read answers about pairs or triplets.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        Tables with the columns i, j (and k), answer and, where several gave answers, source. Files
        that do not say are each a source of its own, called like the file, if there are several.
    size : 2 or 3
        Of pairs or triplets.
    items : Items
    delimiter : str, optional

    Returns
    -------
    Answers

    Raises
    ------
    OSError, ValueError
        With file and line, if a table cannot be read, columns are missing, an item is unknown or
        asked about with itself, or an answer is no word of this kind.
    """
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
                raise ValueError(
                    f"{sheet.at(line)}: the answer names an item twice: it must be about {size} items."
                )
            rows.append(members)
            words.append(_answer(sheet, line, cells[columns[-1]], size))
            given.append(path.stem if by is None else cells[by])
            if not given[-1]:
                raise ValueError(f"{sheet.at(line)}: the source is empty: say who gave the answer.")
    sources, source = np.unique(given, return_inverse=True)
    named = sources.tolist() if said or len(sources) > 1 else None
    return Answers(np.array(rows, dtype=np.int64), words, source.astype(np.int64), named, notes)


def _columns(sheet: Sheet, size: int) -> list[int]:
    """Where the items and the answer are."""
    wanted = [*MEMBERS[:size], "answer"]
    if any(name not in sheet.header for name in wanted):
        raise ValueError(
            f"{sheet.at(1)}: the columns are {', '.join(sheet.header)}, but {', '.join(wanted[:-1])} and answer are needed "
            f"for {'pairs' if size == 2 else 'triplets'} (and source, if several gave answers): rename them."
        )
    return [sheet.header.index(name) for name in wanted]


def _item(sheet: Sheet, line: int, name: str, items: Items, number: dict[str, int]) -> int:
    if name in number:
        return number[name]
    if items.named is None:
        raise ValueError(
            f"{sheet.at(line)}: there is no item {name!r}: {items.path} names none, so items are row numbers from 0 to "
            f"{len(items.names) - 1}."
        )
    raise ValueError(
        f"{sheet.at(line)}: no item of {items.path} has the {items.named} {name!r}{hint(name, items.names)}."
    )


def _answer(sheet: Sheet, line: int, word: str, size: int) -> str:
    words = WORDS[size]
    if word.lower() not in words:
        plain = "same or different" if size == 2 else "yes, no or dnk"
        raise ValueError(f"{sheet.at(line)}: the answer is {word!r}: write {plain}.")
    return words[word.lower()]
