"""Cells: one fit each, its answers and its scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import IntArray
from experiments.reproduce import sources
from experiments.reproduce.tvclust.methods import Method

__all__ = ["KINDS", "ORDERED", "UNANSWERED", "UNORDERED", "Cell", "answers", "run"]

ORDERED, UNORDERED, UNANSWERED = "ordered", "unordered", "none"


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
    data : str
        A name in `experiments.reproduce.sources`.
    sampling : {"ordered", "unordered", "none"}
        Whether `fraction` is a share of the n^2 ordered pairs, as in the authors' released
        settings, or of the n (n - 1) / 2 unordered ones; "none" where the method heeds no answers.
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


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("method", "data", "sampling"), "str"),
        **dict.fromkeys(("fraction", "accuracy"), "float64"),
        **dict.fromkeys(("deviation", "trial"), "int64"),
        **dict.fromkeys(("f", "rand", "nmi"), "float64"),
        "clusters": "int64",
        "seconds": "float64",
        "labels": "str",
    }
)
"""Columns of the file: the fields of a cell, then its scores."""


def answers(cell: Cell, y: IntArray) -> bc.PairwiseConstraints | None:
    """The answers of a cell; they depend neither on the method, nor on which other cells are run.

    Parameters
    ----------
    cell : Cell
    y : (n,) array of int
        The classes.

    Returns
    -------
    PairwiseConstraints or None
        None where the method heeds no answers.
    """
    if cell.sampling == UNANSWERED:
        return None
    number = sources.number(cell.data), round(1000 * cell.fraction), round(1000 * cell.accuracy)
    words = [cell.seed, cell.trial, *number] + [1] * (cell.sampling == UNORDERED)
    return bc.PairwiseConstraints.sample(
        y,
        fraction=cell.fraction,
        error_rate=1.0 - cell.accuracy,
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
        The cell; pairwise F, adjusted Rand index and NMI to the classes; number of clusters,
        seconds; for data in the plane the labels as one word per item.
    """
    from sklearn.exceptions import ConvergenceWarning

    data = sources.load(cell.data)
    X = data.X if method.raw else sources.standardised(data.X)
    links = answers(cell, data.y)
    told = len(data.target_names) - cell.deviation
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # bounds on passes are part of some settings
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
