"""RDP-means with the settings of the TVClust authors' released code, for their tables.

Distances are Euclidean and *not squared*, on raw features, and the penalty is the k-th largest
distance of an item to the mean of all. One centre, uniform in the box of the data, stands at the
start. Each pass visits the items in a new random order while centres stand still: an item takes the
cluster of the smallest distance minus xi times (its may-links into it less its may-not-links), the
later one of equals, or opens one where that is not below the penalty; a cluster that lost its last
item can be joined until the pass ends. Links count from the second pass on, with xi = xi0 rate^(t -
1) in pass t. Passes end when the centres have stood still for twenty of them in a row.

Means do not minimise sums of unsquared distances, so that no objective falls along these passes:
what `bayesclust.RDPMeans` does instead is the limit of the model.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayesclust._numba import kernel
from bayesclust.inference.limits.links import link_graph
from bayesclust.typing import FloatArray, IntArray

__all__ = ["ReleasedRDPMeans"]

STILL, MAX_PASSES = 20, 300


@kernel
def one_pass(
    points: Any, order: Any, graph: Any, xi: float, penalty: float, centers: Any, used: int, z: Any
) -> int:
    """Let the items choose one after the other; `centers` has room for n more. Returns how many centres there are now."""
    start, neighbour, may = graph
    links = np.zeros(len(centers))
    for i in order:
        for e in range(start[i], start[i + 1]):
            links[z[neighbour[e]]] += xi if may[e] else -xi
        best, choice = np.inf, 0
        for k in range(used):
            cost = np.sqrt(np.sum((points[i] - centers[k]) ** 2)) - links[k]
            if cost <= best:
                best, choice = cost, k
        for e in range(start[i], start[i + 1]):
            links[z[neighbour[e]]] = 0.0
        if not best < penalty:
            choice = used
            centers[used] = points[i]
            used += 1
        z[i] = choice
    return used


class ReleasedRDPMeans:
    """RDP-means, or without answers DP-means, as the TVClust authors released it.

    Parameters
    ----------
    n_clusters : int
        k, of which the penalty is made.
    xi0, rate : float, default 0.001, 2.0
        Growth of the confidence in answers; the paper's.
    random_state : int or None, default None
        Of the first centre and of the order of the items.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    n_clusters_ : int
    penalty_ : float

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> ReleasedRDPMeans(2, random_state=0).fit(X).n_clusters_
    2
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        xi0: float = 1e-3,
        rate: float = 2.0,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.xi0 = xi0
        self.rate = rate
        self.random_state = random_state

    def fit(self, X: FloatArray, *, constraints: Any = None) -> Self:
        """Cluster items under side information.

        Parameters
        ----------
        X : (n, d) array
        constraints : PairwiseConstraints or None, default None

        Returns
        -------
        self
        """
        rng = np.random.default_rng(self.random_state)
        graph = link_graph([] if constraints is None else [constraints], len(X))[2:]
        self.penalty_ = float(np.sort(np.linalg.norm(X - X.mean(axis=0), axis=1))[-self.n_clusters])
        centers = rng.uniform(X.min(axis=0), X.max(axis=0))[None]
        z = np.zeros(len(X), dtype=np.int64)
        still = 0
        for number in range(MAX_PASSES):
            xi = self.xi0 * self.rate**number if number else 0.0
            room = np.concatenate([centers, np.empty_like(X)])
            order = rng.permutation(len(X))
            used = one_pass(X, order, graph, xi, self.penalty_, room, len(centers), z)
            before, (z, centers) = room[:used], _means(X, z)
            still = still + 1 if np.array_equal(before, centers) else 0
            if still == STILL:
                break
        self.labels_: IntArray = z
        self.n_clusters_ = len(centers)
        return self


def _means(X: FloatArray, z: IntArray) -> tuple[IntArray, FloatArray]:
    """Labels without gaps, in the order they had, and the mean of each cluster."""
    kept, labels, sizes = np.unique(z, return_inverse=True, return_counts=True)
    centers = np.zeros((len(kept), X.shape[1]))
    np.add.at(centers, labels, X)
    return labels, centers / sizes[:, None]
