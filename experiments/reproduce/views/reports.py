"""Tables and figures of views: F by method, how the answers were judged, and which view was taken."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust.plots._style import PALETTE
from experiments.reproduce import sources
from experiments.reproduce.drawing import save
from experiments.reproduce.summaries import in_markdown, span, standard_error
from experiments.reproduce.views.methods import METHODS
from experiments.reproduce.views.plans import Part, Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "report", "table"]

HEAD = """# Views of a cluster, measured

Pairwise F between labels and classes; columns standardised, labels never seen by a method. Answers: a share of the ordered
or unordered pairs, or a number of pairs per item, each right with the probability named; {draws} of them, seed {seed}.
"""
SETTING = ["sampling", "amount", "accuracy"]
WORDS = {
    "ordered": "{:g} of ordered pairs",
    "unordered": "{:g} of pairs",
    "per item": "{:g} pairs per item",
}
WITHIN = 0.05


def table(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over draws, by part, set, method and answers.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    plan : Plan

    Returns
    -------
    DataFrame
        Columns part, data, method, sampling, amount, accuracy, f, error (standard error of f),
        clusters, p_gap and q_gap (posterior mean less the share of right answers), area, view (the
        most frequent), power (mean), seconds, draws. A method that hears no answers has one row for
        every setting of the others.
    """
    rows, names = [], ["data", "method", *SETTING]
    for part in plan.parts():
        mine = frame[frame.data.isin(part.data) & frame.method.isin(part.methods)]
        heard = mine[mine.sampling != "none"]
        settings = heard[["data", *SETTING]].drop_duplicates()
        deaf = mine[mine.sampling == "none"].drop(columns=SETTING).merge(settings, on="data")
        for values, block in pd.concat([heard, deaf]).groupby(names, sort=False):
            rows.append(
                {"part": part.title, **dict(zip(names, values, strict=True)), **_means(block)}
            )
    return pd.DataFrame(rows, columns=["part", *names, *_means(frame.iloc[:0])])


def _means(block: pd.DataFrame) -> dict[str, Any]:
    views = block["view"].mode()
    return {
        "f": block.f.mean(),
        "error": standard_error(block.f.to_numpy()),
        "clusters": block.clusters.mean(),
        "p_gap": (block.p_mean - block.p_true).mean(),
        "q_gap": (block.q_mean - block.q_true).mean(),
        "area": block.area.mean(),
        "view": views.iloc[0] if len(views) else "",
        "power": block.power.mean(),
        "seconds": block.seconds.mean(),
        "draws": len(block),
    }


