"""MPCK-Means with one diagonal metric, against active-semi-supervised-clustering if it is there, else a plain twin.

The peer looks at all pairs of items in every round; one fit of it takes minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust.inference.limits.mpck.energy import Problem, means, pulls
from bayesclust.inference.limits.mpck.links import WeightedLinks, closure
from bayesclust.inference.limits.mpck.metric import FarPairs, exact_step, value
from benchmarks import mpck_plain
from benchmarks.collapsed_scan import mixture
from benchmarks.timing import race, table

N, D, K, LINKS = 2000, 10, 8, 2000
LARGE = 100_000


def seconds(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a run returns, and the CPU seconds it took."""
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


def peer(X: Any, links: bc.PairwiseConstraints) -> Any:
    """Labels of the package that is there to compare with, at its defaults, or of the plain twin."""
    same = links.answers == 1
    if find_spec("active_semi_clustering") is None:
        rng = np.random.default_rng(0)
        return mpck_plain.fit(X, links.items, same, X[rng.choice(len(X), K, replace=False)], rng)
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans

    np.random.seed(0)  # noqa: NPY002
    ends = [list(map(tuple, links.items[kind].tolist())) for kind in (same, ~same)]
    with np.errstate(all="ignore"):
        labels = MPCKMeans(n_clusters=K, max_iter=10).fit(X, ml=ends[0], cl=ends[1]).labels_
    return np.asarray(labels)


def least(X: Any, links: bc.PairwiseConstraints, labels: Any) -> float:
    """J of a partition, entailed answers included, at its best centres and metric: one yardstick for both."""
    given = WeightedLinks.of(links.items, links.answers == 1, np.ones(len(links)), len(X))
    problem = Problem.of(X, closure(given), K, "diagonal", False, 1.0)
    z = np.asarray(labels, dtype=np.int64)
    (pull,) = pulls(problem, z, means(problem, z, np.zeros((K, problem.points.shape[1]))))
    found = exact_step(problem.form, pull, FarPairs(problem.points))
    return value(problem.form, pull, found.metric, found.diameter) + problem.shift


def run() -> dict[str, Any]:
    """Race the two on one problem, and time a large one; returns a record."""
    X, y = mixture(N, D, K, np.random.default_rng(0))
    links = bc.PairwiseConstraints.sample(y, size=LINKS, seed=0)
    estimator = bc.MPCKMeans(K, random_state=0)
    timing = race({"ours": lambda: estimator.fit(X, constraints=links)}, repetitions=5)
    theirs, slow = seconds(lambda: peer(X, links))
    name = "the plain twin" if find_spec("active_semi_clustering") is None else "active-semi-supervised-clustering"
    print(f"\nMPCK-Means, n = {N}, d = {D}, K = {K}, {LINKS} answers; CPU time")
    print("\n".join(table(timing, "ours")))
    ratio = slow / timing["ours"].median
    objectives = {"ours": least(X, links, estimator.labels_), name: least(X, links, theirs)}
    scores = {"ours": bc.metrics.pairwise_f(estimator.labels_, y), name: bc.metrics.pairwise_f(theirs, y)}
    print(f"  {name}: {slow:.1f} s, {ratio:.0f} times as long")
    print(f"  objective: {objectives}\n  pairwise F: {scores}")
    X, y = mixture(LARGE, D, K, np.random.default_rng(1))
    links = bc.PairwiseConstraints.sample(y, size=LARGE, seed=1)
    large = bc.MPCKMeans(K, random_state=0)
    _, took = seconds(lambda: large.fit(X, constraints=links))
    print(f"  n = {LARGE}, {LARGE} answers: {took:.1f} s, F {bc.metrics.pairwise_f(large.labels_, y):.3f}")
    return {"ours": timing["ours"].seconds, "peer": [name, slow], "ratio": ratio, "objectives": objectives, "large": took}
