"""LSML, metric learning by squared residuals (Liu, Guo, Zhang, Jojic and Wang 2012), and k-means in the metric learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayesclust.checks import check_int, check_positive
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import k_means
from experiments.baselines.comparisons import comparisons, gaps
from experiments.baselines.door import enter

__all__ = ["learn_factor", "lsml", "objective"]


def lsml(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    weight: float = 1.0,
    n_init: int = 10,
    max_iter: int = 1000,
) -> IntArray:
    """Cluster by k-means under a Mahalanobis metric learned from comparisons.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : RelativeConstraints, list of them or None
        Answers "yes" and "no"; "dnk" is not heard. Without any this is `k_means`.
    n_clusters : int
    seed : int, Generator or None
    weight, max_iter
        As in `learn_factor`.
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
    >>> triplets = bc.RelativeConstraints.sample(y, size=200, error_rate=0.0, seed=0)
    >>> f = bc.metrics.pairwise_f
    >>> f(lsml(X, None, 2, 0), y) < 0.6, f(lsml(X, triplets, 2, 0, weight=100.0), y) > 0.9
    (True, True)
    """
    points, views, k = enter(X, constraints, n_clusters, "relative")
    compared = comparisons(views)
    factor = learn_factor(*gaps(points, compared), weight=weight, max_iter=max_iter)
    return k_means(points @ factor, None, k, seed, n_init=n_init)


def learn_factor(
    near: FloatArray, far: FloatArray, *, weight: float = 1.0, max_iter: int = 1000
) -> FloatArray:
    """Learn a metric M = L L' under which what should be near is nearer than what should be far.

    Minimises `objective` from L = I by L-BFGS; its value depends on M alone, so that a Cholesky
    factor is as good as M and needs no projection.

    Parameters
    ----------
    near, far : (m, d) array
        Differences of items: of each comparison those that should be near, and those that should be
        far apart.
    weight : float, default 1.0
        Of the comparisons against the Euclidean prior. At 1, the authors' setting, the prior holds
        the metric close.
    max_iter : int, default 1000
        Most steps of L-BFGS.

    Returns
    -------
    (d, d) array
        L, lower triangular. Distances are those of the items times L.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> L = learn_factor(np.array([[2.0, 0.0]]), np.array([[0.0, 1.0]]), weight=1000.0)
    >>> bool(4.0 * L[0, 0] ** 2 <= 1.1 * (L[1, 0] ** 2 + L[1, 1] ** 2))
    True
    """
    weight, d = check_positive(weight, "weight"), near.shape[1]
    check_int(max_iter, "max_iter")
    if not len(near):
        return np.eye(d)
    lower = np.tril_indices(d)

    def packed(entries: FloatArray) -> tuple[float, FloatArray]:
        L = np.zeros((d, d))
        L[lower] = entries
        value, slope = objective(L, near, far, weight)
        return value, slope[lower]

    end = minimize(
        packed, np.eye(d)[lower], jac=True, method="L-BFGS-B", options={"maxiter": max_iter}
    )
    factor = np.zeros((d, d))
    factor[lower] = end.x
    return factor


def objective(
    L: FloatArray, near: FloatArray, far: FloatArray, weight: float
) -> tuple[float, FloatArray]:
    r"""What LSML makes small, and its gradient.

    .. math:: \operatorname{tr} M - \log\det M + \frac{w}{m} \sum_t [d_M(\text{near}_t) -
    d_M(\text{far}_t)]_+^2,
       \quad M = L L^T, \quad d_M(v) = \sqrt{v^T M v}

    Parameters
    ----------
    L : (d, d) array
        Lower triangular.
    near, far : (m, d) array
    weight : float

    Returns
    -------
    value : float
    gradient : (d, d) array
        With respect to the lower triangle of L.
    """
    images = near @ L, far @ L
    lengths = [np.sqrt(np.square(image).sum(axis=1)) for image in images]
    excess = np.maximum(lengths[0] - lengths[1], 0.0)
    share = 2.0 * weight / len(near) * excess
    slope = 2.0 * L
    for sign, gap, image, length in zip((1.0, -1.0), (near, far), images, lengths, strict=True):
        slope = slope + sign * gap.T @ (
            (share / np.maximum(length, np.finfo(np.float64).tiny))[:, None] * image
        )
    diagonal = np.diagonal(L)
    slope = np.tril(slope) - np.diag(2.0 / diagonal)
    value = (
        np.square(L).sum()
        - np.log(np.square(diagonal)).sum()
        + weight / len(near) * np.square(excess).sum()
    )
    return float(value), slope
