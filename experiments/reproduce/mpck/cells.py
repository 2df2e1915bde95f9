"""Cells: one fit each, its answers and its scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import IntArray
from experiments.reproduce import sources
from experiments.reproduce.mpck.methods import METHODS

__all__ = ["DATA", "FOLDS", "KINDS", "Cell", "answers", "load", "run"]

FOLDS = 5
DATA = ("iris", "wine", "ionosphere", "digits389", "letters_ijl")
# of the paper's sets, those of which it takes a tenth
TENTHS = ("digits389", "letters_ijl")
SEED = 20_260_101


class Cell(NamedTuple):
    """One fit: who, on what, with which answers.

    Parameters
    ----------
    seed : int
        Of the whole run.
    method : str
    data : str
    number : int
        Pairs answered, all right, both items outside the fold held out.
    trial : int
        Which split into folds and draw of answers.
    fold : int
        Which fold is held out.
    """

    seed: int
    method: str
    data: str
    number: int
    trial: int
    fold: int


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("method", "data"), "str"),
        **dict.fromkeys(("number", "trial", "fold"), "int64"),
        **dict.fromkeys(("f", "held_out_f"), "float64"),
        "clusters": "int64",
        "seconds": "float64",
    }
)
"""Columns of the file: the fields of a cell, then its scores."""


@cache
def load(name: str) -> bc.datasets.Dataset:
    """A data set of the paper, its features as they are; of the large ones a tenth of each class.

    Parameters
    ----------
    name : str

    Returns
    -------
    Dataset
    """
    data = sources.load(name)
    if name not in TENTHS:
        return data
    rng = np.random.default_rng(SEED)
    kept = np.sort(
        np.concatenate([_some(np.flatnonzero(data.y == k), rng) for k in np.unique(data.y)])
    )
    return replace(data, X=data.X[kept], y=data.y[kept])


def _some(items: IntArray, rng: np.random.Generator) -> IntArray:
    return rng.choice(items, round(len(items) / 10), replace=False)


def answers(cell: Cell, y: IntArray) -> tuple[bc.PairwiseConstraints, IntArray]:
    """Return right answers to random pairs of items that are not held out, and the items held out.

    Those of a smaller number are among those of a larger one, and none depends on the method.

    Parameters
    ----------
    cell : Cell
    y : (n,) array of int

    Returns
    -------
    links : PairwiseConstraints
    held_out : array of int
    """
    n = len(y)
    fold = (
        np.random.default_rng([cell.seed, cell.trial, DATA.index(cell.data)]).permutation(n) % FOLDS
    )
    held_out, kept = np.flatnonzero(fold == cell.fold), np.flatnonzero(fold != cell.fold)
    rng = np.random.default_rng([cell.seed, cell.trial, DATA.index(cell.data), cell.fold])
    first, second = np.triu_indices(len(kept), k=1)
    drawn = rng.permutation(len(first))[: cell.number]
    pairs = np.column_stack([kept[first[drawn]], kept[second[drawn]]])
    return bc.PairwiseConstraints(
        pairs, (y[pairs[:, 0]] == y[pairs[:, 1]]).astype(int), n
    ), held_out


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        The cell; pairwise F over all items, and over the items held out, as the paper has it;
        number of clusters; seconds.
    """
    from sklearn.exceptions import ConvergenceWarning

    data = load(cell.data)
    links, held_out = answers(cell, data.y)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # the printed algorithm goes round in circles
        told = links if METHODS[cell.method].answers else None
        labels = METHODS[cell.method].fit(
            data.X, told, len(data.target_names), cell.seed + 5 * cell.trial + cell.fold
        )
    return {
        **cell._asdict(),
        "f": round(bc.metrics.pairwise_f(labels, data.y), 4),
        "held_out_f": round(bc.metrics.pairwise_f(labels[held_out], data.y[held_out]), 4),
        "clusters": len(np.unique(labels)),
        "seconds": round(time.perf_counter() - start, 3),
    }
