"""Labels: this item is in that cluster."""

from __future__ import annotations

from typing import Any, ClassVar, override

from bayesclust.constraints.rules.base import Rules, clusters_named
from bayesclust.constraints.rules.statements import Among, Statement


class LabelConstraints(Rules):
    """Items whose cluster is known, by the numbers of the partition that is modified.

    Parameters
    ----------
    rows : sequence of (item, cluster)
        Also an (m, 2) array of int. A number past the clusters of the partition is a new cluster.
    n_items : int
        Number of items of the data.
    name : str, default "label"
        What reports call them.

    Attributes
    ----------
    rows, n_items, name, kind
        As for all `Rules`.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form or out of range.

    Examples
    --------
    >>> import bayesclust as bc
    >>> labels = bc.LabelConstraints([(0, 1), (3, 0)], n_items=4)
    >>> labels.satisfied([1, 1, 0, 1])
    array([ True, False])
    """

    kind: ClassVar[str] = "label"
    row_form: ClassVar[str] = "(item, cluster)"

    @override
    def _checked(self, row: Any, what: str) -> tuple[int, int]:
        item, cluster = self._parts(row, 2, what)
        return self._item(item, what), clusters_named([cluster], what)[0]

    @override
    def statement(self, row: Any) -> Statement:
        return Among(row[0], (row[1],))


__all__ = ["LabelConstraints"]
