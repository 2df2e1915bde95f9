"""Matrices: the posterior similarity of items, and the agreement of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_choice, counted, plain_array
from bayesclust.plots._style import (
    BLUE,
    GREY,
    PALETTE,
    VERMILION,
    axes_or_new,
    bare,
    colour_bar,
    shortened,
)
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.similarity import cluster_similarity, item_entropy, similarity_matrix
from bayesclust.posterior.tree import Labels, as_labels, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["agreement", "similarity"]

CLOSEST_NAMES = 0.04
"""Share of the height that the names of two clusters are apart at least."""
LARGEST_TREE = 5000
STRIP = 0.035
GAP = 0.012
"""Width of a partition beside the matrix and of the space around it, as shares of the matrix."""
PIXELS = 600
"""Rows of the picture: of more items, neighbours share one."""
LONGEST = 18
TILTED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
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
        "dendrogram" orders up to 5000 items by average linkage instead, and draws the dendrogram at
        the left (heights are 1 minus the mean similarity) and the partition at the right.

    Returns
    -------
    matplotlib.axes.Axes
        With the matrix. Its ``child_axes`` are the strip of entropies, of a dendrogram this and the
        partition, and the colour bar.

    Raises
    ------
    ValueError, TypeError
        If there are no partitions, labels are not one integer per item, or there are too many items
        for a dendrogram.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.similarity([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> ax.images[0].get_array().shape, ax.get_title(loc="left")
    ((4, 4), 'Posterior similarity of 4 items, in 2 clusters')
    """
    check_choice(order, "order", ("clusters", "dendrogram"))
    draws = stacked_partitions(posterior)
    names = point_estimate(draws) if labels is None else plain_array(labels, "labels")
    n = draws.shape[1]
    z = as_labels(names, "labels", n)
    is_tree = order == "dendrogram"
    row, brackets = _by_tree(draws) if is_tree else (_by_cluster(draws, z), np.empty((0, 4, 2)))
    ax = axes_or_new(ax, 7.6, 6.6)
    shown: dict[str, Any] = {"vmin": 0, "vmax": 1, "cmap": "Blues", "aspect": "equal"}
    image = ax.imshow(_picture(draws, row), extent=(-0.5, n - 0.5, n - 0.5, -0.5), **shown)
    ax.set(xticks=[], yticks=[], xlabel="items in the same order")
    _entropy_strip(ax, item_entropy(draws)[row])
    right = 1.03
    if is_tree:
        _draw_tree(ax, brackets, n)
        _draw_partition(ax, z[row])
        right += STRIP + GAP
    else:
        _frame_clusters(ax, names[row])
    colour_bar(ax, image, "posterior probability of sharing a cluster", right)
    clusters = counted(int(z.max()) + 1, "cluster")
    ax.set_title(f"Posterior similarity of {counted(n, 'item')}, in {clusters}", loc="left")
    return ax


def _by_cluster(draws: Labels, z: Labels) -> IntArray:
    """Items by the clusters of z, similar clusters side by side, the surest items first in each."""
    sizes = np.bincount(z).astype(np.float64)
    to_cluster = cluster_similarity(draws, z)
    between = to_cluster @ (z[:, None] == np.arange(len(sizes)))
    rank = np.argsort(_cluster_order(between / sizes, sizes))
    # rounded, lest items that are equally sure come in an order of rounding errors
    own = to_cluster[z, np.arange(len(z))].round(12)
    order: IntArray = np.lexsort((-own, rank[z]))
    return order


def _cluster_order(between: FloatArray, sizes: FloatArray) -> IntArray:
    """Clusters in a row, similar ones side by side, the larger end first."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    order: IntArray = np.arange(len(sizes))
    if len(sizes) > 2:
        distance = 1 - between[np.triu_indices(len(sizes), 1)]
        order = leaves_list(linkage(distance, "average", optimal_ordering=True)).astype(np.int64)
    return order if sizes[order[0]] >= sizes[order[-1]] else order[::-1]


def _by_tree(draws: Labels) -> tuple[IntArray, FloatArray]:
    """Items by average linkage of their similarities; a bracket (4, 2) for each merge."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n = draws.shape[1]
    if n > LARGEST_TREE:
        raise ValueError(
            f"a dendrogram takes at most {LARGEST_TREE:,} items; got {n:,}: leave order='clusters'."
        )
    if n == 1:
        return np.zeros(1, np.int64), np.empty((0, 4, 2))
    merges = linkage(squareform(1 - similarity_matrix(draws), checks=False), "average")
    order: IntArray = leaves_list(merges).astype(np.int64)
    # SciPy's drawing recurses too deep for thousands of items
    place = np.empty(2 * n - 1)
    place[order] = np.arange(n)
    height = np.concatenate([np.zeros(n), merges[:, 2]])
    brackets = np.empty((n - 1, 4, 2))
    for m, (a, b) in enumerate(merges[:, :2].astype(np.int64)):
        brackets[m, :, 0] = np.repeat(place[[a, b]], 2)
        brackets[m, :, 1] = height[[a, n + m, n + m, b]]
        place[n + m] = (place[a] + place[b]) / 2
    return order, brackets


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
    look: dict[str, Any] = {"fill": False, "edgecolor": VERMILION, "linewidth": 1.2}
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


