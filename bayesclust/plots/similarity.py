"""The similarity matrix of a posterior, ordered by a partition, with the uncertainty of every item above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import BLUE, GREY, VERMILION, axes_or_new, counted
from bayesclust.posterior.labels import Labels, as_labels
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.similarity import item_entropy, similarity_matrix
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["similarity"]

CLOSEST_NAMES = 0.04
"""Share of the height that the names of two clusters are apart at least."""


def similarity(posterior: Any, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show how often each two items share a cluster.

    Items are ordered by a partition: clusters that are often one stand side by side, and within a cluster the surest
    items come first. Frames mark the clusters. The strip above shows the entropy of each item: the mean over all other
    items j of the entropy, in bits, of whether the item is with j. It is 0 where all draws agree, and 1 where being
    together is as likely as not for every j.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    labels : (n,) array of int, optional
        The partition that orders the items and is marked. By default the point estimate under the VI loss.
    ax : matplotlib.axes.Axes, optional
        Where to draw; the strip and the colour bar are put beside it, as axes that belong to it. By default on a new
        figure.

    Returns
    -------
    matplotlib.axes.Axes
        With the matrix. Its ``child_axes`` are the strip of entropies and the colour bar.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or labels are not one integer per item.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.similarity([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> ax.images[0].get_array().shape, ax.get_title(loc="left")
    ((4, 4), 'Posterior similarity of 4 items, in 2 clusters')
    """
    matrix = similarity_matrix(posterior)
    names = point_estimate(posterior) if labels is None else np.asarray(labels)
    z = as_labels(names, "labels")
    if len(z) != len(matrix):
        raise ValueError(f"labels has {len(z)} items, but the posterior has {len(matrix)}: pass one label per item.")
    order = _order(matrix, z)
    ax = axes_or_new(ax, 7.2, 6.6)
    image = ax.imshow(matrix[np.ix_(order, order)], vmin=0, vmax=1, cmap="Blues", aspect="equal")
    _frame_clusters(ax, names[order])
    _strip(ax, item_entropy(posterior)[order])
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.03, 0, 0.035, 1)))
    bar.set_label("posterior probability of sharing a cluster")
    bar.outline.set_visible(False)
    clusters = counted(int(z.max()) + 1, "cluster")
    ax.set_title(f"Posterior similarity of {counted(len(z), 'item')}, in {clusters}", loc="left")
    return ax


def _order(matrix: FloatArray, z: Labels) -> IntArray:
    """Items by cluster, neighbours alike, and from the surest to the least sure within it."""
    members = (z == np.arange(z.max() + 1)[:, None]).astype(np.float64)
    means = members / members.sum(axis=1, keepdims=True)
    to_cluster = means @ matrix
    rank = np.argsort(_cluster_order(to_cluster @ means.T, members.sum(axis=1)))
    # rounded, lest items that are equally sure come in an order of rounding errors
    own = to_cluster[z, np.arange(len(z))].round(12)
    order: IntArray = np.lexsort((-own, rank[z]))
    return order


def _cluster_order(between: FloatArray, sizes: FloatArray) -> IntArray:
    """Put clusters in a row so that those of high mutual similarity are neighbours, the larger end first."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    order: IntArray = np.arange(len(sizes))
    if len(sizes) > 2:
        distance = 1 - between[np.triu_indices(len(sizes), 1)]
        order = leaves_list(optimal_leaf_ordering(linkage(distance, "average"), distance)).astype(np.int64)
    return order if sizes[order[0]] >= sizes[order[-1]] else order[::-1]


def _frame_clusters(ax: Axes, names: Labels) -> None:
    """Frame the blocks of equal names on the diagonal, and say their names and sizes at the left."""
    from matplotlib.patches import Rectangle

    n = len(names)
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
    sizes = np.diff(starts, append=n)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        frame = Rectangle((start - 0.5, start - 0.5), size, size, fill=False, edgecolor=VERMILION, linewidth=1.2)
        ax.add_patch(frame)
    middles = starts + (sizes - 1) / 2
    shown: list[int] = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(middles[k] - middles[other]) >= CLOSEST_NAMES * n for other in shown):
            shown.append(k)
    shown.sort()
    ax.set_yticks(middles[shown], [f"{names[starts[k]]} ({sizes[k]})" for k in shown])
    ax.set_xticks([])
    ax.tick_params(left=False)
    ax.set_ylabel("cluster (number of items)")
    ax.set_xlabel("items in the same order")


def _strip(ax: Axes, entropy: FloatArray) -> None:
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    edges = np.arange(len(entropy) + 1) - 0.5
    strip.stairs(entropy, edges, fill=True, color=BLUE)
    strip.set(xlim=(edges[0], edges[-1]), ylim=(0, 1), xticks=[], yticks=[0, 1])
    strip.set_ylabel("item\nentropy\n(bits)", rotation=0, ha="right", va="center", color=GREY)
    strip.spines[["top", "right"]].set_visible(False)
