"""Matrices: the posterior similarity of items, and the agreement of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_choice, counted, kind_of, plain_array, real_array
from bayesclust.plots import _style as style
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.posterior.similarity import cluster_similarity, item_entropy, similarity_matrix
from bayesclust.posterior.tree import Labels, as_labels, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

CLOSEST_NAMES = 0.04
"""Share of the height that the names of two clusters are apart at least."""
LARGEST_TREE = 900
"""Items of a dendrogram: SciPy's drawing recurses as deep as the tree."""
STRIP = 0.035
GAP = 0.012
"""Width of a partition beside the matrix and of the space around it, as shares of the matrix."""
PIXELS = 600
"""Rows of the picture: of more items, neighbours share one."""
LONGEST = 18
NUMBERED = 16
"""Partitions whose cells have room for a number."""


def similarity(
    posterior: Any,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    order: str = "clusters",
) -> Axes:
    """Show the co-clustering probability of each two items.

    Items are ordered by a partition, whose clusters are framed: clusters that are often one stand
    side by side, and within a cluster the surest items come first. The strip above shows the
    `item_entropy` of each item. Of more than 600 items, rows are means of neighbours, and no n x n
    matrix is formed.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    labels : (n,) array of int, optional
        The partition; by default the point estimate under the VI loss.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.
    order : {"clusters", "dendrogram"}, default "clusters"
        "dendrogram" orders up to 900 items by average linkage instead, and draws the dendrogram at
        the left (heights are 1 minus the mean similarity) and the partition at the right.

    Returns
    -------
    matplotlib.axes.Axes
        With the matrix. Its ``child_axes`` are the strip of entropies, of a dendrogram this and the
        partition, and the colour bar.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.similarity([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> ax.images[0].get_array().shape, ax.get_title(loc="left")
    ((4, 4), 'Posterior similarity of 4 items, in 2 clusters')
    """
    check_choice(order, "order", ("clusters", "dendrogram"))
    draws = stacked_partitions(posterior)
    names = settled_labels(posterior) if labels is None else plain_array(labels, "labels")
    n = draws.shape[1]
    z = as_labels(names, "labels", n)
    is_tree = order == "dendrogram"
    if is_tree and not 1 < n <= LARGEST_TREE:
        raise ValueError(
            f"a dendrogram takes 2 to {LARGEST_TREE} items; got {n:,}: leave order='clusters'."
        )
    ax = style.axes_or_new(ax, 7.6, 6.6)
    row = _draw_tree(ax, draws) if is_tree else _by_cluster(draws, z)
    shown: dict[str, Any] = {"vmin": 0, "vmax": 1, "cmap": "Blues", "aspect": "equal"}
    image = ax.imshow(_picture(draws, row), extent=(-0.5, n - 0.5, n - 0.5, -0.5), **shown)
    ax.set(xticks=[], yticks=[], xlabel="items in the same order")
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    strip.stairs(item_entropy(draws)[row], np.arange(n + 1) - 0.5, fill=True, color=style.BLUE)
    strip.set(xlim=(-0.5, n - 0.5), ylim=(0, 1), xticks=[], yticks=[0, 1])
    look: dict[str, Any] = {"rotation": 0, "ha": "right", "va": "center", "color": style.grey()}
    strip.set_ylabel("item\nentropy\n(bits)", **look)
    style.bare(strip)
    if is_tree:
        _draw_partition(ax, z[row])
    else:
        _frame_clusters(ax, names[row])
    right = 1.03 + is_tree * (STRIP + GAP)
    style.colour_bar(ax, image, "posterior probability of sharing a cluster", right)
    clusters = counted(int(z.max()) + 1, "cluster")
    ax.set_title(f"Posterior similarity of {counted(n, 'item')}, in {clusters}", loc="left")
    return ax


