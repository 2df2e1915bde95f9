"""Class labels read from draws: classes of items, and which labels are right.

The class of a cluster is not drawn: given a draw's partition and confusion matrices its
probabilities follow from the labels in the cluster (`bayesclust.constraints.labels`), and are
averaged over the draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesclust.constraints.labels import NONE, ClassLabels
from bayesclust.posterior.tree import (
    chain_partitions,
    constraints_if_any,
    evenly_spread,
    group,
)
from bayesclust.typing import FloatArray


class ItemClasses:
    """The classes of items in the draws of a fit, which must have had labels as evidence."""

    def __init__(self, posterior: Any) -> None:
        found = [v for v in constraints_if_any(posterior) if isinstance(v, ClassLabels)]
        if not found:
            raise ValueError(
                "this fit had no labels as evidence: pass constraints=LabelConstraints(...) to a "
                "TVClust with the sampler 'collapsed' or 'gibbs'."
            )
        self.view = found[0]
        z = chain_partitions(posterior)
        self.z = z.reshape(-1, z.shape[-1])
        draws = group(posterior, "posterior")[self.view.parameters["confusion"]]
        matrices = draws.transpose("chain", "draw", ...).values
        self.confusion = matrices.reshape(-1, *matrices.shape[2:])

    def of_items(self) -> FloatArray:
        """Probability of each class of every item, last of none, (n, L + 1), over all draws."""
        value = np.zeros((self.z.shape[1], self.confusion.shape[-2]))
        for labels, own in zip(self.z, self.confusion, strict=True):
            value += self.view.class_shares(labels, own)[labels]
        return value / len(self.z)

    def of_new(self, prediction: Any, rows: FloatArray) -> FloatArray:
        """The same of new items, (m, L + 1), by what some evenly spread draws predict of them."""
        chosen = self.confusion[evenly_spread(len(prediction.z), len(self.confusion))]
        pairs = zip(prediction.z, chosen, strict=True)
        tables = [self.view.class_shares(*pair) for pair in pairs]
        found: FloatArray = prediction.means(rows, tables, np.array(self.view.class_weights))
        return found

    def table(self, shares: FloatArray, none: bool, names: Any = None) -> pd.DataFrame:
        """Probabilities by class, with that of none if asked, or given that there is one."""
        words = list(self.view.vocabulary)
        if none:
            return pd.DataFrame(shares, columns=[*words, NONE], index=names)
        shares = shares[:, :-1] / shares[:, :-1].sum(axis=1, keepdims=True)
        return pd.DataFrame(shares, columns=words, index=names)
