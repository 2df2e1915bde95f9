"""SSSVaD: k-means with weights of the columns in each cluster, learned also from comparisons (Kumar and Kummamuru 2008)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust.checks import check_int, check_positive, check_random_state
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed
from experiments.baselines.bregman_k_means import means, numbered, spread_out
from experiments.baselines.comparisons import comparisons, gaps
from experiments.baselines.door import enter

__all__ = ["Problem", "closed_form", "descend", "sssvad"]

FLOOR, HALVINGS = 1e-3, 6


class Problem(NamedTuple):
    """What is to be clustered: items, and which of their comparisons pull how much.

    Parameters
    ----------
    points : (n, d) array
    item : (m,) array of int
        The item that each comparison is about.
    excess : (m, d) array
        Squared difference to the item that should be near, less that to the item that should be
        far, by column.
    weight : float
        Of a comparison.
    spread : (d,) array
        What every item adds to the spread of its cluster, so that no cluster hears a single column.
    """

    points: FloatArray
    item: IntArray
    excess: FloatArray
    weight: float
    spread: FloatArray

    def costs(self, centers: FloatArray, powers: FloatArray) -> FloatArray:
        """What each item costs in each cluster.

        Parameters
        ----------
        centers, powers : (K, d) array
            Centres, and the weights of the columns raised to the exponent.

        Returns
        -------
        (n, K) array
        """
        x, m = self.points, centers
        # expanded, so that nothing of size n K d is made
        total = (
            np.square(x) @ powers.T
            - 2 * x @ (powers * m).T
            + (powers * (np.square(m) + self.spread)).sum(axis=1)
        )
        np.maximum(total, 0.0, out=total)
        np.add.at(total, self.item, self.weight * np.maximum(self.excess @ powers.T, 0.0))
        return total


def sssvad(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    weight: float = 1.0,
    exponent: float = 8.0,
    n_init: int = 10,
    max_iter: int = 100,
) -> IntArray:
    r"""Cluster with spatially variant dissimilarities.

    Every cluster k weighs the columns in its own way,
    :math:`d_k(a, b) = \sum_l w_{kl}^\beta (a_l - b_l)^2` with :math:`\sum_l w_{kl} = 1`, and

    .. math:: \sum_i d_{z_i}(x_i, m_{z_i}) + \gamma \sum_t [d_{z_i}(x_i, x_j) - d_{z_i}(x_i, x_k)]_+

    is made small, a comparison t saying that i is nearer to j than to k. The article's idea is
    followed (weights by cluster, and comparisons measured by those of the cluster of the item they
    are about), not its program: labels and centres are set to their best in turn, weights to their
    best for the comparisons now violated, as far as that lowers the objective, which so never
    rises.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : RelativeConstraints, list of them or None
        Answers "yes" and "no"; "dnk" is not heard.
    n_clusters : int
    seed : int, Generator or None
    weight : float, default 1.0
        gamma.
    exponent : float, default 8.0
        beta, above 1: the larger, the more even the weights; at 8 they are nearly the inverse
        spreads of the columns.
    n_init : int, default 10
        Starts by k-means++, of which the one with the least objective is kept.
    max_iter : int, default 100
        Most passes of a start.

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
    >>> bc.metrics.pairwise_f(sssvad(X, triplets, 2, 0), y) > 0.9
    True
    """
    points, views, k = enter(X, constraints, n_clusters, "relative")
    compared = comparisons(views)
    beta = 1.0 + check_positive(exponent - 1.0, "exponent - 1")
    check_int(n_init, "n_init")
    check_int(max_iter, "max_iter")
    near, far = gaps(points, compared)
    spread = 0.01 * np.where(points.var(axis=0) > 0, points.var(axis=0), 1.0)
    weight = check_positive(weight, "weight")
    problem = Problem(points, compared[:, 0], np.square(near) - np.square(far), weight, spread)
    rng = check_random_state(seed)
    starts = (spread_out(points, SquaredEuclidean(), k, rng) for _ in range(n_init))
    ends = (descend(problem, start, beta, max_iter) for start in starts)
    return numbered(min(ends, key=lambda end: end[1][-1])[0])


def descend(
    problem: Problem, centers: FloatArray, beta: float, max_iter: int
) -> tuple[IntArray, list[float]]:
    """Lower the objective from centres until labels repeat.

    Parameters
    ----------
    problem : Problem
    centers : (K, d) array
    beta : float
    max_iter : int

    Returns
    -------
    labels : (n,) array of int
    path : list of float
        The objective after every pass; it never rises.
    """
    k, d = centers.shape
    weights = np.full((k, d), 1.0 / d)
    labels, path = np.full(len(problem.points), -1), [np.inf]
    for _ in range(max_iter):
        costs = problem.costs(centers, weights**beta)
        before, labels = labels, costs.argmin(axis=1)
        path.append(float(costs.min(axis=1).sum()))
        if (labels == before).all():
            break
        centers = means(problem.points, labels, centers)
        weights = _better(problem, labels, centers, weights, beta)
    return labels, path[1:]


def _better(
    problem: Problem, labels: IntArray, centers: FloatArray, weights: FloatArray, beta: float
) -> FloatArray:
    """Return weights that cost no cluster more."""
    k = len(centers)
    off = np.square(problem.points - centers[labels]) + problem.spread
    inside = np.stack([off[labels == cluster].sum(axis=0) for cluster in range(k)])
    cluster_of = labels[problem.item]
    found = weights.copy()
    for cluster in np.unique(labels):
        excess = problem.weight * problem.excess[cluster_of == cluster]

        def cost(
            w: FloatArray, excess: FloatArray = excess, inside: FloatArray = inside[cluster]
        ) -> float:
            return float(w**beta @ inside + np.maximum(excess @ w**beta, 0.0).sum())

        now = weights[cluster]
        pulled = inside[cluster] + excess[excess @ now**beta > 0].sum(axis=0)
        aim = closed_form(np.maximum(pulled, FLOOR * inside[cluster]), beta)
        for step in 0.5 ** np.arange(HALVINGS):
            trial = (1 - step) * now + step * aim
            if cost(trial) < cost(now):
                found[cluster] = trial
                break
    return found


def closed_form(spread: FloatArray, beta: float) -> FloatArray:
    """Return the weights of sum 1 that minimise the sum of weight^beta times spread.

    Parameters
    ----------
    spread : (d,) array
        Positive.
    beta : float
        Above 1.

    Returns
    -------
    (d,) array

    Examples
    --------
    >>> closed_form(np.array([1.0, 3.0]), 2.0)
    array([0.75, 0.25])
    """
    raw = (spread / spread.min()) ** (-1.0 / (beta - 1.0))
    weights: FloatArray = raw / raw.sum()
    return weights
