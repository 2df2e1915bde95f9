"""How reliable each source of answers is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import (
    GREY,
    MARKERS,
    PALETTE,
    bare,
    counted,
    in_words,
    several_axes,
    shortened,
)
from bayesclust.posterior.credibility import source_reliability
from bayesclust.posterior.tree import source_names
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["reliability"]

WORDS = {
    "p": 'p: a pair from one cluster is answered "same"',
    "q": 'q: a pair from two clusters is answered "different"',
    "noise": "an answer is wrong",
}
NAMED = 40
"""Sources that have room for their names."""
LONGEST = 26
LINE = 13
"""Points that a line of the legend takes."""


def reliability(
    posterior: Any, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show the posterior of the noise of each source: mean and central 90% interval.

    One panel for each view and one row for each source. Of pairs, p is the probability that two
    items of one cluster are said to be the same, and q that two items of different clusters are
    said to be different; of triplets, the probability that an answer is wrong or, where a confusion
    matrix is learned, those of its diagonal: that each truth is answered rightly. Beside the rows
    stands how many answers a source gave and how many of them are wrong, on average over the
    posterior.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints whose noise was kept.
    axes : sequence of matplotlib.axes.Axes, optional
        Where to draw, one for each view; by default a new figure, as high as the number of sources
        asks for.

    Returns
    -------
    (views,) array of matplotlib.axes.Axes

    Raises
    ------
    ValueError, TypeError
        If there are no draws, no constraints or no noise parameters in what is passed, or axes are
        not one for each view.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3, source=[0, 1])
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9, 0.7], [0.8, 0.5]]], "q": [[[0.7, 0.5], [0.6, 0.5]]]}
    >>> (ax,) = bc.plots.reliability(to_datatree(draws, constraints=[links]))
    >>> [line.get_xdata().tolist() for line in ax.lines[:2]]
    [[0.85, 0.6], [0.65, 0.5]]
    """
    table = source_reliability(posterior)
    if table.empty:
        raise ValueError(
            "the constraints of the posterior have no noise parameters: there is nothing to show."
        )
    views = list(table["view"].unique())
    panels = _panels(axes, [table.loc[table["view"] == view, "source"].nunique() for view in views])
    for ax, view in zip(panels, views, strict=True):
        rows = table[table["view"] == view]
        names = source_names(posterior, str(view), int(rows["source"].max()) + 1)
        _draw(ax, rows, names)
        pad = 8 + LINE * len(ax.get_legend().get_texts())
        ax.set_title(f"{view}: noise of {counted(len(names), 'source')}", loc="left", pad=pad)
    return panels


def _panels(axes: Any, sources: list[int]) -> NDArray[np.object_]:
    if axes is not None:
        return several_axes(axes, len(sources), "the views")
    import matplotlib.pyplot as plt

    heights = [1.5 + 0.32 * min(number, NAMED) for number in sources]
    grid = plt.subplots(
        len(sources),
        1,
        figsize=(8.2, sum(heights)),
        layout="constrained",
        squeeze=False,
        height_ratios=heights,
    )[1]
    return grid.ravel()


def _draw(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    parameters = [name for name in rows["parameter"].unique() if not _off_diagonal(name)]
    number = len(names)
    for k, parameter in enumerate(parameters):
        own = rows[rows["parameter"] == parameter].sort_values("source")
        y = own["source"].to_numpy() + 0.5 * ((k + 0.5) / len(parameters) - 0.5)
        mean, colour = own["mean"].to_numpy(), PALETTE[k]
        ax.hlines(
            y, own["lower"], own["upper"], color=colour, linewidth=2.2 if number <= NAMED else 0.9
        )
        ax.plot(
            mean,
            y,
            linestyle="",
            marker=MARKERS[k],
            color=colour,
            label=_word(parameter),
            markersize=6 if number <= NAMED else 3,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
    ax.set(xlim=(-0.02, 1.02), ylim=(number - 0.45, -0.55), xticks=np.linspace(0, 1, 6))
    _name_rows(ax, rows.drop_duplicates("source").sort_values("source"), names)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    bare(ax, "top", "right", "left")
    ax.tick_params(left=False)
    ax.set_xlabel("probability (mean and 90% interval)")
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        handletextpad=0.2,
        borderaxespad=0.1,
        labelspacing=0.3,
        borderpad=0.2,
    )


def _name_rows(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    number = len(names)
    if number > NAMED:
        ax.set_ylabel("source")
        return
    ax.set_yticks(range(number), shortened([in_words(name) for name in names], LONGEST))
    for source, given, wrong in zip(rows["source"], rows["answers"], rows["wrong"], strict=True):
        ax.annotate(
            f"{given:,} answers, {wrong:,.1f} wrong",
            (1, source),
            (8, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=GREY,
            annotation_clip=False,
        )


def _off_diagonal(parameter: str) -> bool:
    truth, _, answer = parameter.removeprefix("confusion[").removesuffix("]").partition(", ")
    return parameter.startswith("confusion[") and truth != answer


def _word(parameter: str) -> str:
    if parameter.startswith("confusion["):
        truth = parameter.removeprefix("confusion[").partition(",")[0]
        return f'"{truth}" in truth is answered so'
    return WORDS.get(parameter, parameter)
