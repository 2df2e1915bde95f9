"""Cells, each one fit with its scores, and the file that keeps them: what is in it is not run again."""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.experiments.reproduce import sources
from bayesclust.experiments.reproduce.methods import Method

__all__ = ["ORDERED", "UNANSWERED", "UNORDERED", "Cell", "load", "missing", "run", "run_all"]

ORDERED, UNORDERED, UNANSWERED = "ordered", "unordered", "none"
SCORES = ("f", "rand", "nmi", "clusters", "seconds", "labels")


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
    data : str
        A name in `bayesclust.experiments.reproduce.sources`.
    sampling : {"ordered", "unordered", "none"}
        Whether `fraction` is a share of the n^2 ordered pairs, as in the authors' released settings, or of the
        n (n - 1) / 2 unordered ones; "none" where the method heeds no answers.
    fraction : float
        Share of the pairs that are answered: the paper's r.
    accuracy : float
        Probability that an answer is right: the paper's p.
    deviation : int
        The method is told k - deviation clusters, k the number of classes.
    trial : int
        Which draw of answers.
    """

    seed: int
    method: str
    data: str
    sampling: str
    fraction: float
    accuracy: float
    deviation: int
    trial: int


COLUMNS = (*Cell._fields, *SCORES)


def answers(cell: Cell, y: Any) -> bc.PairwiseConstraints | None:
    """The answers of a cell; they depend neither on the method, nor on which other cells are run."""
    if cell.sampling == UNANSWERED:
        return None
    number = sources.number(cell.data), round(1000 * cell.fraction), round(1000 * cell.accuracy)
    words = [cell.seed, cell.trial, *number] + [1] * (cell.sampling == UNORDERED)
    return bc.PairwiseConstraints.sample(
        y,
        fraction=cell.fraction,
        flip=1.0 - cell.accuracy,
        ordered=cell.sampling == ORDERED,
        seed=np.random.default_rng(words),
    )


def run(cell: Cell, method: Method) -> dict[str, Any]:
    """Fit and score one cell.

    Parameters
    ----------
    cell : Cell
    method : Method

    Returns
    -------
    dict
        The cell; pairwise F, adjusted Rand index and NMI to the classes; number of clusters, seconds; for data in the
        plane the labels as one word per item.
    """
    from sklearn.exceptions import ConvergenceWarning

    data = sources.load(cell.data)
    X = data.X if method.raw else sources.standardised(data.X)
    links = answers(cell, data.y)
    told = len(data.target_names) - cell.deviation
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # bounds on passes are part of some settings
        found = method.fit(X, links, told, cell.seed + cell.trial)
    seconds = time.perf_counter() - start
    labels = np.unique(found, return_inverse=True)[1]
    return {
        **cell._asdict(),
        "f": round(bc.metrics.pairwise_f(labels, data.y), 4),
        "rand": round(bc.metrics.adjusted_rand(labels, data.y), 4),
        "nmi": round(bc.metrics.nmi(labels, data.y), 4),
        "clusters": int(labels.max()) + 1,
        "seconds": round(seconds, 2),
        "labels": " ".join(map(str, labels)) if X.shape[1] == 2 else "",
    }


def load(path: Path) -> pd.DataFrame:
    """The rows of a file of cells; none if it does not exist. A last line that a kill cut short is left out.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    DataFrame
        With the fields of `Cell` and the scores as columns.

    Raises
    ------
    ValueError
        If the file is something else.
    """
    if not path.exists() or not _whole_lines(path):
        return pd.DataFrame(columns=list(COLUMNS))
    with path.open(newline="", encoding="utf-8") as file:
        kept = csv.reader(file.read(_whole_lines(path)).splitlines())
    header, *rows = kept
    if tuple(header) != COLUMNS:
        raise ValueError(f"{path} is no file of cells: its columns are {', '.join(header)}; name another folder.")
    frame = pd.DataFrame(rows, columns=header)
    texts = ["method", "data", "sampling", "labels"]
    integers = ["seed", "deviation", "trial", "clusters"]
    kinds = {name: "str" if name in texts else "int64" if name in integers else "float64" for name in COLUMNS}
    return frame.astype(kinds)


def _whole_lines(path: Path) -> int:
    """How many characters of a file end in a line break; it is plain ASCII."""
    return path.read_bytes().rfind(b"\n") + 1


def missing(cells: Iterable[Cell], frame: pd.DataFrame) -> list[Cell]:
    """The cells that a file does not hold, each once.

    Parameters
    ----------
    cells : iterable of Cell
    frame : DataFrame
        From `load`.

    Returns
    -------
    list of Cell
    """
    done = set(frame[list(Cell._fields)].itertuples(index=False, name=None))
    return [cell for cell in dict.fromkeys(cells) if cell not in done]


def run_all(cells: Sequence[Cell], methods: Mapping[str, Method], path: Path) -> Iterator[dict[str, Any]]:
    """Run cells one after the other; each is in the file before the next begins.

    Parameters
    ----------
    cells : sequence of Cell
    methods : mapping of Method
    path : pathlib.Path
        Appended to; made where it is missing.

    Yields
    ------
    dict
        What `run` returns, cell by cell.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        whole = _whole_lines(path)
        file.truncate(whole)
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if whole == 0:
            writer.writeheader()
        for cell in cells:
            try:
                row = run(cell, methods[cell.method])
            except Exception as error:
                error.add_note(f"in {cell}; cells done before are in {path}, and the same command goes on after them")
                raise
            writer.writerow(row)
            file.flush()
            yield row
