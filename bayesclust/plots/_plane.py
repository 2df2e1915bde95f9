"""Items in the plane: where they are drawn, and how clusters are drawn there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.checks import check_items
from bayesclust.plots._style import FEW, MARKERS, PALETTE, bare, counted, dot_size
from bayesclust.posterior.tree import Labels, feature_names, group
from bayesclust.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND = 10
"""Clusters that a legend names."""
FAINT = 0.28


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
    """Return where to draw the items, by X (n, d) or by the data of the posterior.

    Two columns are drawn as they are; of more, the first two principal components of the
    standardized columns, missing cells at their column's mean; one column against an axis over
    which items are only spread.
    """
    names: list[str] = []
    if X is None:
        tree = getattr(posterior, "posterior_", posterior)
        if "observed_data" not in getattr(tree, "children", ()) or "X" not in tree["observed_data"]:
            raise ValueError(
                "this posterior has no data to place its items in the plane: "
                "pass X, one row an item."
            )
        X = group(posterior, "observed_data")["X"].values
        names = feature_names(posterior)
    data = check_items(X, least=1, missing=True)
    if len(data) != n_items:
        raise ValueError(
            f"X has {len(data)} rows, but the posterior has {counted(n_items, 'item')}: "
            "pass one row an item."
        )
    mean = np.zeros(data.shape[1])
    seen = ~np.isnan(data).all(axis=0)
    mean[seen] = np.nanmean(data[:, seen], axis=0)
    data = np.where(np.isnan(data), mean, data)
    titles = [f"feature {name}" if name.isdecimal() else name for name in names]
    titles = titles or [f"feature {j}" for j in range(data.shape[1])]
    if data.shape[1] == 1:
        at = np.column_stack([data[:, 0], _spread(data[:, 0])])
        return Plane(at, (titles[0], "(spread, no meaning)"))
    if data.shape[1] == 2:
        return Plane(data, (titles[0], titles[1]))
    return _components(data)


def _spread(values: FloatArray) -> FloatArray:
    """Heights that differ between neighbours: multiples of the golden ratio modulo 1, by rank."""
    heights = np.empty(len(values))
    rank = np.arange(1, len(values) + 1)
    heights[np.argsort(values, kind="stable")] = rank * (np.sqrt(5) - 1) / 2 % 1
    return heights


def _components(data: FloatArray) -> Plane:
    """The first two principal components of the standardized columns."""
    from sklearn.decomposition import PCA

    deviation = data.std(axis=0)
    scaled = (data - data.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]
    if scaled.shape[1] < 2 or len(scaled) < 2:
        at = np.pad(scaled, ((0, 0), (0, 2)))[:, :2]
        return Plane(at, ("standardized", "(nothing varies in this direction)"))
    pca = PCA(2, random_state=0).fit(scaled)
    first, second = pca.explained_variance_ratio_
    names = (f"1st principal component ({first:.0%})", f"2nd principal component ({second:.0%})")
    return Plane(pca.transform(scaled), names)


def look(cluster: int) -> dict[str, Any]:
    """Colour and marker of a cluster: 49 of them differ, and the first seven in both."""
    turn = cluster // len(PALETTE)
    return {
        "color": PALETTE[cluster % len(PALETTE)],
        "marker": MARKERS[(cluster + turn) % len(MARKERS)],
    }


def matched(labels: Labels, reference: Labels) -> IntArray:
    """Number clusters like those of the reference that they share most items with."""
    from scipy.optimize import linear_sum_assignment

    common = np.zeros((labels.max() + 1, reference.max() + 1), np.int64)
    np.add.at(common, (labels, reference), 1)
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
    order = np.argsort(-sizes, kind="stable")
    for k in order.tolist():
        style = look(int(kinds[k])) | {"label": f"{kinds[k]} ({sizes[k]:,})"}
        own = at[numbers == kinds[k]]
        if faint is None:
            ax.scatter(own[:, 0], own[:, 1], s=area, linewidths=0, alpha=0.85, **style)
            continue
        pale = faint[numbers == kinds[k]]
        ax.scatter(own[pale, 0], own[pale, 1], s=area, linewidths=0, alpha=FAINT, **style)
        edge = 0.6 if len(at) <= FEW else 0
        style |= {"edgecolors": "0.1", "linewidths": edge, "label": "_moved"}
        ax.scatter(own[~pale, 0], own[~pale, 1], s=1.3 * area, zorder=2, **style)
    handles, names = ax.get_legend_handles_labels()
    shown = np.argsort(kinds[order[:LEGEND]], kind="stable").tolist()
    more = len(kinds) > len(shown)
    box = ax.legend(
        [handles[k] for k in shown],
        [names[k] for k in shown],
        title="cluster (items)" + (f",\nthe largest of {len(kinds)}" if more else ""),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1, 1),
        handletextpad=0.2,
        borderaxespad=0.2,
    )
    for handle in box.legend_handles:
        if handle is not None:
            handle.set(sizes=[26], alpha=1)
