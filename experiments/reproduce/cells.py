"""The file of cells, each one fit with its scores: what is in it is not run again.

A cell is a `NamedTuple` of what a fit depends on. Every paper has a mapping `KINDS`: the columns of
its file, the fields of the cell first, with the type of each.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesclust.typing import FloatArray

__all__ = ["load", "missing", "numbers", "of_settings", "run_all"]


def load(path: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    """The rows of a file of cells; none if it does not exist. A last line that a kill cut short is left out.

    Parameters
    ----------
    path : pathlib.Path
    kinds : mapping of str
        Type of each column.

    Returns
    -------
    DataFrame
        With the fields of the cells and their scores as columns.

    Raises
    ------
    ValueError
        If the file is something else.
    """
    if not path.exists() or not _whole_lines(path):
        return pd.DataFrame(columns=list(kinds))
    try:
        header, *rows = csv.reader(
            path.read_bytes()[: _whole_lines(path)].decode("utf-8").splitlines(), strict=True
        )
    except (csv.Error, UnicodeDecodeError):
        raise ValueError(
            f"{path} is no file of cells, or a damaged one: name another folder."
        ) from None
    if header != list(kinds):
        raise ValueError(
            f"{path} is no file of cells: its columns are {', '.join(header)}; name another folder."
        )
    short = next((line for line, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if short is not None:
        raise ValueError(
            f"{path} has damaged lines, line {short} first: remove them, and their cells are run again."
        )
    try:
        return pd.DataFrame(rows, columns=header).astype(dict(kinds))
    except (ValueError, TypeError):
        raise ValueError(
            f"{path} has damaged lines: remove them, and their cells are run again."
        ) from None


def _whole_lines(path: Path) -> int:
    """How many bytes of a file end in a line break."""
    return path.read_bytes().rfind(b"\n") + 1


def missing[C: tuple[Any, ...]](cells: Iterable[C], frame: pd.DataFrame) -> list[C]:
    """The cells that a file does not hold, each once.

    Parameters
    ----------
    cells : iterable of NamedTuple
        Of one kind.
    frame : DataFrame
        From `load`, whose first columns are the fields of the cells.

    Returns
    -------
    list of NamedTuple
    """
    wanted = dict.fromkeys(cells)
    size = len(next(iter(wanted), ()))
    done = set(frame[frame.columns[:size]].itertuples(index=False, name=None))
    return [cell for cell in wanted if cell not in done]


def of_settings[C: tuple[Any, ...]](frame: pd.DataFrame, cells: Iterable[C]) -> pd.DataFrame:
    """The rows of a file that have the settings of some of the cells, whatever their seed and trial.

    Parameters
    ----------
    frame : DataFrame
        From `load`.
    cells : iterable of NamedTuple
        Of one kind, whose first field is the seed and whose last one is the trial.

    Returns
    -------
    DataFrame
    """
    wanted = {cell[1:-1] for cell in cells}
    settings = frame[frame.columns[1 : 1 + len(next(iter(wanted), ()))]]
    return frame[
        np.array([key in wanted for key in settings.itertuples(index=False, name=None)], dtype=bool)
    ]


def numbers(text: str) -> FloatArray:
    """Read numbers that a cell has as words, such as a curve.

    Parameters
    ----------
    text : str

    Returns
    -------
    array

    Examples
    --------
    >>> numbers("0.5 0.7")
    array([0.5, 0.7])
    """
    return np.array(text.split(), dtype=np.float64)


def run_all[C: tuple[Any, ...]](
    cells: Sequence[C], run: Callable[[C], dict[str, Any]], path: Path, kinds: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Run cells one after the other; each is in the file before the next begins.

    Parameters
    ----------
    cells : sequence of NamedTuple
    run : callable
        Fits and scores one cell, and returns a value for each column.
    path : pathlib.Path
        Appended to; made where it is missing.
    kinds : mapping of str
        The columns of the file.

    Yields
    ------
    dict
        What `run` returns, cell by cell.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        whole = _whole_lines(path)
        file.truncate(whole)
        writer = csv.DictWriter(file, list(kinds), lineterminator="\n")
        if whole == 0:
            writer.writeheader()
        for cell in cells:
            try:
                row = run(cell)
            except Exception as error:
                error.add_note(
                    f"in {cell}; cells done before are in {path}, and the same command goes on after them"
                )
                raise
            writer.writerow(row)
            file.flush()
            yield row
