"""How often each two items share a cluster, and items and the clusters of a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import entr

from bayesclust._numba import kernel
from bayesclust.checks import check_int, check_memory, n_threads
from bayesclust.posterior.tree import Labels, as_labels, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray, NDArray

TILE = 32
"""Items compared with each other while their labels stay in the processor's cache."""
BLOCK = 1024
"""Draws compared at a time."""
ROWS = 64
"""Items whose similarities to others are in memory at a time, for each thread."""


def similarity_matrix(posterior: Any) -> FloatArray:
    """Return the posterior probability that each two items are in the same cluster.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.

    Returns
    -------
    (n, n) array of float64
        Symmetric, with ones on the diagonal.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.similarity_matrix([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    draws = stacked_partitions(posterior)
    n = draws.shape[1]
    check_memory(
        12 * n * n,
        f"the matrix of similarities of {n:,} items",
        "similar_items keeps the most similar ones only",
    )
    together = np.empty((n, n), np.int32)

    def both_ways(first: int, counts: NDArray[np.int32]) -> None:
        last = first + len(counts)
        together[first:last, first:] = counts
        together[first:, first:last] = counts.T

    list(_by_rows(draws, both_ways, half=True))
    return together / len(draws)


def similar_items(posterior: Any, n_neighbors: int = 20) -> csr_array[Any]:
    """Return the items that each item most often shares a cluster with, where n x n is too much.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    n_neighbors : int, default 20
        Other items kept for each item, of equals the first ones; none that never is with it.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Posterior probabilities of sharing a cluster: in row i those of the items most similar to i.
        O(n^2 draws) time on all processors, O(n n_neighbors) memory besides the draws.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.similar_items([[0, 0, 1, 1], [0, 1, 1, 1]], n_neighbors=1).toarray()
    array([[0. , 0.5, 0. , 0. ],
           [0.5, 0. , 0. , 0. ],
           [0. , 0. , 0. , 1. ],
           [0. , 0. , 1. , 0. ]])
    """
    check_int(n_neighbors, "n_neighbors")
    draws = stacked_partitions(posterior)
    kept = min(n_neighbors, draws.shape[1] - 1)

    def most(first: int, counts: NDArray[np.int32]) -> tuple[IntArray, NDArray[np.int32]]:
        own = np.arange(len(counts))
        counts[own, first + own] = -1
        chosen: IntArray = np.argsort(-counts, axis=1, kind="stable")[:, :kept].astype(np.int64)
        return chosen, np.take_along_axis(counts, chosen, axis=1)

    columns, counts = (np.concatenate(part) for part in zip(*_by_rows(draws, most), strict=True))
    shared = counts > 0
    start = np.concatenate([[0], np.cumsum(shared.sum(axis=1))])
    shape = (draws.shape[1], draws.shape[1])
    return csr_array((counts[shared] / len(draws), columns[shared], start), shape=shape)


def item_entropy(posterior: Any) -> FloatArray:
    """Return how uncertain it is, on average, which other items share a cluster with an item.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.

    Returns
    -------
    (n,) array of float64
        Mean entropy, in bits, of the indicators that i and j are together: 0 where all draws agree,
        1 where being together is as likely as not for every j. No n x n matrix is formed.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.posterior.item_entropy([[0, 0, 1], [0, 1, 1]])
    array([0.5, 1. , 0.5])
    """
    draws = stacked_partitions(posterior)
    share = np.arange(len(draws) + 1) / len(draws)
    bits = (entr(share) + entr(1 - share)) / np.log(2)
    # an item is with itself for certain, so it adds nothing to its own sum
    sums = np.concatenate(list(_by_rows(draws, lambda _, counts: bits[counts].sum(axis=1))))
    return sums / max(draws.shape[1] - 1, 1)


def _by_rows[Part](
    draws: Labels, use: Callable[[int, NDArray[np.int32]], Part], *, half: bool = False
) -> Iterator[Part]:
    """Yield use(first row, counts of draws with each item, if `half` from that row on)."""
    z = np.ascontiguousarray(draws.T)

    def rows(first: int) -> Part:
        return use(first, _count_rows(z, first, min(first + ROWS, len(z)), first if half else 0))

    with ThreadPoolExecutor(min(n_threads(None), 8)) as pool:
        yield from pool.map(rows, range(0, len(z), ROWS))


@kernel
def _count_rows(z: Labels, top: int, bottom: int, begin: int) -> NDArray[np.int32]:
    """Count draws in which items top to bottom of z (n, draws) are with each item from `begin`."""
    n = z.shape[0]
    out = np.zeros((bottom - top, n - begin), np.int32)
    for upper in range(top, bottom, TILE):
        for left in range(begin, n, TILE):
            last = min(left + TILE, n)
            for first in range(0, z.shape[1], BLOCK):
                for i in range(upper, min(upper + TILE, bottom)):
                    a = z[i, first : first + BLOCK]
                    for j in range(left, last):
                        b = z[j, first : first + BLOCK]
                        count = np.int16(0)
                        for t in range(a.size):
                            count = np.int16(count + (a[t] == b[t]))
                        out[i - top, j - begin] += count
    return out


def cluster_similarity(posterior: Any, labels: ArrayLike) -> FloatArray:
    """Return the mean similarity (K, n) of items to the members of clusters, itself included."""
    draws = stacked_partitions(posterior)
    z = as_labels(labels, "labels", draws.shape[1])
    sizes = np.bincount(z)
    total = np.zeros((len(sizes), len(z)))
    for draw in draws.astype(np.int64):
        common = np.zeros((len(sizes), int(draw.max()) + 1))
        np.add.at(common, (z, draw), 1)
        total += common[:, draw]
    return total / (len(draws) * sizes[:, None])


def cluster_confidence(posterior: Any, labels: ArrayLike) -> FloatArray:
    """Return the probability (n,) of being with a random other member of the own cluster, or 1."""
    z = as_labels(labels, "labels")
    size = np.bincount(z)[z]
    with_itself = cluster_similarity(posterior, labels)[z, np.arange(len(z))]
    others: FloatArray = (with_itself * size - 1) / np.maximum(size - 1, 1)
    return np.where(size > 1, others, 1.0)
