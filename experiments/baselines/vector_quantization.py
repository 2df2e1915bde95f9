"""LCVQE: k-means with soft must-links and cannot-links (Pelleg and Baras 2007)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import kernel
from bayesclust.checks import check_n_clusters
from bayesclust.constraints.base import check_constraints
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.links import link_graph
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import partition

__all__ = ["error", "lcvqe"]


def lcvqe(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    n_init: int = 10,
    max_iter: int = 300,
) -> IntArray:
    r"""Cluster by linear constrained vector quantization error.

    The error is :math:`\frac12 \sum_i |x_i - \mu_{g(i)}|^2`, g(i) being the cluster of item i, and
    besides

    - for a must-link (i, j) between clusters
      :math:`\frac14 [|x_i - \mu_{g(j)}|^2 + |x_j - \mu_{g(i)}|^2]`,
    - for a cannot-link inside a cluster :math:`\frac12 |x_r - \mu|^2`, r being the item farther
      from the cluster's centre and :math:`\mu` the other centre nearest to it.

    In every pass each item goes to its nearest centre; then the must-links are gone through, in the
    order given, and after them the cannot-links. Each that is violated takes what costs least: a
    must-link stays torn, or both items join the cluster of one of them; of a cannot-link both stay,
    or r moves to its nearest other centre. To stay is never cheaper: torn costs
    :math:`\frac14 [|x_i - \mu_{g(i)}|^2 + |x_j - \mu_{g(j)}|^2]` more than the mean of the two ways
    to join, and to be together :math:`\frac12 |x_r - \mu_{g(r)}|^2` more than the move. So items
    always join or move, and the terms by which a violated link would pull at a centre when centres
    are updated are never there: centres are means. (This is why wrong answers harm the method: it
    follows each of them unless a later one undoes it.) A pass need not lower the error; passes end
    where labels repeat.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None
        "same" is a must-link, "different" a cannot-link.
    n_clusters : int
    seed : int, Generator or None
    n_init : int, default 10
        Starts by k-means++, of which the one with the least error is kept. The authors start once,
        from random items; more starts make it a stronger method to compare with.
    max_iter : int, default 300
        Most passes of a start.

    Returns
    -------
    ndarray of int, shape (n,)
        At most `n_clusters` labels, without gaps. Without answers those of `k_means`.

    Raises
    ------
    TypeError, ValueError
        If data, answers or numbers are not what they should be, in one sentence.

    References
    ----------
    Pelleg, Baras: K-means with large and noisy constraint sets, ECML 2007. Covoes, Hruschka, Ghosh:
    A study of k-means-based algorithms for constrained clustering, 2013, whose program TVClust's
    tables use. There the other centre is an item's second nearest, which after a must-link has
    moved the item can be the one it is to leave; here it never is.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.4]]
    >>> lcvqe(X, None, 2, 0)
    array([0, 0, 1, 1, 0])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(2, 4)], cannot_link=[], n_items=5)
    >>> lcvqe(X, links, 2, 0)
    array([0, 0, 1, 1, 1])
    """
    squared = SquaredEuclidean()
    points = squared.points(X)
    graph = link_graph(check_constraints(constraints, len(points), needs="links"), len(points))
    k = check_n_clusters(n_clusters, len(points))

    must, cannot = graph.pairs[graph.same], graph.pairs[~graph.same]

    def visit(distances: FloatArray) -> tuple[IntArray, float]:
        labels = distances.argmin(axis=1)
        follow_links(distances, must, cannot, labels)
        return labels, error(distances, labels, must, cannot)

    return partition(points, squared, k, visit, seed, n_init, max_iter)


def error(distances: FloatArray, labels: IntArray, must: IntArray, cannot: IntArray) -> float:
    """Return the error of a partition with squared distances (n, K) of the items from its centres.

    Parameters
    ----------
    distances : (n, K) array
    labels : (n,) array of int
    must, cannot : (a, 2) and (b, 2) arrays of int

    Returns
    -------
    float
    """
    total = distances[np.arange(len(labels)), labels].sum() / 2
    torn = must[labels[must[:, 0]] != labels[must[:, 1]]]
    total += distances[torn, labels[torn[:, ::-1]]].sum() / 4
    together = cannot[labels[cannot[:, 0]] == labels[cannot[:, 1]]]
    if len(together) and distances.shape[1] > 1:
        at = labels[together[:, 0]]
        far = np.where(
            distances[together[:, 0], at] >= distances[together[:, 1], at],
            together[:, 0],
            together[:, 1],
        )
        others = distances[far]
        others[np.arange(len(far)), at] = np.inf
        total += others.min(axis=1).sum() / 2
    return float(total)


@kernel
def follow_links(distances: Any, must: Any, cannot: Any, labels: Any) -> None:
    """Mend labels link by link."""
    for row in range(len(must)):
        x, y = must[row]
        here, there = labels[x], labels[y]
        if distances[x, here] + distances[y, here] <= distances[x, there] + distances[y, there]:
            labels[y] = here
        else:
            labels[x] = there
    for row in range(len(cannot)):
        x, y = cannot[row]
        here = labels[x]
        if here != labels[y] or distances.shape[1] == 1:
            continue
        far = y if distances[y, here] > distances[x, here] else x
        other = -1
        for k in range(distances.shape[1]):
            if k != here and (other < 0 or distances[far, k] < distances[far, other]):
                other = k
        labels[far] = other
