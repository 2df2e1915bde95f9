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
from experiments.reproduce.dcrc.answers import ask, data_number, heard
from experiments.reproduce.dcrc.methods import METHODS, choose

__all__ = ["KINDS", "Cell", "accuracy", "run"]


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
        A name in `experiments.reproduce.dcrc.methods.METHODS`.
    data : str
        A name in `experiments.reproduce.sources`.
    answers : str
        Who answers, as in `experiments.reproduce.dcrc.answers.ask`; "none" where the
        method hears nothing.
    fraction : float
        Questions asked as a share of the number of items; 0 where it is their number that is given.
    number : int
        Questions asked.
    trial : int
        Which draw of answers.
    """

    seed: int
    method: str
    data: str
    answers: str
    fraction: float
    number: int
    trial: int


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("method", "data", "answers"), "str"),
        "fraction": "float64",
        **dict.fromkeys(("number", "trial", "heard"), "int64"),
        **dict.fromkeys(
            ("f", "rand", "nmi", "accuracy", "predicted_f", "predicted_accuracy"), "float64"
        ),
        "clusters": "int64",
        **dict.fromkeys(("seconds", "cpu_seconds"), "float64"),
        **dict.fromkeys(("setting", "confusion"), "str"),
    }
)
"""Columns of the file: the fields of a cell, then its scores."""


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        The cell; number of answers heard; pairwise F, adjusted Rand index, NMI and accuracy of the
        labels; F and accuracy of what DCRC's classifier alone predicts (NaN for others); number of
        clusters; seconds, and those of processors; the setting chosen, and the p(answer | truth)
        learned, as words.
    """
    from sklearn.exceptions import ConvergenceWarning

    data, method = sources.load(cell.data), METHODS[cell.method]
    X, k, seed = sources.standardised(data.X), len(data.target_names), cell.seed + cell.trial
    words = [cell.seed, cell.trial, data_number(cell.data), round(1000 * cell.fraction)]
    view = ask(data, cell.answers, cell.number, words if cell.fraction else [*words, cell.number])
    start, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # of searches cut short while settings are chosen
        setting = choose(method, X, view, k, seed)
        told = heard(view, method.hears)
        found = method.fit(X, told, k, seed, **setting)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    labels, predicted, confusion = found, None, ""
    if isinstance(found, bc.DCRC):
        labels, predicted = found.labels_, found.predict(X)
        confusion = " ".join(
            f"{p:.4f}" for p in found.confusion_.get("triplets", np.empty(0)).ravel()
        )
    return {
        **cell._asdict(),
        "heard": 0 if told is None else len(told),
        "f": round(bc.metrics.pairwise_f(labels, data.y), 4),
        "rand": round(bc.metrics.adjusted_rand(labels, data.y), 4),
        "nmi": round(bc.metrics.nmi(labels, data.y), 4),
        "accuracy": round(accuracy(labels, data.y), 4),
        "predicted_f": np.nan
        if predicted is None
        else round(bc.metrics.pairwise_f(predicted, data.y), 4),
        "predicted_accuracy": np.nan
        if predicted is None
        else round(accuracy(predicted, data.y), 4),
        "clusters": len(np.unique(labels)),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "setting": " ".join(f"{name}={value:g}" for name, value in setting.items()),
        "confusion": confusion,
    }


def accuracy(labels: IntArray, y: IntArray) -> float:
    """Share of the items whose class is that of their cluster, clusters and classes matched for the largest share.

    Parameters
    ----------
    labels, y : (n,) array of int

    Returns
    -------
    float

    Examples
    --------
    >>> accuracy(np.array([5, 5, 2, 2]), np.array([0, 0, 1, 0]))
    0.75
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    shared = contingency_matrix(y, labels)
    return float(shared[linear_sum_assignment(-shared)].sum() / len(y))
