"""How items move between clusters of several partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import counted
from bayesclust.comparison import read_partitions
from bayesclust.plots import _style as style
from bayesclust.typing import IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLOCK = 0.12
"""Half the width of a cluster's block, in distances of two partitions."""
GAP = 0.25
"""Space between the clusters of a partition, as a share of all items."""
LEAST_NAMED = 0.03
"""Share of the items from which a cluster's block has room for its name."""
ROUNDS = 10


def alluvial(methods: Any, *, ax: Axes | None = None) -> Axes:
    """Show how the clusters of one partition divide and join in the next.

    Every partition is a column of blocks, one a cluster, as high as its items are many; bands
    between columns are items that share both clusters, in the colours of the first partition. The
    clusters of a column are ordered so that few bands cross.

    Parameters
    ----------
    methods : dict of str to fit
        Two or more partitions of the same items, as in `bayesclust.compare`: estimators,
        posteriors, draws or labels, which may be words.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a collection of bands for each two neighbours, and a bar for each cluster, partition by
        partition from the top down.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.alluvial({"fine": [0, 1, 2, 2], "coarse": ["b", "a", "b", "b"]})
    >>> [text.get_text() for text in ax.texts]
    ['2 (2)', '0 (1)', '1 (1)', 'b (3)', 'a (1)']
    """
    from sklearn.metrics.cluster import contingency_matrix

    partitions = read_partitions(methods)
    if len(partitions) < 2:
        raise ValueError("methods holds one partition: pass two or more.")
    labels = [one for one, _ in partitions.values()]
    orders = _orders([contingency_matrix(one, other) for one, other in pairwise(labels)])
    n = len(labels[0])
    ax = style.axes_or_new(ax, 2.6 + 2.4 * len(labels), 5.2)
    ranks = [np.argsort(order)[one] for one, order in zip(labels, orders, strict=True)]
    colours = np.argsort(np.argsort(-np.bincount(labels[0]), kind="stable"))[labels[0]]
    for at in range(len(labels) - 1):
        _draw_bands(ax, at, colours, ranks[at], ranks[at + 1])
    for at, (order, (own, names)) in enumerate(zip(orders, partitions.values(), strict=True)):
        sizes = np.bincount(own)[order]
        tops = np.cumsum(sizes) - sizes + _space(n, len(sizes)) * (np.arange(len(sizes)) + 0.5)
        block: dict[str, Any] = {"color": style.shade(0.12), "edgecolor": style.shade(0.75)}
        ax.bar(at, sizes, 2 * BLOCK, tops, linewidth=0.8, **block)
        words = style.shortened(names, 14)
        for k, top, size in zip(order.tolist(), tops, sizes.tolist(), strict=True):
            if size >= LEAST_NAMED * n:
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
                look |= {"parse_math": False, "color": style.shade(1)}
                ax.text(at, top + size / 2, f"{words[k]} ({size:,})", **look)
    ax.set(xlim=(-0.2, len(labels) - 0.8), ylim=(n * (1 + GAP), 0), yticks=[])
    methods_shown = style.shortened(partitions, 18)
    ax.set_xticks(range(len(labels)), methods_shown)
    ax.tick_params(length=0)
    style.bare(ax, "top", "right", "left", "bottom")
    number = counted(len(labels), "partition")
    title = f"{counted(n, 'item')} in {number}; bands in the colours of {methods_shown[0]}"
    ax.set_title(title, loc="left", fontsize="medium")
    return style.as_written(ax)


def _orders(tables: list[IntArray]) -> list[IntArray]:
    """An order of each partition's clusters in which few items cross, from that by size."""
    # Each in turn goes by the mean place of its items in the neighbours, and then swaps adjacent
    # clusters, as long as fewer cross (the barycentre method of Sugiyama, Tagawa and Toda 1981).
    sizes = [tables[0].sum(axis=1), *(table.sum(axis=0) for table in tables)]
    orders = [np.argsort(-own, kind="stable") for own in sizes]
    for _ in range(ROUNDS):
        before = [order.copy() for order in orders]
        for at in (*range(len(orders)), *range(len(orders))[::-1]):
            sides = [(tables[at], orders[at + 1])] if at < len(tables) else []
            sides += [(tables[at - 1].T, orders[at - 1])] if at else []
            weights = np.concatenate([table[:, order] for table, order in sides], axis=1)
            places = np.concatenate([np.arange(len(order)) / len(order) for _, order in sides])
            by_mean = np.argsort(weights @ places / weights.sum(axis=1), kind="stable")
            if _crossing(by_mean, sides) < _crossing(orders[at], sides):
                orders[at] = by_mean
            _swap(orders[at], sides)
        if all((old == new).all() for old, new in zip(before, orders, strict=True)):
            break
    return orders


def _swap(order: IntArray, sides: list[tuple[IntArray, IntArray]]) -> None:
    """Swap neighbours in place where fewer items cross then."""
    for k in range(len(order) - 1):
        swapped = order.copy()
        swapped[[k, k + 1]] = order[[k + 1, k]]
        if _crossing(swapped, sides) < _crossing(order, sides):
            order[:] = swapped


def _crossing(order: IntArray, sides: list[tuple[IntArray, IntArray]]) -> int:
    """Pairs of items that cross between a partition in this order and its neighbours."""
    total = 0
    for table, other in sides:
        shared = table[np.ix_(order, other)]
        below = shared[::-1].cumsum(axis=0)[::-1] - shared
        total += int((shared[:, 1:] * below.cumsum(axis=1)[:, :-1]).sum())
    return total


def _space(n: int, number: int) -> float:
    """The space between two of so many blocks of n items."""
    return GAP * n / number


def _draw_bands(ax: Axes, at: int, first: IntArray, left: IntArray, right: IntArray) -> None:
    """Bands of the items by first cluster, from the left ranks to the right ones."""
    from matplotlib.collections import PolyCollection

    kinds, sizes = np.unique(np.stack([first, left, right]), axis=1, return_counts=True)
    ends = []
    for own, other in ((1, 2), (2, 1)):
        # within a block bands lie in the order of their other ends
        order = np.lexsort((kinds[0], kinds[other], kinds[own]))
        before = np.empty(len(sizes))
        before[order] = np.cumsum(sizes[order]) - sizes[order]
        ends.append(before + _space(len(first), kinds[own].max() + 1) * (kinds[own] + 0.5))
    x = np.linspace(0, 1, 40)
    rise = x * x * (3 - 2 * x)
    upper = ends[0][:, None] * (1 - rise) + ends[1][:, None] * rise
    outline = np.concatenate([upper, upper[:, ::-1] + sizes[:, None]], axis=1)
    across = at + BLOCK + (1 - 2 * BLOCK) * np.r_[x, x[::-1]]
    colours = np.array(style.palette())[kinds[0] % style.NUMBER]
    shapes = np.stack([np.broadcast_to(across, outline.shape), outline], axis=2)
    ax.add_collection(PolyCollection(list(shapes), facecolors=colours, alpha=0.5, linewidths=0))
