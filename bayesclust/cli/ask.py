"""``bayesclust ask``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust._io import check_target, replaced
from bayesclust.checks import counted
from bayesclust.cli.tables import add_reading, read_items, read_labels, read_named, refuse_missing

if TYPE_CHECKING:
    from bayesclust.active import InteractiveSession

ABOUT = """Ask about items of a data set, and change the partition no more than the answers require.

DATA is a table as for bayesclust fit, or the name of a data set of bayesclust.datasets, whose
classes measure the quality. Answers are read line by line from standard input: y yes, n no, ? don't
know, u undo, q stop. The session is saved after each; the same command resumes it."""

EPILOG = """examples:
  bayesclust ask iris --session iris.npz --n-clusters 3
  bayesclust ask plants.csv --session plants.npz --partition clusters.csv --out corrected.csv
  yes y | bayesclust ask plants.csv --session all.npz --queries 5

columns of the table at the end, a line for each partition:
  answers     given before it
  moved       items that changed their cluster
  cost        distance that the items moved
  violated    answers that the partition does not satisfy
  n_clusters  of the partition
  similarity  adjusted Rand index with the partition before
  quality     the same with the classes of a data set"""

HELP = "y yes, n no, ? don't know, u undo, q stop"
FEATURES_SHOWN = 8
BEGIN = ("partition", "n_clusters", "new_clusters", "query_strategy", "seed")
"""Settings of a new session."""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    text = "answer questions about pairs or triplets, and see the partition follow"
    parser = command("ask", text, ABOUT, EPILOG)
    file: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    number: dict[str, Any] = {"type": int, "metavar": "N"}
    parser.add_argument("data", metavar="DATA", help="file of numbers, or name of a data set")
    parser.add_argument("--session", required=True, help="where the session is kept (.npz)", **file)
    parser.add_argument("--out", help="file to write the labels to, one a line", **file)
    parser.add_argument("--queries", help="stop after so many answers", **number)
    begin = parser.add_argument_group("a new session")
    text = "labels to start from, counted from 0: one a line, or a table of summary --clusters"
    begin.add_argument("--partition", help=text, **file)
    text = "start from k-means (default: from DP-means, K unknown)"
    begin.add_argument("--n-clusters", type=int, metavar="K", help=text)
    text = "clusters that answers may add to these (default: 0, or 1 to a single one)"
    begin.add_argument("--new-clusters", help=text, **number)
    text = "how queries are chosen"
    text += ": random, random-triplets, npu, posterior or posterior-triplets (default: random)"
    begin.add_argument("--query-strategy", metavar="NAME", help=text)
    begin.add_argument("--seed", help="of questions and k-means (default: 0)", **number)
    add_reading(parser)
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Ask until answers end."""
    import pandas as pd

    from bayesclust import datasets
    from bayesclust.active import InteractiveSession
    from bayesclust.checks import check_int

    if sys.stdin is None:
        raise ValueError("standard input is closed: pipe answers into it, or type them.")
    if settings.out is not None:
        read = [Path(settings.data), settings.session, settings.partition]
        check_target(settings.out, inputs=filter(None, read))
    most = None if settings.queries is None else check_int(settings.queries, "queries", least=0)
    y: Any = None
    if not Path(settings.data).exists() and settings.data in datasets.names():
        data = datasets.load(settings.data)
        X, y = pd.DataFrame(data.X, columns=list(data.feature_names)), data.y
    else:
        if not Path(settings.data).exists():
            raise ValueError(
                f"there is no file {settings.data}, nor a data set of that name: name a file, or "
                f"one of {', '.join(datasets.names())}."
            )
        X = read_items(settings)
        refuse_missing(X, Path(settings.data), "leave the item out")
    if settings.session.exists():
        session = InteractiveSession.load(settings.session, X)
        print(f"resumed: {session}", file=sys.stderr)
        if given := [word for word in BEGIN if vars(settings)[word] is not None]:
            words = ", ".join(f"--{word.replace('_', '-')}" for word in given)
            print(f"the session keeps its own {words}", file=sys.stderr)
    else:
        session = _begin(settings, X, y)
        session.save(settings.session)
    _answer(session, settings.session, most, X)
    print(session.history.to_string())
    if settings.out is not None:
        with replaced(settings.out) as draft:
            np.savetxt(draft, session.labels, fmt="%d")
    return 0


