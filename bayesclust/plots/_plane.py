"""Items in the plane: where they are drawn, and how clusters are drawn there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.checks import check_array, check_items
from bayesclust.plots._style import (
    FEW,
    MARKERS,
    NUMBER,
    bare,
    dot_size,
    legend_beside,
    palette,
    shade,
    shortened,
)
from bayesclust.posterior.tree import Labels, data_if_any, feature_names, names_in
from bayesclust.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 40
"""Letters of a feature's name that fit along an axis."""
LEGEND = 10
"""Clusters that a legend names."""


class Plane(NamedTuple):
    """Items in two dimensions, and the names of these."""

    at: FloatArray  # (n, 2)
    names: tuple[str, str]

    def name_axes(self, ax: Axes) -> None:
        """Name the axes."""
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        ax.margins(0.04)
        bare(ax)
        ax.tick_params(labelsize="small")


def plane(posterior: Any, X: ArrayLike | None, n_items: int) -> Plane:
    """Where to draw the items, by X (n, d) or by the data of the posterior."""
    # Two columns are drawn as they are; of more, the first two principal components of the
    # standardized columns, missing cells at their column's mean; one column against an axis over
    # which items are only spread.
    from sklearn.impute import SimpleImputer

    kept = data_if_any(posterior)
    if X is None:
        if kept is None:
            raise ValueError("this posterior has no data to place its items in the plane: pass X.")
        X, names = kept, feature_names(posterior)
    else:
        names = list(names_in(X)[1] or ())
    try:
        data = check_items(X, least=1, missing=True)
    except TypeError:
        if kept is None:
            raise
        raise TypeError(
            "X must hold numbers: leave X out, and the data of the posterior place its items."
        ) from None
    check_array(data, "X", (n_items, "d"), "", "pass one row for each item of the posterior")
    data = SimpleImputer(keep_empty_features=True).fit_transform(data)
    if data.shape[1] > 2:
        return _components(data)
    names = names or list(map(str, range(data.shape[1])))
    titles = [f"feature {n}" if n.isdecimal() else n for n in shortened(names, LONGEST)]
    if data.shape[1] == 1:
        # multiples of the golden ratio modulo 1, by rank, so that the heights of neighbours differ
        rank = 1 + data[:, 0].argsort(kind="stable").argsort()
        data = np.column_stack([data[:, 0], rank * (np.sqrt(5) - 1) / 2 % 1])
        titles.append("(spread, no meaning)")
    return Plane(data, (titles[0], titles[1]))


def _components(data: FloatArray) -> Plane:
    """The first two principal components of the standardized columns."""
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(data)
    if not scaled.any():
        return Plane(scaled[:, :2], ("(nothing varies)", "(nothing varies)"))
    pca = PCA(2, random_state=0).fit(scaled)
    first, second = pca.explained_variance_ratio_
    names = (f"1st principal component ({first:.0%})", f"2nd principal component ({second:.0%})")
    return Plane(pca.transform(scaled), names)


def matched(labels: Labels, reference: Labels) -> IntArray:
    """Number clusters like those of the reference that they share most items with."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    common = contingency_matrix(labels, reference)
    rows, columns = linear_sum_assignment(-common)
    number = np.full(len(common), -1, np.int64)
    shared = common[rows, columns] > 0
    number[rows[shared]] = columns[shared]
    others = np.flatnonzero(number < 0)
    others = others[np.argsort(-common[others].sum(axis=1), kind="stable")]
    number[others] = common.shape[1] + np.arange(len(others))
    return number[labels]


def draw_clusters(
    ax: Axes, at: FloatArray, numbers: Labels, faint: BoolArray | None = None
) -> None:
    """Draw items, one collection a cluster, the largest first; those not `faint` lie on top."""
    kinds, sizes = np.unique(numbers, return_counts=True)
    area = dot_size(len(numbers))
    order = np.argsort(-sizes, kind="stable").tolist()
    drawn: dict[int, Any] = {}
    for k in order:
        # 49 clusters differ in colour or marker, and the first seven in both
        turn, colour = divmod(int(kinds[k]), NUMBER)
        style: dict[str, Any] = {"color": palette()[colour]}
        style["marker"] = MARKERS[(kinds[k] + turn) % len(MARKERS)]
        here = numbers == kinds[k]
        pale = at[here if faint is None else here & faint]
        alpha = 0.85 if faint is None else 0.28
        name = f"{kinds[k]} ({sizes[k]:,})"
        x, y = pale.T
        drawn[k] = ax.scatter(x, y, s=area, linewidths=0, alpha=alpha, label=name, **style)
        if faint is not None and (here & ~faint).any():
            edge: dict[str, Any] = {
                "edgecolors": shade(0.9),
                "linewidths": 0.6 if len(at) <= FEW else 0,
            }
            x, y = at[here & ~faint].T
            ax.scatter(x, y, s=1.3 * area, zorder=2, **style, **edge)
    title = f",\nthe largest of {len(kinds)}" if len(kinds) > LEGEND else ""
    shown = [drawn[k] for k in sorted(order[:LEGEND])]
    head: dict[str, Any] = {"title": f"cluster (items){title}", "title_fontsize": "small"}
    for handle in legend_beside(ax, handles=shown, **head).legend_handles:
        handle.set(sizes=[26], alpha=1)
