"""Sources of constraints: how reliable each is, and how it answers what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import counted
from bayesclust.constraints.pairwise import GRADES, MIDDLES
from bayesclust.plots import _style as style
from bayesclust.plots.answers import in_order
from bayesclust.posterior import credibility as tables
from bayesclust.posterior.tree import group, source_names, stored_constraints
from bayesclust.typing import ArrayLike, FloatArray, NDArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NOISE = {
    "p": 'p: a pair from one cluster is answered "same"',
    "q": 'q: a pair from two clusters is answered "different"',
    "noise": "an answer is wrong",
    "confusion": '"{}" in truth is answered "{}"',
}
"""Noise parameters in words, those of a confusion matrix by truth and answer."""
NAMED = 40
"""Sources that have room for their names."""
LONGEST = 10
"""Letters of an answer that fit beside a source's name."""
CURVES, COLUMNS = 8, 4
"""Rows that a panel of curves is as high as, and curves in a line of its legend."""
LINE = 60
"""Letters in a line of a legend of answers."""


def reliability(
    posterior: Any, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show the posterior of the noise of each source: mean and central 90% interval.

    One panel for each constraints object, with a row for each source: p and q of pairs; of triplets
    the error rate, or the diagonal of a confusion matrix. Beside a row stands how many answers the
    source gave and how many of them are wrong, on posterior average. Of graded answers, the learned
    curve of each source: the probability of one cluster against the score, grades without answers
    left out.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints whose noise was kept.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each constraints object; by default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3, source=[0, 1])
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9, 0.7], [0.8, 0.5]]]}
    >>> draws["q"] = [[[0.7, 0.5], [0.6, 0.5]]]
    >>> (ax,) = bc.plots.reliability(bc.posterior.to_datatree(draws, constraints=[links]))
    >>> [line.get_xdata().tolist() for line in ax.lines[:2]]
    [[0.85, 0.6], [0.65, 0.5]]
    """
    table = tables.source_reliability(posterior)
    if table.empty:
        raise ValueError("the constraints of the posterior have no noise parameters to show.")
    table["source_name"] = [
        word or "all answers" for word in tables.sources_in_words(posterior, table)
    ]
    groups = list(table.groupby("view", sort=False))
    graded = [own["parameter"].str.startswith("together[").all() for _, own in groups]
    numbers = [
        CURVES if curves else own["source"].nunique()
        for curves, (_, own) in zip(graded, groups, strict=True)
    ]
    panels = _panels(axes, numbers, 8.2, 1.5, 0.32)
    for ax, (view, rows), curves in zip(panels, groups, graded, strict=True):
        number = (_draw_curves if curves else _draw_sources)(ax, rows)
        lines = -(-len(ax.get_legend().get_texts()) // (COLUMNS if curves else 1))
        title = f"{view}: noise of {counted(number, 'source')}"
        ax.set_title(title, loc="left", pad=8 + 13 * lines)
    return style.as_written(panels)


def _panels(
    axes: Any, numbers: Sequence[int], width: float, least: float, step: float
) -> NDArray[np.object_]:
    """One panel for each constraints object, as high as its rows, so many, need."""
    heights = [least + step * min(number, NAMED) for number in numbers]
    size = (width, sum(heights))
    grid = {"height_ratios": heights}
    return style.panels_or_new(axes, len(heights), "the constraints", 1, size, **grid)


def _draw_sources(ax: Axes, rows: pd.DataFrame) -> int:
    """Mean and interval of each parameter of each source; returns how many sources there are."""
    shown = []
    for parameter, own in rows.groupby("parameter", sort=False):
        kind, _, cell = str(parameter).removesuffix("]").partition("[")
        truth = cell[: len(cell) // 2 - 1]
        if not cell or cell == f"{truth}, {truth}":  # of a confusion matrix the diagonal
            words = style.shortened([truth, truth], LONGEST)
            shown.append((NOISE.get(kind, kind).format(*words), own))
    sources = rows.drop_duplicates("source")
    number = len(sources)
    place = {source: float(y) for y, source in enumerate(sources["source"])}
    are_few = number <= NAMED
    for k, (label, own) in enumerate(shown):
        y = own["source"].map(place).to_numpy() + _beside(k, len(shown))
        mean, lower, upper = own[["mean", "lower", "upper"]].to_numpy().T
        _draw_intervals(ax, y, mean, (lower, upper), k, label, are_few=are_few)
    ax.set_ylim(number - 0.45, -0.55)
    if are_few:
        ax.set_yticks(range(number), style.shortened(list(sources["source_name"]), 26))
        for row in sources.to_dict("records"):
            note = f"{row['answers']:,} answers, {row['wrong']:,.1f} wrong"
            style.note_right(ax, place[row["source"]], note)
    else:
        ax.set_ylabel("source")
    _finish(ax, 1)
    return number


def _draw_curves(ax: Axes, rows: pd.DataFrame) -> int:
    """What the grades of each source mean; returns how many sources there are."""
    stated: dict[str, Any] = {"linestyle": (0, (4, 3)), "label": "as stated"}
    handles: list[Any] = ax.plot([0, 1], [0, 1], color=style.shade(0.3), linewidth=0.9, **stated)
    middle = {f"together[{grade}]": x for grade, x in zip(GRADES, MIDDLES, strict=True)}
    sources = list(rows.groupby("source_name", sort=False))
    names = style.shortened([source for source, _ in sources], 16)
    for k, (_, whole) in enumerate(sources):
        own = whole[whole["answers"] > 0]
        mean, lower, upper = own[["mean", "lower", "upper"]].to_numpy().T
        look: dict[str, Any] = {"color": style.palette()[k % style.NUMBER], "markersize": 4}
        x = own["parameter"].map(middle).to_numpy()
        ends = (mean - lower, upper - mean)
        look["label"] = names[k]
        handles.append(ax.errorbar(x, mean, ends, marker="o", elinewidth=1, **look))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="score")
    ax.set_ylabel("probability of one cluster\n(mean and 90% interval)")
    style.bare(ax, "top", "right")
    style.legend_above(ax, COLUMNS, handles)  # by themselves names with _ first are left out
    return len(sources)


def confusion(
    posterior: Any, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show how each source answers what is true: rows of its confusion matrix, with 90% intervals.

    One panel for each constraints object, with a row for each source and true answer: the
    probability of every answer that can be given, the right one and the others. Graded answers are
    left to `reliability`.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints whose noise was kept.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each constraints object; by default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes
        With a line of means and a collection of intervals for each answer.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9], [0.8]]], "q": [[[0.7], [0.6]]]}
    >>> (ax,) = bc.plots.confusion(bc.posterior.to_datatree(draws, constraints=[links]))
    >>> [line.get_xdata().round(2).tolist() for line in ax.lines[:2]]
    [[0.85, 0.35], [0.15, 0.65]]
    """
    views = [view for view in stored_constraints(posterior) if not view.sides]
    if not views:
        raise ValueError("all answers of the posterior are graded: plots.reliability shows them.")
    draws = group(posterior, "posterior")
    panels = _panels(axes, [view.n_sources * view.n_answers for view in views], 7.6, 1.3, 0.3)
    for ax, view in zip(panels, views, strict=True):
        words = in_order(view.vocabulary)
        at = [view.vocabulary.index(word) for word in words]
        drawn = tables.confusions(view, draws)[:, :, : view.n_sources, at][..., at]
        rates = drawn.reshape(-1, view.n_sources * view.n_answers, view.n_answers)
        names = source_names(posterior, view.name, view.n_sources)
        sources = [f"source {name}" if name.isdecimal() else name for name in names]
        lines = _draw_rates(ax, rates, sources, style.shortened(words, LONGEST))
        title = f"{view.name}: answers of {counted(view.n_sources, 'source')}"
        ax.set_title(title, loc="left", pad=9 + 13 * lines)
    return style.as_written(panels)


