r"""The spectral relaxation of RDP-means (TVClust, section 4.7, Eq. 21), with its slips mended.

Let z_k be the 0/1 vector of cluster k, n_k its size, Y the matrix with orthonormal columns z_k /
sqrt(n_k), and L the symmetric matrix that has xi1 at may-links and -xi2 at may-not-links, each link
in both its cells; several answers about a pair add up. The sum of squared distances to the means is
tr(XX') - tr(Y'XX'Y), and tr(Y'LY) / 2 = sum_k z_k'Lz_k / (2 n_k), so that

    J~(z) = tr(XX') - tr(Y'(XX' + L / 2 - lambda I)Y)
          = sum_i |x_i - m_{z_i}|^2 - sum_k (xi1 #{may-links in k} - xi2 #{may-not-links in k}) /
          n_k + lambda K.

This is RDP-means' J with the links of each cluster divided by its size: Theorem 5, which takes the
trace for the links of Eq. 20, drops the 1 / n_k. The 1/2 is there because J counts each link once,
Eq. 20 from both ends. The relaxation lets Y be any matrix with orthonormal columns whose span holds
the vector of ones, as that of every partition does (Zha et al. 2001). The ones are then one
direction of Y, and what is left are the leading eigenvectors of

    M = P (XX' + L / 2) P,   P = I - 11' / n,

those with eigenvalue mu above lambda, at the optimum

    bound = sum_i |x_i - m|^2 - 1'L1 / (2 n) + lambda - sum_{mu > lambda} (mu - lambda)  <=  J~(z)
    for all z,

m the mean of all items. Without that one condition (Eq. 21 uncentred) the bound is lower, changes
when the data are shifted, and the relaxed number of clusters can be zero; here it is 1 plus the
number of eigenvalues above lambda. M is never formed: a product with it costs O(n d + links).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.sparse import coo_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.cluster import KMeans

from bayesclust.inference.limits.answers import Xi
from bayesclust.inference.limits.links import LinkGraph
from bayesclust.inference.limits.rdp_means import Problem, Solution, means, objective
from bayesclust.inference.limits.search import merge
from bayesclust.typing import FloatArray, IntArray

# up to this many items all eigenvalues at once are faster than the leading ones iteratively
FEW_ITEMS = 500
FIRST_EIGENVALUES = 16


class Relaxation(NamedTuple):
    """The optimum of the relaxed problem."""

    eigenvalues: FloatArray  # (r,) of M, above lambda, falling
    vectors: FloatArray  # (n, r)
    bound: float  # no partition has a smaller J~


class Matrix:
    """M = P (XX' + L / 2) P, of which only products are made.

    Parameters
    ----------
    points : (n, d) array
    pairs : (m, 2) array of int
    weights : (m,) array
        xi1 for a may-link, -xi2 for a may-not-link.
    """

    def __init__(self, points: FloatArray, pairs: IntArray, weights: FloatArray) -> None:
        n = len(points)
        self.centred = points - points.mean(axis=0)
        ends, values = (
            np.concatenate([pairs, pairs[:, ::-1]]),
            np.concatenate([weights, weights]) / 2,
        )
        self.links: Any = coo_array((values, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()

    def times(self, V: FloatArray) -> FloatArray:
        """Return M V for one vector or a matrix of them."""
        V = V - V.mean(axis=0)
        product: FloatArray = self.centred @ (self.centred.T @ V) + self.links @ V
        return product - product.mean(axis=0)

    def sum_of_squares(self) -> float:
        """Return the sum of all squared eigenvalues, |M|^2, without forming M."""
        n, sums = len(self.centred), self.links.sum(axis=1)
        gram = np.square(self.centred.T @ self.centred).sum()
        mixed = 2 * (self.centred * (self.links @ self.centred)).sum()
        links = (
            np.square(self.links.data).sum() - 2 * np.square(sums).sum() / n + (sums.sum() / n) ** 2
        )
        return float(gram + mixed + links)


def weighed_links(problem: Problem, xi: Xi) -> tuple[IntArray, FloatArray]:
    """Return the pairs of the problem's links, (m, 2), and the entry of L that each adds, (m,)."""
    graph = problem.graph
    if isinstance(graph, LinkGraph):
        may, may_not = float(xi[0]), float(xi[1])
        return graph.pairs, np.where(graph.same, may, -may_not)
    table = np.asarray(xi)
    return graph.member[:, :2], table[graph.code, 1] - table[graph.code, 0]


def relax(problem: Problem, xi: Xi, most: int) -> Relaxation:
    r"""Solve the relaxed problem.

    Parameters
    ----------
    problem : Problem
        With squared Euclidean distance, and answers about pairs only.
    xi : (float, float) or (codes, 5) array
        Confidence in links, as the graph of the problem reads it.
    most : int
        How many eigenvalues to find at most. Where more lie above lambda, the bound is lowered by
        what the others can add: the sum of their squares is known, and (mu - lambda) / mu^2 grows
        with mu up to mu = 2 lambda.

    Returns
    -------
    Relaxation

    Examples
    --------
    >>> from bayesclust.families.squared_distance import SquaredEuclidean
    >>> from bayesclust.inference.limits.links import link_graph
    >>> X = np.array([[0.0], [2.0], [10.0], [12.0]])
    >>> problem = Problem.of(X, SquaredEuclidean(), link_graph([], 4), penalty=5.0)
    >>> found = relax(problem, (0.0, 0.0), most=3)
    >>> found.eigenvalues, found.bound
    (array([104.]), 10.0)

    The best partition, {0, 2} and {10, 12}, has J~ = 4 + 10.
    """
    points, penalty = problem.points, problem.penalty
    pairs, weights = weighed_links(problem, xi)
    matrix = Matrix(points, pairs, weights)
    values, vectors, ceiling = _leading(matrix, penalty, most)
    above = values > penalty
    bound = (
        np.square(matrix.centred).sum()
        - weights.sum() / len(points)
        + penalty
        - (values[above] - penalty).sum()
    )
    if ceiling > penalty:
        rest, highest = matrix.sum_of_squares() - np.square(values).sum(), min(ceiling, 2 * penalty)
        bound -= max(rest, 0.0) * (highest - penalty) / highest**2
    kept = np.flatnonzero(above)[:most]
    return Relaxation(values[kept], vectors[:, kept], float(bound))


def _leading(matrix: Matrix, penalty: float, most: int) -> tuple[FloatArray, FloatArray, float]:
    """Return eigenvalues, falling, with eigenvectors, and what no other eigenvalue exceeds."""
    n = len(matrix.centred)
    found: Any
    if n <= FEW_ITEMS:
        found = np.linalg.eigh(matrix.times(np.eye(n)))
        return found[0][::-1], found[1][:, ::-1], penalty
    if not (matrix.centred.any() or matrix.links.nnz):
        return np.zeros(0), np.zeros((n, 0)), penalty
    operator: Any = LinearOperator(
        (n, n), matvec=matrix.times, matmat=matrix.times, dtype=np.float64
    )
    # one more than is wanted shows whether it was the last
    wanted, start = (
        min(FIRST_EIGENVALUES, most + 1, n - 1),
        np.random.default_rng(0).standard_normal(n),
    )
    while True:
        try:
            found = eigsh(operator, wanted, which="LA", v0=start, tol=1e-5)
        except ArpackNoConvergence as error:
            found = error.eigenvalues, error.eigenvectors
            return found[0][::-1], found[1][:, ::-1], np.inf
        lowest = found[0].min()
        if lowest <= penalty or wanted >= min(most + 1, n - 1):
            return found[0][::-1], found[1][:, ::-1], float(lowest)
        wanted = min(2 * wanted, most + 1, n - 1)


def round_off(relaxation: Relaxation) -> IntArray:
    """Turn relaxed clusters into a partition with as many.

    On the part of M above lambda, V diag(mu) V', J~ is the objective of k-means on the rows of V
    diag(mu)^(1/2), so Lloyd's algorithm on them lowers J~ itself, less what was relaxed away. It
    starts at the items that QR with column pivoting picks from the rows of (1 / sqrt(n), V), K rows
    as independent as can be found one by one, which needs neither luck nor restarts. (To assign
    items by the pivots alone, Damle, Minden and Ying 2019, is meant for rows in nearly orthogonal
    directions, which those of overlapping clusters are not.)

    Parameters
    ----------
    relaxation : Relaxation

    Returns
    -------
    (n,) array of int
        Labels of at most 1 + r clusters.
    """
    values, vectors = relaxation.eigenvalues, relaxation.vectors
    n, r = vectors.shape
    if r == 0:
        return np.zeros(n, dtype=np.int64)
    rows = np.column_stack([np.full(n, n**-0.5), vectors])
    pivots = qr(rows.T, mode="r", pivoting=True)[1][: r + 1]
    embedded = vectors * np.sqrt(values)
    labels: IntArray = (
        KMeans(r + 1, init=embedded[pivots], n_init=1).fit(embedded).labels_.astype(np.int64)
    )
    return labels


def relaxed_objective(problem: Problem, labels: IntArray, xi: Xi) -> float:
    """Return J~ of a partition: J with the links of each cluster divided by its size.

    Parameters
    ----------
    problem : Problem
    labels : (n,) array of int
        0 to K - 1, all of them used.
    xi : (float, float) or (codes, 5) array

    Returns
    -------
    float

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.families.squared_distance import SquaredEuclidean
    >>> from bayesclust.inference.limits.links import link_graph
    >>> links = bc.PairwiseConstraints([(0, 1)], [True], n_items=3)
    >>> problem = Problem.of(np.array([[0.0], [2.0], [9.0]]), SquaredEuclidean(), link_graph([links], 3), penalty=5.0)
    >>> relaxed_objective(problem, np.array([0, 0, 1]), (3.0, 3.0))  # 2 - 3 / 2 + 2 x 5
    10.5
    """
    labels, centers = means(problem.points, labels)
    pairs, weights = weighed_links(problem, xi)
    first, second = labels[pairs].T
    shares = weights * (first == second) / np.bincount(labels)[first]
    spread = problem.divergence.paired(problem.points, centers[labels]).sum()
    return float(spread - shares.sum() + problem.penalty * len(centers))


def solve(problem: Problem, relaxation: Relaxation, xi: Xi) -> Solution:
    """Round off, and merge the clusters whose union lowers J.

    The relaxed problem has more clusters than the best partition: a fraction of a cluster can save
    what none can. Merges are by J itself, in which links count in full.

    Parameters
    ----------
    problem : Problem
    relaxation : Relaxation
    xi : (float, float) or (codes, 5) array

    Returns
    -------
    Solution
        With clusters in the order of their first items, J and the centres in the space of the
        points.
    """
    labels, centers = means(problem.points, round_off(relaxation))
    merged = merge(problem, labels, centers, xi)
    _, first, labels = np.unique(merged, return_index=True, return_inverse=True)
    labels, centers = means(problem.points, np.argsort(np.argsort(first))[labels])
    value = objective(problem, labels, centers, xi)
    return Solution(labels, centers, value, np.array([value]), xi, True)
