"""Implications: if these pairs are so, then those pairs are so."""

from __future__ import annotations

from typing import Any, ClassVar, override

import numpy as np

from bayesclust.constraints.rules.base import Rules, listed
from bayesclust.constraints.rules.statements import Apart, Either, Every, Statement, Together

Link = tuple[int, int, bool]


class ImplicationConstraints(Rules):
    """Where all pairs of a premise are as it says, all pairs of a conclusion are as that says.

    The implication of incremental constrained clustering, between conjunctions of must-links and
    cannot-links.

    Parameters
    ----------
    rows : sequence of (premise, conclusion)
        Two lists of links (i, j, same), with same True for "together" and False for "apart".
    n_items : int
        Number of items of the data.
    name : str, default "implication"
        What reports call them.

    Attributes
    ----------
    rows, n_items, name, kind
        As for all `Rules`.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, empty lists, items out of range or linked to
        themselves.

    Examples
    --------
    >>> import bayesclust as bc
    >>> rule = bc.ImplicationConstraints([([(0, 1, True)], [(2, 3, True), (0, 2, False)])], n_items=4)
    >>> [bool(rule.satisfied(labels)[0]) for labels in ([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0])]
    [True, True, False]
    """

    kind: ClassVar[str] = "implication"
    row_form: ClassVar[str] = "(links of the premise, links of the conclusion)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
        premise, conclusion = (
            tuple(self._link(link, what) for link in listed(part, what, "links"))
            for part in self._parts(row, 2, what)
        )
        return premise, conclusion

    def _link(self, link: Any, what: str) -> Link:
        if (
            not isinstance(link, (tuple, list))
            or len(link) != 3
            or not isinstance(link[2], (bool, np.bool_))
        ):
            raise TypeError(
                f"{what} has {link!r} where a link (i, j, True or False for together or apart) is wanted."
            )
        i, j = (self._item(item, what) for item in link[:2])
        if i == j:
            raise ValueError(f"{what} links item {i} to itself: remove this link.")
        return i, j, bool(link[2])

    @override
    def statement(self, row: Any) -> Statement:
        premise, conclusion = row
        broken = tuple(_said(i, j, not same) for i, j, same in premise)
        return Either((*broken, Every(tuple(_said(*link) for link in conclusion))))


def _said(i: int, j: int, same: bool) -> Statement:
    return Together(i, j) if same else Apart(i, j)


__all__ = ["ImplicationConstraints"]
