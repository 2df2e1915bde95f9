"""Span-limited: these items are only in those clusters."""

from __future__ import annotations

from typing import Any, ClassVar, override

from bayesclust.constraints.rules.base import Rules, clusters_named
from bayesclust.constraints.rules.statements import Among, Every, Statement


class SpanConstraints(Rules):
    """Items that are only in some clusters, by the numbers of the partition that is modified.

    The span-limited constraint of incremental constrained clustering: all items of S lie in
    clusters of C. A row counts as one constraint, satisfied when all its items are where they may
    be.

    Parameters
    ----------
    rows : sequence of (items, clusters)
        Two lists each, both with different numbers. Numbers past the clusters of the partition are
        new clusters.
    n_items : int
        Number of items of the data.
    name : str, default "span"
        What reports call them.

    Attributes
    ----------
    rows, n_items, name, kind
        As for all `Rules`.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form, empty lists, and numbers out of range or named
        twice.

    Examples
    --------
    >>> import bayesclust as bc
    >>> spans = bc.SpanConstraints([([0, 1], [0, 2]), ([3], [1])], n_items=4)
    >>> spans.satisfied([0, 2, 1, 2])
    array([ True, False])
    """

    kind: ClassVar[str] = "span"
    row_form: ClassVar[str] = "(list of items, list of clusters)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        items, clusters = self._parts(row, 2, what)
        return self._items(items, what), clusters_named(clusters, what)

    @override
    def statement(self, row: Any) -> Statement:
        items, clusters = row
        return Every(tuple(Among(item, clusters) for item in items))


__all__ = ["SpanConstraints"]
