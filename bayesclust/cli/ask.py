"""``bayesclust ask``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["add", "run"]

from bayesclust._io import replaced
from bayesclust.cli._describe import describe

ABOUT = """Ask about items of a data set, and let the partition follow the answers, moving as little as they demand.

DATA is a file of numbers, one item a line, with a header or without (.csv), an array (.npy), or the name of a data set of
bayesclust.datasets, whose classes then tell the quality. Answers are read line by line from standard input: y yes, n no, ?
don't know, m modify now, u undo, q stop. The session is saved after each; the same command goes on where it stopped."""

EPILOG = """examples:
  bayesclust ask iris --session iris.npz --n-clusters 3
  bayesclust ask plants.csv --session plants.npz --partition clusters.csv --out corrected.csv
  yes y | bayesclust ask plants.csv --session all.npz --queries 5"""


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    text = "answer questions about pairs or triplets, and see the partition follow"
    parser = describe(commands, "ask", text, ABOUT, EPILOG)
    parser.add_argument("data", metavar="DATA", help="file of numbers, or name of a data set")
    parser.add_argument(
        "--session",
        type=Path,
        required=True,
        metavar="FILE",
        help="where the session is kept (.npz)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write the labels to, one a line"
    )
    begin = parser.add_argument_group("a new session")
    begin.add_argument(
        "--partition",
        type=Path,
        metavar="FILE",
        help="labels to start from, one a line, counted from 0",
    )
    begin.add_argument(
        "--n-clusters",
        type=int,
        metavar="K",
        help="start from k-means (default: from DP-means, K unknown)",
    )
    begin.add_argument(
        "--query-strategy",
        default="random",
        metavar="NAME",
        help="how queries are chosen (default: %(default)s)",
    )
    begin.add_argument(
        "--min-satisfied",
        type=float,
        default=1.0,
        metavar="S",
        help="share of answers to satisfy (default: 1)",
    )
    begin.add_argument(
        "--new-clusters",
        type=int,
        default=0,
        metavar="N",
        help="clusters that may be added (default: 0)",
    )
    begin.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of questions and k-means (default: 0)"
    )
    parser.add_argument("--queries", type=int, metavar="N", help="stop after so many answers")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="modify after so many answers (default: 1)",
    )
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Ask until answers end.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code.

    Raises
    ------
    ValueError, OSError
        If data, labels or the session cannot be read or do not fit together.
    """
    from bayesclust.active import InteractiveSession
    from bayesclust.checks import check_int
    from bayesclust.cli.loop import answer_queries

    every = check_int(settings.every, "every")
    number = None if settings.queries is None else check_int(settings.queries, "queries", least=0)
    X, y = _data(settings.data)
    if settings.session.exists():
        session = InteractiveSession.load(settings.session, X)
        print(f"going on: {session!r}", file=sys.stderr)
    else:
        session = _begin(settings, X, y)
        session.save(settings.session)

    answer_queries(
        session,
        sys.stdin,
        sys.stdout,
        number=number,
        every=every,
        save=lambda: session.save(settings.session),
    )
    print(session.history.to_string())
    if settings.out is not None:
        with replaced(settings.out) as draft:
            np.savetxt(draft, session.labels, fmt="%d")
    return 0


def _begin(settings: argparse.Namespace, X: Any, y: Any) -> Any:
    from sklearn.cluster import KMeans

    from bayesclust.active import InteractiveSession
    from bayesclust.checks import check_int, check_items
    from bayesclust.estimators import MinimalModification

    points, seed = check_items(X), check_int(settings.seed, "seed", least=0)
    partition: Any = None
    if settings.partition is not None:
        partition = np.loadtxt(settings.partition, dtype=np.int64, ndmin=1)
    elif settings.n_clusters is not None:
        K = check_int(settings.n_clusters, "n_clusters", most=len(points))
        partition = KMeans(K, n_init=10, random_state=seed)
    modification = MinimalModification(
        min_satisfied=settings.min_satisfied, new_clusters=settings.new_clusters
    )
    return InteractiveSession(
        points,
        partition,
        y=y,
        modification=modification,
        query_strategy=settings.query_strategy,
        random_state=seed,
    )


def _data(name: str) -> tuple[Any, Any]:
    """Return what a file or a name stands for: data, and classes where they are known."""
    import pandas as pd

    from bayesclust import datasets

    path = Path(name)
    if not path.exists() and name in datasets.names():
        found = datasets.load(name)
        return found.X, found.y
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False), None
    frame = pd.read_csv(path, header=None)
    words = pd.to_numeric(frame.iloc[0], errors="coerce").isna()
    return (pd.read_csv(path) if words.any() else frame), None