def report(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> str:
    """Set the tables in Markdown.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    entries : DataFrame
        From `table`.
    plan : Plan

    Returns
    -------
    str
    """
    if entries.empty:
        return "No cell is done yet.\n"
    lines = [HEAD.format(draws=span(entries.draws, "draw"), seed=plan.seed)]
    for part in plan.parts():
        mine = entries[entries.part == part.title]
        if len(mine):
            lines += [
                f"## {part.title}\n",
                *_by_answers(mine, part),
                "",
                *_by_set(mine, part),
                "",
                *_judged(mine),
                "",
            ]
    return "\n".join(lines)


def _pivoted(mine: pd.DataFrame, part: Part, columns: list[str], names: list[str]) -> Iterator[str]:
    wide = mine.pivot_table(index="method", columns=columns, values="f", sort=False)
    means = {
        method: [*wide.loc[method], wide.loc[method].mean()]
        for method in part.methods
        if method in wide.index
    }
    rows = (
        [METHODS[name].title, *("" if np.isnan(v) else f"{v:.3f}" for v in values)]
        for name, values in means.items()
    )
    yield from in_markdown(["mean F", *names, "mean"], rows)


def _by_answers(mine: pd.DataFrame, part: Part) -> Iterator[str]:
    """Mean F over sets, by number and quality of answers; small and large sets have theirs in one column."""
    ranks = mine.groupby("data").amount.rank(method="dense").astype(int)
    settings = mine.assign(rank=ranks).drop_duplicates(["sampling", "rank", "accuracy"])
    names = []
    for _, block in settings.groupby(["rank", "accuracy"], sort=False):
        amounts = " or ".join(
            WORDS[str(row.sampling)].format(row.amount) for row in block.itertuples()
        )
        names.append(f"{amounts}, {block.accuracy.iloc[0]:.0%} right")
    yield from _pivoted(mine.assign(rank=ranks), part, ["rank", "accuracy"], names)


def _by_set(mine: pd.DataFrame, part: Part) -> Iterator[str]:
    names = [sources.title(data) for data in mine.data.drop_duplicates()]
    yield from _pivoted(mine, part, ["data"], names)


def _judged(mine: pd.DataFrame) -> Iterator[str]:
    """What the posterior says of the answers, set by set."""
    sampled = mine[mine.p_gap.notna()]
    if sampled.empty:
        return
    head = [
        "set",
        "method",
        "largest gap of p",
        "of q",
        "settings within .05",
        "area of credibility",
        "clusters",
    ]
    blocks = sampled.groupby(["data", "method"], sort=False)
    yield from in_markdown(
        [*head, "view", "power"], (_verdict(names, block) for names, block in blocks)
    )


def _verdict(names: Any, block: pd.DataFrame) -> list[str]:
    p, q = block.p_gap.abs(), block.q_gap.abs()
    near = f"{int(((p <= WITHIN) & (q <= WITHIN)).sum())} of {len(block)}"
    area = "" if block.area.isna().all() else f"{block.area.mean():.3f}"
    views = ", ".join(f"{name} {count}" for name, count in block["view"].value_counts().items())
    words = [
        sources.title(names[0]),
        METHODS[names[1]].title,
        f"{p.max():.2f}",
        f"{q.max():.2f}",
        near,
        area,
    ]
    return [*words, f"{block.clusters.mean():.1f}", views, f"{block.power.mean():.2f}"]


def draw(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Draw F by number of answers, a panel for each set, as PNG and SVG.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    entries : DataFrame
        From `table`.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
    """
    parts = dict(zip(plan.tables, plan.parts(), strict=True))
    return save(
        {
            name: partial(_figure, entries[entries.part == part.title], part)
            for name, part in parts.items()
        },
        folder,
    )


def _figure(mine: pd.DataFrame, part: Part) -> Figure | None:
    import matplotlib.pyplot as plt

    if mine.empty:
        return None
    sets = list(mine.data.drop_duplicates())
    figure, axes = plt.subplots(
        1,
        len(sets),
        figsize=(2.3 * len(sets) + 1.8, 3.0),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    drawn: dict[str, Any] = {}
    for ax, data in zip(axes[0], sets, strict=True):
        _panel(ax, mine[mine.data == data], part, drawn)
        ax.set(title=sources.title(data))
    axes[0][0].set_ylabel("pairwise F")
    accuracies = sorted(mine.accuracy.unique())
    ends = f"{accuracies[-1]:.0%}" + (
        f" (dashed {accuracies[0]:.0%})" if len(accuracies) > 1 else ""
    )
    figure.suptitle(f"{part.title}\nanswers right with probability {ends}", fontsize=9)
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside right center", frameon=False, fontsize=8
    )
    return figure


def _panel(ax: Axes, mine: pd.DataFrame, part: Part, drawn: dict[str, Any]) -> None:
    ends = sorted({mine.accuracy.min(), mine.accuracy.max()}, reverse=True)
    for at, method in enumerate(part.methods):
        for accuracy, style in zip(ends, ("-", "--"), strict=False):
            rows = mine[(mine.method == method) & (mine.accuracy == accuracy)].sort_values("amount")
            if len(rows):
                look: dict[str, Any] = {
                    "color": PALETTE[at % len(PALETTE)],
                    "marker": "o",
                    "ms": 3,
                    "lw": 1.2,
                    "ls": style,
                }
                line = ax.errorbar(rows.amount, rows.f, rows.error.fillna(0.0), **look)
                drawn.setdefault(METHODS[method].title, line)
    ax.set(
        xlabel="pairs per item" if (mine.sampling == "per item").any() else "share of pairs",
        ylim=(0, 1.02),
    )
    ax.set_xticks(sorted(mine.amount.unique()))
