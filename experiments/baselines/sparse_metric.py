"""sparseLP: a sparse metric from comparisons by a linear program (Rosales and Fung 2006), and k-means in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from bayesclust.checks import check_positive
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import k_means
from experiments.baselines.comparisons import comparisons, gaps
from experiments.baselines.door import enter

__all__ = ["learn_sparse", "sparse_lp"]

ROUNDING = 1e-9


def sparse_lp(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    penalty: float = 1.0,
    n_init: int = 10,
) -> IntArray:
    """Cluster by k-means under a sparse Mahalanobis metric learned from comparisons.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : RelativeConstraints, list of them or None
        Answers "yes" and "no"; "dnk" is not heard. Without any this is `k_means`, and so it is
        where the metric is 0.
    n_clusters : int
    seed : int, Generator or None
    penalty : float, default 1.0
        As in `learn_sparse`.
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
    >>> f(sparse_lp(X, None, 2, 0), y) < 0.6, f(sparse_lp(X, triplets, 2, 0), y) > 0.9
    (True, True)
    """
    points, views, k = enter(X, constraints, n_clusters, "relative")
    compared = comparisons(views)
    metric = learn_sparse(*gaps(points, compared), penalty=penalty)
    values, vectors = np.linalg.eigh(metric)
    image = points @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return k_means(image if values[-1] > 0 else points, None, k, seed, n_init=n_init)


def learn_sparse(near: FloatArray, far: FloatArray, *, penalty: float = 1.0) -> FloatArray:
    r"""Learn a diagonally dominant metric.

    Minimises over symmetric A the convex

    .. math:: \sum_t [1 - \text{far}_t^T A \text{far}_t + \text{near}_t^T A \text{near}_t]_+ +
    \gamma \operatorname{tr} A,
       \quad A_{kk} \ge \sum_{l \ne k} |A_{kl}|,

    as a linear program. Diagonal dominance makes A positive semidefinite, and bounds the sum of all
    its entries by twice the trace, which is why a penalty of the trace makes it sparse.

    Parameters
    ----------
    near, far : (m, d) array
        Differences of items: of each comparison those that should be near, and those that should be
        far apart.
    penalty : float, default 1.0
        gamma.

    Returns
    -------
    (d, d) array

    Raises
    ------
    TypeError, ValueError
        If the penalty is not positive.

    Examples
    --------
    >>> learn_sparse(np.array([[2.0, 0.0]]), np.array([[0.0, 1.0]]), penalty=0.1)
    array([[0., 0.],
           [0., 1.]])
    """
    penalty, (m, d) = check_positive(penalty, "penalty"), near.shape
    if not m:
        return np.zeros((d, d))
    row, column = np.triu_indices(d, 1)
    diagonal = np.square(far) - np.square(near)
    beside = 2.0 * (far[:, row] * far[:, column] - near[:, row] * near[:, column])
    # unknowns: the diagonal, positive and negative parts of the rest, slacks
    margins = np.hstack([-diagonal, -beside, beside, -np.eye(m)])
    number = np.arange(len(row))
    ends = np.concatenate([row, column]), np.concatenate([number, number])
    touches = csr_array((np.ones(2 * len(row)), ends), shape=(d, len(row)))
    dominance = hstack([-eye_array(d), touches, touches, csr_array((d, m))])
    conditions: Any = vstack([csr_array(margins), dominance], format="csr")
    end = linprog(
        np.concatenate([np.full(d, penalty), np.zeros(2 * len(row)), np.ones(m)]),
        A_ub=conditions,
        b_ub=np.concatenate([np.full(m, -1.0), np.zeros(d)]),
        method="highs",
    )
    if end.x is None:
        raise ValueError(
            f"the linear program of {m} comparisons in {d} columns was not solved: {end.message}"
        )
    metric = np.diag(end.x[:d])
    positive, negative = np.split(end.x[d : d + 2 * len(row)], 2)
    metric[row, column] = metric[column, row] = positive - negative
    # no margin is made of the solver's rounding
    metric[np.abs(metric) * np.square(far).max() < ROUNDING] = 0.0
    return metric
