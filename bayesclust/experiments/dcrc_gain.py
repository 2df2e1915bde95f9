"""What answers about triplets add to k-means: DCRC with its defaults, with and without "do not know".

Run as ``python -m bayesclust.experiments.dcrc_gain``. The setting of the DCRC paper's Figure 4: 0.05 n to 0.3 n triplets
drawn at random, answered by the classes without error, columns standardised, pairwise F of all items. No label is used for
tuning. "dcrc-yn" is not told the answers "dnk". Each cell is written down as soon as it is done, and cells that are in the
file are not run again: after an interrupt the same command goes on.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray

__all__ = ["Cell", "main", "run", "table"]

DATA = ("ionosphere", "pima", "balance", "digits389", "letters_ijlt")
MORE_DATA = (*DATA, "wine", "ecoli", "segment")
FRACTIONS = (0.05, 0.15, 0.3)
METHODS = ("kmeans", "dcrc", "dcrc-yn", "dcrc-even", "dcrc-no-balance", "dcrc-cv-balance", "dcrc-cv")
DEFAULT_METHODS = ("kmeans", "dcrc", "dcrc-yn")
OPTIONS: dict[str, dict[str, Any]] = {
    "dcrc-even": {"balance": True},
    "dcrc-cv-balance": {"balance": "cv"},
    "dcrc-no-balance": {"balance": False},
    "dcrc-cv": {"tau": "cv", "penalty": "cv"},
}
COLUMNS = ("method", "data", "fraction", "trial", "answers", "f", "rand", "clusters", "bound", "seconds")


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    data : str
        One of `MORE_DATA`.
    fraction : float
        Triplets asked about, as a share of the number of items.
    trial : int
        Which draw of triplets.
    """

    method: str
    data: str
    fraction: float
    trial: int


def run(cell: Cell, seed: int) -> dict[str, Any]:
    """Fit and score one cell; its triplets do not depend on the method, nor on which other cells are run.

    Parameters
    ----------
    cell : Cell
    seed : int

    Returns
    -------
    dict
        The cell, number of answers used, pairwise F, adjusted Rand index, clusters, bound and seconds.
    """
    data = bc.datasets.load(cell.data)
    number, n_clusters = MORE_DATA.index(cell.data), len(np.unique(data.y))
    triplets = bc.RelativeConstraints.sample(
        data.y,
        size=max(1, round(cell.fraction * len(data.y))),
        noise=0.0,
        seed=np.random.default_rng([seed, cell.trial, number, round(1000 * cell.fraction)]),
    )
    if cell.method == "dcrc-yn":
        told = triplets.answers < 2
        triplets = bc.RelativeConstraints(triplets.items[told], triplets.answers[told], n_items=len(data.y))
    start = time.perf_counter()
    if cell.method == "kmeans":
        labels, bound = _kmeans(data.X, n_clusters, seed + cell.trial), np.nan
    else:
        est = bc.DCRC(n_clusters, random_state=seed + cell.trial, **OPTIONS.get(cell.method, {}))
        labels = est.fit_predict(data.X, constraints=triplets)
        bound = est.bound_
    return {
        **cell._asdict(),
        "answers": 0 if cell.method == "kmeans" else len(triplets),
        "f": round(bc.metrics.pairwise_f(labels, data.y), 4),
        "rand": round(bc.metrics.adjusted_rand(labels, data.y), 4),
        "clusters": len(np.unique(labels)),
        "bound": round(bound, 3),
        "seconds": round(time.perf_counter() - start, 2),
    }


def _kmeans(X: FloatArray, n_clusters: int, seed: int) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    return KMeans(n_clusters, n_init=10, random_state=seed).fit(StandardScaler().fit_transform(X)).labels_


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def done(rows: Sequence[dict[str, str]]) -> set[Cell]:
    """The cells that the rows of a file hold."""
    return {Cell(row["method"], row["data"], float(row["fraction"]), int(row["trial"])) for row in rows}


def table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Mean F by data set and number of triplets, in a Markdown table.

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
    yield "| | triplets | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 2) + "|"
    for name in MORE_DATA:
        for fraction in (*map(str, FRACTIONS), ""):
            line = []
            for method in methods:
                scores = [
                    float(row["f"])
                    for row in rows
                    if (row["method"], row["data"]) == (method, name) and (not fraction or row["fraction"] == fraction)
                ]
                line.append(f"{np.mean(scores):.3f}" if scores else "")
            if any(line):
                yield f"| {name} | {f'{fraction} n' if fraction else 'mean'} | " + " | ".join(line) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing and print the table.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line where None.
    """
    parser = argparse.ArgumentParser(prog="python -m bayesclust.experiments.dcrc_gain", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("dcrc_gain.csv"), help="file of finished cells")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(DEFAULT_METHODS))
    parser.add_argument("--data", nargs="+", choices=MORE_DATA, default=list(DATA))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of triplets and fits")
    settings = parser.parse_args(arguments)
    cells = [
        Cell(method, name, fraction, trial)
        for trial, name, method, fraction in product(range(settings.trials), settings.data, settings.methods, FRACTIONS)
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
