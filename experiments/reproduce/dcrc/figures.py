"""The paper's Figures 2, 4, 6 and 7 from our runs, and Table V drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.plots._style import BLUE, DASHES, GREY, PALETTE, VERMILION, counted
from experiments.reproduce import sources
from experiments.reproduce.dcrc import paper
from experiments.reproduce.dcrc.methods import METHODS
from experiments.reproduce.dcrc.plans import FIGURE_6, FIGURE_7, Plan
from experiments.reproduce.dcrc.regions import regions
from experiments.reproduce.dcrc.tables import curve
from experiments.reproduce.drawing import save
from experiments.reproduce.sources import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curves", "draw", "information", "people", "style"]

GREEN, PINK, BLACK, SKY, ORANGE = PALETTE[2:]
COLOURS = {
    "dcrc": (VERMILION, "-", "o"),
    "dcrc-yn": (ORANGE, "-", "s"),
    "kmeans": (GREY, "--", ""),
    "itml": (BLUE, "-", "D"),
    "mmc": (SKY, "--", "v"),
    "lsml": (GREEN, "-", "^"),
    "sssvad": (PINK, "-.", "<"),
    "sparse-lp": (BLACK, ":", ">"),
    "dcrc-hard": (BLUE, "--", "s"),
    "dcrc-hard-literal": (SKY, ":", "^"),
    "dcrc-even": (BLUE, "--", "s"),
    "dcrc-no-balance": (GREEN, ":", "^"),
}
WIDE = 4
# of fewer draws Student's interval of a mean is as wide as the scale
FEWEST = 4
NAMES_6 = {"dcrc": "soft answers, eps = 0.05"}
NAMES_7 = {"dcrc": "sizes learned, the default"}
CLUSTERS = np.arange(2, 21)


def draw(entries: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Draw what a plan asks for, as far as its cells are done, as PNG and SVG.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.dcrc.tables.tables`.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        What was written.
    """
    more = (0.0, *plan.fractions)
    wanted: dict[int | str, Callable[[], Figure | None]] = {
        2: information,
        4: lambda: curves(
            entries, plan.data, plan.methods_4, plan.fractions, "Right answers about triplets", {}
        ),
        5: lambda: regions(plan),
        6: lambda: curves(
            entries, plan.data_6, FIGURE_6, plan.fractions, "Soft and hard answers", NAMES_6
        ),
        7: lambda: curves(entries, plan.data_7, FIGURE_7, more, "Cluster balance", NAMES_7),
        "v": lambda: people(entries, plan),
    }
    made = {f"figure{number}": wanted[number] for number in plan.figures}
    made |= {f"table_{name}": wanted[name] for name in plan.tables if name in wanted}
    return save(made, folder)


def style(method: str, at: int = 0) -> dict[str, Any]:
    """Colour, line and marker of a method.

    Parameters
    ----------
    method : str
    at : int, default 0
        For a method without a look of its own: which of the rest it is.

    Returns
    -------
    dict
        Settings of matplotlib's `plot`.
    """
    rest = (PALETTE[at % len(PALETTE)], DASHES[1 + at % (len(DASHES) - 1)], "o")
    colour, dashes, marker = COLOURS.get(method, rest)
    return {
        "color": colour,
        "linestyle": dashes,
        "marker": marker,
        "markersize": 4,
        "linewidth": 1.4,
    }


