"""MPCK-Means with one diagonal metric, against active-semi-supervised-clustering if it is there, else a plain twin.

The peer looks at all pairs of items in every round; one fit of it takes minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import bayesclust as bc
from bayesclust.inference.limits.mpck.descend import Problem, means, metric_terms
from bayesclust.inference.limits.mpck.links import WeightedLinks, closure
from bayesclust.inference.limits.mpck.metric import FarPairs, exact_step
from benchmarks import mpck_plain
from benchmarks.data import mixture
from benchmarks.records import Race, Target
from benchmarks.timing import Entry, Scale, race

N, D, K, LINKS = 2000, 10, 8, 2000
LARGE = 100_000
OURS, PLAIN, KMEANS = "MPCKMeans", "plain version", "k-means"


def peer(X: Any, links: bc.PairwiseConstraints) -> Any:
    """Labels of the package that is there to compare with, at its defaults, or of the plain twin."""
    same = links.answers == 1
    if find_spec("active_semi_clustering") is None:
        rng = np.random.default_rng(0)
        return mpck_plain.fit(X, links.items, same, X[rng.choice(len(X), K, replace=False)], rng)
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans  # type: ignore[import-not-found]

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
    (terms,) = metric_terms(problem, z, means(problem, z, np.zeros((K, problem.points.shape[1]))))
    found = exact_step(problem.form, terms, FarPairs(problem.points))
    return terms.value(problem.form, found.metric, found.diameter) + problem.shift


def run(scale: Scale) -> Iterator[Race]:
    """Race the two on one problem, and time a large one, for which k-means is the yardstick."""
    n = scale.pick(N, 150)
    X, y = mixture(n, D, K, np.random.default_rng(0))
    links = bc.PairwiseConstraints.sample(y, size=n, seed=0)
    found: dict[str, Any] = {}
    theirs = (
        PLAIN
        if find_spec("active_semi_clustering") is None
        else "active-semi-supervised-clustering"
    )

    def ours() -> None:
        found[OURS] = bc.MPCKMeans(K, random_state=0).fit(X, constraints=links).labels_

    def others() -> None:
        found[theirs] = peer(X, links)

    raced = race(
        f"MPCK-Means, n = {n}, d = {D}, K = {K}, {n} answers",
        "CPU time of a fit",
        {OURS: ours, theirs: Entry(others, once=True)},
        scale,
        reference=OURS,
        targets=[Target(theirs, least=300)] if n == N else [],
    )
    judged = (
        f"{name}: objective {least(X, links, labels):.0f}, pairwise F {bc.metrics.pairwise_f(labels, y):.3f}"
        for name, labels in found.items()
    )
    yield replace(raced, note="; ".join(judged) + ".")
    n = scale.pick(LARGE, 1000)
    X, y = mixture(n, D, K, np.random.default_rng(1))
    many = bc.PairwiseConstraints.sample(y, size=n, seed=1)
    yield race(
        f"MPCK-Means, n = {n}, d = {D}, K = {K}, {n} answers",
        "CPU time of a fit",
        {
            OURS: Entry(
                lambda: bc.MPCKMeans(K, random_state=0).fit(X, constraints=many), once=True
            ),
            KMEANS: lambda: KMeans(K, n_init=1, random_state=0).fit(X),
        },
        scale,
        reference=KMEANS,
        targets=[Target(OURS, most=30, unit="s")],
        note="k-means hears no answers: a yardstick that goes with the machine.",
    )
