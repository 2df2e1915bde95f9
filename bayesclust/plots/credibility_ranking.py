"""The answers from the least to the most believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int
from bayesclust.plots._answers import claims, judged
from bayesclust.plots._style import BLUE, GREY, VERMILION, axes_or_new, bare, counted
from bayesclust.typing import ArrayLike, BoolArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["credibility_ranking"]

LISTED = 60
"""Answers that can be named one by one."""
TWO_SIDED = 1.96
"""Standard errors on each side of an interval of 95%."""


def credibility_ranking(
    posterior: Any,
    flipped: ArrayLike | None = None,
    *,
    max_listed: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the answers in order of the posterior probability that they are right, the least believed first.

    Few answers, or the first `max_listed` of them, are listed by name, one below the other, with
    whiskers of two Monte Carlo standard errors; where the noise was kept, a hollow diamond stands
    at the credibility that the answer has by the data and all other answers alone. Many answers
    make a curve over their rank.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.
    flipped : (m,) array of bool, optional
        Which answers are wrong in truth, in the order of `bayesclust.constraint_credibility`: that
        is the `flipped` of simulated constraints, or those of several views one after another. They
        are marked by crosses.
    max_listed : int, optional
        List this many of the least believed answers. By default all, up to 60; more are drawn as a
        curve.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure, as high as the list asks for.

    Returns
    -------
    matplotlib.axes.Axes
        Credibility is along x in a list and along y in a curve.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no draws or no constraints, or flipped is not one truth value an
        answer.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> tree = to_datatree({"z": [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]}, constraints=[links])
    >>> ax = bc.plots.credibility_ranking(tree, flipped=[False, True])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0, 2: "different"', '0, 1: "same"']
    """
    table, wrong = judged(posterior, flipped)
    listed = max_listed is not None or len(table) <= LISTED
    most = len(table) if max_listed is None else check_int(max_listed, "max_listed")
    order = np.argsort(table["credibility"].to_numpy(), kind="stable")[:most]
    table["claim"] = claims(posterior, table)
    rows = table.iloc[order]
    mask = None if wrong is None else wrong[order]
    if listed:
        ax = axes_or_new(ax, 7.6, 1.5 + 0.2 * len(rows))
        _list(ax, rows, mask)
    else:
        ax = axes_or_new(ax, 7.6, 4.6)
        _curve(ax, rows, mask)
    bare(ax)
    _title(ax, table, wrong, len(rows))
    return ax


def _list(ax: Axes, rows: pd.DataFrame, wrong: BoolArray | None) -> None:
    y, credibility = np.arange(len(rows)), rows["credibility"].to_numpy()
    ax.axvspan(0, 0.5, color="0.94", zorder=0, linewidth=0)
    error = TWO_SIDED * rows["mcse"].to_numpy()
    ax.errorbar(credibility, y, xerr=error, fmt="none", ecolor=BLUE, elinewidth=1.1, label="_error")
    ax.plot(credibility, y, "o", color=BLUE, markersize=5, label="the answer heard", clip_on=False)
    if "credibility_loo" in rows:
        ax.plot(
            rows["credibility_loo"],
            y,
            "D",
            markerfacecolor="white",
            markeredgecolor=GREY,
            markersize=4.5,
            zorder=1.9,
            label="by all the rest alone",
            clip_on=False,
        )
    if wrong is not None and wrong.any():
        ax.plot(
            credibility[wrong],
            y[wrong],
            "x",
            color=VERMILION,
            markersize=8,
            markeredgewidth=1.6,
            label="wrong in truth",
            clip_on=False,
        )
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-0.02, 1.02), xticks=np.linspace(0, 1, 6))
    ax.set_yticks(y, rows["claim"].tolist(), fontsize="small")
    ax.tick_params(left=False)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("posterior probability that the answer is right (shaded: doubted)")
    _legend(ax)


def _curve(ax: Axes, rows: pd.DataFrame, wrong: BoolArray | None) -> None:
    rank, credibility = np.arange(1, len(rows) + 1), rows["credibility"].to_numpy()
    ax.axhspan(0, 0.5, color="0.94", zorder=0, linewidth=0)
    ax.plot(rank, credibility, color=BLUE, linewidth=1.8, label="the answer heard")
    if wrong is not None and wrong.any():
        ax.plot(
            rank[wrong],
            credibility[wrong],
            "x",
            color=VERMILION,
            markersize=5,
            markeredgewidth=1.0,
            label="wrong in truth",
            clip_on=False,
            alpha=0.8,
        )
        _legend(ax)
    ax.set(xlim=(1, len(rows)), ylim=(-0.02, 1.02), yticks=np.linspace(0, 1, 6))
    ax.set_xlabel("rank of the answer, the least believed first")
    ax.set_ylabel("posterior probability that it is right\n(shaded: doubted)")


def _legend(ax: Axes) -> None:
    handles, names = ax.get_legend_handles_labels()
    if len(handles) > 1:
        ax.legend(
            handles,
            names,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(handles),
            frameon=False,
            fontsize="small",
            borderaxespad=0.1,
            borderpad=0.2,
            columnspacing=1.2,
            handletextpad=0.3,
        )


def _title(ax: Axes, table: pd.DataFrame, wrong: BoolArray | None, shown: int) -> None:
    doubted = table["credibility"].to_numpy() < 0.5
    text = counted(len(table), "answer")
    if shown < len(table):
        text = f"The {shown:,} least believed of {text}"
    text += f", {int(doubted.sum()):,} doubted"
    if wrong is not None:
        text += f",\n{int((doubted & wrong).sum()):,} of the {int(wrong.sum()):,} wrong ones among these"
    ax.set_title(text, loc="left", pad=24 if ax.get_legend() else 6)
