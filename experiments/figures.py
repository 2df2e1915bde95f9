"""The figures of all experiments: curves in panels, points of the plane, and how they are saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust.typing import IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito (2008): colours that colour-blind readers tell apart
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
GREY = "#808080"
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>"
FEWEST = 4
"""Draws from which on intervals are drawn: of fewer, Student's is as wide as the picture."""
LOOK: Any = {
    "svg.hashsalt": "bayesclust",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


def save(made: Mapping[str, Callable[[], Figure | None]], folder: Path) -> list[Path]:
    """Draw figures one by one and save each as PNG and SVG; None where nothing of it is done."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")  # files only, wherever this runs
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(LOOK):
        for name, make in made.items():
            figure = make()
            if figure is not None:
                for ending, metadata in (("png", None), ("svg", {"Date": None})):
                    written.append(folder / f"{name}.{ending}")
                    figure.savefig(written[-1], dpi=150, metadata=metadata)
                plt.close(figure)
    return written


def look(at: int) -> dict[str, Any]:
    """Colour, line and marker of the line of this number, never told apart by colour alone."""
    return {
        "color": PALETTE[at % len(PALETTE)],
        "linestyle": DASHES[at // len(PALETTE) % len(DASHES)],
        "marker": MARKERS[at % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
    }


def curves(
    table: pd.DataFrame,
    title: str,
    xlabel: str,
    ylabel: str = "pairwise F",
    *,
    across: int = 4,
    ticks: Sequence[float] | None = None,
    log: str = "",
    bands: bool = False,
    limits: tuple[float, float] | None = None,
) -> Figure | None:
    """Curves in panels, from columns panel, line, x (NaN: level), mean and error (NaN: none).

    `log` names the logarithmic axes; with `bands` errors are areas.
    """
    import matplotlib.pyplot as plt

    if table.empty:
        return None
    panels, lines = list(table.panel.unique()), list(table.line.unique())
    wide = min(across, len(panels))
    high = -(-len(panels) // wide)
    size = (max(2.5 * wide + 2.0, 5.5), 2.3 * high + 0.9)
    shape: Any = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, axes = plt.subplots(high, wide, sharex=True, sharey=limits is not None, **shape)
    drawn: dict[str, Any] = {}
    for ax, panel in zip(axes.flat, panels, strict=False):
        for at, line in enumerate(lines):
            rows = table[(table.panel == panel) & (table.line == line)].sort_values("x")
            if len(rows):
                drawn[line] = _line(ax, rows, look(at), bands)
        ax.set_title(panel, fontsize=9)
        if "x" in log:
            ax.set_xscale("log")
        if "y" in log:
            ax.set_yscale("log")
        if ticks is not None:
            ax.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
            if "x" in log:
                ax.minorticks_off()
        if limits is not None:
            ax.set_ylim(*limits)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    figure.supxlabel(xlabel, fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    figure.suptitle(title, fontsize=10)
    if len(lines) > 1:
        figure.legend([drawn[line] for line in lines], lines, loc="outside right center")
    return figure


def _line(ax: Any, rows: pd.DataFrame, style: dict[str, Any], bands: bool) -> Any:
    """One line: level, with an area, or with bars."""
    if rows.x.isna().any():
        return ax.axhline(rows["mean"].iloc[0], **{**style, "marker": ""})
    error = rows.error.fillna(0.0)
    if bands:
        style = {**style, "marker": ""}
        area = {"color": style["color"], "alpha": 0.2, "lw": 0}
        ax.fill_between(rows.x, rows["mean"] - error, rows["mean"] + error, **area)
        return ax.plot(rows.x, rows["mean"], **style)[0]
    return ax.errorbar(rows.x, rows["mean"], error, elinewidth=0.8, capsize=1.5, **style)


def points(ax: Any, X: Any, labels: IntArray) -> None:
    """Points of the plane in the colours of their clusters; beyond the palette all are grey."""
    colours = np.array([*PALETTE, GREY])[np.minimum(labels, len(PALETTE))]
    ax.scatter(X[:, 0], X[:, 1], c=colours, s=4, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)


def in_colours_of(labels: IntArray, y: IntArray) -> IntArray:
    """Number clusters by the classes that they share most items with; the others follow by size.

    >>> in_colours_of(np.array([0, 0, 1, 2, 2]), np.array([1, 1, 0, 0, 0]))
    array([1, 1, 2, 0, 0])
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    shared = contingency_matrix(labels, y)
    clusters, classes = linear_sum_assignment(-shared)
    others = [k for k in np.argsort(-shared.sum(axis=1), kind="stable") if k not in clusters]
    number = np.empty(len(shared), dtype=np.int64)
    number[clusters] = classes
    number[others] = shared.shape[1] + np.arange(len(others))
    return number[labels]
