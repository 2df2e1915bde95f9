"""Merges and restarts against enumeration."""

import itertools
from functools import cache

import numpy as np
import pytest

from bayesclust.inference.limits.rdp_means import Schedule, descend, means, objective
from bayesclust.inference.limits.search import improve, merge, refine, search
from tests.inference.limits.reference import KINDS, partitions, random_case, random_problem

HARD = {"links": False, "links and triplets": True}


@cache
def every(n):
    """All partitions of n items, as labels and as the sets of bits of their blocks (0 where there are no more)."""
    labels = partitions(n)
    masks = np.zeros(labels.shape, dtype=np.int32)
    for item in range(n):
        masks[np.arange(len(labels)), labels[:, item]] |= 1 << item
    return labels, masks


def minimum(case):
    """The least J of all partitions, by its definition."""
    points, n = case.problem.points, len(case.problem.points)
    block = np.zeros(1 << n)
    for mask in range(1, 1 << n):
        inside = points[[item for item in range(n) if mask >> item & 1]]
        center = inside.mean(axis=0)
        block[mask] = sum(case.distance(x, center) for x in inside) + case.problem.penalty
    labels, masks = every(n)
    return float((block[masks].sum(axis=1) + case.answers(labels.T)).min())


def found(rng, name, triplets, trials, sizes):
    """Share of random problems in which twenty starts find the best of all partitions."""
    hits = []
    for _ in range(trials):
        case = random_case(rng, name, int(rng.choice(sizes)), triplets)
        best, end = minimum(case), search(case.problem, Schedule(case.xi), n_init=20, rng=rng)
        assert end.objective == pytest.approx(case.at_means(end.labels), rel=1e-9, abs=1e-9)
        assert end.objective >= best - 1e-9 * (1 + abs(best))
        hits.append(end.objective <= best + 1e-9 * (1 + abs(best)))
    return np.mean(hits)


@pytest.mark.parametrize("answers", HARD)
@pytest.mark.parametrize("name", ["euclidean", "kl", "bernoulli"])
def test_the_best_of_all_partitions_is_found(rng, name, answers):
    assert found(rng, name, HARD[answers], 40, range(4, 9)) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("answers", HARD)
@pytest.mark.parametrize("name", KINDS)
def test_the_best_of_all_partitions_of_up_to_ten_items_is_found(rng, name, answers):
    assert found(rng, name, HARD[answers], 100, range(4, 11)) >= 0.95


@pytest.mark.parametrize("triplets", [False, True])
@pytest.mark.parametrize("name", ["euclidean", "mahalanobis"])
def test_merging_is_the_best_merge_repeated(rng, name, triplets):
    for _ in range(40):
        case = random_case(rng, name, 9, triplets)
        start, centers = means(case.problem.points, rng.integers(0, 5, 9))
        z = start
        while True:
            value = case.at_means(z)
            options = [np.where(z == b, a, z) for a, b in itertools.combinations(np.unique(z), 2)]
            values = [case.at_means(option) for option in options]
            if not values or min(values) >= value - 1e-9 * case.problem.penalty:
                break
            z = options[int(np.argmin(values))]
        merged = merge(case.problem, start, centers, case.xi)
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


def test_a_start_is_kept_where_nothing_is_better(rng):
    points = np.concatenate([rng.normal(center, 0.1, size=(10, 2)) for center in (0, 5, 10)])
    problem = random_problem(rng, "euclidean", 30)[0]._replace(
        points=points, phi=np.square(points).sum(axis=1), penalty=1.0
    )
    start = np.repeat([0, 1, 2], 10)
    end = search(problem, Schedule((0.0, 0.0)), start=start)
    assert (end.labels == start).all()
    assert (
        len(end.path) == 2
    )  # one pass of the descent and one after the merges, none of which moves an item


def test_shuffling_is_visiting_in_another_order(rng):
    case = random_case(rng, "euclidean", 40)
    first = set()
    for seed in range(8):
        path = search(
            case.problem, Schedule(case.xi), rng=np.random.default_rng(seed), shuffle=True
        ).path
        order = np.random.default_rng(seed).permutation(40)
        graph = case.problem.graph.reordered(order)
        given = case.problem._replace(
            points=case.problem.points[order], phi=case.problem.phi[order], graph=graph
        )
        assert path[0] == pytest.approx(
            descend(given, np.zeros(40, dtype=np.int64), Schedule(case.xi)).path[0]
        )
        first.add(round(path[0], 9))
    assert len(first) > 1


@pytest.mark.parametrize("triplets", [False, True])
def test_refining_leaves_no_move_of_one_item_that_lowers_the_objective(rng, triplets):
    for _ in range(25):
        case = random_case(rng, "euclidean", 9, triplets)
        start = means(case.problem.points, rng.integers(0, 5, 9))[0]
        end = refine(case.problem, start, case.xi)
        least = case.at_means(end)
        assert least <= case.at_means(start) + 1e-9
        for item in range(9):
            for k in range(int(end.max()) + 2):
                moved = end.copy()
                moved[item] = k
                assert case.at_means(moved) >= least - 1e-8 * (1 + case.problem.penalty)
