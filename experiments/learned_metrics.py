"""Methods that learn a metric and run k-means in it: ITML, MMC, RCA, LSML and sparseLP.

Called as those of `experiments.baselines`: ``method(X, constraints, n_clusters, seed)``. ITML, MMC
and RCA take answers about pairs; LSML and sparseLP "yes" and "no" about triplets. Without answers
each is k-means.

Only the second column tells the clusters apart, the first is wider:

>>> rng, y = np.random.default_rng(0), np.repeat([0, 1], 30)
>>> X = np.column_stack([rng.normal(scale=6.0, size=60), rng.normal(4.0 * y)])
>>> links = bc.PairwiseConstraints.sample(y, size=200, seed=0)
>>> triplets = bc.RelativeConstraints.sample(y, size=200, error_rate=0.0, seed=0)
>>> for method, given in ((itml, links), (mmc, links), (rca, links), (sparse_lp, triplets)):
...     print(*(bc.metrics.pairwise_f(method(X, told, 2, 0), y) > 0.9 for told in (None, given)))
False True
False True
False True
False True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.baselines import comparisons, gaps, k_means, links_of

MOST_PAIRS = 100_000
"""Percentiles of distances take no longer from more pairs."""
LEAST = 1e-6
"""Of a column's mean square: added so that every weight stays finite."""
SMOOTH = 1e-12
"""Of the largest squared length: the square root keeps a finite slope."""
RIDGE = 1e-3
"""Share of the total covariance added to that within chunklets."""
ROUNDING = 1e-9


def itml(
    X: Any,
    constraints: Any,
    n_clusters: int,
    seed: int,
    *,
    slack: float = 1.0,
    n_init: int = 10,
) -> IntArray:
    """Information-theoretic metric learning (Davis et al. 2007)."""
    points = np.asarray(X, dtype=np.float64)
    metric = learn_metric(points, constraints, seed=seed, slack=slack)
    return k_means(points @ np.linalg.cholesky(metric), None, n_clusters, seed, n_init=n_init)


def learn_metric(
    X: FloatArray,
    constraints: Any,
    *,
    seed: int,
    slack: float = 1.0,
    max_sweeps: int = 1000,
    tol: float = 1e-3,
) -> FloatArray:
    r"""The metric (d, d) nearest to the Euclidean one under which answers hold.

    Minimises, over positive definite A and thresholds :math:`\xi`,

    .. math:: D(A, I) + \gamma \sum_c D(\xi_c, \xi_c^0), \quad v_c^T A v_c \le \xi_c \text{ (same)
       or } \ge \xi_c \text{ (different)},

    D being the LogDet divergence and :math:`v_c` the difference of the two items of answer c, by
    cyclic Bregman projections (Algorithm 1). The thresholds asked for, :math:`\xi^0`, are the 5th
    and 95th percentiles of squared distances between items (section 5). Algorithm 1 prints the step
    for :math:`\gamma = 1`; the projection is :math:`\frac{\gamma \delta}{\gamma + 1} (1/p -
    1/\xi)`. Sweeps end when multipliers change, in sum, by less than a share `tol` of their sum.
    """
    pairs, same = links_of(constraints)
    apart = X[pairs[:, 0]] - X[pairs[:, 1]]
    # no metric can part items that are equal in all features
    kept = apart.any(axis=1)
    near, far = _thresholds(X, np.random.default_rng(seed))
    bounds = np.where(same, near, far)[kept]
    metric = np.eye(X.shape[1])
    project(metric, apart[kept], same[kept], bounds, np.zeros(len(bounds)), slack, max_sweeps, tol)
    return metric