def information() -> Figure:
    """Figure 2: what an answer tells about labels, by the number of clusters.

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    triplet, pair = bc.information.triplet(CLUSTERS), bc.information.pair(CLUSTERS)
    lines = {
        "three pairs": (3 * np.asarray(pair), BLUE, "-"),
        "two triplets": (2 * np.asarray(triplet), VERMILION, "-"),
        "one triplet": (triplet, VERMILION, "--"),
        "one triplet, dnk ignored": (bc.information.triplet(CLUSTERS, dnk=False), ORANGE, ":"),
        "one pair": (pair, BLUE, "--"),
    }
    for name, (values, colour, dashes) in lines.items():
        ax.plot(
            CLUSTERS, values, color=colour, linestyle=dashes, marker="o", markersize=3, label=name
        )
    ax.set(xlabel="number of clusters K", ylabel="nats", xticks=CLUSTERS[::2], ylim=(0, None))
    ax.set_title("Mutual information of an answer and the labels", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return figure


def curves(
    entries: pd.DataFrame,
    data: tuple[str, ...],
    methods: tuple[str, ...],
    fractions: tuple[float, ...],
    heading: str,
    names: Mapping[str, str],
) -> Figure | None:
    """F against the number of triplets: one panel per data set, bars are 95% intervals of the mean.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.dcrc.tables.tables`.
    data, methods : tuple of str
    fractions : tuple of float
    heading : str
    names : mapping of str
        What methods are called, where not by their title.

    Returns
    -------
    Figure or None
        None if no entry is done.
    """
    import matplotlib.pyplot as plt

    done = {
        (name, method): curve(entries, name, method, fractions)
        for name in data
        for method in methods
    }
    if not sum(map(len, done.values())):
        return None
    across = min(WIDE, len(data))
    down = -(-len(data) // across)
    size = (max(2.5 * across + 2.0, 6.0), 2.3 * down + 1.0)
    figure, panels = plt.subplots(
        down, across, figsize=size, layout="constrained", sharex=True, squeeze=False
    )
    drawn: dict[str, Any] = {}
    for ax, name in zip(panels.flat, data, strict=False):
        for at, method in enumerate(methods):
            rows = done[name, method]
            if len(rows):
                label = names.get(method, METHODS[method].title)
                drawn[label] = _line(ax, rows, style(method, at))
        items = len(sources.load(name).y)
        ax.set_title(f"{title(name)}: {items} items, K = {sources.classes(name)}", fontsize=8.5)
        ax.set_xticks(fractions, [f"{fraction:g}" for fraction in fractions], fontsize=8)
        ax.grid(linewidth=0.3)
    for at, ax in enumerate(panels.flat):
        ax.tick_params(labelbottom=at + across >= len(data))  # the lowest of its column
        if at >= len(data):
            ax.set_axis_off()
    figure.supxlabel("triplets asked, as a share of the items", fontsize=9)
    figure.supylabel("pairwise F", fontsize=9)
    trials = entries[
        entries.method.isin(methods) & entries.data.isin(data) & (entries.fraction > 0)
    ].trials
    span = (
        counted(trials.max(), "draw")
        if trials.min() == trials.max()
        else f"{trials.min()} to {trials.max()} draws"
    )
    bars = (
        ", with 95% intervals"
        if trials.min() >= FEWEST
        else f", 95% intervals from {FEWEST} draws on"
    )
    figure.suptitle(f"{heading}: mean of {span}{bars}", fontsize=10)
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside right center", frameon=False, fontsize=8
    )
    return figure


def _line(ax: Axes, rows: pd.DataFrame, look: dict[str, Any]) -> Any:
    """A level line where nothing is heard, and with bars otherwise."""
    if (rows.answers == "none").all() and len(rows) > 1:
        return ax.axhline(rows.f.iloc[0], **{**look, "marker": ""})
    bars = np.where(rows.trials >= FEWEST, rows.f_error, 0.0)
    return ax.errorbar(rows.fraction, rows.f, yerr=bars, elinewidth=0.8, capsize=1.5, **look).lines[
        0
    ]


def people(entries: pd.DataFrame, plan: Plan) -> Figure | None:
    """Table V: F with answers as doubtful as people's, a panel per data set, and what the paper prints for its own.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.dcrc.tables.tables`.
    plan : Plan

    Returns
    -------
    Figure or None
        None if no entry is done.
    """
    import matplotlib.pyplot as plt

    keys = [(method, "people", plan.asked[0]) for method in plan.methods_v]
    keys += [(method, "none", 0) for method in plan.methods_v]
    keys += [(method, "people-pairs", number) for method in plan.methods_v for number in plan.pairs]
    kept = entries[(entries.fraction == 0) & entries.data.isin(plan.data_v)]
    found = {
        key: rows.set_index("data") for key, rows in kept.groupby(["method", "answers", "number"])
    }
    keys = [key for key in keys if key in found]
    if not keys:
        return None
    pairs = {key: f", {key[2]} pairs" if key[1] == "people-pairs" else "" for key in keys}
    names = [METHODS[key[0]].title + pairs[key] for key in keys]
    size = (1.9 * len(plan.data_v) + 3.8, 0.27 * len(keys) + 1.3)
    figure, panels = plt.subplots(
        1,
        len(plan.data_v) + 1,
        figsize=size,
        layout="constrained",
        sharey=True,
        sharex=True,
        squeeze=False,
    )
    *ours, theirs = panels[0]
    for at, key in enumerate(keys):
        rows = found[key]
        colour = style(key[0].removesuffix("-15"))["color"] if key[0] != "dcrc-none" else GREY
        for ax, name in zip(ours, plan.data_v, strict=True):
            if name in rows.index:
                spread = np.nan_to_num(rows.f_std[name])
                ax.errorbar(
                    rows.f[name],
                    at,
                    xerr=spread,
                    marker="o",
                    color=colour,
                    markersize=5,
                    elinewidth=1,
                )
        if key in paper.TABLE_V:
            mean, spread = paper.TABLE_V[key]
            theirs.errorbar(
                mean, at, xerr=spread, marker="x", color=colour, markersize=5, elinewidth=1
            )
    for ax, name in zip(panels[0], (*map(title, plan.data_v), "paper: syllables"), strict=True):
        ax.set_title(name, fontsize=9)
        ax.grid(linewidth=0.3)
    ours[0].set_yticks(range(len(keys)), names)
    ours[0].invert_yaxis()
    figure.supxlabel("pairwise F, with the standard deviation between draws", fontsize=9)
    figure.suptitle(
        f"Answers with people's errors: {plan.asked[0]} triplets, or pairs where it says so",
        fontsize=10,
    )
    return figure
