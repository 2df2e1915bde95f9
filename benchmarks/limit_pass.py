"""One pass of RDP-means over many items with many links, against an iteration of scikit-learn's KMeans and a plain pass."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.divergences import SquaredEuclidean
from bayesclust.inference.limits.links import LinkGraph, link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, new_slots, visit
from benchmarks.collapsed_scan import mixture
from benchmarks.timing import race, table

N, D, K, LINKS = 100_000, 16, 20, 100_000
XI, PENALTY = (1.0, 1.0), 1000.0
SPAN = 10


def problem(n: int, links: int) -> tuple[Problem, NDArray[np.int64], NDArray[np.float64]]:
    """Overlapping clusters with links, one in ten wrong, and a start from nearest random items."""
    X, y = mixture(n, D, K, np.random.default_rng(0))
    views = [PairwiseConstraints.sample(y, size=links, flip=0.1, seed=0)]
    divergence = SquaredEuclidean()
    start = divergence.between(X, X[:K]).argmin(axis=1)
    labels, centers = means(X, start)
    return Problem.of(X, divergence, link_graph(views, n), PENALTY), labels, centers


def one_pass(posed: Problem, labels: NDArray[np.int64], centers: NDArray[np.float64]) -> Any:
    """Every item chooses in turn, then the means: what `descend` repeats."""
    slots, _ = visit(posed, new_slots(posed, labels, centers), XI, XI[0] / 2)
    return means(posed.points, slots.z)


def plain_pass(posed: Problem, labels: NDArray[np.int64], centers: NDArray[np.float64]) -> Any:
    """The same pass as one would write it first: distances of an item at once, its links one by one."""
    points, _, _, graph, penalty = posed
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
    """Iterations of KMeans from the same start; the first costs more, as data are copied and labels taken at the end."""

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = KMeans(K, init=X[:K], n_init=1, max_iter=iterations, tol=0, algorithm="lloyd").fit(X)
        assert found.n_iter_ == iterations

    return run


def memory(n: int) -> float:
    """Bytes at the peak of a pass beyond what was there before, for each item."""
    posed, labels, centers = problem(n, n)
    one_pass(posed, labels, centers)
    tracemalloc.start()
    one_pass(posed, labels, centers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / n


def run() -> dict[str, Any]:
    """Race the pass, KMeans and, on a tenth of the items, the plain pass; returns a record."""
    posed, labels, centers = problem(N, LINKS)
    small, few_labels, few_centers = problem(N // 10, LINKS // 10)
    timings = race(
        {
            "pass": lambda: one_pass(posed, labels, centers),
            "KMeans, 1 iteration": lloyd(posed.points, 1),
            f"KMeans, {1 + SPAN} iterations": lloyd(posed.points, 1 + SPAN),
            "plain pass, a tenth of the items": lambda: plain_pass(small, few_labels, few_centers),
        },
        repetitions=11,
    )
    print(f"\nRDP-means, n = {N}, d = {D}, K = {K}, {LINKS} links; CPU time")
    print("\n".join(table(timings, "pass")))
    one, more = (np.array(timings[name].seconds) for name in list(timings)[1:3])
    iteration = float(np.median(more - one)) / SPAN
    ratio = timings["pass"].median / iteration
    bytes_per_item = {n: round(memory(n), 1) for n in (N // 10, N)}
    print(f"  one more iteration of KMeans {1000 * iteration:.2f} ms: the pass takes {ratio:.2f} of it")
    print(f"  peak memory of a pass, bytes an item: {bytes_per_item}")
    rows = [{"what": timing.name, "seconds": timing.seconds} for timing in timings.values()]
    return {"timings": rows, "iteration": iteration, "ratio": ratio, "bytes_per_item": bytes_per_item}
