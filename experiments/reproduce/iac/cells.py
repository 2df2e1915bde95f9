"""Cells: one session, one timed fit or one comparison each, and its scores."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.reproduce import sources
from experiments.reproduce.iac import answers
from experiments.reproduce.iac.methods import METHODS
from experiments.reproduce.iac.sessions import AREAS, converse, single

__all__ = ["KINDS", "PARTS", "Cell", "prepared", "run", "start"]

LIMIT = 600.0
"""Seconds of wall-clock time for the search of one modification; an idle machine needs a few."""

LARGE = 5000
"""Items from which k-means has one start instead of ten."""

IMAGES = 784
"""Columns from which they are pixels and left as they are."""


class Cell(NamedTuple):
    """One run: what, by whom, on what.

    Parameters
    ----------
    seed : int
        Of the whole run.
    part : {"session", "runtime", "soft"}
        Ten rounds of answers and modifications, one fit that is timed, or one fit to answers that
        cannot all hold.
    method : str
        A name in `METHODS`.
    data : str
        A name or file, as in `experiments.reproduce.sources.load`.
    kind : str
        Who chooses questions, the kind of constraints, or a name in
        `experiments.reproduce.iac.answers.CASES`.
    number : int
        Answers or constraints.
    trial : int
        Which draw of start and answers; neither depends on the method.
    """

    seed: int
    part: str
    method: str
    data: str
    kind: str
    number: int
    trial: int


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "int64",
        **dict.fromkeys(("part", "method", "data", "kind"), "str"),
        **dict.fromkeys(("number", "trial"), "int64"),
        **dict.fromkeys(AREAS, "float64"),
        **dict.fromkeys(("given_up", "unsolved"), "int64"),
        **dict.fromkeys(("gap", "seconds", "cpu_seconds", "choosing"), "float64"),
        **dict.fromkeys(("qualities", "similarities"), "str"),
    }
)
"""Columns of the file: the fields of a cell, then its scores."""


@lru_cache(maxsize=2)
def prepared(name: str) -> tuple[FloatArray, IntArray]:
    """Items, columns standardised unless they are pixels, and classes.

    Parameters
    ----------
    name : str

    Returns
    -------
    X : (n, d) array
    y : (n,) array of int
    """
    data = sources.load(name)
    return data.X if data.X.shape[1] >= IMAGES else sources.standardised(data.X), data.y


@lru_cache(maxsize=4)
def start(name: str, seed: int) -> IntArray:
    """The partition that is modified: what k-means, told the number of classes, finds without answers.

    Parameters
    ----------
    name : str
    seed : int

    Returns
    -------
    (n,) array of int
    """
    from sklearn.cluster import KMeans

    X, y = prepared(name)
    k_means = KMeans(int(y.max()) + 1, n_init=1 if len(X) >= LARGE else 10, random_state=seed)
    return np.asarray(k_means.fit(X).labels_, dtype=np.int64)


def run(cell: Cell) -> dict[str, Any]:
    """Run and score one cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        The cell; ARI, AMI and FMI to the classes (quality) and to the partition before
        (similarity), of a session the areas under their budget curves; answers that the last
        partition does not satisfy; modifications for which the time was too short to find any; the
        largest relative gap of the others; seconds of a modification or fit, and of processors for
        it and to choose the questions of a round; ARI after each round of a session, as words. NaN
        where there is none.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # a gap that is left is a score of its own
        row = PARTS[cell.part](cell)
    blank = {name: {"float64": np.nan, "int64": 0, "str": ""}[kind] for name, kind in KINDS.items()}
    return {
        **blank,
        **cell._asdict(),
        **{name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()},
    }


def _modification(method: str, **settings: Any) -> bc.MinimalModification:
    found = METHODS[method]
    return bc.MinimalModification(found.alpha, found.beta, time_limit=LIMIT, **settings)


def _words(cell: Cell) -> list[int]:
    return [cell.seed, cell.trial, sources.code(cell.data)]


def _session(cell: Cell) -> dict[str, Any]:
    X, y = prepared(cell.data)
    labels = start(cell.data, cell.seed + cell.trial)
    seed = int(np.random.default_rng(_words(cell)).integers(2**31))
    session = bc.InteractiveSession(
        X,
        labels,
        y=y,
        modification=_modification(cell.method),
        query_strategy=cell.kind,
        random_state=seed,
    )
    return converse(session, y, cell.number)


def _runtime(cell: Cell) -> dict[str, Any]:
    X, y = prepared(cell.data)
    labels = start(cell.data, cell.seed + cell.trial)
    rng = np.random.default_rng([*_words(cell), zlib.crc32(cell.kind.encode()), cell.number])
    given = answers.right(cell.kind, y, labels, cell.number, rng)
    _, row = _timed(lambda: _modification(cell.method).fit(X, partition=labels, constraints=given))
    return row


def _soft(cell: Cell) -> dict[str, Any]:
    X, y = prepared(cell.data)
    labels, seed = start(cell.data, cell.seed + cell.trial), cell.seed + cell.trial
    links = answers.case(cell.kind, y, cell.number, np.random.default_rng(_words(cell)))
    est: Any = {"pck": {"metric": "euclidean", "growth": 1}, "mpck": {}}.get(cell.method)
    if est is None:
        share = answers.CASES[cell.kind]
        settings = {"partition": labels, "constraints": links}
        fitted, row = _timed(lambda: _modification(cell.method, satisfied=share).fit(X, **settings))
    else:
        fitted, row = _timed(
            lambda: bc.MPCKMeans(int(y.max()) + 1, random_state=seed, **est).fit(
                X, constraints=links
            )
        )
    if fitted is None:
        return row
    found = fitted.labels_
    row["given_up"] = int((links.truths(found) != links.answers).sum())
    return {**row, **single(found, y, labels)}


def _timed(fit: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """Return what was fitted, None if time was too short, and what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        fitted = fit()
    except TimeoutError:
        fitted = None
    row: dict[str, Any] = {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }
    row["unsolved"] = int(fitted is None)
    if isinstance(fitted, bc.MinimalModification):
        row["gap"] = fitted.gap_ / fitted.objective_ if fitted.gap_ > 0 else 0.0
        row["given_up"] = len(fitted.given_up_)
    return fitted, row


PARTS: Mapping[str, Callable[[Cell], dict[str, Any]]] = MappingProxyType(
    {"session": _session, "runtime": _runtime, "soft": _soft}
)
"""By name, what runs them."""
