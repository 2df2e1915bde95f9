"""RCA, relevant component analysis (Bar-Hillel et al. 2003), and k-means in the metric learned."""

from __future__ import annotations

from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust.constraints.entailment import must_link_components
from bayesclust.inference.limits.links import link_graph
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.door import enter

__all__ = ["rca", "whitening"]

# share of the total covariance added to that within chunklets, so that directions without scatter
# there stay finite
RIDGE = 1e-3


def rca(X: ArrayLike, constraints: Any, n_clusters: int, seed: Seed) -> IntArray:
    """Cluster by k-means after whitening what varies among items said to be the same.

    K-means starts from the sets that answers "same" join, as MPCK-Means does (Bilenko et al. 2004,
    section 4.2).

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None
        Answers "different" are not heard. Without any "same" this is k-means.
    n_clusters : int
    seed : int, Generator or None

    Returns
    -------
    ndarray of int, shape (n,)

    Raises
    ------
    TypeError, ValueError
        If data, answers or numbers are not what they should be, in one sentence.

    Examples
    --------
    Only the second column tells the clusters apart, the first is wider:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng, y = np.random.default_rng(0), np.repeat([0, 1], 30)
    >>> X = np.column_stack([rng.normal(scale=6.0, size=60), rng.normal(4.0 * y)])
    >>> links = bc.PairwiseConstraints.sample(y, size=200, seed=0)
    >>> f = bc.metrics.pairwise_f
    >>> f(rca(X, None, 2, 0), y) < 0.6, f(rca(X, links, 2, 0), y) > 0.9
    (True, True)
    """
    points, views, k = enter(X, constraints, n_clusters, "pairwise")
    graph = link_graph(views, len(points))
    white = points @ whitening(points, must_link_components(graph.pairs[graph.same], len(points)))
    # at no cost answers only say where to start
    labels: IntArray = (
        bc.MPCKMeans(k, "euclidean", cost=0.0, closure=False, growth=1, random_state=seed)
        .fit(white, constraints=views)
        .labels_
    )
    return labels


def whitening(points: FloatArray, component: IntArray) -> FloatArray:
    """Return W with covariance I of the items of each chunklet about their mean, after times W.

    Parameters
    ----------
    points : (n, d) array
    component : (n,) array of int
        Chunklets; an item alone says nothing.

    Returns
    -------
    (d, d) array
        The identity if no chunklet has two items.
    """
    sizes = np.bincount(component)
    means = np.stack(
        [np.bincount(component, weights=column) / sizes for column in points.T], axis=1
    )
    members = sizes[component] > 1
    if not members.any():
        return np.eye(points.shape[1])
    inside = points[members] - means[component[members]]
    total = np.atleast_2d(np.cov(points, rowvar=False, bias=True))
    spread = inside.T @ inside / len(inside) + RIDGE * (
        total + 1e-9 * np.trace(total) * np.eye(len(total))
    )
    values, axes = np.linalg.eigh(spread)
    floor = max(float(values[-1]) * 1e-12, float(np.finfo(np.float64).tiny))
    white: FloatArray = (axes / np.sqrt(np.maximum(values, floor))) @ axes.T
    return white
