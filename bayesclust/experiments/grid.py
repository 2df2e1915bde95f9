"""The TVClust paper's grid of answers: every method on the same constraints, with the defaults.

Run as ``python -m bayesclust.experiments.grid``. Five data sets (glass without its row number), a share r of the n^2
ordered pairs answered (about 2 r of the unordered pairs, as in the authors' released settings), each answer right with
probability p; columns standardised; pairwise F to the classes, which no method sees. Each cell is written down as soon as
it is done, and cells that are in the file are not run again: after an interrupt the same command goes on.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray

__all__ = ["Cell", "main", "run", "table"]

DATA = ("iris", "wine", "ecoli", "glass", "balance")
FRACTIONS, ACCURACIES = (0.01, 0.03), (1.0, 0.9, 0.8)
METHODS: dict[str, Callable[[int], Any]] = {
    "variational": lambda seed: bc.TVClust("variational", num_chains=1, num_samples=1, random_state=seed),
    "authors": lambda seed: bc.TVClust("variational", variational="authors", num_chains=1, num_samples=1, random_state=seed),
    "collapsed": lambda seed: bc.TVClust(random_state=seed, progress=False),
    "rdp-means": lambda seed: bc.RDPMeans(random_state=seed),
}
COLUMNS = ("method", "data", "fraction", "accuracy", "trial", "f", "rand", "clusters", "seconds")


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    data : str
        One of `DATA`.
    fraction : float
        Share of the ordered pairs that are answered.
    accuracy : float
        Probability that an answer is right.
    trial : int
        Which draw of answers.
    """

    method: str
    data: str
    fraction: float
    accuracy: float
    trial: int


def run(cell: Cell, seed: int) -> dict[str, Any]:
    """Fit and score one cell; its answers do not depend on the method, nor on which other cells are run.

    Parameters
    ----------
    cell : Cell
    seed : int

    Returns
    -------
    dict
        The cell, pairwise F, adjusted Rand index, number of clusters and seconds.
    """
    data = bc.datasets.load(cell.data)
    spread = data.X.std(axis=0)
    X: FloatArray = (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    number = DATA.index(cell.data), round(1000 * cell.fraction), round(1000 * cell.accuracy)
    links = bc.PairwiseConstraints.sample(
        data.y,
        fraction=cell.fraction,
        flip=1.0 - cell.accuracy,
        ordered=True,
        seed=np.random.default_rng([seed, cell.trial, *number]),
    )
    start = time.perf_counter()
    est = METHODS[cell.method](seed + cell.trial).fit(X, constraints=links)
    seconds = time.perf_counter() - start
    return {
        **cell._asdict(),
        "f": round(bc.metrics.pairwise_f(est.labels_, data.y), 4),
        "rand": round(bc.metrics.adjusted_rand(est.labels_, data.y), 4),
        "clusters": est.n_clusters_,
        "seconds": round(seconds, 2),
    }


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def done(rows: Sequence[dict[str, str]]) -> set[Cell]:
    """The cells that the rows of a file hold."""
    return {
        Cell(row["method"], row["data"], float(row["fraction"]), float(row["accuracy"]), int(row["trial"])) for row in rows
    }


def table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Mean F by method, in a Markdown table: by data set, by share of answers, by accuracy, and of all.

    Parameters
    ----------
    rows : sequence of dict
        Rows of the file.

    Yields
    ------
    str
        Lines.
    """
    methods = [method for method in METHODS if any(row["method"] == method for row in rows)]
    yield "| | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 1) + "|"
    groups = [("data", name, name) for name in DATA]
    groups += [("fraction", str(r), f"r = {r:g}") for r in FRACTIONS]
    groups += [("accuracy", str(p), f"p = {p:g}") for p in ACCURACIES]
    for column, value, title in [*groups, ("", "", "all")]:
        line = []
        for method in methods:
            scores = [float(row["f"]) for row in rows if row["method"] == method and (not column or row[column] == value)]
            line.append(f"{np.mean(scores):.3f}" if scores else "")
        yield f"| {title} | " + " | ".join(line) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing and print the table.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line where None.
    """
    parser = argparse.ArgumentParser(prog="python -m bayesclust.experiments.grid", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("grid.csv"), help="file of finished cells")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of answers and fits")
    settings = parser.parse_args(arguments)
    cells = [
        Cell(method, name, fraction, accuracy, trial)
        for method, name, trial in product(settings.methods, settings.data, range(settings.trials))
        for fraction, accuracy in product(FRACTIONS, ACCURACIES)
    ]
    finished = done(read(settings.output))
    missing = [cell for cell in cells if cell not in finished]
    with settings.output.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if file.tell() == 0:
            writer.writeheader()
        for number, cell in enumerate(missing, 1):
            row = run(cell, settings.seed)
            writer.writerow(row)
            file.flush()
            print(f"{number} of {len(missing)}: " + ", ".join(str(row[name]) for name in COLUMNS), flush=True)
    print("\n".join(table(read(settings.output))))


if __name__ == "__main__":
    main()
