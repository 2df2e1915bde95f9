"""Areas under the curves, paired differences, where a stopping rule would have stopped, and the curves drawn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesclust.plots._style import PALETTE, counted
from bayesclust.typing import BoolArray, FloatArray, IntArray
from experiments.reproduce.active.cells import FLIP
from experiments.reproduce.active.methods import METHODS, OURS
from experiments.reproduce.active.plans import Plan
from experiments.reproduce.cells import numbers
from experiments.reproduce.drawing import save
from experiments.reproduce.sources import title
from experiments.reproduce.summaries import in_markdown, span, standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ALL", "BOUNDS", "draw", "entries", "report"]

ALL = "all"
BOUNDS = (0.01, 0.005, 0.002, 0.001)
"""Expected gains below which to stop: falls of the expected VI, in bits."""
PATIENCE = (0, 10)
"""Questions in a row that are not worth it and are asked all the same, before the session stops."""
SCORES = {"area": "difference", "rand": "rand_difference"}
"""The tables of differences by those of areas."""
COLUMNS = ("table", "data", "method", "at", "patience", "mean", "error", "runs")
HEAD = """# Choosing questions, measured

{questions} questions about pairs, one by one, {flip:.0%} of the answers wrong; {runs}, seed {seed}. Whoever chooses,
the same posterior hears the answers and tells the partition: draws of TVClust, with one Gaussian or several to a cluster,
reweighted and renewed after each answer, both models weighed by how well they predicted the answers.
The score is the area under the curve of pairwise F by number of answers, over its length. Means ± standard errors.
"""
RAND = """## The same by the adjusted Rand index

A single cluster has a high F where classes are few and large, and an adjusted Rand index of 0: what parts it may lower F at
first, however well it tells the classes apart.
"""
STOPPING = """## When to stop

Had the session stopped at a question that was expected to lower the posterior expected VI by less than a bound ("default":
a tenth of what one misplaced item costs) after as many of these in a row as patience says: how many were asked by then, F at
that point, and by how much F was still to change up to the last question.
"""


def entries(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over sessions and their standard errors.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    DataFrame
        Columns table, data, method, at, patience, mean, error, runs. Tables are "area" of F;
        "difference" of the areas of posterior selection and a method, by expert; "rand" and
        "rand_difference", the same of the adjusted Rand index; "asked", "f" and "to_come", with
        `at` the bound of the stopping rule, NaN for its default, and its `patience`; and "curve",
        with `at` the number of answers.
    """
    mine = frame[
        (frame.questions == plan.questions)
        & frame.data.isin(plan.data)
        & frame.method.isin(plan.methods)
    ]
    scores = [part(mine, plan, score) for score in SCORES for part in (_areas, _differences)]
    parts = [*scores, _stops(mine, plan), _curves(mine, plan)]
    return pd.DataFrame([row for part in parts for row in part], columns=list(COLUMNS))


def _entry(
    values: FloatArray,
    table: str,
    data: str,
    method: str,
    at: float = np.nan,
    patience: float = np.nan,
) -> dict[str, Any]:
    entry = (
        table,
        data,
        method,
        at,
        patience,
        float(values.mean()),
        standard_error(values),
        len(values),
    )
    return dict(zip(COLUMNS, entry, strict=True))


