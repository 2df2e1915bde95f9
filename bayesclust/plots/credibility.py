"""How far each answer is to be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._answers import judged
from bayesclust.plots._style import BLUE, GREY, VERMILION, axes_or_new, counted, in_words, shortened
from bayesclust.posterior.tree import source_names
from bayesclust.typing import ArrayLike, BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["credibility"]

BAND = 0.72
"""Height of the band over which the dots of a row are spread."""
LONGEST = 20
WORDS = ("same", "different", "yes", "no", "dnk")
"""In this order the rows of a view go down; other words follow in alphabetical order."""


def credibility(posterior: Any, flipped: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show the posterior probability that each answer is right.

    One dot an answer, one row for each word that a source answered, in each view. Across its row a
    dot's height means nothing: dots are spread so as not to hide each other. Answers in the shaded
    half are doubted: they are more likely wrong than right.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.
    flipped : (m,) array of bool, optional
        Which answers are wrong in truth, in the order of `bayesclust.constraint_credibility`: that
        is the `flipped` of simulated constraints, or those of several views one after another. They
        are marked by crosses.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure, as high as the number of rows asks for.

    Returns
    -------
    matplotlib.axes.Axes
        With one collection of dots a row, from top to bottom, and one of crosses behind it where
        `flipped` is given.

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
    >>> ax = bc.plots.credibility(tree, flipped=[False, True])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['"same"', '"different"']
    """
    table, wrong = judged(posterior, flipped)
    rows = _rows(posterior, table)
    ax = axes_or_new(ax, 8.5, 1.3 + max(0.42 * len(rows), 1.2))
    ax.axvspan(0, 0.5, color="0.94", zorder=0, linewidth=0)
    ax.axvline(0.5, color="0.6", linewidth=0.8, zorder=0)
    size = float(np.clip(4000 / max(mask.sum() for mask in rows.values()), 6, 18))
    for y, mask in enumerate(rows.values()):
        _draw_row(
            ax,
            y,
            table["credibility"].to_numpy()[mask],
            None if wrong is None else wrong[mask],
            size,
        )
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.02, 1.02), xticks=np.linspace(0, 1, 6))
    ax.set_yticks(range(len(rows)), list(rows))
    ax.tick_params(left=False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel(
        "posterior probability that the answer is right (shaded: doubted, below one half)"
    )
    doubted = int((table["credibility"] < 0.5).sum())
    title = f"Which answers to believe: {doubted:,} of {counted(len(table), 'answer')} doubted"
    ax.set_title(title, loc="left", pad=6 if wrong is None else 22)
    if wrong is not None:
        _legend(ax)
    return ax


def _rows(posterior: Any, table: pd.DataFrame) -> dict[str, BoolArray]:
    """Which answers stand in each row, by the row's name."""
    several_views = table["view"].nunique() > 1
    rank = {
        word: at for at, word in enumerate((*WORDS, *sorted(set(table["answer"]) - set(WORDS))))
    }
    rows = {}
    for view in table["view"].unique():
        of_view = table["view"] == view
        sources = sorted(table["source"][of_view].unique())
        names = shortened(source_names(posterior, str(view), max(sources) + 1), LONGEST)
        for source in sources:
            of_source = of_view & (table["source"] == source)
            for word in sorted(table["answer"][of_source].unique(), key=rank.__getitem__):
                parts = (
                    [str(view)] * several_views
                    + [in_words(names[source])] * (len(sources) > 1)
                    + [f'"{word}"']
                )
                rows[", ".join(parts)] = (of_source & (table["answer"] == word)).to_numpy()
    return rows


def _draw_row(
    ax: Axes, y: float, credibility: FloatArray, wrong: BoolArray | None, size: float
) -> None:
    height = np.empty(len(credibility))
    # neighbours on the scale land far apart across the row
    height[np.argsort(credibility, kind="stable")] = y + BAND * (
        _van_der_corput(len(credibility)) - 0.5
    )
    right = np.ones(len(credibility), dtype=np.bool_) if wrong is None else ~wrong
    ax.scatter(
        credibility[right],
        height[right],
        s=size,
        color=BLUE,
        alpha=0.55,
        linewidths=0,
        clip_on=False,
    )
    doubted = int((credibility < 0.5).sum())
    note = f"{doubted:,} of {len(credibility):,} doubted"
    if wrong is not None:
        ax.scatter(
            credibility[wrong],
            height[wrong],
            s=size + 12,
            color=VERMILION,
            marker="x",
            linewidths=1.3,
            clip_on=False,
        )
        note += f",\n{int((wrong & (credibility < 0.5)).sum()):,} of the {int(wrong.sum()):,} wrong"
    ax.annotate(
        note,
        (1, y),
        (10, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize="small",
        color=GREY,
        annotation_clip=False,
    )


def _van_der_corput(count: int) -> FloatArray:
    """Return the first numbers of the base-2 low-discrepancy sequence in [0, 1)."""
    index, value, unit = np.arange(1, count + 1), np.zeros(count), 0.5
    while index.any():
        value += unit * (index & 1)
        index >>= 1
        unit /= 2
    return value


def _legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=BLUE, marker="o", linestyle="", markersize=4, label="right in truth"),
        Line2D(
            [], [], color=VERMILION, marker="x", linestyle="", markersize=5, label="wrong in truth"
        ),
    ]
    place = {"bbox_to_anchor": (0, 1), "borderaxespad": 0.1, "borderpad": 0.2}
    ax.legend(handles=marks, loc="lower left", ncols=2, frameon=False, **place)
