"""Cells: one fit each, its answers and its scores."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import IntArray
from experiments.reproduce import sources
from experiments.reproduce.views.methods import METHODS

__all__ = ["KINDS", "ORDERED", "PER_ITEM", "UNORDERED", "Cell", "answers", "run"]

ORDERED, UNORDERED, PER_ITEM = "ordered", "unordered", "per item"


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
    data : str
    sampling : {"ordered", "unordered", "per item", "none"}
        Whether `amount` is a share of the n^2 ordered pairs, of the n (n - 1) / 2 unordered ones,
        or pairs per item; "none" where the method hears no answers.
    amount : float
    accuracy : float
        Probability that an answer is right.
    trial : int
        Which draw of answers.
    """

    seed: int
    method: str
    data: str
    sampling: str
    amount: float
    accuracy: float
    trial: int


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("method", "data", "sampling"), "str"),
        **dict.fromkeys(("amount", "accuracy"), "float64"),
        "trial": "int64",
        **dict.fromkeys(("f", "rand"), "float64"),
        "clusters": "int64",
        **dict.fromkeys(("p_true", "q_true", "p_mean", "q_mean", "area"), "float64"),
        "view": "str",
        **dict.fromkeys(("power", "seconds", "cpu_seconds"), "float64"),
    }
)
"""Columns of the file: the fields of a cell, then its scores."""


def answers(cell: Cell, y: IntArray) -> bc.PairwiseConstraints:
    """Return the answers of a cell; they depend neither on the method nor on which other cells are run.

    Parameters
    ----------
    cell : Cell
    y : (n,) array of int

    Returns
    -------
    PairwiseConstraints
        Whose `flipped` tells which answers are wrong.
    """
    words = (
        zlib.crc32(sources.title(cell.data).encode()),
        round(1000 * cell.amount),
        round(1000 * cell.accuracy),
    )
    rng = np.random.default_rng([cell.seed, cell.trial, *words])
    flip = 1.0 - cell.accuracy
    if cell.sampling == PER_ITEM:
        return bc.PairwiseConstraints.sample(
            y, size=round(cell.amount * len(y)), error_rate=flip, seed=rng
        )
    return bc.PairwiseConstraints.sample(
        y, fraction=cell.amount, error_rate=flip, ordered=cell.sampling == ORDERED, seed=rng
    )


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        The cell; pairwise F and adjusted Rand index to the classes; number of clusters; shares of
        right answers among pairs within a class and between classes (p_true, q_true) and their
        posterior means; the area under the curve with which credibility finds the wrong answers;
        view and power; seconds, and those of processors. What a method does not have, or what there
        is not, is NaN.
    """
    from sklearn.exceptions import ConvergenceWarning

    data, method = sources.load(cell.data), METHODS[cell.method]
    X, links = sources.standardised(data.X), answers(cell, data.y) if method.answers else None
    start, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of searches that are bounded
        found = method.fit(X, links, len(data.target_names), cell.seed + cell.trial)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    labels = found.labels_ if isinstance(found, bc.TVClust) else found
    return {
        **cell._asdict(),
        "f": round(bc.metrics.pairwise_f(labels, data.y), 4),
        "rand": round(bc.metrics.adjusted_rand(labels, data.y), 4),
        "clusters": len(np.unique(labels)),
        **_noise(found, links, data.y),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
    }


def _noise(found: Any, links: bc.PairwiseConstraints | None, y: IntArray) -> dict[str, Any]:
    """How the answers were judged, and how good they are."""
    unknown = {
        **dict.fromkeys(("p_true", "q_true", "p_mean", "q_mean", "area"), np.nan),
        "view": "",
        "power": np.nan,
    }
    if links is None:
        return unknown
    wrong = np.asarray(links.flipped)
    together = y[links.items[:, 0]] == y[links.items[:, 1]]
    known = {
        "p_true": float((~wrong[together]).mean()),
        "q_true": float((~wrong[~together]).mean()),
    }
    if not isinstance(found, bc.TVClust):
        return {**unknown, **known}
    means = {
        f"{name}_mean": float(found.posterior_["posterior"][name].mean()) for name in ("p", "q")
    }
    view = (
        found.cluster_model_
        if found.family_ == found.family
        else f"{found.cluster_model_}, {found.family_}"
    )
    judged = {"area": _area(found, wrong), "view": view, "power": found.power_}
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in (known | means | judged).items()
    }


def _area(found: bc.TVClust, wrong: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    if not 0 < wrong.sum() < len(wrong):
        return np.nan
    return float(roc_auc_score(~wrong, bc.constraint_credibility(found)["credibility"]))
