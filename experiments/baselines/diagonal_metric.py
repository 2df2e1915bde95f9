"""MMC, Xing's method (Xing, Ng, Jordan and Russell 2003), for a diagonal metric, and k-means in the metric learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayesclust.inference.limits.links import link_graph
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import k_means
from experiments.baselines.door import enter

__all__ = ["learn_scales", "mmc"]

# of a column's mean square: what is added where answers "same" never differ in it, so that its
# weight stays finite
LEAST = 1e-6
# of the largest squared length: the square root keeps a finite slope where all weights fall to 0
SMOOTH = 1e-12


def mmc(
    X: ArrayLike, constraints: Any, n_clusters: int, seed: Seed, *, n_init: int = 10
) -> IntArray:
    """Cluster by k-means after columns are weighted by answers.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None
        Pairs answered "same" should be near, those answered "different" far apart. Without any
        "same" or any "different" no metric follows, and this is `k_means`.
    n_clusters : int
    seed : int, Generator or None
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
    >>> f(mmc(X, None, 2, 0), y) < 0.6, f(mmc(X, links, 2, 0), y) > 0.9
    (True, True)
    """
    points, views, k = enter(X, constraints, n_clusters, "pairwise")
    return k_means(points * np.sqrt(learn_scales(points, views)), None, k, seed, n_init=n_init)


def learn_scales(X: FloatArray, constraints: Any) -> FloatArray:
    r"""Learn the weight of each column.

    Minimises over :math:`a \ge 0` the convex

    .. math:: \sum_{S} \sum_l a_l (x_{il} - x_{jl})^2 - \log \sum_{D} \sqrt{\textstyle\sum_l a_l
    (x_{il} - x_{jl})^2},

    S being the pairs answered "same" and D those answered "different" (section 2.1). The authors
    take Newton steps; here it is L-BFGS within the bounds, to the same optimum.

    Parameters
    ----------
    X : (n, d) array
    constraints : sequence of PairwiseConstraints

    Returns
    -------
    (d,) array
        a. Ones, if there is no "same" or no "different" between items that differ.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1)], cannot_link=[(0, 2)], n_items=3)
    >>> scales = learn_scales(X, [links])
    >>> bool(scales[1] > 1000 * scales[0])
    True
    """
    graph = link_graph(constraints, len(X))
    squares = np.square(X[graph.pairs[:, 0]] - X[graph.pairs[:, 1]])
    far = squares[~graph.same & squares.any(axis=1)]
    if not graph.same.any() or not len(far):
        return np.ones(X.shape[1])
    spread = np.where(X.var(axis=0) > 0, X.var(axis=0), 1.0)
    cost = squares[graph.same].sum(axis=0) + LEAST * graph.same.sum() * spread
    # in units of cost, in which the optimum has a sum of 1/2; a factor in the logarithm changes
    # nothing
    unit = far / cost
    unit /= unit.max()
    bounds = [(0.0, None)] * len(cost)

    def objective(b: FloatArray) -> tuple[float, FloatArray]:
        lengths = np.sqrt(unit @ b + SMOOTH)
        total = lengths.sum()
        return float(b.sum() - np.log(total)), 1.0 - (0.5 / lengths) @ unit / total

    start = np.full(len(cost), 0.5 / len(cost))
    end = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    scales: FloatArray = end.x / cost
    return scales
