"""Answers in words, and which of them are wrong in truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import counted, shortened
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.tree import item_names, source_names
from bayesclust.typing import ArrayLike, BoolArray

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 14


def check_flipped(flipped: ArrayLike, m: int) -> BoolArray:
    """Return which of m answers are wrong in truth, or refuse what is no truth value for each."""
    array = np.asarray(flipped)
    if array.shape != (m,):
        raise ValueError(
            f"flipped has shape {array.shape}, but the posterior has {counted(m, 'answer')}: pass one truth value for "
            "each, those of several views one after another."
        )
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise TypeError(
            f"flipped must hold truth values; got dtype {array.dtype}: pass True where an answer is wrong."
        )
    return array.astype(np.bool_)


def judged(posterior: Any, flipped: ArrayLike | None) -> tuple[pd.DataFrame, BoolArray | None]:
    """Return the credibility of all answers, and which of them are wrong in truth; refuse what has no answers."""
    table = constraint_credibility(posterior)
    if table.empty:
        raise ValueError(
            "the constraints of the posterior hold no answers: there is nothing to show."
        )
    return table, None if flipped is None else check_flipped(flipped, len(table))


def claims(posterior: Any, table: pd.DataFrame) -> list[str]:
    """Say of each answer which items it is about, what it is and, where there are several, from which source."""
    names = shortened(item_names(posterior), LONGEST)
    sources = {
        str(view): shortened(
            source_names(posterior, str(view), int(rows["source"].max()) + 1), LONGEST
        )
        for view, rows in table.groupby("view", sort=False)
    }
    words = []
    for row in table.to_dict("records"):
        members = [
            names[int(row[which])] for which in "ijk" if which in row and not _missing(row[which])
        ]
        own = sources[row["view"]]
        by = f" ({own[row['source']]})" if len(own) > 1 else ""
        words.append(f'{", ".join(members)}: "{row["answer"]}"{by}')
    return words


def _missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"
