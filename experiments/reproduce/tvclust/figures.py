"""The paper's Figures 2 to 4 from our runs, and its tables drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust.plots._style import GREY, PALETTE, counted
from bayesclust.typing import IntArray
from experiments.reproduce import sources
from experiments.reproduce.drawing import in_colours_of, save
from experiments.reproduce.tvclust import paper
from experiments.reproduce.tvclust.cells import ORDERED
from experiments.reproduce.tvclust.drawn_tables import by_data, by_noise
from experiments.reproduce.tvclust.methods import COUNT_METHODS
from experiments.reproduce.tvclust.plans import DEVIATION_FRACTION, SHAPE_FRACTION, Plan
from experiments.reproduce.tvclust.styles import styles, title
from experiments.reproduce.tvclust.tables import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Draw what a plan asks for, as far as its cells are done, as PNG and SVG.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    entries : DataFrame
        Of the tables.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        What was written.
    """
    figures: dict[str, tuple[bool, Callable[[], Figure | None]]] = {
        "table1": (1 in plan.tables, lambda: by_data(entries, plan)),
        "table3": (3 in plan.tables, lambda: by_noise(entries, plan)),
        "figure2": (2 in plan.figures, lambda: shapes(frame, plan)),
        "figure3": (3 in plan.figures, lambda: deviations(frame, plan)),
        "figure4": (4 in plan.figures, lambda: rates(frame, plan)),
    }
    return save({name: make for name, (wanted, make) in figures.items() if wanted}, folder)


def shapes(frame: pd.DataFrame, plan: Plan) -> Figure | None:
    """Figure 2: the best of the trials of each method on each shape, as the paper shows it."""
    import matplotlib.pyplot as plt

    done = {
        method: rows_of(frame, method, data=list(plan.shapes), deviation=0)
        for method in plan.methods
    }
    methods = [method for method, rows in done.items() if len(rows)]
    if not methods:
        return None
    width, height = 1.25 * (len(methods) + 1), 1.25 * len(plan.shapes) + 1.1
    figure, panels = plt.subplots(
        len(plan.shapes),
        len(methods) + 1,
        figsize=(width, height),
        layout="constrained",
        squeeze=False,
    )
    for row, name in zip(panels, plan.shapes, strict=True):
        data = sources.load(name)
        _scatter(row[0], data.X, data.y)
        row[0].set_ylabel(name.replace("_", " "), fontsize=9)
        for ax, method in zip(row[1:], methods, strict=True):
            rows = done[method][done[method].data == name]
            if rows.empty:
                ax.set_axis_off()
                continue
            best = rows.nlargest(1, "f").iloc[0]
            _scatter(
                ax,
                data.X,
                in_colours_of(np.array(str(best.labels).split(), dtype=np.int64), data.y),
            )
            ax.set_xlabel(f"F {best.f:.2f}  (mean {rows.f.mean():.2f})", fontsize=8, labelpad=2)
    for ax, text in zip(
        panels[0], ["classes", *(title(method, broken=True) for method in methods)], strict=True
    ):
        ax.set_title(text, fontsize=8)
    figure.suptitle(
        f"Shapes, answers to r = {SHAPE_FRACTION:g} of the ordered pairs, all right: the best of "
        f"{counted(plan.trials, 'run')} by pairwise F, as in the paper.\n"
        "[k]: told the number of classes. Where there are more clusters than colours, the rest is grey",
        fontsize=10,
    )
    return figure


def _scatter(ax: Axes, X: Any, labels: IntArray) -> None:
    """Points in the colours of their clusters; beyond the palette all are grey."""
    ax.scatter(
        X[:, 0],
        X[:, 1],
        c=np.array([*PALETTE, GREY])[np.minimum(labels, len(PALETTE))],
        s=3,
        linewidths=0,
    )
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.spines[:].set_visible(True)
    ax.spines[:].set_linewidth(0.4)


