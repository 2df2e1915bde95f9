"""The answers as a graph over the items in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import number_between
from bayesclust.plots._plane import plane
from bayesclust.plots._style import BLUE, VERMILION, axes_or_new, counted, dot_size
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = ["constraint_graph"]

SOLID, DASHED, DOTTED = "-", (0, (4, 2)), (0, (1, 1.2))
CLAIMS: dict[str, tuple[tuple[str, Any], ...]] = {
    "same": (("ij", SOLID),),
    "different": (("ij", DASHED),),
    "yes": (("ij", SOLID), ("ik", DASHED)),
    "no": (("ik", SOLID), ("ij", DASHED)),
    "dnk": (("ij", DOTTED), ("ik", DOTTED)),
}
"""What an answer says: lines between its items, solid where they are said to be together, dashed where apart."""
WORDS = {SOLID: "said to be together", DASHED: "said to be apart", DOTTED: '"do not know"'}


def constraint_graph(
    posterior: Any, X: ArrayLike | None = None, *, below: float = 1.0, ax: Axes | None = None
) -> Axes:
    """Show the answers as lines between their items in the plane, coloured by how far they are to be believed.

    Lines are solid between items that an answer puts together and dashed between items that it puts
    apart. An answer "yes" about (i, j, k) draws i to j solid and i to k dashed, "no" the other way
    round, and "dnk" both dotted. The colour is the posterior probability that the answer is right,
    blue above one half and vermilion below it. Doubted answers, those below one half, lie on top.
    The more there are of either, the thinner and paler they are.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.
    X : (n, d) array, optional
        Data that place the items; by default those kept by the posterior. Two columns are drawn as
        they are; of more, the first two principal components of the standardised columns.
    below : float in (0, 1], default 1
        Answers of at most this credibility are drawn: 0.5 leaves the doubted ones where there are
        too many to see.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With collections of lines for the believed answers, solid, dashed and dotted, then such for
        the doubted ones, and then the items. Its ``child_axes`` hold the colour bar.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no draws or no constraints, or there are no data or those of other
        items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> tree = to_datatree({"z": [[[0, 0, 1], [0, 1, 1]]]}, X=[[0, 0], [1, 0], [2, 0]], constraints=[links])
    >>> ax = bc.plots.constraint_graph(tree)
    >>> [lines.get_array().tolist() for lines in ax.collections[:2]]
    [[0.5], [1.0]]
    """
    number_between(below, "below", "(0, 1]")
    table = constraint_credibility(posterior)
    n_items = stacked_partitions(posterior).shape[1]
    field = plane(posterior, X, n_items)
    shown = table[table["credibility"] <= below]
    ax = axes_or_new(ax, 7.6, 5.8)
    drawn = set()
    for half in (shown[shown["credibility"] >= 0.5], shown[shown["credibility"] < 0.5]):
        width, alpha = _weight(len(half))
        for style in WORDS:
            ends, credibility = _lines(half, style)
            if len(ends):
                _draw(
                    ax,
                    field.at[ends],
                    credibility,
                    {"linestyles": [style], "linewidths": width, "alpha": alpha},
                )
                drawn.add(style)
    ax.scatter(
        field.at[:, 0],
        field.at[:, 1],
        s=0.4 * dot_size(n_items),
        color="0.25",
        linewidths=0,
        zorder=1.5,
    )
    field.name_axes(ax)
    _legend(ax, [style for style in WORDS if style in drawn])
    _bar(ax)
    doubted = int((table["credibility"] < 0.5).sum())
    among = "" if len(shown) == len(table) else f"; shown: {len(shown):,} of at most {below:.2g}"
    ax.set_title(f"{counted(len(table), 'answer')}, {doubted:,} doubted{among}", loc="left", pad=24)
    return ax


def _colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "credibility", [VERMILION, "#F0B48C", "#C9C9C9", "#8DBBDB", BLUE]
    )


def _weight(number: int) -> tuple[float, float]:
    """Line width and opacity by which this many lines can be seen."""
    return float(np.clip(17 / max(number, 1) ** 0.5, 0.45, 1.7)), float(
        np.clip(9 / max(number, 1) ** 0.5, 0.16, 0.9)
    )


def _lines(
    table: pd.DataFrame, style: Any
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], FloatArray]:
    """Ends of the lines of a style, and the credibility of their answers, the most believed first."""
    ends, credibility = [np.empty((0, 2), np.int64)], [np.empty(0)]
    for word, lines in CLAIMS.items():
        rows = table[table["answer"] == word]
        for members, own in lines:
            if own == style and len(rows):
                ends.append(rows[list(members)].to_numpy(np.int64))
                credibility.append(rows["credibility"].to_numpy())
    value = np.concatenate(credibility)
    order = np.argsort(-value, kind="stable")
    return np.concatenate(ends)[order], value[order]


def _draw(ax: Axes, segments: FloatArray, credibility: FloatArray, style: dict[str, Any]) -> None:
    from matplotlib.collections import LineCollection

    lines = LineCollection(list(segments), array=credibility, cmap=_colours(), zorder=1, **style)
    lines.set_clim(0, 1)
    ax.add_collection(lines)


def _legend(ax: Axes, styles: list[Any]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color="0.3", linestyle=style, linewidth=1.4, label=WORDS[style])
        for style in styles
    ]
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        fontsize="small",
        borderaxespad=0.1,
        borderpad=0.2,
    )


def _bar(ax: Axes) -> None:
    from matplotlib.cm import ScalarMappable

    bar = ax.figure.colorbar(
        ScalarMappable(cmap=_colours()), cax=ax.inset_axes((1.03, 0, 0.035, 1))
    )
    bar.set_label("posterior probability that the answer is right")
    bar.outline.set_visible(False)