def _draw_rates(ax: Axes, rates: FloatArray, sources: Sequence[str], words: Sequence[str]) -> int:
    """Mean and interval of draws (draws, rows, answers); returns the lines of its legend."""
    number = rates.shape[1]
    are_few = number <= NAMED
    ends = np.quantile(rates, tables.INTERVAL, axis=0)
    for k, word in enumerate(words):
        y = np.arange(number) + _beside(k, len(words))
        mean = rates[..., k].mean(axis=0)
        _draw_intervals(ax, y, mean, ends[..., k], k, f'answers "{word}"', are_few=are_few)
    by = [f"{source}, " for source in style.shortened(sources, 20)] if len(sources) > 1 else [""]
    if are_few:
        ax.set_yticks(range(number), [f'{name}"{word}" in truth' for name in by for word in words])
    else:
        ax.set_ylabel("source and truth")
    for first in range(len(words), number, len(words)):
        ax.axhline(first - 0.5, color=style.shade(0.2), linewidth=0.6)
    ax.set_ylim(number - 0.45, -0.55)
    columns = LINE // (14 + max(map(len, words)))
    _finish(ax, columns)
    return -(-len(words) // columns)


def _beside(k: int, number: int) -> float:
    """Where the k-th of several intervals of a row lies, from the middle of the row."""
    return 0.5 * ((k + 0.5) / number - 0.5)


def _draw_intervals(
    ax: Axes, y: ArrayLike, mean: FloatArray, ends: Any, k: int, label: str, *, are_few: bool
) -> None:
    """Marks at means over lines between the lower and upper ends of intervals."""
    turn, at = divmod(k, style.NUMBER)
    colour, marker = style.palette()[at], style.MARKERS[(k + turn) % len(style.MARKERS)]
    ax.hlines(y, *ends, color=colour, linewidth=2.2 if are_few else 1)
    look: dict[str, Any] = {"marker": marker, "markersize": 6 if are_few else 3}
    look |= {"linestyle": "", "markeredgecolor": style.shade(0), "markeredgewidth": 0.5}
    ax.plot(mean, y, color=colour, label=label, **look)


def _finish(ax: Axes, columns: int) -> None:
    """Scale, grid, frame and legend of probabilities by row."""
    ax.set(xlim=(-0.02, 1.02), xticks=np.linspace(0, 1, 6))
    ax.grid(axis="x", color=style.shade(0.1), linewidth=0.6)
    ax.set_axisbelow(True)
    style.bare(ax, "top", "right", "left")
    ax.tick_params(left=False)
    ax.set_xlabel("probability (mean and 90% interval)")
    style.legend_above(ax, columns)
