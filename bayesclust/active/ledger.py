"""Answers in the order in which they came, as plain rows: taken back from the end, kept as JSON, read as constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

from bayesclust.active.protocol import DONT_KNOW, PAIR, Query
from bayesclust.constraints import Constraints, PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.rules import KINDS, Rules

Row = tuple[str, Any]
"""A kind of constraints and a row of it; pairs and triplets are items and the answer in words."""

PAIRWISE, RELATIVE = PairwiseConstraints.kind, RelativeConstraints.kind


@singledispatch
def rows_of(constraints: Any) -> list[Row]:
    """Return constraints as plain rows.

    Parameters
    ----------
    constraints : Constraints or Rules

    Returns
    -------
    list of Row

    Examples
    --------
    >>> rows_of(PairwiseConstraints([(0, 1)], [True], n_items=2))
    [('pairwise', (0, 1, 'same'))]
    """
    raise TypeError(f"{type(constraints).__name__} holds no constraints: pass a view or rules.")


@rows_of.register
def _rows_of_view(constraints: Constraints) -> list[Row]:
    answers = [constraints.vocabulary[code] for code in constraints.answers]
    rows = zip(constraints.items.tolist(), answers, strict=True)
    return [(constraints.kind, (*items, answer)) for items, answer in rows]


@rows_of.register
def _rows_of_rules(constraints: Rules) -> list[Row]:
    return [(constraints.kind, row) for row in constraints.rows]


def row_of_answer(query: Query, answer: str) -> Row:
    """Return what a query and its answer come to, as a plain row.

    Parameters
    ----------
    query : Query
    answer : str
        Of the query's vocabulary.

    Returns
    -------
    Row
    """
    return (PAIRWISE if query.kind == PAIR else RELATIVE), (*query.items, answer)


def constraints_of(rows: Iterable[Row], n_items: int) -> list[Constraints | Rules]:
    """Return rows as constraints, one view or set of rules for each kind; pairs that nobody knew are left out.

    Parameters
    ----------
    rows : iterable of Row
    n_items : int

    Returns
    -------
    list of Constraints or Rules
        Rows of a kind in their order.

    Raises
    ------
    ValueError
        For kinds that there are not, and from the constructors.

    Examples
    --------
    >>> constraints_of([("label", (0, 1)), ("pairwise", (0, 1, "same")), ("pairwise", (0, 2, "dnk"))], 3)
    [<LabelConstraints 'label': 1 on 3 items>, <PairwiseConstraints 'links': 0 different, 1 same, on
    3 items>]
    """
    by_kind: dict[str, list[Any]] = {}
    for kind, row in rows:
        if kind != PAIRWISE or row[-1] != DONT_KNOW:
            by_kind.setdefault(kind, []).append(row)
    return [_constraints(kind, group, n_items) for kind, group in by_kind.items()]


def _constraints(kind: str, rows: Sequence[Any], n_items: int) -> Constraints | Rules:
    if kind in (PAIRWISE, RELATIVE):
        items, answers = [row[:-1] for row in rows], [row[-1] for row in rows]
        if kind == PAIRWISE:
            return PairwiseConstraints(items, answers, n_items)
        return RelativeConstraints(items, answers, n_items)
    if kind not in KINDS:
        raise ValueError(
            f"there is no kind of constraints {kind!r}: import the module that defines it."
        )
    return KINDS[kind](rows, n_items)


def skipped(rows: Iterable[Row]) -> list[Query]:
    """Return the pairs to which nobody knew the answer.

    Parameters
    ----------
    rows : iterable of Row

    Returns
    -------
    list of Query
    """
    return [
        Query(PAIR, tuple(row[:2]))
        for kind, row in rows
        if kind == PAIRWISE and row[-1] == DONT_KNOW
    ]


__all__ = ["Row", "constraints_of", "row_of_answer", "rows_of", "skipped"]