def _begin(settings: argparse.Namespace, X: Any, y: Any) -> InteractiveSession:
    """A new session, from labels, k-means or DP-means."""
    from sklearn.cluster import KMeans

    from bayesclust.active import InteractiveSession
    from bayesclust.checks import check_int
    from bayesclust.estimators import MinimalModification

    seed = check_int(settings.seed or 0, "seed", least=0)
    partition: Any = None
    if settings.partition is not None:
        partition = _partition(settings.partition, X.index)
    elif settings.n_clusters is not None:
        number = check_int(settings.n_clusters, "n_clusters", most=len(X))
        partition = KMeans(number, n_init=10, random_state=seed)
    strategy: dict[str, Any] = {"query_strategy": settings.query_strategy or "random"}
    begun = InteractiveSession(X, partition, y=y, random_state=seed, **strategy)
    if settings.new_clusters is not None:
        more = check_int(settings.new_clusters, "new_clusters", least=0)
        begun.modification = MinimalModification(new_clusters=more)
    return begun


def _partition(path: Path, items: Any) -> Any:
    """Labels of a file, one a line, or of a table, by the names of the items if it has them."""
    wrong = f"{path} has labels that are not whole numbers: number the clusters from 0."
    try:
        return np.loadtxt(path, dtype=np.int64, ndmin=1)
    except ValueError:
        if path.read_text(encoding="utf-8", errors="replace")[:1].isdecimal():
            raise ValueError(wrong) from None
    try:
        labels = read_labels(path, read_named(path, None, items.name), items)
        return np.array(labels, dtype=np.int64)
    except ValueError as error:
        raise ValueError(wrong if "invalid literal" in str(error) else str(error)) from None


def _answer(session: InteractiveSession, path: Path, most: int | None, items: Any) -> None:
    """Ask about rows of the table `items`, read answers line by line, and modify the partition."""
    from bayesclust.active.protocol import VOCABULARY

    taken = 0
    while most is None or taken < most:
        asked = session.ask()
        if not asked:
            print("nothing is left to ask")
            break
        (query,) = asked
        print(query._replace(items=tuple(items.index[list(query.items)])))
        for item in query.items:
            shown = items.iloc[item, :FEATURES_SHOWN].items()
            features = ", ".join(f"{name} {x:.4g}" for name, x in shown)
            more = ", ..." if items.shape[1] > FEATURES_SHOWN else ""
            name, cluster = items.index[item], session.labels[item]
            print(f"  {name:>6} in cluster {cluster}: {features}{more}")
        word = _word()
        if word == "q":
            break
        if word == "u":
            taken -= _undo(session)
        else:
            session.answer(query, VOCABULARY[query.kind]["yn?".index(word)])
            taken += 1
            session.save(path)  # the answer is kept even if what it leads to fails
            _modify(session)
        session.save(path)


def _word() -> str:
    """Read lines until one is understood; the end of the input means stop."""
    while True:
        print(f"[{HELP}]", flush=True)
        try:
            word = input().strip().lower()
        except EOFError:
            return "q"
        if word in set("yn?uq"):
            return word
        print(f"{word!r} is not understood")


def _undo(session: InteractiveSession) -> int:
    """Undo the last answer and a modification after it; return how many answers that were."""
    before = session.n_answers
    try:
        session.undo()
        if session.n_answers == before:  # that was a modification
            session.undo()
        print("taken back")
    except ValueError as error:
        print(error)
    return before - session.n_answers


def _modify(session: InteractiveSession) -> None:
    from bayesclust.estimators.minimal_modification import ConflictError

    try:
        found = session.modify()
    except (ConflictError, TimeoutError) as error:
        print(f"the partition does not change: {error} Here, u takes the last answer back.")
        return
    last = session.history.iloc[-1]
    quality = f", quality {last['quality']:.3f}" if "quality" in last else ""
    moved, violated = counted(len(found.moved_), "item"), len(found.violated_)
    changed = f"{moved} moved, {counted(violated, 'constraint')} violated"
    after = f"{counted(found.n_clusters_, 'cluster')} after {counted(session.n_answers, 'answer')}"
    print(f"{after}: {changed}{quality}")