def _blocks(frame: pd.DataFrame, plan: Plan) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Sessions by data set and method, in the order of the plan."""
    for data in plan.data:
        for method in plan.methods:
            block = frame[(frame.data == data) & (frame.method == method)]
            if len(block):
                yield data, method, block


def _areas(frame: pd.DataFrame, plan: Plan, score: str) -> Iterator[dict[str, Any]]:
    for data, method, block in _blocks(frame, plan):
        yield _entry(block[score].to_numpy(), score, data, method)


def _differences(frame: pd.DataFrame, plan: Plan, score: str) -> Iterator[dict[str, Any]]:
    """By data set, and of all: the mean over sets, of the experts who were asked on each."""
    areas, table = (
        frame.pivot(index=["data", "trial"], columns="method", values=score),
        SCORES[score],
    )
    for method in plan.methods:
        if method == OURS or not {method, OURS} <= set(areas.columns):
            continue
        by_set = (areas[OURS] - areas[method]).dropna().unstack("data")
        for data in plan.data:
            if data in by_set:
                yield _entry(by_set[data].dropna().to_numpy(), table, data, method)
        whole = by_set.dropna()
        if len(whole) and by_set.shape[1] == len(plan.data):
            yield _entry(whole.mean(axis=1).to_numpy(), table, ALL, method)


def _stops(frame: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    for data, method, block in _blocks(frame, plan):
        if method == OURS:
            curves = np.stack([numbers(text) for text in block.curve])
            gains = np.stack([numbers(text) for text in block.gains])
            stops = {(np.nan, 0): block.stop.to_numpy()}
            stops |= {
                (bound, patience): _stop(gains < bound, patience)
                for bound in BOUNDS
                for patience in PATIENCE
            }
            for rule, asked in stops.items():
                reached = np.take_along_axis(curves, asked[:, None], axis=1)[:, 0]
                yield _entry(asked.astype(np.float64), "asked", data, method, *rule)
                yield _entry(reached, "f", data, method, *rule)
                yield _entry(curves[:, -1] - reached, "to_come", data, method, *rule)


def _stop(low: BoolArray, patience: int) -> IntArray:
    """How many questions are asked by the time that one more than `patience` in a row are low, of all where none are."""
    number = low.shape[1]
    padded = np.pad(low, ((0, 0), (patience, 0)))
    together = np.lib.stride_tricks.sliding_window_view(padded, patience + 1, axis=1).all(axis=2)
    return np.where(together.any(axis=1), together.argmax(axis=1), number)


def _curves(frame: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    for data, method, block in _blocks(frame, plan):
        curves = np.stack([numbers(text) for text in block.curve])
        for answers in range(plan.questions + 1):
            yield _entry(curves[:, answers], "curve", data, method, answers)


def report(table: pd.DataFrame, plan: Plan) -> str:
    """Set means and differences in Markdown.

    Parameters
    ----------
    table : DataFrame
        From `entries`.
    plan : Plan

    Returns
    -------
    str
    """
    if table.empty:
        return "No session is done yet.\n"
    parts = [
        HEAD.format(
            questions=plan.questions, flip=FLIP, runs=span(table.runs, "expert"), seed=plan.seed
        )
    ]
    for score, difference in SCORES.items():
        if score == "rand":
            parts += ["\n" + RAND]
        parts += _grid(table[table.table == score], "area", [*plan.data], plan)
        if (table.table == difference).any():
            parts += ["\nWhat posterior selection has more, by expert:\n"]
            more = table[table.table == difference]
            parts += _grid(
                more, "area of posterior selection less that of", [*plan.data, ALL], plan
            )
    stops = table[table.table.isin(["asked", "f", "to_come"])]
    if len(stops):
        lines = []
        for (data, *rule), block in stops.groupby(
            ["data", "at", "patience"], sort=False, dropna=False
        ):
            rows = {row.table: row for row in block.itertuples()}
            texts = [
                _with_error(rows[what], digits)
                for what, digits in (("asked", 1), ("f", 3), ("to_come", 3))
            ]
            bound, patience = (float(str(value)) for value in rule)
            lines.append(
                [
                    title(str(data)),
                    "default" if np.isnan(bound) else f"{bound:g}",
                    f"{patience:g}",
                    *texts,
                ]
            )
        parts += [
            "\n" + STOPPING,
            *in_markdown(["data", "bound", "patience", "asked", "F then", "still to come"], lines),
        ]
    return "\n".join(parts)


def _grid(table: pd.DataFrame, corner: str, rows: list[str], plan: Plan) -> Iterator[str]:
    """A line for each data set, and a column for each method."""
    methods = [method for method in plan.methods if method in set(table.method)]
    cells = {(row.data, row.method): _with_error(row) for row in table.itertuples()}
    lines = [[title(data), *(cells.get((data, method), "") for method in methods)] for data in rows]
    return in_markdown(
        [corner, *(METHODS[method].title for method in methods)],
        [line for line in lines if any(line[1:])],
    )


def _with_error(entry: Any, digits: int = 3) -> str:
    """What a row of `itertuples` has as mean and error."""
    error = "" if np.isnan(entry.error) else f" ± {entry.error:.{digits}f}"
    return f"{entry.mean:.{digits}f}{error}"


def draw(frame: pd.DataFrame, table: pd.DataFrame, plan: Plan, folder: Path) -> list[Path]:
    """Draw the curves, one panel for each data set, as PNG and SVG.

    Parameters
    ----------
    frame : DataFrame
        Of cells; not looked at.
    table : DataFrame
        From `entries`.
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
    """
    return save({"curves": partial(_figure, table[table.table == "curve"], plan)}, folder)


def _figure(curves: pd.DataFrame, plan: Plan) -> Figure | None:
    import matplotlib.pyplot as plt

    shown = [data for data in plan.data if data in set(curves.data)]
    if not shown:
        return None
    wide = min(3, len(shown))
    high = -(-len(shown) // wide)
    size = (3.0 * wide + 1.5, 2.4 * high + 0.4)
    drawing, axes = plt.subplots(
        high, wide, figsize=size, layout="constrained", squeeze=False, sharex=True
    )
    lines: dict[str, Any] = {}
    for ax, data in zip(axes.flat, shown, strict=False):
        for at, method in enumerate(plan.methods):
            rows = curves[(curves.data == data) & (curves.method == method)]
            if len(rows):
                colour = PALETTE[at % len(PALETTE)]
                (lines[method],) = ax.plot(rows["at"], rows["mean"], color=colour, lw=1.4)
                band = (rows["mean"] + sign * rows.error for sign in (-1, 1))
                ax.fill_between(rows["at"], *band, color=colour, alpha=0.2, lw=0)
        ax.set(title=title(data))
    for ax in axes.flat[len(shown) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("answers")
    for ax in axes[:, 0]:
        ax.set_ylabel("pairwise F")
    drawing.suptitle(
        f"F by number of answers, {FLIP:.0%} wrong; mean of {counted(int(curves.runs.max()), 'expert')} ± s.e."
    )
    titles = [METHODS[method].title for method in lines]
    drawing.legend(lines.values(), titles, loc="outside right center", frameon=False)
    return drawing
