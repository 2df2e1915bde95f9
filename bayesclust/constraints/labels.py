"""Partial labels: this item is in that cluster."""

from __future__ import annotations

from typing import Any, ClassVar, override

import numpy as np

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import NoiseModel
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.rules import Rules, clusters_named
from bayesclust.constraints.statements import Among, Statement
from bayesclust.typing import ArrayLike, IntArray


class LabelConstraints(Rules):
    """Items whose cluster is known.

    To `MinimalModification` a label is the number of a cluster of the partition that is modified.
    To methods that know clusters by their items alone (`TVClust` and others) labels are the pairs
    that they imply: "same" for every two labelled items with one label, "different" for every two
    with different ones, under a noise model of pairs, so that single labels may be wrong and a class
    may have several clusters. There are L (L - 1) / 2 such pairs of L labelled items.

    Parameters
    ----------
    rows : sequence of (item, cluster)
        Also an (m, 2) array of int. In `MinimalModification` a number past the clusters of the
        partition is a new cluster.
    n_items : int
        Number of items of the data.
    name : str, default "label"
        What data sets and reports call them.
    noise : LinkNoise, optional
        How the pairs go wrong; ``LinkNoise()`` by default.

    Raises
    ------
    TypeError, ValueError
        In one sentence, for rows of another form or out of range.

    Examples
    --------
    >>> import bayesclust as bc
    >>> labels = bc.LabelConstraints([(0, 1), (3, 0), (2, 1)], n_items=4)
    >>> labels.satisfied([1, 1, 0, 1])
    array([ True, False, False])
    >>> labels.factors()
    <PairwiseConstraints 'label': 2 different, 1 same, on 4 items>
    """

    kind: ClassVar[str] = "label"
    row_form: ClassVar[str] = "(item, cluster)"

    def __init__(
        self,
        rows: Any,
        n_items: int,
        name: str | None = None,
        noise: NoiseModel | None = None,
    ) -> None:
        super().__init__(rows, n_items, name)
        # checked here, though used by the pairs alone
        self._pair_noise = PairwiseConstraints([], [], self.n_items, noise=noise).noise

    @classmethod
    def from_labels(
        cls, labels: ArrayLike, *, name: str | None = None, noise: NoiseModel | None = None
    ) -> LabelConstraints:
        """Make labels of one value per item, negative or NaN (None) where the label is unknown.

        Parameters
        ----------
        labels : (n,) array
            Numbers, as in scikit-learn's semi-supervised methods, or words.
        name : str, default "label"
        noise : LinkNoise, optional

        Returns
        -------
        LabelConstraints
            Whole numbers stay; other labels are numbered in sorted order.

        Examples
        --------
        >>> import bayesclust as bc
        >>> bc.LabelConstraints.from_labels(["b", None, "a"]).rows
        ((0, 1), (2, 0))
        """
        values = np.asarray(labels, dtype=object).ravel().tolist()
        numbers = (int, float, np.number)
        known = [
            (item, value)
            for item, value in enumerate(values)
            if not (value is None or value != value or (isinstance(value, numbers) and value < 0))
        ]
        if not all(isinstance(value, numbers) and value == int(value) for _, value in known):
            order = {word: at for at, word in enumerate(sorted({value for _, value in known}))}
            known = [(item, order[value]) for item, value in known]
        rows = [(item, int(value)) for item, value in known]
        return cls(rows, len(values), name, noise)

    @override
    def _checked(self, row: Any, what: str) -> tuple[int, int]:
        item, cluster = self._parts(row, 2, what)
        return self._item(item, what), clusters_named([cluster], what)[0]

    @override
    def _statement_of(self, row: Any) -> Statement:
        return Among(row[0], (row[1],))

    @override
    def _kept(self, row: Any, position: IntArray) -> Any:
        item = int(position[row[0]])
        return (item, row[1]) if item >= 0 else None

    @override
    def factors(self) -> Constraints:
        items, clusters = np.array(self.rows, dtype=np.int64).reshape(-1, 2).T
        first, second = np.triu_indices(len(items), k=1)
        distinct = items[first] != items[second]
        first, second = first[distinct], second[distinct]
        return PairwiseConstraints(
            np.column_stack([items[first], items[second]]),
            clusters[first] == clusters[second],
            self.n_items,
            noise=self._pair_noise,
            name=self.name,
        )
