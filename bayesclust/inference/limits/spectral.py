r"""The spectral relaxation of RDP-means (TVClust, section 4.7, Eq. 21), with its slips mended.

Let z_k be the 0/1 vector of cluster k, n_k its size, Y the matrix with orthonormal columns z_k /
sqrt(n_k), and L the symmetric matrix that has xi1 at may-links and -xi2 at may-not-links, each link
in both its cells; several answers about a pair add up. The sum of squared distances to the means is
tr(XX') - tr(Y'XX'Y), and tr(Y'LY) / 2 = sum_k z_k'Lz_k / (2 n_k), so that

    J~(z) = tr(XX') - tr(Y'(XX' + L / 2 - lambda I)Y)
          = sum_i |x_i - m_{z_i}|^2 - sum_k (xi1 #{may-links in k} - xi2 #{may-not-links in k}) /
          n_k + lambda K.

This is RDP-means' J with the links of each cluster divided by its size: Theorem 5, which takes the
trace for the links of Eq. 20, drops the 1 / n_k, and J counts each link once, Eq. 20 from both
ends. The relaxation lets Y be any matrix with orthonormal columns whose span holds the vector of
ones, as that of every partition does (Zha et al. 2001). What is left are the leading eigenvectors
of

    M = P (XX' + L / 2) P,   P = I - 11' / n,

those with eigenvalue mu above lambda, at the optimum

    bound = sum_i |x_i - m|^2 - 1'L1 / (2 n) + lambda - sum_{mu > lambda} (mu - lambda)  <=  J~(z)
    for all z,

m the mean of all items. M is never formed: a product with it costs O(n d + links).

lambda is a cost of large clusters here, in proportion to n, where one start of RDP-means compares
it with the divergence of single items: each chooses it by what it finds itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import qr
from scipy.sparse import coo_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.entailment import by_first
from bayesclust.inference.limits import tuning
from bayesclust.inference.limits.answers import Xi, link_graph, pair_weights, pose, times
from bayesclust.inference.limits.rdp_means import Problem, Solution, means, objective
from bayesclust.inference.limits.search import merge
from bayesclust.typing import FloatArray, IntArray

FEW_ITEMS = 500
"""Up to this many items all eigenvalues at once are faster than the leading ones iteratively."""
FIRST_EIGENVALUES = 16
MOST_TO_TUNE = 2000
"""Of more items, penalty and confidence are chosen on a sample of so many."""


class Relaxation(NamedTuple):
    """The optimum of the relaxed problem."""

    eigenvalues: FloatArray  # (r,) of M, above lambda, falling
    vectors: FloatArray  # (n, r)
    bound: float  # no partition has a smaller J~


def relax(problem: Problem, xi: Xi, most: int) -> Relaxation:
    """Solve the relaxed problem of squared distances and links, with at most `most` eigenvalues."""
    # Where more lie above lambda, no bound is known: it is minus infinity.
    points, penalty = problem.points, problem.penalty
    n = len(points)
    pairs, weights = pair_weights(problem.graph, xi)
    centred = points - points.mean(axis=0)
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T
    links: Any = coo_array((np.tile(weights / 2, 2), tuple(ends)), shape=(n, n)).tocsr()

    def times(V: FloatArray) -> FloatArray:
        """M V for one vector or a matrix of them."""
        V = V - V.mean(axis=0)
        product = np.asarray(centred @ (centred.T @ V) + links @ V)
        return product - product.mean(axis=0)

    if not (centred.any() or links.nnz):
        values, vectors, whole = np.zeros(0), np.zeros((n, 0)), True
    else:
        values, vectors, whole = _leading(times, n, penalty, most)
    above = values > penalty
    bound = -np.inf
    if whole:
        bound = np.square(centred).sum() - weights.sum() / n + penalty
        bound -= (values[above] - penalty).sum()
    kept = np.flatnonzero(above)[:most]
    return Relaxation(values[kept], vectors[:, kept], float(bound))


def _leading(
    times: Callable[[FloatArray], FloatArray], n: int, penalty: float, most: int
) -> tuple[FloatArray, FloatArray, bool]:
    """Eigenvalues, falling, with eigenvectors, and whether no other is above the penalty."""
    found: Any
    if n <= FEW_ITEMS:
        found = np.linalg.eigh(times(np.eye(n)))
        return found[0][::-1], found[1][:, ::-1], True
    operator: Any = LinearOperator((n, n), matvec=times, matmat=times, dtype=np.float64)
    # one more than is wanted shows whether it was the last
    wanted = min(FIRST_EIGENVALUES, most + 1, n - 1)
    start = np.random.default_rng(0).standard_normal(n)
    while True:
        found = eigsh(operator, wanted, which="LA", v0=start, tol=1e-5)
        # the last of n belongs to the vector of ones, and is zero
        whole = bool(found[0].min() <= penalty) or wanted == n - 1
        if whole or wanted == min(most + 1, n - 1):
            return found[0][::-1], found[1][:, ::-1], whole
        wanted = min(2 * wanted, most + 1, n - 1)


def round_off(relaxation: Relaxation) -> IntArray:
    """Turn relaxed clusters into a partition with at most as many, 1 + r."""
    # On the part of M above lambda, V diag(mu) V', J~ is the objective of k-means on the rows of V
    # diag(mu)^(1/2), so Lloyd's algorithm on them lowers J~ itself, less what was relaxed away. It
    # starts at the items that QR with column pivoting picks from the rows of (1 / sqrt(n), V).
    values, vectors = relaxation.eigenvalues, relaxation.vectors
    n, r = vectors.shape
    if r == 0:
        return np.zeros(n, dtype=np.int64)
    rows = np.column_stack([np.full(n, n**-0.5), vectors])
    pivots = qr(rows.T, mode="r", pivoting=True)[1][: r + 1]
    embedded = vectors * np.sqrt(values)
    rounded = KMeans(r + 1, init=embedded[pivots], n_init=1).fit(embedded)
    return np.asarray(rounded.labels_, dtype=np.int64)


def relaxed_objective(problem: Problem, labels: IntArray, xi: Xi) -> float:
    """J~ of a partition: J with the links of each cluster divided by its size."""
    labels, centers = means(problem.points, labels)
    pairs, weights = pair_weights(problem.graph, xi)
    first, second = labels[pairs].T
    shares = weights * (first == second) / np.bincount(labels)[first]
    spread = problem.divergence.paired(problem.points, centers[labels]).sum()
    return float(spread - shares.sum() + problem.penalty * len(centers))


def solve(problem: Problem, relaxation: Relaxation, xi: Xi) -> Solution:
    """Round off, and merge by J: the relaxed problem has more clusters than the best partition."""
    return merged(problem, round_off(relaxation), xi)


def merged(problem: Problem, labels: IntArray, xi: Xi) -> Solution:
    """Merge the clusters whose union lowers J."""
    labels, centers = means(problem.points, labels)
    found = merge(problem, labels, centers, xi)
    labels, centers = means(problem.points, by_first(found)[1])
    value = objective(problem, labels, centers, xi)
    return Solution(labels, centers, np.arange(len(centers)), value, np.array([value]), xi, True)


def solve_all(problem: Problem, penalties: FloatArray, xi: Xi, most: int) -> Iterator[Solution]:
    """The solution under each of the penalties, which fall, from one relaxation."""
    values, vectors, _ = relax(problem._replace(penalty=float(penalties[-1])), xi, most)
    rounded: dict[int, IntArray] = {}
    for penalty in penalties.tolist():
        r = int(np.count_nonzero(values > penalty))
        if r not in rounded:
            rounded[r] = round_off(Relaxation(values[:r], vectors[:, :r], -np.inf))
        yield merged(problem._replace(penalty=penalty), rounded[r], xi)


def few(
    constraints: Sequence[Constraints], problem: Problem, rng: Generator
) -> tuple[Sequence[Constraints], Problem]:
    """The answers and the items that settings are chosen on, without a graph."""
    n = len(problem.points)
    if n > MOST_TO_TUNE:
        constraints, problem = tuning.sample(constraints, problem, MOST_TO_TUNE / n, rng)
    return constraints, problem._replace(graph=link_graph([], len(problem.points)))


def choose(
    constraints: Sequence[Constraints],
    problem: Problem,
    cost: float | None,
    most: int,
    rng: Generator,
) -> tuple[float, float]:
    """The penalty, if no `cost` is given, and a confidence: those that predict held-out answers."""
    # Of equals the largest penalty and the smallest confidence.
    asked, part = few(constraints, problem, rng)
    share = len(part.points) / len(problem.points)
    penalties = tuning.candidates(part.points, part.divergence, 2)
    if cost is not None:
        penalties = np.array([share * cost])
    xis = tuning.confidences(part, tuning.first_xi(part), tuning.SAMPLED_RATE)
    scores = np.zeros((len(penalties), len(xis)))
    for kept, held in tuning.folds(asked, rng):
        graph, unit = pose(kept, len(part.points))
        for step, xi in enumerate(xis):
            found = solve_all(part._replace(graph=graph), penalties, times(unit, xi), most)
            scores[:, step] += [tuning.log_prob_given(end.labels, held) for end in found]
    at, step = divmod(int(scores.argmax()), len(xis))
    return float(penalties[at]) / share, float(xis[step])


def penalty_from_data(problem: Problem, most: int) -> float:
    """The penalty whose solution without answers has the smallest `information_criterion`."""
    # nothing is random in what follows from the data
    part = few([], problem, np.random.default_rng(0))[1]
    penalties = tuning.candidates(part.points, part.divergence, 2)
    found = solve_all(part, penalties, tuning.NO_ANSWERS.xi, most)
    costs = [tuning.information_criterion(part.points, part.divergence, end) for end in found]
    return float(penalties[np.argmin(costs)]) * len(problem.points) / len(part.points)
