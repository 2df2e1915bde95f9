"""MPCK-Means with one diagonal metric, beside k-means and a peer where it is installed.

The peer looks at all pairs of items in every round; one fit of it takes minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import bayesclust as bc
from bayesclust.inference.limits.mpck.descend import Problem, means, metric_terms
from bayesclust.inference.limits.mpck.links import WeightedLinks, closure
from bayesclust.inference.limits.mpck.metric import FarPairs, exact_step
from benchmarks.data import mixture
from benchmarks.records import Race, Target
from benchmarks.timing import Entry, Scale, race

N, D, K, LINKS = 2000, 10, 8, 2000
LARGE = 100_000
OURS, PEER, KMEANS = "MPCKMeans", "active-semi-supervised-clustering", "k-means"


def peer(X: Any, links: bc.PairwiseConstraints) -> Any:
    """Labels of the package to compare with, at its defaults."""
    peers: Any = import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
    np.random.seed(0)  # noqa: NPY002
    same = links.answers == 1
    ends = [list(map(tuple, links.items[kind].tolist())) for kind in (same, ~same)]
    with np.errstate(all="ignore"):
        labels = peers.MPCKMeans(n_clusters=K, max_iter=10).fit(X, ml=ends[0], cl=ends[1]).labels_
    return np.asarray(labels)


def least(X: Any, links: bc.PairwiseConstraints, labels: Any) -> float:
    """J of a partition, entailed answers included, at its best centres and metric."""
    given = WeightedLinks.of(links.items, links.answers == 1, np.ones(len(links)), len(X))
    problem = Problem.of(X, closure(given), K, "diagonal", False, 1.0)
    z = np.asarray(labels, dtype=np.int64)
    (terms,) = metric_terms(problem, z, means(problem, z, np.zeros((K, problem.points.shape[1]))))
    metric, diameter, _ = exact_step(problem.form, terms, FarPairs(problem.points))
    return terms.value(problem.form, metric, diameter) + problem.shift


def run(scale: Scale) -> Iterator[Race]:
    """Race the two on one problem, and time a large one, for which k-means is the yardstick."""
    n = scale.pick(N, 150)
    X, y = mixture(n, D, K, np.random.default_rng(0))
    links = bc.PairwiseConstraints.sample(y, size=n, seed=0)
    found: dict[str, Any] = {}

    def ours() -> None:
        found[OURS] = bc.MPCKMeans(K, cost=1, random_state=0).fit(X, constraints=links).labels_

    def others() -> None:
        found[PEER] = peer(X, links)

    there = find_spec("active_semi_clustering") is not None
    raced = race(
        f"MPCK-Means, n = {n}, d = {D}, K = {K}, {n} answers",
        "CPU time of a fit",
        {OURS: ours} | ({PEER: Entry(others, once=True)} if there else {}),
        scale,
        reference=OURS,
        targets=[Target(PEER, least=300)] if there and n == N else [],
    )
    scored = (
        f"{name}: objective {least(X, links, labels):.0f}, "
        f"pairwise F {bc.metrics.pairwise_f(labels, y):.3f}"
        for name, labels in found.items()
    )
    yield replace(raced, note="; ".join(scored) + ".")
    n = scale.pick(LARGE, 1000)
    X, y = mixture(n, D, K, np.random.default_rng(1))
    many = bc.PairwiseConstraints.sample(y, size=n, seed=1)
    yield race(
        f"MPCK-Means, n = {n}, d = {D}, K = {K}, {n} answers",
        "CPU time of a fit",
        {
            OURS: Entry(
                lambda: bc.MPCKMeans(K, cost=1, random_state=0).fit(X, constraints=many), once=True
            ),
            KMEANS: lambda: KMeans(K, n_init=1, random_state=0).fit(X),
        },
        scale,
        reference=KMEANS,
        targets=[Target(OURS, most=30, unit="s")],
        note="k-means uses no answers: a yardstick that goes with the machine.",
    )
