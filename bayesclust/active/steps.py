"""The partitions of a session, one after the other, and how they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesclust.metrics import adjusted_rand
from bayesclust.typing import IntArray


class Step(NamedTuple):
    """A partition of the session, and how it came about."""

    labels: IntArray  # (n,)
    answers: int  # heeded so far
    cost: float  # of the modification
    given_up: tuple[str, ...]  # constraints, in words

    @property
    def n_clusters(self) -> int:
        """Number of clusters with items."""
        return len(np.unique(self.labels))

    @property
    def about(self) -> tuple[int, float, tuple[str, ...]]:
        """All but the labels."""
        return self.answers, self.cost, self.given_up


def history(steps: Sequence[Step], y: IntArray | None) -> pd.DataFrame:
    """Return one row for each partition.

    Parameters
    ----------
    steps : sequence of Step
    y : (n,) array of int or None
        True classes.

    Returns
    -------
    DataFrame
        answers, moved, cost, given_up, n_clusters, similarity (adjusted Rand index to the partition
        before, 1 for the first) and, with y, quality (adjusted Rand index to y).

    Examples
    --------
    >>> steps = [Step(np.array([0, 0, 1]), 0, 0.0, ()), Step(np.array([0, 1, 1]), 2, 1.5, ("item 0 in cluster 1",))]
    >>> history(steps, y=np.array([0, 1, 1]))
       answers  moved  cost  given_up  n_clusters  similarity  quality
    0        0      0   0.0         0           2         1.0     -0.5
    1        2      1   1.5         1           2        -0.5      1.0
    """
    rows: list[dict[str, Any]] = []
    for before, step in zip([steps[0], *steps], steps, strict=False):
        row = {
            "answers": step.answers,
            "moved": int((step.labels != before.labels).sum()),
            "cost": step.cost,
            "given_up": len(step.given_up),
            "n_clusters": step.n_clusters,
            "similarity": adjusted_rand(step.labels, before.labels),
        }
        rows.append(row if y is None else {**row, "quality": adjusted_rand(step.labels, y)})
    return pd.DataFrame(rows)


def area_under_budget_curve(table: pd.DataFrame, score: str) -> float:
    """Return the mean of a score over the answers heeded, linear between steps.

    Parameters
    ----------
    table : DataFrame
        From `history`.
    score : str
        A column.

    Returns
    -------
    float
        The last score where no answers were heeded.

    Examples
    --------
    >>> area_under_budget_curve(pd.DataFrame({"answers": [0, 1, 4], "quality": [0.0, 1.0, 1.0]}), "quality")
    0.875
    """
    answers, values = table["answers"].to_numpy(float), table[score].to_numpy(float)
    return float(np.trapezoid(values, answers) / answers[-1]) if answers[-1] else float(values[-1])


__all__ = ["Step", "area_under_budget_curve", "history"]
