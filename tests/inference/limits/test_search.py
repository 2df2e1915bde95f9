"""Merges and restarts against enumeration."""

import itertools

import numpy as np
import pytest

from bayesclust.inference.limits.rdp_means import Schedule, means, objective
from bayesclust.inference.limits.search import improve, merge, search
from tests.inference.limits.twins import DIVERGENCES, partitions, random_problem

EVERY = {n: partitions(n) for n in range(2, 8)}


def minimum(problem, xi):
    return min(objective(problem, *means(problem.points, z), xi) for z in EVERY[len(problem.points)])


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_optimum_is_found_in_most_problems(rng, name):
    hits = []
    for _ in range(60):
        problem, _, _, xi = random_problem(rng, name, int(rng.integers(4, 8)))
        found = search(problem, Schedule(xi), n_init=20, rng=rng).objective
        best = minimum(problem, xi)
        assert found >= best - 1e-9 * (1 + abs(best))
        hits.append(found <= best + 1e-9 * (1 + abs(best)))
    assert np.mean(hits) >= 0.9


@pytest.mark.parametrize("name", DIVERGENCES)
def test_merging_is_the_best_merge_repeated(rng, name):
    for _ in range(60):
        problem, _, _, xi = random_problem(rng, name, 9)
        start, centers = means(problem.points, rng.integers(0, 5, 9))
        z = start
        while True:
            value = objective(problem, *means(problem.points, z), xi)
            options = [np.where(z == b, a, z) for a, b in itertools.combinations(np.unique(z), 2)]
            values = [objective(problem, *means(problem.points, option), xi) for option in options]
            if not values or min(values) >= value - 1e-9 * problem.penalty:
                break
            z = options[int(np.argmin(values))]
        merged = merge(problem, start, centers, xi)
        assert (merged[:, None] == merged).tolist() == (z[:, None] == z).tolist()


def test_improving_never_raises_the_objective(rng):
    for _ in range(50):
        problem, _, _, xi = random_problem(rng, "euclidean", 20)
        start = means(problem.points, rng.integers(0, 6, 20))
        end = improve(problem, start[0], xi)
        assert end.objective <= objective(problem, *start, xi) + 1e-9
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()


def test_more_starts_are_never_worse(rng):
    for _ in range(20):
        problem, _, _, xi = random_problem(rng, "euclidean", 25)
        one = search(problem, Schedule(xi)).objective
        many = search(problem, Schedule(xi), n_init=5, rng=rng).objective
        assert many <= one + 1e-9 * abs(one)


def test_starts_with_growing_xi_compare_at_one_xi(rng):
    problem, _, _, _ = random_problem(rng, "euclidean", 25)
    end = search(problem, Schedule((1e-3, 1e-3), 2.0), n_init=5, rng=rng)
    labels, centers = means(problem.points, end.labels)
    assert (labels == end.labels).all()
    assert end.objective == pytest.approx(objective(problem, labels, centers, end.xi), rel=1e-10)


def test_clusters_are_numbered_by_their_first_items(rng):
    for _ in range(10):
        problem, _, _, xi = random_problem(rng, "euclidean", 25)
        end = search(problem, Schedule(xi), n_init=3, rng=rng)
        first = np.unique(end.labels, return_index=True)[1]
        assert (np.diff(first) > 0).all()
        for k, center in enumerate(end.centers):
            np.testing.assert_allclose(problem.points[end.labels == k].mean(axis=0), center)
