"""The figures of the slides from our runs, with the published numbers where there are any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust._files import replaced
from bayesclust.plots._style import GREY, MARKERS, PALETTE, counted
from bayesclust.typing import FloatArray
from experiments.reproduce.drawing import save
from experiments.reproduce.iac import paper
from experiments.reproduce.iac.answers import CASES
from experiments.reproduce.iac.methods import METHODS, SOFT
from experiments.reproduce.iac.plans import TIMED, Plan
from experiments.reproduce.iac.reports import CASE_TITLES
from experiments.reproduce.iac.tables import comparisons, curves, means
from experiments.reproduce.sources import title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["compared", "draw", "loop", "runtime", "settings", "soft"]

FEWEST = 4
"""Draws from which an interval is drawn: of fewer, Student's is as wide as the picture."""

SOFT_SCORES = {
    "quality_ari": "quality (ARI)",
    "similarity_ari": "similarity (ARI)",
    "given_up": "answers not satisfied",
    "cpu_seconds": "processor seconds",
}


def draw(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Write what a plan asks for, as far as its cells are done: figures as PNG and SVG, and the comparisons as CSV.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    entries : DataFrame
        From `experiments.reproduce.iac.tables.tables`.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        What was written.
    """
    made: dict[str, Any] = {}
    written: list[Path] = []
    if plan.parameters:
        pairs = comparisons(frame, plan)
        written.append(folder / "comparisons.csv")
        with replaced(written[0]) as draft:
            pairs.to_csv(draft, index=False)
        made |= {
            "parameters": lambda: settings(frame, plan),
            "comparisons": lambda: compared(pairs, plan),
        }
    if plan.runtime:
        made["figure6"] = lambda: runtime(entries, plan)
    if plan.soft:
        made["table2"] = lambda: soft(entries)
    if plan.loop:
        made["figure7"] = lambda: loop(frame, plan)
    return [*written, *save(made, folder)]


def _error(rows: pd.DataFrame) -> FloatArray:
    return np.asarray(rows.error.where(rows.trials >= FEWEST).fillna(0.0), dtype=np.float64)


def _short(method: str) -> str:
    return METHODS[method].title.removeprefix("IAC ")


def settings(frame: pd.DataFrame, plan: Plan) -> Figure | None:
    """Quality and similarity by alpha and beta.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    Figure or None
        None where no data set has all settings done.
    """
    import matplotlib.pyplot as plt

    tables = {side: means(frame, plan, f"{side}_ari") for side in ("quality", "similarity")}
    number = len(tables["quality"])
    if not number:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.4), layout="constrained", sharex=True)
    for ax, (side, table) in zip(panels, tables.items(), strict=True):
        for at, alpha in enumerate(sorted({METHODS[name].alpha for name in table.columns})):
            names = [
                name for name in METHODS if METHODS[name].alpha == alpha and name in table.columns
            ]
            betas = [100 * METHODS[name].beta for name in names]
            label = f"{100 * alpha:g}%" if alpha else "one a cluster"
            ax.plot(
                betas,
                table[names].mean(),
                color=PALETTE[at],
                marker=MARKERS[at],
                ms=5,
                lw=1.2,
                label=label,
            )
        ax.set(
            ylabel=f"{side} (AUBC of ARI)",
            xlabel="super-instances (beta), % of a cluster's items",
            xticks=betas,
        )
        ax.grid(linewidth=0.3)
    panels[1].legend(title="anchors (alpha)", frameon=False, fontsize=8, title_fontsize=8)
    asked = counted(plan.answers, "answer")
    figure.suptitle(
        f"{asked} about random pairs in ten rounds, mean of {counted(number, 'data set')}",
        fontsize=9,
    )
    return figure


def compared(pairs: pd.DataFrame, plan: Plan) -> Figure | None:
    """Probability that one setting is better than another, for quality and similarity in ARI.

    Parameters
    ----------
    pairs : DataFrame
        From `experiments.reproduce.iac.tables.comparisons`.
    plan : Plan

    Returns
    -------
    Figure or None
    """
    import matplotlib.pyplot as plt

    if pairs.empty:
        return None
    names = list(plan.methods)
    figure, panels = plt.subplots(1, 2, figsize=(9.8, 5.0), layout="constrained", sharey=True)
    for ax, side in zip(panels, ("quality", "similarity"), strict=True):
        table = pairs[pairs.score == f"{side}_ari"].pivot(
            index="method", columns="other", values="better"
        )
        values = table.reindex(index=names, columns=names).to_numpy()
        image = ax.imshow(values, vmin=0, vmax=1, cmap="Blues")
        for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
            text, colour = (
                f"{values[row, column]:.2f}".removeprefix("0"),
                "white" if values[row, column] > 0.6 else "black",
            )
            ax.text(column, row, text, ha="center", va="center", fontsize=6, color=colour)
        ax.set_xticks(range(len(names)), map(_short, names), rotation=90, fontsize=7)
        ax.set_yticks(range(len(names)), map(_short, names), fontsize=7)
        ax.set_title(f"{side} (AUBC of ARI)", fontsize=9)
        ax.set_xlabel("other setting (alpha, beta) in %", fontsize=8)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
    panels[0].set_ylabel("setting (alpha, beta) in %")
    figure.colorbar(
        image, ax=panels, shrink=0.8, label="probability that the setting is better than the other"
    )
    return figure


def runtime(entries: pd.DataFrame, plan: Plan) -> Figure | None:
    """Processor seconds of a modification by number and kind of constraints, with what was published for 1000 of them.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.iac.tables.tables`.
    plan : Plan

    Returns
    -------
    Figure or None
    """
    import matplotlib.pyplot as plt

    mine = entries[(entries.part == "runtime") & (entries.score == "cpu_seconds")]
    places = {
        name: place for name, place in plan.found(TIMED).items() if (mine.data == place).any()
    }
    if not places:
        return None
    figure, panels = plt.subplots(
        1,
        len(places),
        figsize=(3.6 * len(places) + 2.0, 3.4),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    for ax, (name, place) in zip(panels[0], places.items(), strict=True):
        for at, kind in enumerate(plan.kinds):
            rows = mine[(mine.data == place) & (mine.kind == kind)].sort_values("number")
            look: dict[str, Any] = {
                "color": PALETTE[at],
                "marker": MARKERS[at],
                "ms": 4,
                "lw": 1.2,
                "capsize": 2,
            }
            ax.errorbar(rows.number, rows["mean"], _error(rows), label=kind, **look)
            if (name, kind) in paper.SECONDS and len(rows):
                low, high = paper.SECONDS[name, kind]
                # side by side, so that neither range hides the other
                ax.vlines(
                    1000 + 18 * at,
                    low,
                    high,
                    color=PALETTE[at],
                    lw=4,
                    alpha=0.5,
                    label=f"{kind}, published for 1000",
                )
        ax.set_yscale("log")
        ax.set(title=title(place), xlabel="constraints")
        ax.grid(linewidth=0.3)
    panels[0][0].set_ylabel("processor seconds of one modification")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False, fontsize=8)
    interval = ", with its 95% interval" if mine.trials.max() >= FEWEST else ""
    draws = counted(int(mine.trials.max()), "draw")
    figure.suptitle(
        f"One anchor a cluster, every item by itself; mean of {draws}{interval}", fontsize=9
    )
    return figure


def soft(entries: pd.DataFrame) -> Figure | None:
    """Soft constraints on mk2: quality, similarity, answers not satisfied and processor seconds, ours and published.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.reproduce.iac.tables.tables`.

    Returns
    -------
    Figure or None
    """
    import matplotlib.pyplot as plt

    mine = entries[entries.part == "soft"]
    cases = [case for case in CASES if (mine.kind == case).any()]
    if not cases:
        return None
    figure = plt.figure(figsize=(9.4, 1.75 * len(cases) + 0.8), layout="constrained")
    panels = figure.subplots(len(cases), len(SOFT_SCORES), sharey=True, sharex="col", squeeze=False)
    label = "measured" + (", 95% interval of the mean" if mine.trials.max() >= FEWEST else "")
    for across, case in zip(panels, cases, strict=True):
        for ax, (score, name) in zip(across, SOFT_SCORES.items(), strict=True):
            rows = (
                mine[(mine.kind == case) & (mine.score == score)]
                .set_index("method")
                .reindex(list(SOFT))
            )
            places = np.arange(len(SOFT))
            # on a logarithmic axis an interval of a mean may reach below 0
            error = np.zeros(len(SOFT)) if score == "cpu_seconds" else _error(rows)
            ax.errorbar(
                rows["mean"], places, xerr=error, fmt="o", color=PALETTE[0], ms=4, label=label
            )
            ax.plot(rows.published, places, "x", color=PALETTE[1], ms=5, label="published")
            ax.grid(linewidth=0.3)
            if case == cases[-1]:
                ax.set_xlabel(name)
            if score == "cpu_seconds":
                ax.set_xscale("log")
        across[0].set_yticks(range(len(SOFT)), [METHODS[name].title for name in SOFT])
        across[0].set_title(CASE_TITLES[case], fontsize=9, loc="left")
    panels[0][0].set_ylim(len(SOFT) - 0.5, -0.5)
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=2, frameon=False, fontsize=8)
    return figure


def loop(frame: pd.DataFrame, plan: Plan) -> Figure | None:
    """ARI to the classes and to the partition before, round by round, by who chooses.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    Figure or None
    """
    import matplotlib.pyplot as plt

    table = curves(frame, plan)
    if table.empty:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.2), layout="constrained")
    sides = {"qualities": "ARI to the classes", "similarities": "ARI to the partition before"}
    for ax, (side, name) in zip(panels, sides.items(), strict=True):
        for at, chooser in enumerate(plan.choosers):
            rows = table[(table.side == side) & (table.chooser == chooser)]
            # the start has no partition before it
            rows = rows if side == "qualities" else rows[rows["round"] > 0]
            look: dict[str, Any] = {"color": PALETTE[at], "marker": MARKERS[at], "ms": 4, "lw": 1.2}
            ax.plot(rows["round"], rows["mean"], label=chooser, **look)
            if _error(rows).any():
                low, high = rows["mean"] - _error(rows), rows["mean"] + _error(rows)
                ax.fill_between(rows["round"], low, high, color=PALETTE[at], alpha=0.15, lw=0)
        ax.set(
            xlabel=f"round of {plan.answers // 10} answers and a modification",
            ylabel=name,
            xticks=range(0, 11, 2),
        )
        ax.grid(linewidth=0.3, color=GREY, alpha=0.4)
    panels[0].legend(title="questions chosen by", frameon=False, fontsize=8, title_fontsize=8)
    runs = int(table.trials.max())
    interval = " and its 95% interval" if runs >= FEWEST else ""
    figure.suptitle(
        f"glass, alpha 20%, beta 30%; mean of {counted(runs, 'run')}{interval}", fontsize=9
    )
    return figure