def _thresholds(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The 5th and 95th percentile of squared distances, of all pairs or of a sample."""
    n = len(X)
    if n * (n - 1) // 2 <= MOST_PAIRS:
        distances = pdist(X, "sqeuclidean")
    else:
        pairs = bc.PairwiseConstraints.sample(np.zeros(n, int), size=MOST_PAIRS, seed=rng).items
        distances = np.square(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1)
    if not distances.any():
        return np.ones(2)
    return np.maximum(np.percentile(distances, [5.0, 95.0]), 1e-9 * distances.max())


@njit(cache=True)
def project(
    metric: Any,
    apart: Any,
    same: Any,
    bounds: Any,
    dual: Any,
    slack: float,
    max_sweeps: int,
    tol: float,
) -> int:
    """Go through the answers until the multipliers stop, in place; returns the sweeps."""
    d = metric.shape[0]
    image = np.empty(d)
    for sweep in range(max_sweeps):
        moved = 0.0
        for c in range(len(apart)):
            distance = 0.0
            for a in range(d):
                total = 0.0
                for b in range(d):
                    total += metric[a, b] * apart[c, b]
                image[a] = total
                distance += apart[c, a] * total
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


def mmc(X: Any, constraints: Any, n_clusters: int, seed: int, *, n_init: int = 10) -> IntArray:
    """Xing's method for a diagonal metric (Xing, Ng, Jordan and Russell 2003)."""
    points = np.asarray(X, dtype=np.float64)
    scales = learn_scales(points, constraints)
    return k_means(points * np.sqrt(scales), None, n_clusters, seed, n_init=n_init)


def learn_scales(X: FloatArray, constraints: Any) -> FloatArray:
    r"""The weight of each column (d,); ones if there is no "same" or no "different".

    Minimises over :math:`a \ge 0` the convex

    .. math:: \sum_{S} \sum_l a_l (x_{il} - x_{jl})^2 - \log \sum_{D} \sqrt{\textstyle\sum_l a_l
       (x_{il} - x_{jl})^2},

    S being the pairs answered "same" and D those answered "different" (section 2.1). The authors
    take Newton steps; here it is L-BFGS within the bounds, to the same optimum.
    """
    pairs, same = links_of(constraints)
    distances = np.square(X[pairs[:, 0]] - X[pairs[:, 1]])
    far = distances[~same & distances.any(axis=1)]
    if not same.any() or not len(far):
        return np.ones(X.shape[1])
    spread = np.where(X.var(axis=0) > 0, X.var(axis=0), 1.0)
    cost = distances[same].sum(axis=0) + LEAST * same.sum() * spread
    # in units of cost, in which the optimum has a sum of 1/2; a factor in the logarithm is nothing
    unit = far / cost
    unit /= unit.max()

    def objective(b: FloatArray) -> tuple[float, FloatArray]:
        lengths = np.sqrt(unit @ b + SMOOTH)
        total = lengths.sum()
        return float(b.sum() - np.log(total)), 1.0 - (0.5 / lengths) @ unit / total

    settings: Any = {"method": "L-BFGS-B", "options": {"maxiter": 1000, "ftol": 1e-12}}
    start = np.full(len(cost), 0.5 / len(cost))
    end = minimize(objective, start, jac=True, bounds=[(0.0, None)] * len(cost), **settings)
    return np.asarray(end.x / cost)


def rca(X: Any, constraints: Any, n_clusters: int, seed: int) -> IntArray:
    """Relevant component analysis (Bar-Hillel et al. 2003): whiten what varies among "same".

    K-means starts from the sets that answers "same" join, as MPCK-Means does (Bilenko et al. 2004,
    section 4.2). Answers "different" are not used.
    """
    points = np.asarray(X, dtype=np.float64)
    pairs, same = links_of(constraints)
    ends = pairs[same].T
    graph = csr_array((np.ones(len(ends[0])), tuple(ends)), shape=(len(points),) * 2)
    white = points @ whitening(points, connected_components(graph, directed=False)[1])
    # at no cost answers only say where to start
    settings: Any = {"cost": 0.0, "closure": False, "growth": 1, "random_state": seed}
    est = bc.MPCKMeans(n_clusters, "euclidean", **settings)
    return np.asarray(est.fit(white, constraints=constraints).labels_)


def whitening(points: FloatArray, chunklet: IntArray) -> FloatArray:
    """W (d, d) that makes the covariance within chunklets I; I where none has two items."""
    sizes = np.bincount(chunklet)
    sums = [np.bincount(chunklet, weights=column) / sizes for column in points.T]
    members = sizes[chunklet] > 1
    if not members.any():
        return np.eye(points.shape[1])
    inside = points[members] - np.stack(sums, axis=1)[chunklet[members]]
    total = np.atleast_2d(np.cov(points, rowvar=False, bias=True))
    ridge = total + 1e-9 * np.trace(total) * np.eye(len(total))
    values, axes = np.linalg.eigh(inside.T @ inside / len(inside) + RIDGE * ridge)
    floor = max(float(values[-1]) * 1e-12, float(np.finfo(np.float64).tiny))
    return np.asarray((axes / np.sqrt(np.maximum(values, floor))) @ axes.T)


def lsml(
    X: Any, constraints: Any, n_clusters: int, seed: int, *, weight: float = 1.0, n_init: int = 10
) -> IntArray:
    """Metric learning by squared residuals (Liu, Guo, Zhang, Jojic and Wang 2012)."""
    points = np.asarray(X, dtype=np.float64)
    factor = learn_factor(*gaps(points, comparisons(constraints)), weight=weight)
    return k_means(points @ factor, None, n_clusters, seed, n_init=n_init)


def learn_factor(near: FloatArray, far: FloatArray, *, weight: float = 1.0) -> FloatArray:
    """Lower triangular L of a metric M = L L' under which the near are nearer than the far.

    Minimises `lsml_objective` from L = I by L-BFGS; its value depends on M alone, so that a
    Cholesky factor is as good as M and needs no projection. At a weight of 1, the authors' setting,
    the Euclidean prior holds the metric close.
    """
    d = near.shape[1]
    if not len(near):
        return np.eye(d)
    lower = np.tril_indices(d)

    def unpacked(entries: FloatArray) -> FloatArray:
        L = np.zeros((d, d))
        L[lower] = entries
        return L

    def packed(entries: FloatArray) -> tuple[float, FloatArray]:
        value, slope = lsml_objective(unpacked(entries), near, far, weight)
        return value, slope[lower]

    settings: Any = {"method": "L-BFGS-B", "options": {"maxiter": 1000}}
    return unpacked(minimize(packed, np.eye(d)[lower], jac=True, **settings).x)


def lsml_objective(
    L: FloatArray, near: FloatArray, far: FloatArray, weight: float
) -> tuple[float, FloatArray]:
    r"""What LSML makes small, and its gradient with respect to the lower triangle of L.

    .. math:: \operatorname{tr} M - \log\det M + \frac{w}{m} \sum_t [d_M(\text{near}_t) -
       d_M(\text{far}_t)]_+^2, \quad M = L L^T, \quad d_M(v) = \sqrt{v^T M v}
    """
    images = near @ L, far @ L
    lengths = [np.sqrt(np.square(image).sum(axis=1)) for image in images]
    excess = np.maximum(lengths[0] - lengths[1], 0.0)
    share = 2.0 * weight / len(near) * excess
    slope = 2.0 * L
    for sign, gap, image, length in zip((1.0, -1.0), (near, far), images, lengths, strict=True):
        unit = (share / np.maximum(length, np.finfo(np.float64).tiny))[:, None] * image
        slope = slope + sign * gap.T @ unit
    diagonal = np.diagonal(L)
    slope = np.tril(slope) - np.diag(2.0 / diagonal)
    value = np.square(L).sum() - np.log(np.square(diagonal)).sum()
    return float(value + weight / len(near) * np.square(excess).sum()), slope


def sparse_lp(
    X: Any, constraints: Any, n_clusters: int, seed: int, *, penalty: float = 1.0, n_init: int = 10
) -> IntArray:
    """A sparse metric from comparisons by a linear program (Rosales and Fung 2006)."""
    points = np.asarray(X, dtype=np.float64)
    metric = learn_sparse(*gaps(points, comparisons(constraints)), penalty=penalty)
    values, vectors = np.linalg.eigh(metric)
    image = points @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return k_means(image if values[-1] > 0 else points, None, n_clusters, seed, n_init=n_init)


def learn_sparse(near: FloatArray, far: FloatArray, *, penalty: float = 1.0) -> FloatArray:
    r"""A diagonally dominant metric (d, d), which minimises over symmetric A the convex

    .. math:: \sum_t [1 - \text{far}_t^T A \text{far}_t + \text{near}_t^T A \text{near}_t]_+ +
       \gamma \operatorname{tr} A, \quad A_{kk} \ge \sum_{l \ne k} |A_{kl}|,

    as a linear program. Diagonal dominance makes A positive semidefinite, and bounds the sum of all
    its entries by twice the trace, which is why a penalty of the trace makes it sparse.

    >>> learn_sparse(np.array([[2.0, 0.0]]), np.array([[0.0, 1.0]]), penalty=0.1)
    array([[0., 0.],
           [0., 1.]])
    """  # noqa: D400
    m, d = near.shape
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
