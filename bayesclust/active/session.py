"""The interactive session: the partition is modified as little as the answers require."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks as check
from bayesclust._io import UNREADABLE, check_path, replaced
from bayesclust.active.neighbourhoods import NPU
from bayesclust.active.posterior_queries import PosteriorQueries
from bayesclust.active.protocol import (
    ASKED,
    DONT_KNOW,
    PAIR,
    TRIPLET,
    UNNAMED,
    VOCABULARY,
    Query,
    QueryState,
    QueryStrategy,
    RandomQueries,
    check_queries,
)
from bayesclust.constraints.base import KINDS, Constraints, check_constraints
from bayesclust.estimators import DPMeans, MinimalModification
from bayesclust.estimators.minimal_modification import start_partition
from bayesclust.metrics import adjusted_rand
from bayesclust.posterior.tree import names_in
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

QUERY_STRATEGIES: dict[str, QueryStrategy] = {
    "random": RandomQueries(PAIR),
    "random-triplets": RandomQueries(TRIPLET),
    "npu": NPU(),
    "posterior": PosteriorQueries(PAIR),
    "posterior-triplets": PosteriorQueries(TRIPLET),
}
"""Query strategies by name, for sessions and the command line; a new one is a line here."""
FORMAT = 3
"""Version of the files that sessions are saved in."""
PAIRWISE = ASKED[PAIR].kind
Row = tuple[str, Any, str | None]
"""A kind of constraints, one of them and its annotator: ("pairwise", (0, 1, "same"), "ann")."""


class Step(NamedTuple):
    """A partition of the session, and how it came about."""

    labels: IntArray  # (n,)
    answers: int  # used so far
    cost: float  # of the modification
    violated: Sequence[str]  # constraints, in words


class InteractiveSession:
    """A partition that is corrected answer by answer, changed no more than they require, with undo.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The index of a DataFrame names items in `constraints` and `violated_`.
    partition : array-like of int of shape (n,), estimator, posterior or None, default None
        Where to start: labels from 0, an estimator (fitted here if it is not), or the point
        estimate of a posterior. None is the partition that `DPMeans` finds with its defaults.
    y : array-like of shape (n,) or None, default None
        True classes, to measure the quality of every step.
    modification : MinimalModification or None, default None
        How partitions are modified; None is ``MinimalModification()``, with a new cluster allowed
        where the session begins with a single one.
    query_strategy : str or callable, default "random"
        A name in `bayesclust.active.QUERY_STRATEGIES` or a `bayesclust.active.QueryStrategy`.
    random_state : int, Generator or None, default None
        For the query strategy.

    Attributes
    ----------
    history : DataFrame
        One row for each partition: answers (used), moved (items, from the one before), cost,
        violated (number of constraints), n_clusters, and adjusted Rand indices: similarity (to the
        one before) and, with `y`, quality (to the classes).

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> session = bc.InteractiveSession(X, [0, 0, 1, 1, 1, 1], y=[0, 0, 0, 1, 1, 1], random_state=0)
    >>> for query in session.ask(3):
    ...     i, j = query.items
    ...     session.answer(query, "same" if (i < 3) == (j < 3) else "different")
    >>> session.add(bc.PairwiseConstraints([(1, 2)], [True], n_items=6))
    >>> session.modify().moved_
    array([2])
    >>> session.history[["answers", "moved", "quality"]]
       answers  moved  quality
    0        0      0    0.324
    1        4      1    1.000
    >>> session.undo()
    """

    def __init__(
        self,
        X: ArrayLike,
        partition: Any = None,
        *,
        y: ArrayLike | None = None,
        modification: MinimalModification | None = None,
        query_strategy: str | QueryStrategy = "random",
        random_state: int | Generator | None = None,
    ) -> None:
        self.X: FloatArray = check.check_items(X)
        names = names_in(X)[0]
        self._names = None if names is None else list(names)
        self.y = None if y is None else check.true_labels(y, least=1, name="y")
        if self.y is not None and len(self.y) != len(self.X):
            raise ValueError(
                f"y has {len(self.y)} entries, but X has {len(self.X)} items: "
                "pass one class for each."
            )
        if not (modification is None or isinstance(modification, MinimalModification)):
            raise TypeError(
                f"modification must be a MinimalModification; got {type(modification).__name__}."
            )
        if modification is not None:
            modification.check_settings()
        self.query_strategy = check_query_strategy(query_strategy)
        self._strategies = deepcopy(QUERY_STRATEGIES)  # strategies may keep state
        # a generator of the session, whose state can be saved
        self._rng = np.random.default_rng(
            int(check.check_random_state(random_state).integers(2**63))
        )
        seen = DPMeans() if partition is None else partition
        start = start_partition(seen, self.X, self._names)
        alone = int(start.max() == 0)
        self.modification = modification or MinimalModification(new_clusters=alone)
        self._steps = [Step(start, 0, 0.0, ())]
        # rows that were added together, or None for a modification
        self._events: list[list[Row] | None] = []

    @property
    def labels(self) -> IntArray:
        """The present partition, shape (n,)."""
        return self._steps[-1].labels.copy()

    @property
    def _rows(self) -> list[Row]:
        """All constraints as plain rows, in the order in which they came."""
        return [row for event in self._events if event is not None for row in event]

    @property
    def constraints(self) -> list[Constraints]:
        """All answers and constraints so far, one object for each kind."""
        by_kind: dict[str, list[Any]] = {}
        said_by: dict[str, list[str]] = {}
        for kind, row, source in self._rows:
            if kind != PAIRWISE or row[-1] != DONT_KNOW:
                by_kind.setdefault(kind, []).append(row)
                said_by.setdefault(kind, []).append(source or UNNAMED)
        for kind in by_kind.keys() - KINDS.keys():
            raise ValueError(
                f"there is no kind of constraints {kind!r}: import the module that defines it."
            )
        made: list[Constraints] = []
        for kind, rows in by_kind.items():
            sources = None if set(said_by[kind]) == {UNNAMED} else said_by[kind]
            own = KINDS[kind].from_rows(rows, len(self.X), sources)
            own.item_names = self._names
            made.append(own)
        return made

    @property
    def state(self) -> QueryState:
        """What query strategies look at."""
        skipped = [
            Query(PAIR, tuple(row[:2]))
            for kind, row, _ in self._rows
            if kind == PAIRWISE and row[-1] == DONT_KNOW
        ]
        return QueryState(self.X, self.labels, self.constraints, skipped)

    @property
    def n_answers(self) -> int:
        """Number of answers so far, used or not."""
        return len(self._rows)

    @property
    def n_pending(self) -> int:
        """Number of answers since the last modification."""
        return self.n_answers - self._steps[-1].answers

    def ask(self, size: int = 1) -> list[Query]:
        """Return at most `size` next queries; none if none is left."""
        chosen = check_query_strategy(self.query_strategy)
        strategy = self._strategies[chosen] if isinstance(chosen, str) else chosen
        most = check.check_int(size, "size")
        found = strategy(self.state, most, self._rng)
        if not isinstance(found, (list, tuple)):
            raise TypeError(
                f"the query strategy must return a list of queries; got {check.kind_of(found)}."
            )
        return check_queries(found, len(self.X))[:most]

    def answer(self, query: Query, answer: str) -> None:
        """Add the answer to a query, from `ask` or any other.

        To a pair it is "same", "different" or "dnk" (don't know), to a triplet "yes", "no" or
        "dnk". It is kept as that of the query's source, if it has one.
        """
        [(kind, items, source)] = check_queries([query], len(self.X))
        check.check_choice(answer, "answer", VOCABULARY[kind])
        row = (*(int(i) for i in items), answer)
        who = None if source is None else str(source)
        self._events.append([(ASKED[kind].kind, row, who)])

    def add(self, constraints: Constraints | Sequence[Constraints]) -> None:
        """Add constraints of any kind, to be undone in one piece; who answered is kept.

        Names of the constraints themselves and their noise are not.
        """
        given = check_constraints(constraints, len(self.X), needs="statements", names=self._names)
        for one in given:
            one.statements()  # refuses rows that say that a rule does not hold: rows do not keep it
        rows = ((one, *row) for one in given for row in zip(one.rows, _who(one), strict=True))
        self._events.append([(one.kind, row, who) for one, row, who in rows])

    def modify(self) -> MinimalModification:
        """Modify the present partition so that it satisfies all answers so far; return the fit.

        If they cannot all hold it raises a ConflictError and changes nothing: undo answers, or set
        ``min_satisfied`` below 1.
        """
        import pandas as pd

        items = pd.DataFrame(self.X, index=self._names)
        found: MinimalModification = clone(self.modification).fit(
            items, partition=self.labels, constraints=self.constraints
        )
        violated = list(found.violated_.what)
        self._steps.append(Step(found.labels_, len(self._rows), found.cost_, violated))
        self._events.append(None)
        return found

    def undo(self) -> None:
        """Undo the last event: an answer, an addition, or a modification, whose answers stay."""
        if not self._events:
            raise ValueError(
                "there is nothing to undo: no answer was added and no partition modified."
            )
        if self._events.pop() is None:
            self._steps.pop()

    @property
    def history(self) -> pd.DataFrame:
        """One row for each partition; see the class."""
        import pandas as pd

        labels = [step.labels for step in self._steps]
        changes = list(zip(labels, [labels[0], *labels], strict=False))
        table = {
            "answers": [step.answers for step in self._steps],
            "moved": [int((now != before).sum()) for now, before in changes],
            "cost": [step.cost for step in self._steps],
            "violated": [len(step.violated) for step in self._steps],
            "n_clusters": [len(np.unique(now)) for now in labels],
            "similarity": [adjusted_rand(now, before) for now, before in changes],
        }
        if self.y is not None:
            table["quality"] = [adjusted_rand(now, self.y) for now in labels]
        return pd.DataFrame(table)

    def area_under_budget_curve(self, score: str = "quality") -> float:
        """Return the mean of "quality" or "similarity" over answers used, linear between steps."""
        table = self.history
        if check.check_choice(score, "score", ("quality", "similarity")) not in table:
            raise ValueError("the quality is not known: pass the true classes y to the session.")
        answers = table["answers"].to_numpy(float)
        values = table[score].to_numpy(float)
        if not answers[-1]:
            return float(values[-1])
        return float(np.trapezoid(values, answers) / answers[-1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to an archive (.npz), without the data or a strategy without a name."""
        named = isinstance(self.query_strategy, str)
        about = {
            "format": FORMAT,
            "data": _fingerprint(self.X),
            "modification": self.modification.get_params(),
            "query_strategy": self.query_strategy if named else None,
            "rng": self._rng.bit_generator.state,
            "events": self._events,
            "steps": [step[1:] for step in self._steps],
        }
        arrays: dict[str, Any] = {"labels": np.stack([step.labels for step in self._steps])}
        if self.y is not None:
            arrays["y"] = self.y
        text = np.frombuffer(json.dumps(about, default=np.generic.item).encode(), dtype=np.uint8)
        with replaced(path) as draft, draft.open("wb") as stream:
            np.savez_compressed(stream, about=text, **arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike,
        *,
        query_strategy: str | QueryStrategy | None = None,
    ) -> Self:
        """Read a saved session of the same data; it continues identically.

        `query_strategy` None takes the one whose name was saved; its posterior is drawn again.
        """
        about, steps, y = _read(path)
        chosen = about["query_strategy"] if query_strategy is None else query_strategy
        if chosen is None:
            raise ValueError(
                "the query strategy of this session had no name and could not be saved: "
                "pass it as query_strategy."
            )
        if _fingerprint(check.check_items(X)) != about["data"]:
            raise ValueError(
                f"the session in {str(path)!r} is on other data: pass the X that it was made for."
            )
        how = MinimalModification(**about["modification"])
        session = cls(X, steps[0].labels, y=y, modification=how, query_strategy=chosen)
        session._rng.bit_generator.state = about["rng"]
        session._events = about["events"]
        session._steps = steps
        return session

    def __str__(self) -> str:
        number = check.counted(len(np.unique(self.labels)), "cluster")
        clusters = f"{check.counted(len(self.X), 'item')} in {number}"
        waiting = f", {self.n_pending} not yet used" if self.n_pending else ""
        after = check.counted(self.n_answers, "answer")
        return f"{clusters} after {after}{waiting}"

    def __repr__(self) -> str:
        return f"<InteractiveSession: {self}>"


def check_query_strategy(query_strategy: Any) -> str | QueryStrategy:
    """Return a name in `QUERY_STRATEGIES` or a callable; refuse anything else."""
    if isinstance(query_strategy, str):
        return check.check_choice(query_strategy, "query_strategy", QUERY_STRATEGIES)
    if not callable(query_strategy):
        raise TypeError(
            f"query_strategy must be a name or a callable; got {type(query_strategy).__name__}."
        )
    return query_strategy


def _who(constraints: Constraints) -> list[str | None]:
    """The name of who stated each row, where several did or one has a name."""
    names = getattr(constraints, "source_names", None)
    if names is None and getattr(constraints, "n_sources", 1) == 1:
        return [None] * len(constraints)
    return [str(at) if names is None else names[at] for at in constraints.source.tolist()]


def _fingerprint(X: FloatArray) -> str:
    """A text that differs for other data."""
    return hashlib.sha256(str(X.shape).encode() + X.tobytes()).hexdigest()


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Step], IntArray | None]:
    """Settings, steps and classes of a saved session, read without pickle."""
    try:
        # opened here, since NumPy leaves a damaged file open
        with check_path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(arrays["about"].tobytes().decode())
        if about["format"] != FORMAT:
            raise ValueError
        kept = zip(arrays["labels"], about["steps"], strict=True)
        return about, [Step(labels, *rest) for labels, rest in kept], arrays.get("y")
    except (FileNotFoundError, PermissionError):
        raise
    except (*UNREADABLE, EOFError, zipfile.BadZipFile, zlib.error):
        raise ValueError(
            f"{str(path)!r} is not a bayesclust session, or of another version: give the path of "
            "one that was saved."
        ) from None
