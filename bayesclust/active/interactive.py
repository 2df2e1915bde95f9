"""A session: an expert in front of a clustering corrects it a little at a time, and is asked what to say next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust.active import storage
from bayesclust.active.beliefs import check_queries
from bayesclust.active.ledger import Row, constraints_of, row_of_answer, rows_of, skipped
from bayesclust.active.protocol import VOCABULARY, Query, QueryState, QueryStrategy
from bayesclust.active.steps import Step, area_under_budget_curve, history
from bayesclust.active.strategies import QUERY_STRATEGIES, check_query_strategy, query_strategy_of
from bayesclust.checks import (
    check_choice,
    check_constraints,
    check_int,
    check_items,
    check_random_state,
)
from bayesclust.constraints import Constraints
from bayesclust.constraints._checks import true_labels
from bayesclust.constraints.rules import KINDS, Rules
from bayesclust.estimators import DPMeans, MinimalModification
from bayesclust.estimators._modification import start_partition
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


class InteractiveSession:
    """A partition under discussion: answers are added, it is modified as little as they ask for, and all can be taken back.

    Parameters
    ----------
    X : array-like of shape (n, d)
    partition : array-like of int of shape (n,), estimator, posterior or None, default None
        Where to start: labels from 0, an estimator (fitted here if it is not), or a posterior, of
        which the point estimate is taken. None is what `DPMeans` finds with its defaults.
    y : array-like of shape (n,) or None, default None
        True classes, where they are known: the quality of every step is then told. No method sees
        them.
    modification : MinimalModification or None, default None
        How partitions are modified; None is ``MinimalModification()``.
    query_strategy : str or callable, default "random"
        Who chooses queries: a name in `bayesclust.active.QUERY_STRATEGIES` or a callable after
        `bayesclust.active.QueryStrategy`.
    random_state : int, Generator or None, default None
        Of the query strategy.

    Attributes
    ----------
    history : DataFrame
        One row for each partition, the first one included: answers (heeded), moved (items, from the
        one before), cost, given_up (number of constraints), n_clusters, similarity (adjusted Rand
        index to the one before) and, with `y`, quality (adjusted Rand index to the classes).

    Raises
    ------
    TypeError, ValueError
        In one sentence: what was got, where, and what to do.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> session = bc.InteractiveSession(X, [0, 0, 1, 1, 1, 1], y=[0, 0, 0, 1, 1, 1], random_state=0)
    >>> for query in session.ask(3):
    ...     i, j = query.items
    ...     print(query)
    ...     session.answer(query, "same" if (i < 3) == (j < 3) else "different")
    are items 0 and 1 in one cluster?
    are items 1 and 5 in one cluster?
    are items 2 and 5 in one cluster?
    >>> session.add(bc.PairwiseConstraints([(1, 2)], [True], n_items=6))
    >>> session.modify().moved_
    array([2])
    >>> session.history[["answers", "moved", "similarity", "quality"]]
       answers  moved  similarity  quality
    0        0      0       1.000    0.324
    1        4      1       0.324    1.000
    >>> session.undo()
    >>> session.labels, session.n_pending
    (array([0, 0, 1, 1, 1, 1]), 4)
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
        self.X: FloatArray = check_items(X)
        self.y = None if y is None else true_labels(y, least=1, what="y")
        if self.y is not None and len(self.y) != len(self.X):
            raise ValueError(
                f"y has {len(self.y)} entries, but X has {len(self.X)} items: pass one class for each."
            )
        if not (modification is None or isinstance(modification, MinimalModification)):
            raise TypeError(
                f"modification must be a MinimalModification; got {type(modification).__name__}."
            )
        self.modification = MinimalModification() if modification is None else modification
        self.modification.check_settings()
        self.query_strategy, self._strategies = (
            check_query_strategy(query_strategy),
            deepcopy(QUERY_STRATEGIES),
        )
        # a generator of one's own, whose state can be stored
        self._rng = np.random.default_rng(int(check_random_state(random_state).integers(2**63)))
        self._steps = [
            Step(start_partition(DPMeans() if partition is None else partition, self.X), 0, 0.0, ())
        ]
        self._events: list[
            list[Row] | None
        ] = []  # rows that were added together, or None for a modification

    @property
    def labels(self) -> IntArray:
        """The partition as it stands, shape (n,)."""
        return self._steps[-1].labels.copy()

    @property
    def _rows(self) -> list[Row]:
        return [row for event in self._events if event is not None for row in event]

    @property
    def constraints(self) -> list[Constraints | Rules]:
        """All answers so far, one view or set of rules for each kind."""
        return constraints_of(self._rows, len(self.X))

    @property
    def state(self) -> QueryState:
        """What query strategies look at."""
        return QueryState(self.X, self.labels, self.constraints, skipped(self._rows))

    @property
    def n_answers(self) -> int:
        """Number of answers so far, heeded or not."""
        return len(self._rows)

    @property
    def n_pending(self) -> int:
        """Number of answers that came after the last modification."""
        return self.n_answers - self._steps[-1].answers

    def ask(self, size: int = 1) -> list[Query]:
        """Return the next queries; none where nothing is left to ask.

        Parameters
        ----------
        size : int, default 1
            At most so many.

        Returns
        -------
        list of Query
        """
        return list(
            query_strategy_of(self.query_strategy, self._strategies)(
                self.state, check_int(size, "size"), self._rng
            )
        )

    def answer(self, query: Query, answer: str) -> None:
        """Add the answer to a query.

        Parameters
        ----------
        query : Query
            As `ask` returned it, or of one's own: kind and items.
        answer : str
            Of a pair "same", "different" or "dnk" (don't know; it will not be asked again), of a
            triplet "yes", "no" or "dnk".
        """
        [(kind, items)] = check_queries([query], len(self.X))
        check_choice(answer, "answer", VOCABULARY[kind])
        self._events.append([row_of_answer(Query(kind, tuple(int(i) for i in items)), answer)])

    def add(self, constraints: Constraints | Rules | Sequence[Constraints | Rules]) -> None:
        """Add what the expert says unasked, in one piece.

        Parameters
        ----------
        constraints : view, rules or list of them
            Of any kind that `MinimalModification` takes. Names, sources and noise are not kept.
        """
        given = check_constraints(constraints, len(self.X), kinds=("pairwise", "relative", *KINDS))
        self._events.append([row for one in given for row in rows_of(one)])

    def modify(self) -> MinimalModification:
        """Modify the partition as it stands so that it satisfies all answers so far.

        Returns
        -------
        MinimalModification
            As fitted: `given_up_`, `moved_` and so on.

        Raises
        ------
        ConflictError
            If the answers cannot all hold; nothing is changed then. Take answers back, or set
            ``satisfied`` below 1.
        ModuleNotFoundError, TimeoutError
            From `MinimalModification.fit`.
        """
        found = clone(self.modification).fit(
            self.X, partition=self.labels, constraints=self.constraints
        )
        self._steps.append(
            Step(found.labels_, len(self._rows), found.cost_, tuple(found.given_up_.what))
        )
        self._events.append(None)
        fitted: MinimalModification = found
        return fitted

    def undo(self) -> None:
        """Take back what came last: an answer, what was added in one piece, or a modification, whose answers stay."""
        if not self._events:
            raise ValueError(
                "there is nothing to undo: no answer was added and no partition modified."
            )
        if self._events.pop() is None:
            self._steps.pop()

    @property
    def history(self) -> pd.DataFrame:
        """One row for each partition; see the class."""
        return history(self._steps, self.y)

    def area_under_budget_curve(self, score: str = "quality") -> float:
        """Return the area under the budget curve: the mean of a score over the answers heeded, linear between steps.

        Parameters
        ----------
        score : {"quality", "similarity"}, default "quality"

        Returns
        -------
        float
            The score itself where no answers were heeded.

        Examples
        --------
        >>> import bayesclust as bc
        >>> alone = bc.MinimalModification(super_instances=1.0)
        >>> session = bc.InteractiveSession([[0.0], [1.0], [9.0]], [0, 1, 1], y=[0, 0, 1], modification=alone)
        >>> session.add(bc.LabelConstraints([(1, 0)], n_items=3))
        >>> session.modify().cost_, session.area_under_budget_curve()  # quality rises from -0.5 to 1
        (1.0, 0.25)
        """
        table = self.history
        if check_choice(score, "score", ("quality", "similarity")) not in table:
            raise ValueError("the quality is not known: pass the true classes y to the session.")
        return area_under_budget_curve(table, score)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session, without the data, to one file in one atomic step.

        Parameters
        ----------
        path : str or path
            A NumPy archive (.npz); what stood there is replaced. A query strategy that has no name is not
            kept.
        """
        name = self.query_strategy if isinstance(self.query_strategy, str) else None
        data, settings = storage.fingerprint(self.X), self.modification.get_params()
        saved = storage.Saved(
            data, settings, name, self._rng.bit_generator.state, self._events, self._steps, self.y
        )
        storage.write(path, saved)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike,
        *,
        query_strategy: str | QueryStrategy | None = None,
    ) -> Self:
        """Read a session that was saved; it goes on as if never stopped, but that a query strategy's posterior is drawn anew.

        Parameters
        ----------
        path : str or path
        X : array-like of shape (n, d)
            The same data.
        query_strategy : str, callable or None, default None
            None takes the one whose name was saved.

        Returns
        -------
        InteractiveSession

        Raises
        ------
        FileNotFoundError, ValueError
            If there is no session, it is on other data, or its query_strategy had no name and none is
            passed.
        """
        saved = storage.read(path)
        chosen = saved.query_strategy if query_strategy is None else query_strategy
        if chosen is None:
            raise ValueError(
                "the query strategy of this session had no name and could not be saved: pass it as query_strategy."
            )
        points = check_items(X)
        if storage.fingerprint(points) != saved.data:
            raise ValueError(
                f"the session in {str(path)!r} is on other data: pass the X that it was made for."
            )
        how = MinimalModification(**saved.modification)
        session = cls(
            points, saved.steps[0].labels, y=saved.y, modification=how, query_strategy=chosen
        )
        session._rng.bit_generator.state = saved.rng
        session._events, session._steps = saved.events, saved.steps
        return session

    def __repr__(self) -> str:
        return f"<InteractiveSession: {self._summary()}>"

    def _summary(self) -> str:
        waiting = f", {self.n_pending} not yet heeded" if self.n_pending else ""
        return f"{len(self.X)} items in {self._steps[-1].n_clusters} clusters after {self.n_answers} answers{waiting}"

    def _repr_html_(self) -> str:
        table = self.history.tail().to_html(float_format="{:.3f}".format, border=0)
        return f"<p><b>InteractiveSession</b>: {self._summary()}</p>{table}"


__all__ = ["InteractiveSession"]
