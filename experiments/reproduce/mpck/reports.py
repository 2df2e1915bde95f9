"""Learning curves as tables and figures, and which of the paper's sentences they bear out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust.plots._style import PALETTE, counted
from experiments.reproduce.drawing import save
from experiments.reproduce.mpck.methods import METHODS
from experiments.reproduce.mpck.plans import FIGURES, Plan
from experiments.reproduce.summaries import span, standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "curves", "draw", "report", "verdicts"]

HEAD = """# MPCK-Means' learning curves, measured

Mean pairwise F by number of pairs answered, all answers right; over {runs} of five folds, seed {seed}. Features as they
are, methods told the number of classes. "All items" counts every pair of items; "held out" only pairs within the fold whose
items no answer names, as the paper does. Protein (Figures 4 and 10) comes with no package.
"""
SCORES = {"f": "all items", "held_out_f": "held out"}
CLAIMS = (
    ("full beats diagonal on wine", "wine", ("sf", "sd")),
    ("full beats diagonal on ionosphere", "ionosphere", ("sf", "sd")),
    ("full beats diagonal on letters", "letters_ijl", ("sf", "sd")),
    ("metrics per cluster beat one on digits", "digits389", ("md", "sd")),
    ("the combination is best on iris", "iris", ("mf", "sd")),
    ("the combination is best on digits", "digits389", ("mf", "sd")),
    ("both parts beat answers alone on wine", "wine", ("sd", "pck")),
    ("both parts beat the metric alone on iris", "iris", ("sd", "mk")),
    ("the full metric beats Supervised-Means on ionosphere", "ionosphere", ("sf", "supervised")),
    ("MPCK-Means beats RCA with many answers on wine", "wine", ("sf", "rca")),
)
"""Sentences of section 4.2: what is said, of which data, and whose mean F is to be the larger."""


def curves(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Mean F and its standard error over runs, by figure, method and number of pairs.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    plan : Plan

    Returns
    -------
    DataFrame
        Columns figure, data, method, number, score ("f" or "held_out_f"), mean, error, runs.
    """
    runs = frame.groupby(["data", "method", "number", "trial"])[list(SCORES)].mean().reset_index()
    rows: list[dict[str, Any]] = []
    for figure in plan.figures:
        mine = runs[(runs.data == FIGURES[figure]) & runs.method.isin(plan.of_figure(figure))]
        for (method, number), block in mine.groupby(["method", "number"], sort=False):
            for score in SCORES:
                values = block[score].to_numpy()
                words = {
                    "figure": figure,
                    "data": FIGURES[figure],
                    "method": method,
                    "number": number,
                    "score": score,
                }
                rows.append(
                    {
                        **words,
                        "mean": float(values.mean()),
                        "error": standard_error(values),
                        "runs": len(values),
                    }
                )
    return pd.DataFrame(
        rows, columns=["figure", "data", "method", "number", "score", "mean", "error", "runs"]
    )


def verdicts(entries: pd.DataFrame) -> Iterator[str]:
    """Say of each of `CLAIMS` whether it holds at the largest number of pairs.

    Parameters
    ----------
    entries : DataFrame
        From `curves`.

    Yields
    ------
    str
    """
    for text, data, (better, worse) in CLAIMS:
        for score, name in SCORES.items():
            rows = entries[(entries.data == data) & (entries.score == score)].drop_duplicates(
                ["method", "number"]
            )
            means = rows.sort_values("number").groupby("method")["mean"].last()
            if {better, worse} <= set(means.index):
                holds = "holds" if means[better] > means[worse] else "does not hold"
                yield f"{text} ({name}): {holds}, {means[better]:.3f} against {means[worse]:.3f}"


def report(entries: pd.DataFrame, plan: Plan) -> str:
    """Set the curves in Markdown.

    Parameters
    ----------
    entries : DataFrame
        From `curves`.
    plan : Plan

    Returns
    -------
    str
    """
    if entries.empty:
        return "No cell is done yet.\n"
    parts = [HEAD.format(seed=plan.seed, runs=span(entries.runs, "run"))]
    for figure in plan.figures:
        mine = entries[entries.figure == figure]
        for score, name in SCORES.items():
            table = mine[mine.score == score].pivot(index="method", columns="number", values="mean")
            table = table.reindex(
                [method for method in plan.of_figure(figure) if method in table.index]
            )
            parts.append(f"## Figure {figure}: {FIGURES[figure]}, {name}\n")
            parts.append(
                "| | "
                + " | ".join(map(str, table.columns))
                + " |\n|---"
                + "|---" * len(table.columns)
                + "|"
            )
            for method, row in table.iterrows():
                texts = ["" if np.isnan(value) else f"{value:.3f}" for value in row]
                parts.append(f"| {METHODS[str(method)].title} | " + " | ".join(texts) + " |")
            parts.append("")
    said = list(verdicts(entries))
    if said:
        parts += ["## What the paper says of it\n", *(f"- {line}" for line in said)]
    return "\n".join(parts)


def draw(entries: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Draw the figures as PNG and SVG, all items beside the items held out.

    Parameters
    ----------
    entries : DataFrame
        From `curves`.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
    """
    return save(
        {f"figure{figure}": partial(_figure, entries, plan, figure) for figure in plan.figures},
        folder,
    )


def _figure(entries: pd.DataFrame, plan: Plan, figure: int) -> Figure | None:
    import matplotlib.pyplot as plt

    mine = entries[entries.figure == figure]
    if mine.empty:
        return None
    drawing, panels = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained", sharey=True)
    drawn: dict[str, Any] = {}
    for ax, (score, name) in zip(panels, SCORES.items(), strict=True):
        for at, method in enumerate(plan.of_figure(figure)):
            rows = mine[(mine.score == score) & (mine.method == method)].sort_values("number")
            colour = PALETTE[at % len(PALETTE)]
            if METHODS[method].answers and len(rows):
                drawn[method] = ax.errorbar(
                    rows.number, rows["mean"], rows.error, color=colour, marker="o", ms=3, lw=1.2
                )
            elif len(rows):
                drawn[method] = ax.axhline(rows["mean"].iloc[0], color=colour, ls="--", lw=1.0)
        ax.set(title=name, xlabel="pairs answered")
    panels[0].set_ylabel("pairwise F")
    drawing.suptitle(
        f"Figure {figure}: {FIGURES[figure]}; mean of {counted(int(mine.runs.max()), 'run')} of 5 folds"
    )
    titles = [METHODS[method].title for method in drawn]
    drawing.legend(drawn.values(), titles, loc="outside right center", frameon=False, fontsize=8)
    return drawing
