"""Class labels read from draws: classes of items, and which labels are right.

The class of a cluster is not drawn: given a draw's partition and confusion matrices its
probabilities follow from the labels in the cluster (`bayesclust.constraints.labels`), and are
averaged over the draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayesclust.constraints.base import draw_answers
from bayesclust.constraints.labels import NONE
from bayesclust.constraints.noise import TINY
from bayesclust.constraints.stored import StoredConstraints
from bayesclust.posterior.tree import (
    Labels,
    chain_partitions,
    constraints_if_any,
    evenly_spread,
    group,
)
from bayesclust.typing import FloatArray, IntArray


def log_table(confusion: FloatArray) -> FloatArray:
    """log p(label | class), (S * L, L + 1), of confusion matrices (S, L + 1, L)."""
    table = np.log(np.maximum(confusion, TINY))
    return table.swapaxes(-1, -2).reshape(-1, table.shape[-2])


def class_shares(view: StoredConstraints, z: IntArray, confusion: FloatArray) -> FloatArray:
    """Probability of each class of every cluster of one draw, last of none, (K, L + 1)."""
    return view.class_shares(z.astype(np.int64), log_table(confusion))


def shares_of_draws(
    view: StoredConstraints, z: Labels, confusion: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For each of some draws (b, n): the class of each label's cluster, and without that label."""
    for labels, own in zip(z, confusion, strict=True):
        yield view.shares_without(labels.astype(np.int64), log_table(own))


def label_shares(
    view: StoredConstraints, z: Labels, confusion: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(class, class without the label, p(each label) without it) of draws, (b, m, ...)."""
    pairs = list(shares_of_draws(view, z, confusion))
    whole, without = (np.array(part) for part in zip(*pairs, strict=True))
    by_source = confusion[:, view.source]  # (b, m, L + 1, L)
    return whole, without, np.einsum("bmc,bmca->bma", without, by_source)


def wrong_labels(view: StoredConstraints, z: Labels, confusion: FloatArray) -> FloatArray:
    """Probability that each label is wrong, (m,), averaged over draws (..., n)."""
    flat = z.reshape(-1, z.shape[-1])
    matrices = confusion.reshape(-1, *confusion.shape[2:])
    rows = np.arange(len(view)), view.answers
    return 1 - np.mean([w[rows] for w, _ in shares_of_draws(view, flat, matrices)], axis=0)


def drawn_truths(
    view: StoredConstraints, z: IntArray, confusion: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Draw the class of the cluster of each label, (m,), of one draw; L is none."""
    classes = draw_answers(class_shares(view, z, confusion), rng).astype(np.int64)
    return classes[z[view.items[:, 0]]]


class ItemClasses:
    """The classes of items in the draws of a fit, which must have had labels as evidence."""

    def __init__(self, posterior: Any) -> None:
        found = [view for view in constraints_if_any(posterior) if view.is_labels]
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
            value += class_shares(self.view, labels, own)[labels]
        return value / len(self.z)

    def of_new(self, prediction: Any, rows: FloatArray) -> FloatArray:
        """The same of new items, (m, L + 1), by what some evenly spread draws predict of them."""
        chosen = self.confusion[evenly_spread(len(prediction.z), len(self.confusion))]
        pairs = zip(prediction.z, chosen, strict=True)
        tables = [class_shares(self.view, *pair) for pair in pairs]
        found: FloatArray = prediction.means(rows, tables, np.array(self.view.class_weights))
        return found

    def table(self, shares: FloatArray, none: bool, names: Any = None) -> pd.DataFrame:
        """Probabilities by class, with that of none if asked, or given that there is one."""
        words = list(self.view.vocabulary)
        if none:
            return pd.DataFrame(shares, columns=[*words, NONE], index=names)
        shares = shares[:, :-1] / shares[:, :-1].sum(axis=1, keepdims=True)
        return pd.DataFrame(shares, columns=words, index=names)
