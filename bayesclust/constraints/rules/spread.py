"""Generic span-limited: these items are in at most so many clusters, whichever."""

from __future__ import annotations

from typing import Any, ClassVar, override

from bayesclust.constraints.rules.base import Rules, whole
from bayesclust.constraints.rules.statements import Spread, Statement


class SpreadConstraints(Rules):
    """Items that are in at most so many clusters, whichever these are.

    The generic span-limited constraint of incremental constrained clustering: the items of S lie in
    at most gamma clusters. With gamma = 1 they are all together.

    Parameters
    ----------
    rows : sequence of (items, most)
        A list of different items, and the largest number of clusters, at least 1.
    n_items : int
        Number of items of the data.
    name : str, default "spread"
        What reports call them.

    Attributes
    ----------
    rows, n_items, name, kind
        As for all `Rules`.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, no items, items out of range or named twice, and
        no clusters.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spreads = bc.constraints.SpreadConstraints([([0, 1, 2], 2), ([1, 2, 3], 1)], n_items=4)
    >>> spreads.satisfied([0, 1, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "spread"
    row_form: ClassVar[str] = "(list of items, largest number of clusters)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[int, ...], int]:
        items, most = self._parts(row, 2, what)
        number = whole(most, what, "clusters")
        if number < 1:
            raise ValueError(f"{what} allows {number} clusters: allow at least 1.")
        return self._items(items, what), number

    @override
    def statement(self, row: Any) -> Statement:
        return Spread(*row)


__all__ = ["SpreadConstraints"]
