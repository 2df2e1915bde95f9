"""Queries and answers as text, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from bayesclust.active import InteractiveSession
from bayesclust.active.protocol import PAIR, VOCABULARY, Query
from bayesclust.estimators.minimal_modification import ConflictError

KEYS = {
    PAIR: dict(zip(("y", "n", "?"), VOCABULARY[PAIR], strict=True)),
    "triplet": dict(zip(("y", "n", "?"), VOCABULARY["triplet"], strict=True)),
}
HELP = "y yes, n no, ? don't know, m modify now, u undo, q stop"
FEATURES_SHOWN = 8


def describe(session: InteractiveSession, query: Query) -> str:
    """Return the items of a query with their features and clusters, one line each.

    Parameters
    ----------
    session : InteractiveSession
    query : Query

    Returns
    -------
    str
    """
    labels, lines = session.labels, []
    for item in query.items:
        row = session.X[item]
        more = " ..." if len(row) > FEATURES_SHOWN else ""
        lines.append(
            f"  {item:>6} in cluster {labels[item]}: {' '.join(f'{x:.4g}' for x in row[:FEATURES_SHOWN])}{more}"
        )
    return "\n".join(lines)


def answer_queries(
    session: InteractiveSession,
    source: TextIO,
    out: TextIO,
    *,
    number: int | None = None,
    every: int = 1,
    save: Callable[[], None] = lambda: None,
) -> int:
    r"""Ask, read answers line by line, and modify the partition, until the source ends or says stop.

    Parameters
    ----------
    session : InteractiveSession
    source : text stream
        Where answers come from.
    out : text stream
        Where queries go.
    number : int or None, default None
        How many answers to take, at most.
    every : int, default 1
        After how many answers to modify the partition. At the end it is modified if answers are
        left over.
    save : callable
        Called after everything that changes the session.

    Returns
    -------
    int
        Number of answers taken, those taken back not counted.

    Examples
    --------
    >>> import io, sys
    >>> X = [[0.0], [1.0], [9.0]]
    >>> session = InteractiveSession(X, [0, 1, 1], random_state=0)
    >>> answer_queries(session, io.StringIO("n\nq\n"), sys.stdout)
    are items 1 and 2 in one cluster?
           1 in cluster 1: 1
           2 in cluster 1: 9
    [y yes, n no, ? don't know, m modify now, u undo, q stop]
    2 clusters after 1 answers: 1 items moved, 0 answers given up
    are items 0 and 1 in one cluster?
           0 in cluster 0: 0
           1 in cluster 0: 1
    [y yes, n no, ? don't know, m modify now, u undo, q stop]
    1
    """
    taken = 0
    while number is None or taken < number:
        asked = session.ask()
        if not asked:
            print("nothing is left to ask", file=out)
            break
        (query,) = asked
        print(f"{query}\n{describe(session, query)}", file=out)
        word = _word(source, out)
        if word == "q":
            break
        if word == "u":
            taken -= _undo(session, out)
        elif word == "m":
            _modify(session, out)
        else:
            session.answer(query, KEYS[query.kind][word])
            taken += 1
            save()  # the answer is kept even if what it leads to fails
            if session.n_pending >= every:
                _modify(session, out)
        save()
    if session.n_pending:
        _modify(session, out)
        save()
    return taken


def _word(source: TextIO, out: TextIO) -> str:
    """Read lines until one is understood; the end of the source means stop."""
    while True:
        print(f"[{HELP}]", file=out, flush=True)
        line = source.readline()
        word = line.strip().lower()
        if not line:
            return "q"
        if word in {*KEYS[PAIR], "m", "u", "q"}:
            return word
        print(f"{word!r} is not understood", file=out)


def _undo(session: InteractiveSession, out: TextIO) -> int:
    """Take back the last answer, with a modification after it; returns how many answers that were."""
    before = session.n_answers
    try:
        session.undo()
        if session.n_answers == before:  # that was a modification
            session.undo()
    except ValueError as error:
        print(error, file=out)
    else:
        print("taken back", file=out)
    return before - session.n_answers


def _modify(session: InteractiveSession, out: TextIO) -> None:
    try:
        found = session.modify()
    except (ConflictError, TimeoutError) as error:
        print(f"the partition stays as it is: {error}", file=out)
        return
    last = session.history.iloc[-1]
    quality = f", quality {last['quality']:.3f}" if "quality" in last else ""
    print(
        f"{found.n_clusters_} clusters after {session.n_answers} answers: {len(found.moved_)} items moved, "
        f"{len(found.violated_)} answers violated{quality}",
        file=out,
    )


__all__ = ["answer_queries", "describe"]
