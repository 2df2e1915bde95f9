"""The similarity matrix of a posterior, ordered by a partition, with the uncertainty of every item above it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_choice, plain_array
from bayesclust.plots._order import by_cluster, by_tree, picture
from bayesclust.plots._plane import matched
from bayesclust.plots._style import BLUE, GREY, VERMILION, axes_or_new, bare, counted, shade
from bayesclust.posterior.labels import Labels, as_labels
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.similarity import item_entropy
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["similarity"]

CLOSEST_NAMES = 0.04
"""Share of the height that the names of two clusters are apart at least."""
LARGEST_TREE = 5000
STRIP, GAP = 0.035, 0.012
"""Width of a partition beside the matrix and of the space around it, as shares of the matrix."""


def similarity(
    posterior: Any,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    order: str = "clusters",
    partitions: Mapping[str, ArrayLike] | None = None,
) -> Axes:
    """Show how often each two items share a cluster, and partitions beside it.

    Items are ordered by a partition: clusters that are often one stand side by side, in the order
    of their dendrogram, and within a cluster the surest items come first. Frames mark the clusters.
    The strip above shows the entropy of each item: the mean over all other items j of the entropy,
    in bits, of whether the item is with j. It is 0 where all draws agree, and 1 where being
    together is as likely as not for every j. Of more than 600 items, neighbours share a row, which
    shows their mean; no n x n matrix is formed.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    labels : (n,) array of int, optional
        The partition that orders the items and is marked. By default the point estimate under the
        VI loss.
    ax : matplotlib.axes.Axes, optional
        Where to draw; strips, dendrogram and colour bar are put beside it, as axes that belong to
        it. By default on a new figure.
    order : {"clusters", "dendrogram"}, default "clusters"
        "dendrogram" orders the items by average linkage of their similarities instead, whatever the
        partition is, draws the dendrogram at the left (heights are 1 minus the mean similarity) and
        the partition as a strip at the right. It takes up to 5000 items, whose similarities it
        holds in memory.
    partitions : mapping of (n,) arrays of int, optional
        More partitions by name, each a strip of colours at the right. A cluster has the colour of
        the cluster of `labels` that it shares most items with.

    Returns
    -------
    matplotlib.axes.Axes
        With the matrix. Its ``child_axes`` are the strip of entropies, the dendrogram if there is
        one, the partitions, each labelled by its name, and the colour bar.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, labels or partitions are not one integer per item, the
        order is unknown, or there are too many items for a dendrogram.

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
    z = _partition(names, "labels", draws)
    others = {
        name: _partition(own, f"partitions[{name!r}]", draws)
        for name, own in (partitions or {}).items()
    }
    n = len(z)
    if order == "dendrogram" and n > LARGEST_TREE:
        raise ValueError(
            f"a dendrogram takes at most {LARGEST_TREE:,} items; got {n:,}: leave order='clusters'."
        )
    tree = by_tree(draws) if order == "dendrogram" else None
    row = by_cluster(draws, z) if tree is None else tree.order
    ax = axes_or_new(ax, 7.6, 6.6)
    edges = (-0.5, n - 0.5, n - 0.5, -0.5)
    image = ax.imshow(
        picture(draws, row), vmin=0, vmax=1, cmap="Blues", aspect="equal", extent=edges
    )
    ax.set(xticks=[], xlabel="items in the same order")
    _strip(ax, item_entropy(draws)[row])
    if tree is None:
        _frame_clusters(ax, names[row])
    else:
        _dendrogram(ax, tree.lines, n)
        others = {"point estimate" if labels is None else "labels": z, **others}
    right = _beside(ax, {name: matched(own, z)[row] for name, own in others.items()})
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((right, 0, 0.035, 1)))
    bar.set_label("posterior probability of sharing a cluster")
    bar.outline.set_visible(False)
    clusters = counted(int(z.max()) + 1, "cluster")
    ax.set_title(f"Posterior similarity of {counted(n, 'item')}, in {clusters}", loc="left")
    return ax


def _partition(labels: ArrayLike, what: str, draws: Labels) -> Labels:
    z = as_labels(labels, what)
    if len(z) != draws.shape[1]:
        raise ValueError(
            f"{what} has {len(z)} items, but the posterior has {draws.shape[1]}: pass one label per item."
        )
    return z


def _frame_clusters(ax: Axes, names: Labels) -> None:
    """Frame the blocks of equal names on the diagonal, and say their names and sizes at the left."""
    from matplotlib.patches import Rectangle

    n = len(names)
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
    sizes = np.diff(starts, append=n)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        frame = Rectangle(
            (start - 0.5, start - 0.5), size, size, fill=False, edgecolor=VERMILION, linewidth=1.2
        )
        ax.add_patch(frame)
    middles = starts + (sizes - 1) / 2
    shown: list[int] = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(middles[k] - middles[other]) >= CLOSEST_NAMES * n for other in shown):
            shown.append(k)
    shown.sort()
    ax.set_yticks(middles[shown], [f"{names[starts[k]]} ({sizes[k]})" for k in shown])
    ax.tick_params(left=False)
    ax.set_ylabel("cluster (number of items)")


def _strip(ax: Axes, entropy: FloatArray) -> None:
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    edges = np.arange(len(entropy) + 1) - 0.5
    strip.stairs(entropy, edges, fill=True, color=BLUE)
    strip.set(xlim=(edges[0], edges[-1]), ylim=(0, 1), xticks=[], yticks=[0, 1])
    strip.set_ylabel("item\nentropy\n(bits)", rotation=0, ha="right", va="center", color=GREY)
    bare(strip)


def _dendrogram(ax: Axes, lines: FloatArray, n: int) -> None:
    from matplotlib.collections import LineCollection

    side = ax.inset_axes((-0.22, 0, 0.21, 1))
    width = float(np.clip(60 / n, 0.3, 1))
    side.add_collection(
        LineCollection(list(lines[:, :, ::-1]), colors=GREY, linewidths=width, rasterized=n > 500)
    )
    side.set(xlim=(1, 0), ylim=(n - 0.5, -0.5), yticks=[], xticks=[0, 1], xlabel="1 - similarity")
    side.tick_params(labelsize="small")
    bare(side, "top", "right", "left")
    ax.set_yticks([])


def _beside(ax: Axes, partitions: Mapping[str, Labels]) -> float:
    """Draw partitions as strips at the right, and return where there is room again."""
    left = 1 + 2 * GAP
    for name, labels in partitions.items():
        strip = ax.inset_axes((left, 0, STRIP, 1))
        colours = np.array([shade(k) for k in range(int(labels.max()) + 1)])
        edges = (0, 1, len(labels) - 0.5, -0.5)
        strip.imshow(colours[labels][:, None], aspect="auto", interpolation="nearest", extent=edges)
        strip.set(yticks=[], label=name)
        strip.set_xticks(
            [0.5], [name], rotation=40, ha="right", rotation_mode="anchor", fontsize="small"
        )
        strip.tick_params(length=0)
        strip.spines[:].set_visible(False)
        left += STRIP + GAP
    return left + GAP / 2
