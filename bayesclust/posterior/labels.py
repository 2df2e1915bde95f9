"""Class labels read from draws: classes of items, and which labels are right.

The class of a cluster is not drawn: given a draw's partition and confusion matrices its
probabilities follow from the labels in the cluster (`bayesclust.constraints.labels`), and are
averaged over the draws. The labels say nothing of a cluster that has none; but its items lie near
others, and clusters of one class often do. With the prior probability u that a cluster has no class
it has none; if it has one, that is with probability 1 - u the one that its items would have in the
clusters with labels that they would join, and otherwise any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from bayesclust.constraints.labels import NONE, ClassLabels
from bayesclust.posterior.tree import constraints_if_any, evenly_spread, group
from bayesclust.typing import FloatArray


class ItemClasses:
    """The classes of items in some draws of a fit, which must have had labels as evidence."""

    def __init__(self, posterior: Any, prediction: Any) -> None:
        found = [v for v in constraints_if_any(posterior) if isinstance(v, ClassLabels)]
        if not found:
            raise ValueError(
                "this fit had no labels as evidence: pass constraints=LabelConstraints(...) to "
                "TVClust."
            )
        self.view = found[0]
        self.even = np.array(self.view.class_weights)
        draws = group(posterior, "posterior")[self.view.parameters["confusion"]]
        matrices = draws.transpose("chain", "draw", ...).values
        matrices = matrices.reshape(-1, *matrices.shape[2:])
        self.prediction = prediction
        self.z = prediction.z
        chosen = matrices[evenly_spread(len(self.z), len(matrices))]
        pairs = list(zip(self.z, chosen, strict=True))
        self.tables = [self.view.class_shares(*pair) for pair in pairs]
        named = self.view.items[:, 0]
        self.known = [np.isin(np.arange(z.max() + 1), z[named]) for z in self.z]
        self._classify_others()

    def _classify_others(self) -> None:
        """Set the classes of clusters without labels: means over their items."""
        without = np.array([~known[z] for known, z in zip(self.known, self.z, strict=True)])
        asked = np.flatnonzero(without.any(axis=0))
        prior = getattr(self.prediction, "partition_prior", None)
        exchangeable = prior is None or prior.exchangeable
        for table, known in zip(self.tables, self.known, strict=True):
            table[~known] = 0.0 if exchangeable else self.even
        if not exchangeable:  # no item could join another cluster
            return
        like = self.prediction.of_items(asked)
        for terms in like.terms(self.prediction.rows[asked]):
            items = asked[terms.rows]
            for s, joins in enumerate(terms.joins):
                own = self.z[s, items[without[s, items]]]
                near = self._elsewhere(s, joins[without[s, items]])
                np.add.at(self.tables[s], own, near / np.bincount(self.z[s])[own, None])

    def _elsewhere(self, s: int, joins: FloatArray) -> FloatArray:
        """Classes of items (m, L + 1) that share no cluster with labels in a draw."""
        value = np.tile(self.even, (len(joins), 1))
        known = self.known[s]
        if known.any():
            unlike = self.even[-1]
            near = (softmax(joins[:, known], axis=1) @ self.tables[s][known])[:, :-1]
            value[:, :-1] *= unlike
            value[:, :-1] += (1 - unlike) ** 2 * near / near.sum(axis=1, keepdims=True)
        return value

    def of_items(self) -> FloatArray:
        """Probability of each class of every item, last of none, (n, L + 1)."""
        pairs = zip(self.tables, self.z, strict=True)
        return np.asarray(sum(table[z] for table, z in pairs) / len(self.z))

    def of_new(self, rows: FloatArray) -> FloatArray:
        """The same of new items, (m, L + 1)."""
        value = np.zeros((len(rows), len(self.even)))
        for terms in self.prediction.terms(rows):
            total = terms.log_total()[:, None]
            for s, joins in enumerate(terms.joins):
                alone = np.exp(terms.alone[:, [s]] - total)
                value[terms.rows] += np.exp(joins - total) @ self.tables[s]
                value[terms.rows] += alone * self._elsewhere(s, joins)
        return value

    def table(self, shares: FloatArray, none: bool, names: Any = None) -> pd.DataFrame:
        """Probabilities by class, with that of none if asked, or given that there is one."""
        words = list(self.view.vocabulary)
        if none:
            return pd.DataFrame(shares, columns=[*words, NONE], index=names)
        shares = shares[:, :-1] / shares[:, :-1].sum(axis=1, keepdims=True)
        return pd.DataFrame(shares, columns=words, index=names)