def _entropy_strip(ax: Axes, entropy: FloatArray) -> None:
    """The entropy of each item above the matrix."""
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    edges = np.arange(len(entropy) + 1) - 0.5
    strip.stairs(entropy, edges, fill=True, color=BLUE)
    strip.set(xlim=(edges[0], edges[-1]), ylim=(0, 1), xticks=[], yticks=[0, 1])
    strip.set_ylabel("item\nentropy\n(bits)", rotation=0, ha="right", va="center", color=GREY)
    bare(strip)


def _draw_tree(ax: Axes, brackets: FloatArray, n: int) -> None:
    """The dendrogram at the left of the matrix."""
    from matplotlib.collections import LineCollection

    side = ax.inset_axes((-0.22, 0, 0.21, 1))
    look: dict[str, Any] = {"colors": GREY, "linewidths": float(np.clip(60 / n, 0.3, 1))}
    side.add_collection(LineCollection(list(brackets[:, :, ::-1]), rasterized=n > 500, **look))
    side.set(xlim=(1, 0), ylim=(n - 0.5, -0.5), yticks=[], xticks=[0, 1], xlabel="1 - similarity")
    side.tick_params(labelsize="small")
    bare(side, "top", "right", "left")


def _draw_partition(ax: Axes, labels: Labels) -> None:
    """A strip of the clusters at the right of the matrix."""
    from matplotlib.colors import ListedColormap

    strip = ax.inset_axes((1 + GAP, 0, STRIP, 1))
    look: dict[str, Any] = {"vmin": 0, "vmax": len(PALETTE) - 1, "cmap": ListedColormap(PALETTE)}
    look |= {"aspect": "auto", "interpolation": "nearest"}
    strip.imshow(labels[:, None] % len(PALETTE), extent=(0, 1, len(labels) - 0.5, -0.5), **look)
    strip.set(xticks=[], yticks=[], xlabel="clusters")
    strip.spines[:].set_visible(False)


def agreement(
    matrix: pd.DataFrame,
    title: str | None = None,
    *,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show a table of agreement or distance between partitions as a heat map with its numbers.

    Parameters
    ----------
    matrix : (m, m) pandas.DataFrame of float
        From `bayesclust.agreement`, or another such table; NaN cells stay empty.
    title : str, optional
        By default the name of the columns, or "Agreement".
    unit : str, optional
        For the colour bar; by default what stands in brackets in the name of the columns.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one image, and numbers in the cells of up to 16 partitions.

    Raises
    ------
    ValueError, TypeError
        If it is no DataFrame of numbers, empty, or its rows and columns have different names.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.agreement(bc.agreement({"a": [0, 0, 1, 1], "b": [0, 0, 0, 0]}, "vi"))
    >>> ax.get_title(loc="left"), [text.get_text() for text in ax.texts]
    ('Variation of information', ['0.00', '1.00', '1.00', '0.00'])
    """
    values = _check_matrix(matrix)
    number = len(values)
    side = float(np.clip(2.2 + 0.55 * number, 3.6, 10))
    ax = axes_or_new(ax, side + 1.5, side)
    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=1.0))
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high, aspect="equal")
    names = shortened([str(name) for name in matrix.index], LONGEST)
    small = "small" if number <= 24 else "x-small"
    ax.set_xticks(range(number), names, fontsize=small, **TILTED)
    ax.set_yticks(range(number), names, fontsize=small)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if number <= NUMBERED:
        size = "small" if number <= 10 else "x-small"
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                colour = "white" if value < (low + high) / 2 else "black"
                look: dict[str, Any] = {"color": colour, "fontsize": size}
                ax.text(column, row, f"{value:.2f}", ha="center", va="center", **look)
    column = "agreement" if matrix.columns.name is None else str(matrix.columns.name)
    named, _, measured = column.partition(" (")
    colour_bar(ax, image, measured.removesuffix(")") if unit is None else unit)
    ax.set_title(named[:1].upper() + named[1:] if title is None else title, loc="left")
    return ax


def _check_matrix(matrix: Any) -> FloatArray:
    """The numbers of a table of partitions by partitions, or a refusal."""
    import pandas as pd

    if not isinstance(matrix, pd.DataFrame):
        raise TypeError(
            f"matrix is a {type(matrix).__name__}: pass a DataFrame of partitions by partitions."
        )
    if matrix.empty or list(map(str, matrix.index)) != list(map(str, matrix.columns)):
        raise ValueError(
            f"matrix has rows {list(matrix.index)} and columns {list(matrix.columns)}: "
            "pass a table of partitions by the same partitions, at least one."
        )
    try:
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "matrix has cells that are no numbers: pass a table of agreements or distances."
        ) from None
