"""The tables in words and Markdown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayesclust.plots._style import counted
from experiments.reproduce import sources
from experiments.reproduce.tvclust.cells import ORDERED, UNORDERED
from experiments.reproduce.tvclust.methods import EVERY_METHOD
from experiments.reproduce.tvclust.plans import TABLE_4_FRACTION, Plan

__all__ = ["report"]

CAPTIONS = {
    1: "Table 1: mean pairwise F by data set, over all r and p",
    2: "Table 2: mean pairwise F by p, over all r and the data sets",
    3: "Table 3: mean pairwise F by r and p, over the data sets",
    4: "Table 4: mean pairwise F on counts",
}
DRAWN = {
    ORDERED: "Ordered pairs: r of the n^2 drawn, as in the authors' released settings, which answers about 2 r of the pairs",
    UNORDERED: "Unordered pairs: r of the n (n - 1) / 2 answered",
}
GLASS = {
    "glass": "glass without its row id",
    sources.WITH_ID: "glass with its row id, as in the paper",
}
COUNTED = f"Answers to r = {TABLE_4_FRACTION:g} of the ordered pairs, all right; the paper does not say its r"
HEAD = """# TVClust's tables, measured

Mean pairwise F; in brackets what the paper prints, where its data are ours. Seed {seed}, {trials} draws of answers.
[k]: told the true number of classes, as in the paper. Labels are used for nothing else but to simulate answers and to
score. The paper's glass had among its features the number of the row, by which its classes are sorted: a leak.
"""


def report(entries: pd.DataFrame, plan: Plan) -> str:
    """Set the tables in Markdown: our mean F, and in brackets the paper's.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.tvclust.tables.tables`.
    plan : Plan

    Returns
    -------
    str
    """
    if not plan.tables:
        return "No table was asked for.\n"
    if entries.empty:
        return "No cell of the tables is done yet.\n"
    parts = [HEAD.format(seed=plan.seed, trials=plan.trials)]
    # both copies of glass are columns of Table 1
    copy = entries.glass.where(entries.table != 1, "")
    for _, rows in entries.groupby([entries.table, entries.sampling, copy], sort=False):
        table, sampling, glass = (rows[name].iloc[0] for name in ("table", "sampling", "glass"))
        setting = (
            DRAWN[sampling]
            if table == 1
            else f"{DRAWN[sampling]}; {GLASS[glass]}"
            if table < 4
            else COUNTED
        )
        caption = f"## {CAPTIONS[table]}\n\n{setting}.\n"
        parts.append(
            "\n".join(
                [caption, *(_by_fraction(rows, plan) if table == 3 else _markdown(rows, plan)), ""]
            )
        )
    return "\n".join(parts)


def _by_fraction(rows: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """Table 3 in parts, one for each r."""
    parts = rows.column.str.partition(", ")
    for fraction, block in rows.assign(column=parts[2]).groupby(parts[0], sort=False):
        yield from (f"{fraction}:", "", *_markdown(block, plan), "")


def _markdown(rows: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """One table, line by line."""
    columns = list(dict.fromkeys(rows.column))
    yield "| | " + " | ".join(column.replace("_", " ") for column in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for method, mine in rows.groupby("method", sort=False):
        entries = mine.set_index("column")[["f", "paper_f"]].reindex(columns)
        texts = [
            "" if np.isnan(f) else f"{f:.3f}" if np.isnan(theirs) else f"{f:.3f} ({theirs:.2f})"
            for f, theirs in entries.itertuples(index=False)
        ]
        entry = EVERY_METHOD[str(method)]
        title = (
            entry.title
            + (f", {entry.model}" if entry.model else "")
            + (" [k]" if entry.told else "")
        )
        if mine.trials.min() < plan.trials:
            title += f" ({counted(int(mine.trials.min()), 'draw')})"
        yield f"| {title} | " + " | ".join(texts) + " |"
