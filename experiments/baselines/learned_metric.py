"""ITML, information-theoretic metric learning (Davis et al. 2007), and k-means in the metric learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from bayesclust._numba import kernel
from bayesclust.checks import check_int, check_positive, check_random_state
from bayesclust.constraints._checks import number_between
from bayesclust.constraints.questions import random_pairs
from bayesclust.inference.limits.links import link_graph
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import k_means
from experiments.baselines.door import enter

__all__ = ["itml", "learn_metric"]

# percentiles of distances take no longer from more pairs
MOST_PAIRS = 100_000


def itml(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    slack: float = 1.0,
    max_sweeps: int = 1000,
    tol: float = 1e-3,
    n_init: int = 10,
) -> IntArray:
    """Cluster by k-means under a Mahalanobis metric learned from answers.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None
        Pairs answered "same" should be near, those answered "different" far apart. Without any this
        is `k_means`.
    n_clusters : int
    seed : int, Generator or None
        Of the starts of k-means (and, above some 450 items, of the pairs whose distances set the
        thresholds).
    slack, max_sweeps, tol
        As in `learn_metric`.
    n_init : int, default 10
        Starts of k-means.

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
    >>> f(itml(X, None, 2, 0), y) < 0.6, f(itml(X, links, 2, 0), y) > 0.9
    (True, True)
    """
    points, views, k = enter(X, constraints, n_clusters, "pairwise")
    metric = learn_metric(points, views, seed=seed, slack=slack, max_sweeps=max_sweeps, tol=tol)
    return k_means(points @ np.linalg.cholesky(metric), None, k, seed, n_init=n_init)


def learn_metric(
    X: FloatArray,
    constraints: Any,
    *,
    seed: Seed,
    slack: float = 1.0,
    max_sweeps: int = 1000,
    tol: float = 1e-3,
) -> FloatArray:
    r"""Learn the metric nearest to the Euclidean one under which answers hold.

    Minimises, over positive definite A and thresholds :math:`\xi`,

    .. math:: D(A, I) + \gamma \sum_c D(\xi_c, \xi_c^0), \quad v_c^T A v_c \le \xi_c \text{ (same)
    or } \ge \xi_c
       \text{ (different)},

    D being the LogDet divergence and :math:`v_c` the difference of the two items of answer c, by
    cyclic Bregman projections (Algorithm 1). The thresholds asked for, :math:`\xi^0`, are the 5th
    and 95th percentiles of squared distances between items (section 5). Algorithm 1 prints the step
    :math:`\frac{\delta}{2} (1/p - \gamma/\xi)`, which is right for :math:`\gamma = 1` only; the
    projection is :math:`\frac{\gamma \delta}{\gamma + 1} (1/p - 1/\xi)`, as in the authors'
    program.

    Parameters
    ----------
    X : (n, d) array
    constraints : sequence of PairwiseConstraints
    seed : int, Generator or None
    slack : float, default 1.0
        gamma, the authors' default: the larger, the more the thresholds count.
    max_sweeps : int, default 1000
        Most times that all answers are gone through.
    tol : float, default 1e-3
        Sweeps end when multipliers change, in sum, by less than this share of their sum.

    Returns
    -------
    (d, d) array
        A. Distances are :math:`(x - y)^T A (x - y)`.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)], n_items=4)
    >>> learn_metric(X, [links], seed=0).round(1)
    array([[1. , 0. ],
           [0. , 1.5]])
    """
    slack, tol = check_positive(slack, "slack"), number_between(tol, "tol", "(0, 1)")
    check_int(max_sweeps, "max_sweeps")
    graph = link_graph(constraints, len(X))
    gaps = X[graph.pairs[:, 0]] - X[graph.pairs[:, 1]]
    # no metric can part items that are equal in all features
    apart = gaps.any(axis=1)
    near, far = _thresholds(X, check_random_state(seed))
    bounds = np.where(graph.same, near, far)[apart]
    metric = np.eye(X.shape[1])
    project(
        metric,
        gaps[apart],
        graph.same[apart],
        bounds,
        np.zeros(len(bounds)),
        slack,
        max_sweeps,
        tol,
    )
    return metric


def _thresholds(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the 5th and 95th percentile of squared distances, of all pairs or of a sample, positive in any case."""
    n = len(X)
    if n * (n - 1) // 2 <= MOST_PAIRS:
        distances = pdist(X, "sqeuclidean")
    else:
        pairs = random_pairs(n, MOST_PAIRS, rng)
        distances = np.square(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1)
    if not distances.any():
        return np.ones(2)
    return np.maximum(np.percentile(distances, [5.0, 95.0]), 1e-9 * distances.max())


@kernel
def project(
    metric: Any,
    gaps: Any,
    same: Any,
    bounds: Any,
    dual: Any,
    slack: float,
    max_sweeps: int,
    tol: float,
) -> int:
    """Go through the answers until the multipliers settle; metric, bounds and dual change in place. Returns the sweeps."""
    d = metric.shape[0]
    image = np.empty(d)
    for sweep in range(max_sweeps):
        moved = 0.0
        for c in range(len(gaps)):
            distance = 0.0
            for a in range(d):
                total = 0.0
                for b in range(d):
                    total += metric[a, b] * gaps[c, b]
                image[a] = total
                distance += gaps[c, a] * total
            sign = 1.0 if same[c] else -1.0
            step = min(dual[c], sign * slack / (slack + 1.0) * (1.0 / distance - 1.0 / bounds[c]))
            bounds[c] = 1.0 / (1.0 / bounds[c] + sign * step / slack)
            dual[c] -= step
            moved += abs(step)
            scale = sign * step / (1.0 - sign * step * distance)
            for a in range(d):
                for b in range(d):
                    metric[a, b] += scale * image[a] * image[b]
        if moved <= tol * dual.sum():
            return sweep + 1
    return max_sweeps
