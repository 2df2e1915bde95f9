"""What is believed about partition and expert, and what it says of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.active.expected_gain import choose_jointly, expected_gains, uncertainty
from bayesclust.active.proposals import propose
from bayesclust.active.protocol import DONT_KNOW, PAIR, TRIPLET, Query
from bayesclust.checks import check_choice
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints._checks import shown
from bayesclust.constraints.patterns import equality_patterns
from bayesclust.posterior.labels import Labels
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VIEWS", "WORDS", "Beliefs", "check_queries", "with_skips"]

VIEWS: dict[str, type[PairwiseConstraints] | type[RelativeConstraints]] = {
    PAIR: PairwiseConstraints,
    TRIPLET: RelativeConstraints,
}
WORDS = {
    PAIR: (*PairwiseConstraints.vocabulary, DONT_KNOW),
    TRIPLET: RelativeConstraints.vocabulary,
}
"""Answers to each kind of query, in the order of the columns of `Beliefs.confusion`."""
SKIPPED, ANSWERED = 1.0, 9.0
"""Beta prior of the share of pairs to which the expert knows no answer."""
SHORTLIST = 300
"""Queries, the best ones by themselves, among which a batch is chosen."""


def with_skips(confusion: FloatArray, skipped: int, answered: int) -> FloatArray:
    """Add to p(answer | truth) about pairs the answer "don't know", as likely whatever the truth is.

    Parameters
    ----------
    confusion : (S, truth, answer) array of float
        Of a pair that is answered.
    skipped, answered : int
        Pairs so far. The share of skipped ones has the prior Beta(1, 9), and its posterior mean is
        used: it enters the probability of an answer linearly, so that this is exact.

    Returns
    -------
    (S, truth, answer + 1) array of float

    Examples
    --------
    >>> with_skips(np.array([[[0.9, 0.1], [0.2, 0.8]]]), skipped=4, answered=6)
    array([[[0.675, 0.075, 0.25 ],
            [0.15 , 0.6  , 0.25 ]]])
    """
    share = (SKIPPED + skipped) / (SKIPPED + ANSWERED + skipped + answered)
    last = np.full((*confusion.shape[:-1], 1), share)
    return np.concatenate([(1 - share) * confusion, last], axis=-1)


def check_queries(queries: Sequence[Query], n_items: int) -> list[Query]:
    """Return queries about items of the data.

    Parameters
    ----------
    queries : sequence of Query
    n_items : int

    Returns
    -------
    list of Query

    Raises
    ------
    TypeError, ValueError
        If one is of a kind that there is not, or names items that there are not, too many, too few,
        or one twice.

    Examples
    --------
    >>> check_queries([Query("pair", (0, 3))], n_items=4)
    [Query(kind='pair', items=(0, 3))]
    """
    found = [_question(query) for query in queries]
    for kind in {check_choice(query.kind, "the kind of a query", VIEWS) for query in found}:
        rows = [query.items for query in found if query.kind == kind]
        VIEWS[kind](rows, np.zeros(len(rows), dtype=np.int8), n_items)
    return found


def _question(given: Any) -> Query:
    if not (
        isinstance(given, tuple)
        and len(given) == 2
        and isinstance(given[1], (tuple, list, np.ndarray))
    ):
        raise TypeError(
            f"a query is a kind and a tuple of items, such as Query('pair', (0, 1)); got {shown(given)}."
        )
    return Query(given[0], tuple(given[1]))


class Beliefs(NamedTuple):
    """Weighted draws of the partition, and how the expert answers under each of them.

    Examples
    --------
    >>> certain = np.tile([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (2, 1, 1))
    >>> beliefs = Beliefs(np.array([[0, 0, 1], [0, 1, 1]]), np.array([0.5, 0.5]), {"pair": certain})
    >>> beliefs.table([Query("pair", (0, 1)), Query("pair", (0, 2))], "partition")
       kind  i  j   gain  same  different  dnk
    0  pair  0  1  0.693   0.5        0.5  0.0
    1  pair  0  2  0.000   0.0        1.0  0.0
    """

    draws: Labels  # (S, n)
    weights: FloatArray  # (S,) of sum 1
    confusion: Mapping[str, FloatArray]  # by kind of query: p(answer | truth), (S, truth, answer)

    def answers(self, queries: Sequence[Query]) -> FloatArray:
        """Return p(answer | draw), shape (C, S, 3), of C queries."""
        out = np.empty((len(queries), len(self.draws), 3))
        kinds = np.array([query.kind for query in queries])
        row = np.arange(len(self.draws))[:, None]
        for kind in set(kinds.tolist()):
            which = np.flatnonzero(kinds == kind)
            items = np.array([queries[c].items for c in which.tolist()])
            truths = VIEWS[kind].truth[equality_patterns(self.draws[:, items])]
            out[which] = np.swapaxes(self.confusion[kind][row, truths], 0, 1)
        return out

    def propose(
        self, kinds: Sequence[str], asked: Mapping[str, set[Any]], number: int, rng: Generator
    ) -> list[Query]:
        """Return queries worth weighing, of each kind; see `bayesclust.active.proposals`."""
        found = [
            (kind, propose(kind, self.draws, self.weights, asked[kind], number, rng))
            for kind in kinds
        ]
        return [Query(kind, tuple(row)) for kind, rows in found for row in rows.tolist()]

    def best(
        self, queries: Sequence[Query], target: Any, size: int, rng: Generator
    ) -> tuple[list[Query], FloatArray]:
        """Return the queries to ask together, the best one first, and what each adds to those before it."""
        measure, answers = uncertainty(target, self.draws), self.answers(queries)
        pool: IntArray = np.arange(len(queries))
        if size > 1 and len(queries) > SHORTLIST:
            pool = np.argsort(-expected_gains(measure, self.weights, answers), kind="stable")[
                :SHORTLIST
            ]
        chosen, gains = choose_jointly(measure, self.weights, answers[pool], size, rng)
        return [queries[c] for c in pool[chosen]], gains

    def table(self, queries: Sequence[Query], target: Any) -> pd.DataFrame:
        """Return one row a query: its kind and items, the expected gain of its answer, the probability of each answer."""
        import pandas as pd

        answers = self.answers(queries)
        columns: dict[str, Any] = {"kind": [query.kind for query in queries]}
        for t, name in enumerate("ijk"[: max((len(query.items) for query in queries), default=2)]):
            columns[name] = [query.items[t] if t < len(query.items) else None for query in queries]
        frame = pd.DataFrame(columns)
        if "k" in frame:
            frame["k"] = frame["k"].astype("Int64")
        frame["gain"] = expected_gains(uncertainty(target, self.draws), self.weights, answers)
        mean = np.einsum("s,csa->ca", self.weights, answers)
        for kind in dict.fromkeys(columns["kind"]):
            for word in reversed(WORDS[kind][:2]) if kind == PAIR else WORDS[kind][:2]:
                own = frame["kind"] == kind
                frame.loc[own, word] = mean[own.to_numpy(), WORDS[kind].index(word)]
        return frame.assign(dnk=mean[:, 2])
