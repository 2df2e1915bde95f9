"""A pass of RDP-means over many linked items, against an iteration of KMeans and a plain pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from bayesclust.constraints import PairwiseConstraints
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import LinkGraph, link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, new_state, visit
from benchmarks.data import mixture
from benchmarks.records import Record, Target
from benchmarks.timing import Entry, Run, Scale, grow, race

N, D, K = 100_000, 16, 20
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
XI, PENALTY = (1.0, 1.0), 1000.0
SPAN = 10


Start = tuple[NDArray[np.int64], NDArray[np.float64]]


def data(n: int) -> tuple[NDArray[np.float64], PairwiseConstraints, Start]:
    """Overlapping clusters, as many links as items, one in ten wrong, and a start."""
    X, y = mixture(n, D, K, np.random.default_rng(0))
    links = PairwiseConstraints.sample(y, size=n, error_rate=0.1, seed=0)
    return X, links, means(X, SquaredEuclidean().between(X, X[:K]).argmin(axis=1))


def problem(X: NDArray[np.float64], links: PairwiseConstraints) -> Problem:
    """RDP-means of squared Euclidean distances."""
    return Problem.of(X, SquaredEuclidean(), link_graph([links], len(X)), PENALTY)


def one_pass(posed: Problem, labels: NDArray[np.int64], centers: NDArray[np.float64]) -> Any:
    """Every item chooses in turn, then the means: what `descend` repeats."""
    state, _ = visit(posed, new_state(posed, labels, centers), XI, XI[0] / 2)
    return means(posed.points, state.z)


def plain_pass(posed: Problem, labels: NDArray[np.int64], centers: NDArray[np.float64]) -> Any:
    """The same pass as one would write it first, item by item and link by link."""
    points, graph, penalty = posed.points, posed.graph, posed.penalty
    assert isinstance(graph, LinkGraph)
    z, rows, sizes = labels.copy(), list(centers), np.bincount(labels).tolist()
    for i, x in enumerate(points):
        costs = np.square(np.array(rows) - x).sum(axis=1)
        for e in range(graph.start[i], graph.start[i + 1]):
            costs[z[graph.neighbour[e]]] += -XI[0] if graph.may[e] else XI[1]
        costs[np.array(sizes) == 0] = np.inf
        sizes[z[i]] -= 1
        z[i] = costs.argmin()
        if penalty < costs[z[i]]:
            z[i] = len(rows)
            rows.append(x)
            sizes.append(0)
        sizes[z[i]] += 1
    return means(points, z)


def lloyd(X: NDArray[np.float64], iterations: int) -> Callable[[], Any]:
    """Iterations of KMeans from the same start; the first one costs more."""

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = KMeans(
                K, init=X[:K], n_init=1, max_iter=iterations, tol=0, algorithm="lloyd"
            ).fit(X)
        assert found.n_iter_ == iterations

    return run


def prepare(n: int) -> Callable[[], Run]:
    """A pass over n items, for its growth."""
    X, links, start = data(n)

    def build() -> Run:
        posed = problem(X, links)
        return lambda: one_pass(posed, *start)

    return build


def run(scale: Scale) -> Iterator[Record]:
    """Race the pass, KMeans and, on a tenth of the items, the plain pass; then let items grow."""
    n = scale.pick(N, 2000)
    X, links, start = data(n)
    posed = problem(X, links)
    few, few_links, few_start = data(n // 10)
    small = problem(few, few_links)
    yield race(
        f"RDP-means, n = {n}, d = {D}, K = {K}, {n} links",
        "CPU time of a pass; of KMeans, a further iteration (the difference between "
        f"{1 + SPAN} and 1, by {SPAN})",
        {
            "pass of RDP-means": lambda: one_pass(posed, *start),
            "iteration of KMeans": Entry(lloyd(X, 1 + SPAN), less=lloyd(X, 1), steps=SPAN),
            "KMeans(max_iter=1).fit": lloyd(X, 1),
            "plain pass": Entry(lambda: plain_pass(small, *few_start), share=0.1),
        },
        scale,
        reference="iteration of KMeans",
        targets=[Target("pass of RDP-means", most=3)],
    )
    sizes = scale.pick(SIZES, (1000, 3000))
    title = f"RDP-means along n, d = {D}, K = {K}, n links"
    yield grow(title, "items", "CPU time of a pass", sizes, prepare, scale, most_slope=1.1)
