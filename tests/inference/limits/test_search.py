"""Merges, moves and restarts, one centre a cluster or several, against enumeration."""

import itertools

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.answers import link_graph
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution, descend, means
from bayesclust.inference.limits.search import (
    free_components,
    join,
    merge,
    merge_centres,
    refine,
    regroup,
    search,
)
from tests.exactness.exact import nested_partitions, partitions
from tests.inference.limits.reference import (
    KINDS,
    SQUARED,
    kinds,
    levels,
    plain_choices,
    random_case,
    random_state,
    same,
    with_choice,
)


def minimum(case):
    """The least J of all partitions, by its definition."""
    points, n = case.problem.points, len(case.problem.points)
    if case.problem.several:
        return min(case.J(*state) for state in nested_partitions(n))
    block = np.zeros(1 << n)
    for mask in range(1, 1 << n):
        inside = points[[item for item in range(n) if mask >> item & 1]]
        center = inside.mean(axis=0)
        block[mask] = sum(case.distance(x, center) for x in inside) + case.problem.penalty
    labels = partitions(n)
    masks = np.zeros(labels.shape, dtype=np.int32)
    for item in range(n):
        masks[np.arange(len(labels)), labels[:, item]] |= 1 << item
    return float((block[masks].sum(axis=1) + case.answers(labels.T)).min())


def found(rng, name, triplets, several, trials, sizes):
    """Share of random problems in which twenty starts find the best of all partitions."""
    hits = []
    for _ in range(trials):
        case = random_case(rng, name, int(rng.choice(sizes)), triplets, several=several)
        best = minimum(case)
        end = search(case.problem, Schedule(case.xi), n_init=20, rng=rng)
        value = case.J(end.labels, end.clusters)
        assert end.objective == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert end.objective >= best - 1e-9 * (1 + abs(best))
        hits.append(end.objective <= best + 1e-9 * (1 + abs(best)))
    return np.mean(hits)


@kinds
@pytest.mark.parametrize("name", ["euclidean", "kl", "bernoulli"])
def test_the_best_of_all_partitions_is_found(rng, name, triplets):
    assert found(rng, name, triplets, False, 20, range(4, 9)) >= 0.95


@kinds
def test_the_best_of_all_pairs_of_partitions_is_found(rng, triplets):
    assert found(rng, "euclidean", triplets, True, 6, range(4, 7)) == 1.0


@pytest.mark.slow
@levels
@pytest.mark.parametrize("name", KINDS)
def test_the_best_is_found_for_every_divergence(rng, name, several):
    trials, sizes = (20, range(4, 7)) if several else (50, range(4, 10))
    assert found(rng, name, True, several, trials, sizes) >= 0.95


@kinds
@pytest.mark.parametrize("name", ["euclidean", "mahalanobis"])
def test_merging_is_the_best_merge_repeated(rng, name, triplets):
    for _ in range(25):
        case = random_case(rng, name, 9, triplets)
        start, centers = means(case.problem.points, rng.integers(0, 5, 9))
        z = start
        while True:
            options = [np.where(z == b, a, z) for a, b in itertools.combinations(np.unique(z), 2)]
            values = [case.J(option) for option in options]
            if not values or min(values) >= case.J(z) - 1e-9 * case.problem.penalty:
                break
            z = options[int(np.argmin(values))]
        assert same([merge(case.problem, start, centers, case.xi)], [z])


def posed(rng, name, triplets, several, n):
    """A random problem, and a state of it as a solution."""
    case = random_case(rng, name, n, triplets, several=several)
    labels, owner = random_state(rng, case)
    labels, centers = means(case.problem.points, labels)
    return case, Solution(labels, centers, owner, np.nan, np.empty(0), case.xi, True)


MOVES = {
    "merge": merge_centres,
    "regroup": lambda p, s, xi: (s.labels, regroup(p, s.labels, s.owner, xi)),
    "join": join,
    "refine": refine,
    "free components": lambda p, s, xi: (s.labels, free_components(p, s, xi)),
}
ON = [(False, "merge"), (False, "refine"), *((True, move) for move in MOVES)]


