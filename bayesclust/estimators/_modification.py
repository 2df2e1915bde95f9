"""What goes into a modification: the partition seen, and what constraints say of it and weigh."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from bayesclust.checks import plain_array
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.statements import Statement
from bayesclust.estimators.base import start_labels
from bayesclust.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


def start_partition(partition: Any, points: FloatArray) -> IntArray:
    """Return the partition seen: labels as they are, those of an estimator (or of a fitted copy), or of a posterior."""
    n = len(points)
    if isinstance(partition, BaseEstimator) and not hasattr(partition, "labels_"):
        partition = clone(partition).fit(points)
    if isinstance(partition, BaseEstimator) or hasattr(partition, "children"):
        labels = start_labels(partition, n)
        assert labels is not None
        return labels
    array = plain_array(partition, "partition", "pass one label per item")
    if array.shape != (n,):
        raise ValueError(
            f"partition has shape {array.shape}, but X has {n} items: pass one label per item, an estimator fitted to these "
            "items, or its posterior_."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"partition must hold integers; got dtype {array.dtype}: number the clusters from 0."
        )
    if array.min() < 0 or array.max() >= n:
        at = int(np.argmax((array < 0) | (array >= n)))
        raise ValueError(
            f"partition[{at}] is {array[at]}: number the clusters 0, 1, 2, ..., and give noise one of its own."
        )
    return array.astype(np.int64)


class Stated(NamedTuple):
    """What all constraints say, row by row."""

    statements: list[Statement]
    origin: list[tuple[str, int]]  # name of the view or rules, and row
    unsure: BoolArray  # answers "don't know"

    def probabilities(self, credibility: Any) -> FloatArray:
        """Return the probability that each is right, 1 where nothing is said about it."""
        found = np.ones(len(self.statements))
        if credibility is None:
            return found
        if hasattr(credibility, "columns"):
            names = np.array([name for name, _ in self.origin], dtype=object)
            for name in dict.fromkeys(names):
                values = _column(credibility, name)
                rows = np.flatnonzero(names == name)
                if len(values) not in (0, len(rows)):
                    raise ValueError(
                        f"credibility has {len(values)} rows about {name!r}, but there are {len(rows)} constraints of that "
                        "name: pass the table of a fit to these constraints."
                    )
                found[rows] = values if len(values) else 1.0
        else:
            found = np.asarray(credibility, dtype=np.float64)
            if found.shape != (len(self.statements),):
                raise ValueError(
                    f"credibility has shape {found.shape}, but there are {len(self.statements)} constraints: pass one "
                    "probability for each, in order."
                )
        outside = ~((found >= 0) & (found <= 1))
        if outside.any():
            at = int(np.argmax(outside))
            raise ValueError(f"credibility[{at}] is {found[at]}: pass probabilities from 0 to 1.")
        return found

    def by_name(self, values: FloatArray) -> dict[str, FloatArray]:
        """Return values of the rows by the name of their view or rules."""
        grouped = groupby(range(len(values)), key=lambda at: self.origin[at][0])
        return {name: values[list(rows)] for name, rows in grouped}

    def broken(self, labels: IntArray, weights: FloatArray) -> pd.DataFrame:
        """Return the rows that weigh anything and that labels do not satisfy."""
        import pandas as pd

        plain = labels.tolist()
        rows = [
            at for at, s in enumerate(self.statements) if weights[at] > 0 and not s.holds(plain)
        ]
        table = {
            "constraints": [self.origin[at][0] for at in rows],
            "row": [self.origin[at][1] for at in rows],
            "what": [str(self.statements[at]) for at in rows],
            "weight": weights[rows],
        }
        return pd.DataFrame(table)


def _column(credibility: pd.DataFrame, name: str) -> FloatArray:
    for column in ("view", "credibility"):
        if column not in credibility.columns:
            raise ValueError(
                f"credibility has no column {column!r}: pass a table from bayesclust.constraint_credibility."
            )
    own = credibility["view"] == name
    values: FloatArray = credibility.loc[own, "credibility"].to_numpy(dtype=np.float64)
    return values


def state_constraints(given: Sequence[Constraints], n_clusters: int) -> Stated:
    """Return what views and rules say, refusing clusters that there cannot be."""
    statements, origin = [], []
    for constraints in given:
        for row, statement in enumerate(constraints.statements()):
            largest = max(statement.clusters, default=0)
            if largest >= n_clusters:
                raise ValueError(
                    f"{constraints.name}[{row}] names cluster {largest}, but clusters are numbered 0 to {n_clusters - 1}, "
                    "new ones included: correct the number or allow more new_clusters."
                )
            statements.append(statement)
            origin.append((constraints.name, row))
    doubtful = np.concatenate(
        [np.empty(0, dtype=np.bool_), *(constraints.unsure for constraints in given)]
    )
    return Stated(statements, origin, doubtful)


def credibility_weights(probability: FloatArray) -> FloatArray:
    """Return ln(p / (1 - p)), 0 for p of at most 1/2 and infinite for 1."""
    with np.errstate(divide="ignore"):
        odds = np.log(probability) - np.log1p(-probability)
    weights: FloatArray = np.maximum(odds, 0.0)
    return weights


__all__ = ["Stated", "credibility_weights", "start_partition", "state_constraints"]
