"""Tables 1 and 3 as figures, the paper's numbers beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesclust.plots._style import GREY
from experiments.reproduce import sources
from experiments.reproduce.tvclust import paper
from experiments.reproduce.tvclust.cells import ORDERED, UNORDERED
from experiments.reproduce.tvclust.plans import Plan
from experiments.reproduce.tvclust.styles import row_style, styles, title
from experiments.reproduce.tvclust.tables import MEAN, MEAN_WITH_ID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["by_data", "by_noise"]


def by_data(entries: pd.DataFrame, plan: Plan) -> Figure | None:
    """Table 1: one panel per data set, one line per method; ordered and unordered draws, and the paper's number.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.tvclust.tables.tables`.
    plan : Plan

    Returns
    -------
    Figure or None
        None if no entry is done.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    rows = entries[entries.table == 1] if len(entries) else entries
    methods = [method for method in plan.methods if len(rows) and (rows.method == method).any()]
    if not methods:
        return None
    # those of the data that some row is about, in one order, and the means
    names = ["iris", "wine", "ecoli", "balance", "glass", sources.WITH_ID, MEAN, MEAN_WITH_ID]
    columns = [name for name in names if (rows.column == name).any()]
    figure, panels = plt.subplots(
        1,
        len(columns),
        figsize=(1.4 * len(columns) + 2.6, 0.27 * len(methods) + 1.6),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    looks = styles(methods)
    for ax, name in zip(panels[0], columns, strict=True):
        for line, method in enumerate(methods):
            mine = rows[(rows.method == method) & (rows.column == name)].set_index("sampling")
            for sampling, face in ((UNORDERED, "white"), (ORDERED, looks[method]["color"])):
                if sampling in mine.index:
                    dot = {
                        "marker": "o",
                        "markersize": 5.5,
                        "color": looks[method]["color"],
                        "markerfacecolor": face,
                    }
                    ax.plot(mine.f[sampling], line, **dot)
                    ax.plot(
                        mine.paper_f[sampling],
                        line,
                        marker="x",
                        markersize=5.5,
                        color="black",
                        zorder=3,
                    )
        ax.set_title(name.replace("_", " ").replace("with id", "\nwith row id"), fontsize=9)
        ax.set(xlim=(0, 1.05))
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        ax.grid(linewidth=0.3)
    panels[0][0].set_yticks(range(len(methods)), [title(method) for method in methods])
    panels[0][0].invert_yaxis()
    figure.supxlabel("pairwise F", fontsize=9)
    figure.suptitle("Table 1: mean over r and p.  [k]: told the number of classes", fontsize=10)
    keys = [
        Line2D(
            [],
            [],
            marker="o",
            linestyle="",
            color=GREY,
            label="ordered pairs, or no answers needed",
        ),
        Line2D(
            [],
            [],
            marker="o",
            linestyle="",
            color=GREY,
            markerfacecolor="white",
            label="unordered pairs",
        ),
        Line2D([], [], marker="x", linestyle="", color="black", label="the paper"),
    ]
    figure.legend(handles=keys, loc="outside lower right", ncols=3, frameon=False, fontsize=8)
    return figure


def by_noise(entries: pd.DataFrame, plan: Plan) -> Figure | None:
    """Table 3: F against p for each r; above ours on the paper's data and draws, below what the paper prints.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.tvclust.tables.tables`.
    plan : Plan

    Returns
    -------
    Figure or None
        None if no entry is done.
    """
    import matplotlib.pyplot as plt

    # the paper's glass, if it is there
    glass, other = (
        (sources.WITH_ID, "glass") if sources.WITH_ID in plan.data else ("glass", sources.WITH_ID)
    )
    if entries.empty:
        return None
    rows = entries[(entries.table == 3) & (entries.sampling == ORDERED) & (entries.glass == glass)]
    methods = [method for method in plan.methods if (rows.method == method).any()]
    if not methods:
        return None
    figure, panels = plt.subplots(
        2,
        len(plan.fractions),
        figsize=(2.6 * len(plan.fractions) + 2.8, 5.4),
        layout="constrained",
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    looks = styles(methods)
    drawn: dict[str, Any] = {}
    for (ours, theirs), r in zip(panels.T, plan.fractions, strict=True):
        for method in methods:
            mine = rows[rows.method == method].set_index("column").f
            points = [(p, mine.get(f"r = {r:g}, p = {p:g}")) for p in plan.accuracies]
            (drawn[title(method)],) = ours.plot(*zip(*points, strict=True), **looks[method])
        for family in paper.METHODS:
            known = [
                (p, paper.TABLE_3[r, family, p].f)
                for p in plan.accuracies
                if (r, family, p) in paper.TABLE_3
            ]
            if known:
                (drawn[f"paper: {family}"],) = theirs.plot(
                    *zip(*known, strict=True), **row_style(family)
                )
        ours.set(title=f"r = {r:g}", ylim=(0, 1.03))
        theirs.set_xlabel("p, share of right answers")
        theirs.set_xticks(plan.accuracies, [f"{p:g}" for p in plan.accuracies])
    for ax, text in zip(panels[:, 0], ("ours", "the paper"), strict=True):
        ax.set_ylabel(f"{text}: pairwise F")
    panels[0, 0].invert_xaxis()
    sets = ", ".join(name.replace("_", " ") for name in plan.data if name != other)
    figure.suptitle(f"Table 3: ordered pairs; mean over {sets}", fontsize=10)
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside right center", frameon=False, fontsize=8
    )
    return figure
