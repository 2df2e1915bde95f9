"""Descents: the paper's objective in units of the data, falling, and its global minimum."""

import numpy as np
import pytest

from bayesclust.inference.limits.mpck.assign import Sizes
from bayesclust.inference.limits.mpck.descend import (
    Metrics,
    Problem,
    Settings,
    descend,
    means,
    metric_terms,
    search,
)
from bayesclust.inference.limits.mpck.links import WeightedLinks
from bayesclust.inference.limits.mpck.metric import FORMS, FarPairs, exact_step
from tests.exactness.exact import partitions
from tests.inference.limits.mpck import plain

VARIANTS = [
    ("euclidean", False),
    ("diagonal", False),
    ("diagonal", True),
    ("full", False),
    ("full", True),
]


def posed(rng, metric, per_cluster, n, d, links, K, sizes=None):
    X, pairs, may, weight = plain.random_problem(rng, n, d, links)
    links = WeightedLinks.of(pairs, may, weight, n)
    return Problem.of(X, links, K, metric, per_cluster, 1.0, sizes)


def in_units(problem, end):
    centers = end.centers @ np.linalg.pinv(problem.T) + problem.X.mean(axis=0)
    A = np.stack([problem.form.in_units(A, problem.T) for A in end.metrics.A])
    return centers, plain.matrices(
        A if problem.per_cluster else A[0], problem.n_clusters, problem.form is FORMS["diagonal"]
    )


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
def test_objective_never_rises(rng, metric, per_cluster):
    """150 random problems over the five variants, answers random."""
    for _ in range(30):
        n, d, links = int(rng.integers(6, 40)), int(rng.integers(1, 5)), int(rng.integers(0, 60))
        K = int(rng.integers(1, 5))
        sizes = Sizes(int(rng.integers(n // K + 1)), int(rng.integers(-(-n // K), n + 1)))
        sizes = sizes if rng.random() < 0.5 else None
        problem = posed(rng, metric, per_cluster, n, d, links, K, sizes)
        start = (
            rng.integers(0, problem.n_clusters, n)
            if rng.random() < 0.5
            else problem.points[: problem.n_clusters]
        )
        end = descend(problem, start, Settings(), rng)
        assert end.converged
        assert sizes is None or sizes.hold(end.z, K)
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()
        # metrics are found anew, up to a tolerance for each item
        assert descend(problem, end.z, Settings(), rng).path[0] <= end.objective + 1e-5 * n


def by_paper(problem, end, *links):
    """The paper's objective of these links."""
    centers, A = in_units(problem, end)
    if not problem.learned:
        return plain.plain_objective(problem.X, end.z, centers, *links)
    settings = (1.0, problem.per_cluster, problem.form is FORMS["diagonal"])
    return plain.objective(problem.X, end.z, centers, A, *links, *settings)


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
def test_with_constant_costs_the_objective_is_eq_3_and_metrics_are_those_without_links(
    rng, metric, per_cluster
):
    violations = 0
    for _ in range(10):
        problem = posed(rng, metric, per_cluster, 20, 2, 12, 3)._replace(constant=True)
        end = descend(problem, problem.points[:3], Settings(), rng)
        pairs, must, weight = problem.links[:3]
        none = np.zeros(0, dtype=int)
        free = by_paper(problem, end, pairs[none], must[none], none)
        together = end.z[pairs[:, 0]] == end.z[pairs[:, 1]]
        assert end.objective == pytest.approx(free + weight[together != must].sum())
        violations += (together != must).sum()
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()
        if metric != "euclidean":
            bare = problem._replace(links=WeightedLinks.none(20), gaps=problem.gaps[:0])
            far = FarPairs(problem.points)
            for terms, found in zip(
                metric_terms(bare, end.z, end.centers), end.metrics.A, strict=True
            ):
                np.testing.assert_allclose(
                    found, exact_step(problem.form, terms, far)[0], rtol=1e-6
                )
    assert violations


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
@pytest.mark.parametrize("step", ["exact", "paper"])
def test_objective_is_that_of_the_paper(rng, metric, per_cluster, step):
    for _ in range(10):
        problem = posed(rng, metric, per_cluster, 15, 3, 14, 3)
        end = descend(problem, problem.points[:3], Settings(step=step, max_iter=20), rng)
        centers, _ = in_units(problem, end)
        assert end.objective == pytest.approx(by_paper(problem, end, *problem.links[:3]))
        for k in range(3):
            if (end.z == k).any():
                np.testing.assert_allclose(centers[k], problem.X[end.z == k].mean(axis=0))


def least(problem, z):
    """J at the best centres and metrics of a partition."""
    centers = means(problem, z, np.zeros((problem.n_clusters, problem.points.shape[1])))
    if not problem.learned:
        return plain.plain_objective(problem.points, z, centers, *problem.links[:3])
    far = FarPairs(problem.points)
    total = problem.shift
    for terms in metric_terms(problem, z, centers):
        found = exact_step(problem.form, terms, far)
        total += terms.value(problem.form, found[0], found[1])
    return total


@pytest.mark.parametrize(
    ("metric", "per_cluster", "n"),
    [("euclidean", False, 9), ("diagonal", False, 7), ("full", True, 6)],
)
@pytest.mark.parametrize("sizes", [None, Sizes(3, 5), Sizes(0, 6)])
def test_best_of_many_starts_is_the_best_partition(rng, metric, per_cluster, n, sizes):
    for _ in range(3):
        problem = posed(rng, metric, per_cluster, n, 2, 6, 2, sizes)
        allowed = [z for z in partitions(n) if z.max() < 2 and (not sizes or sizes.hold(z, 2))]
        best = min(least(problem, z) for z in allowed)
        ends = [
            descend(problem, rng.integers(0, 2, n), Settings(), rng).objective for _ in range(40)
        ]
        assert min(*ends, search(problem, Settings(), 20, rng).objective) == pytest.approx(
            best, abs=1e-4
        )


def test_metrics_do_not_depend_on_the_units(rng):
    """Diagonal metrics undo a scaling of the features, full ones any linear map."""
    for metric, per_cluster in VARIANTS[1:]:
        X, pairs, may, weight = plain.random_problem(rng, 25, 3, 20)
        move = np.diag([1e3, 1.0, 1e-2]) if metric == "diagonal" else rng.normal(size=(3, 3))
        links, start = WeightedLinks.of(pairs, may, weight, 25), rng.integers(0, 3, 25)
        ends = [
            descend(
                Problem.of(data, links, 3, metric, per_cluster, 1.0),
                start,
                Settings(),
                np.random.default_rng(0),
            )
            for data in (X, X @ move + 7.0)
        ]
        assert (ends[0].z == ends[1].z).all()
        volume = np.linalg.slogdet(move)[1] * 2 * (25 + (3 if per_cluster else 1))
        assert ends[1].objective == pytest.approx(ends[0].objective + volume, rel=1e-6)


def test_constant_columns_and_few_items_are_solved(rng):
    X = np.column_stack([rng.normal(size=6), np.full(6, 5.0), rng.normal(size=(6, 8))])
    links = WeightedLinks.of(np.array([[0, 1], [2, 3]]), np.array([True, False]), np.ones(2), 6)
    for data in (X, np.ones((6, 2))):
        for metric, per_cluster in VARIANTS:
            problem = Problem.of(data, links, 2, metric, per_cluster, 1.0)
            end = search(problem, Settings(), 3, rng)
            assert np.isfinite(end.path).all()
            assert isinstance(end.metrics, Metrics)