def _by_cluster(draws: Labels, z: Labels) -> IntArray:
    """Items by the clusters of z, similar clusters side by side, the surest items first in each."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    sizes = np.bincount(z).astype(np.float64)
    to_cluster = cluster_similarity(draws, z)
    between = to_cluster @ (z[:, None] == np.arange(len(sizes)))
    order: IntArray = np.arange(len(sizes))
    if len(sizes) > 2:
        distance = 1 - (between / sizes)[np.triu_indices(len(sizes), 1)]
        order = leaves_list(linkage(distance, "average", optimal_ordering=True)).astype(np.int64)
    if sizes[order[0]] < sizes[order[-1]]:
        order = order[::-1]
    # rounded, so that equally sure items are not ordered by rounding errors
    own = to_cluster[z, np.arange(len(z))].round(12)
    return np.lexsort((-own, np.argsort(order)[z])).astype(np.int64)


def _draw_tree(ax: Axes, draws: Labels) -> IntArray:
    """The dendrogram by average linkage at the left of the matrix; returns its order of items."""
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    n = draws.shape[1]
    merges = linkage(squareform(1 - similarity_matrix(draws), checks=False), "average")
    side = ax.inset_axes((-0.22, 0, 0.21, 1))
    look: dict[str, Any] = {"color_threshold": 0, "above_threshold_color": style.grey()}
    tree = dendrogram(merges, ax=side, orientation="left", no_labels=True, **look)
    side.collections[0].set_linewidth(float(np.clip(60 / n, 0.3, 1)))
    side.set(xlim=(1, 0), ylim=(10 * n, 0), yticks=[], xticks=[0, 1], xlabel="1 - similarity")
    side.tick_params(labelsize="small")
    style.bare(side, "top", "right", "left")
    return np.array(tree["leaves"], np.int64)


def _picture(draws: Labels, order: IntArray) -> FloatArray:
    """The similarity matrix in an order or, of many items, the means of its blocks."""
    n = len(order)
    if n <= PIXELS:
        return similarity_matrix(draws)[np.ix_(order, order)]
    block = np.empty(n, np.int64)
    block[order] = np.arange(n) * PIXELS // n
    total = np.zeros((PIXELS, PIXELS))
    for draw in draws:
        counts = np.zeros((PIXELS, int(draw.max()) + 1), np.float32)
        np.add.at(counts, (block, draw), 1)
        total += counts @ counts.T
    sizes = np.bincount(block)
    return total / (len(draws) * sizes[:, None] * sizes)


def _frame_clusters(ax: Axes, names: Labels) -> None:
    """Frame the clusters on the diagonal, and write their names and sizes at the left."""
    from matplotlib.patches import Rectangle

    n = len(names)
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
    sizes = np.diff(starts, append=n)
    look: dict[str, Any] = {"fill": False, "edgecolor": style.VERMILION, "linewidth": 1.2}
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        ax.add_patch(Rectangle((start - 0.5, start - 0.5), size, size, **look))
    middles = starts + (sizes - 1) / 2
    shown: list[int] = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(middles[k] - middles[other]) >= CLOSEST_NAMES * n for other in shown):
            shown.append(k)
    shown.sort()
    ax.set_yticks(middles[shown], [f"{names[starts[k]]} ({sizes[k]})" for k in shown])
    ax.tick_params(left=False)
    ax.set_ylabel("cluster (number of items)")


def _draw_partition(ax: Axes, labels: Labels) -> None:
    """A strip of the clusters at the right of the matrix."""
    from matplotlib.colors import ListedColormap

    strip = ax.inset_axes((1 + GAP, 0, STRIP, 1))
    look: dict[str, Any] = {
        "vmin": 0,
        "vmax": style.NUMBER - 1,
        "cmap": ListedColormap(style.palette()),
    }
    look |= {"aspect": "auto", "interpolation": "nearest"}
    strip.imshow(labels[:, None] % style.NUMBER, extent=(0, 1, len(labels) - 0.5, -0.5), **look)
    strip.set(xticks=[], yticks=[], xlabel="clusters")
    strip.spines[:].set_visible(False)


def agreement(matrix: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Show a table of agreement or distance between partitions as a heat map with its numbers.

    Parameters
    ----------
    matrix : (m, m) pandas.DataFrame of float
        From `bayesclust.agreement`, or another such table; NaN cells stay empty. The name of its
        columns is the title; what stands in brackets there is the unit of the colour bar.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one image, and numbers in the cells of up to 16 partitions.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.agreement(bc.agreement({"a": [0, 0, 1, 1], "b": [0, 0, 0, 0]}, "vi"))
    >>> ax.get_title(loc="left"), [text.get_text() for text in ax.texts]
    ('Variation of information', ['0.00', '1.00', '1.00', '0.00'])
    """
    columns = list(getattr(matrix, "columns", ()))
    if not columns or list(matrix.index) != columns:
        raise ValueError(
            "matrix must be a DataFrame of partitions by the same partitions, as from "
            f"bayesclust.agreement; got {kind_of(matrix)} with columns {columns}."
        )
    values = real_array(matrix, "matrix")
    number = len(values)
    side = float(np.clip(2.2 + 0.55 * number, 3.6, 10))
    ax = style.axes_or_new(ax, side + 1.5, side)
    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=1.0))
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high, aspect="equal")
    names = style.shortened(matrix.index, LONGEST)
    small = "small" if number <= 24 else "x-small"
    ax.set_xticks(range(number), names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(number), names)
    ax.tick_params(length=0, labelsize=small)
    ax.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(values):
        if number <= NUMBERED and not np.isnan(value):
            colour = "white" if value < (low + high) / 2 else "black"
            look: dict[str, Any] = {"color": colour, "ha": "center", "va": "center"}
            ax.text(column, row, f"{value:.2f}", fontsize="small", **look)
    heading = "agreement" if matrix.columns.name is None else str(matrix.columns.name)
    title, _, unit = heading.partition(" (")
    style.colour_bar(ax, image, unit.removesuffix(")"))
    ax.set_title(title[:1].upper() + title[1:], loc="left")
    return style.as_written(ax)
