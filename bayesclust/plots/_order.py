"""Items in a row so that those that belong together are neighbours, and their similarities as a picture has room for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.posterior.labels import Labels
from bayesclust.posterior.similarity import cluster_similarity, similarity_matrix
from bayesclust.typing import FloatArray, IntArray

PIXELS = 600
"""Rows of the picture: of more items, neighbours share one."""
COLUMNS = 20_000
"""Clusters of draws counted at a time."""


class Tree(NamedTuple):
    """A dendrogram: items from its left to its right, and its lines."""

    order: IntArray
    lines: FloatArray
    """(n - 1, 4, 2): a bracket for each merge, as places in the row and heights (1 - mean similarity)."""


def by_cluster(draws: Labels, z: Labels) -> IntArray:
    """Items by the clusters of z, similar clusters side by side, and from the surest to the least sure within them."""
    sizes = np.bincount(z).astype(np.float64)
    to_cluster = cluster_similarity(draws, z)
    between = np.zeros((len(sizes), len(sizes)))
    np.add.at(between.T, z, to_cluster.T)
    rank = np.argsort(_cluster_order(between / sizes, sizes))
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
        order = leaves_list(optimal_leaf_ordering(linkage(distance, "average"), distance)).astype(
            np.int64
        )
    return order if sizes[order[0]] >= sizes[order[-1]] else order[::-1]


def by_tree(draws: Labels) -> Tree:
    """Items in the order of the leaves of average linkage of their similarities."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n = draws.shape[1]
    if n == 1:
        return Tree(np.zeros(1, np.int64), np.empty((0, 4, 2)))
    merges = linkage(squareform(1 - similarity_matrix(draws), checks=False), "average")
    order: IntArray = leaves_list(merges).astype(np.int64)
    # places and heights of all nodes, the leaves first; SciPy's own drawing recurses, too deep for
    # thousands of items
    place, height = np.empty(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n)
    lines = np.empty((n - 1, 4, 2))
    for m, (left, right, top, _) in enumerate(merges):
        a, b = int(left), int(right)
        lines[m] = [(place[a], height[a]), (place[a], top), (place[b], top), (place[b], height[b])]
        place[n + m], height[n + m] = (place[a] + place[b]) / 2, top
    return Tree(order, lines)


def picture(draws: Labels, order: IntArray) -> FloatArray:
    """The similarity matrix in an order, or, of many items, the means of its blocks; never n x n where n is large."""
    n = len(order)
    if n <= PIXELS:
        return similarity_matrix(draws)[np.ix_(order, order)]
    block = np.empty(n, np.int64)
    block[order] = np.arange(n) * PIXELS // n
    sizes = np.bincount(block).astype(np.float64)
    total = np.zeros((PIXELS, PIXELS))
    first = np.concatenate([[0], np.cumsum(draws.max(axis=1).astype(np.int64) + 1)])
    start = 0
    while start < len(draws):
        stop = max(start + 1, int(np.searchsorted(first, first[start] + COLUMNS, side="right")) - 1)
        counts = np.zeros((PIXELS, first[stop] - first[start]), np.float32)
        columns = draws[start:stop] + (first[start:stop] - first[start])[:, None]
        np.add.at(counts, (np.broadcast_to(block, columns.shape), columns), 1)
        total += counts @ counts.T
        start = stop
    return total / (len(draws) * sizes[:, None] * sizes)