@kinds
@pytest.mark.parametrize("name", ["euclidean", "poisson", "categorical"])
@pytest.mark.parametrize(("several", "move"), ON)
def test_no_move_raises_the_objective(rng, name, triplets, several, move):
    lowered = 0
    for _ in range(20):
        case, solution = posed(rng, name, triplets, several, int(rng.integers(5, 10)))
        if move == "free components":  # they are free where nothing else is to be gained
            fixed = Schedule(case.xi)
            solution = descend(case.problem, solution.labels, fixed, owner=solution.owner)
        before = case.J(solution.labels, solution.clusters)
        c, owner = MOVES[move](case.problem, solution, case.xi)
        after = case.J(c, owner[c])
        assert after <= before + 1e-9 * (1 + abs(before))
        lowered += after < before - 1e-9
    assert lowered > (1 if move != "free components" else -1)


@levels
@kinds
def test_refining_leaves_no_single_move_that_lowers_the_objective(rng, triplets, several):
    for _ in range(15):
        case, start = posed(rng, "euclidean", triplets, several, 8)
        c, owner = refine(case.problem, start, case.xi)
        c, z = c.tolist(), owner[c].tolist()
        least = case.J(c, z)
        assert least <= case.J(start.labels, start.clusters) + 1e-9
        for item in range(8):
            for choice in plain_choices(case, c, z, item):
                moved = case.J(*with_choice(c, z, item, choice))
                assert moved >= least - 1e-8 * (1 + case.problem.penalty)


@levels
def test_more_starts_are_never_worse_and_follow_the_items(rng, several):
    for _ in range(6):
        case = random_case(rng, "euclidean", 25, several=several)
        one = search(case.problem, Schedule(case.xi)).objective
        end = search(case.problem, Schedule(case.xi), n_init=5, rng=rng)
        assert end.objective <= one + 1e-9 * abs(one)
        for labels in (end.labels, end.clusters):
            assert (np.diff(np.unique(labels, return_index=True)[1]) > 0).all()
        for k, center in enumerate(end.centers):
            np.testing.assert_allclose(case.problem.points[end.labels == k].mean(axis=0), center)


def test_starts_with_growing_xi_compare_at_one_xi(rng):
    case = random_case(rng, "euclidean", 25)
    end = search(case.problem, Schedule((1e-3, 1e-3), 2.0), n_init=5, rng=rng)
    expected = case._replace(answers=lambda z: case.problem.graph.inside(z, end.xi)).J(end.labels)
    assert end.objective == pytest.approx(expected, rel=1e-10)


def test_a_start_is_kept_where_nothing_is_better(rng):
    points = np.concatenate([rng.normal(center, 0.1, size=(10, 2)) for center in (0, 5, 10)])
    problem = Problem.of(points, SQUARED, link_graph([], 30), 1.0)
    start = np.repeat([0, 1, 2], 10)
    end = search(problem, Schedule((0.0, 0.0)), start=start)
    assert (end.labels == start).all()
    # one pass of the descent and one after the merges, none of which moves an item
    assert len(end.path) == 2


def test_components_that_answers_leave_free_go_to_the_nearest(rng):
    """Two long strips; one answer says that their first ends are apart."""
    along = np.linspace(0, 10, 60)
    points = np.concatenate([np.stack([along, np.full(60, y)], axis=1) for y in (0.0, 2.0)])
    points += rng.normal(scale=0.05, size=points.shape)
    links = PairwiseConstraints([(0, 60)], [False], n_items=120)
    problem = Problem.of(points, SQUARED, link_graph([links], 120), 1.0, True)
    end = search(problem, Schedule((5.0, 5.0)))
    assert end.labels.max() > 5
    assert same([end.clusters], [np.repeat([0, 1], 60)])