def deviations(frame: pd.DataFrame, plan: Plan) -> Figure | None:
    """Figure 3: methods told k minus a deviation; what is not told k is one level line."""
    import matplotlib.pyplot as plt

    data = [name for name in plan.data if name != sources.WITH_ID]
    if not data:
        return None
    settings = {"sampling": ORDERED, "fraction": DEVIATION_FRACTION, "accuracy": 1.0}
    figure, panels = plt.subplots(
        1,
        len(data),
        figsize=(2.3 * len(data) + 2.6, 3.2),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    drawn: dict[str, Any] = {}
    looks = styles(plan.methods)
    for ax, name in zip(panels[0], data, strict=True):
        for method, look in looks.items():
            rows = rows_of(frame, method, data=name, **settings)
            means = rows.groupby("deviation").f.mean()
            if len(means) > 1:
                (drawn[method],) = ax.plot(means.index, means, **look)
            elif len(means):
                drawn[method] = ax.axhline(means.iloc[0], **{**look, "marker": ""}, alpha=0.8)
        ax.set(title=f"{name}, k = {sources.classes(name)}", ylim=(0, 1.03), xticks=plan.deviations)
        ax.axvline(0, color=GREY, linewidth=0.5, zorder=0)
    panels[0][0].set_ylabel("pairwise F")
    figure.supxlabel("deviation: methods are told k - deviation clusters", fontsize=9)
    figure.suptitle(
        f"Told a wrong number of clusters: answers to r = {DEVIATION_FRACTION:g} of the ordered pairs, all right; "
        f"mean of {counted(plan.trials, 'draw')}.  Level lines: not told k",
        fontsize=10,
    )
    if not drawn:
        plt.close(figure)
        return None
    figure.legend(
        drawn.values(),
        [title(method) for method in drawn],
        loc="outside right center",
        frameon=False,
        fontsize=8,
    )
    return figure


def rates(frame: pd.DataFrame, plan: Plan) -> Figure | None:
    """Figure 4: multinomial RDP-means as answers become more, between the paper's two ends."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1,
        len(plan.counts),
        figsize=(3.6 * len(plan.counts) + 2.2, 3.3),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    methods = [method for method, entry in COUNT_METHODS.items() if entry.model == "multinomial"]
    looks, drawn = styles(methods), {}
    for ax, name in zip(panels[0], plan.counts, strict=True):
        for method in methods:
            rows = rows_of(
                frame, method, data=name, sampling=ORDERED, accuracy=1.0, fraction=list(plan.rates)
            )
            if rows.empty:
                continue
            if COUNT_METHODS[method].answers:
                means = rows.groupby("fraction").f.mean()
                (drawn[method],) = ax.plot(100 * means.index, means, **looks[method])
            else:
                drawn[method] = ax.axhline(rows.f.mean(), **{**looks[method], "marker": ""})
        n, d = sources.load(name).X.shape
        ax.set(
            title=f"{name.replace('_', ' ')}: {n} items, {d} cells",
            xlabel="r, % of the ordered pairs",
            ylim=(0, 1.03),
        )
        ax.set_xscale("log")
        ax.set_xticks([100 * r for r in plan.rates], [f"{100 * r:g}" for r in plan.rates])
        ax.minorticks_off()
        if name == sources.COUNTS[0]:  # which stands in for the paper's
            theirs = paper.TABLE_4["RDP-means", "multinomial"]
            ax.axhline(theirs, color="black", linewidth=0.8, linestyle=":")
            place = {"transform": ax.get_yaxis_transform(), "va": "bottom", "fontsize": 7.5}
            ax.text(0.02, theirs, "RDP-means in the paper's Table 4", **place)
    panels[0][0].set_ylabel("pairwise F")
    figure.suptitle(
        f"Multinomial clusters of counts, and ever more answers, all right; "
        f"mean of {counted(plan.trials, 'draw')}.  [k]: told k",
        fontsize=10,
    )
    if not drawn:
        plt.close(figure)
        return None
    figure.legend(
        drawn.values(),
        [title(method) for method in drawn],
        loc="outside right center",
        frameon=False,
        fontsize=8,
    )
    return figure
