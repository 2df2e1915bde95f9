"""Passes of RDP-means against their plain twins, and the objective at every single step."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import (
    MOVED,
    Problem,
    Schedule,
    descend,
    means,
    new_slots,
    objective,
    visit,
)
from tests.inference.limits.twins import DIVERGENCES, at_means, dp_means, plain_objective, random_problem

SQUARED = DIVERGENCES["euclidean"]


def random_labels(rng, n):
    return np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]


@pytest.mark.parametrize("name", DIVERGENCES)
def test_objective_is_its_definition(rng, name):
    for _ in range(50):
        problem, pairs, same, xi = random_problem(rng, name, int(rng.integers(2, 15)))
        labels, centers = means(problem.points, random_labels(rng, len(problem.points)))
        expected = at_means(name, problem.points, labels, pairs, same, xi, problem.penalty)
        assert objective(problem, labels, centers, xi) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_no_single_step_raises_the_objective(rng, name):
    """500 random problems of each divergence: every visit of one item at given centres, and every update of the means."""
    for _ in range(500):
        n = int(rng.integers(2, 12))
        problem, pairs, same, xi = random_problem(rng, name, n)
        labels, centers = means(problem.points, random_labels(rng, n))
        for _ in range(2):
            slots = new_slots(problem, labels, centers)

            def at_centers(slots=slots, problem=problem, pairs=pairs, same=same, xi=xi):
                rows = slots.natural if name == "euclidean" else np.exp(slots.natural)
                z = slots.z.tolist()
                return plain_objective(name, problem.points, z, rows, pairs, same, xi, problem.penalty)

            before = at_centers()
            for item in range(n):
                slots, _ = visit(problem, slots, xi, 0.0, item, item + 1)
                after = at_centers(slots)
                assert after <= before + 1e-9 * (1 + abs(before))
                before = after
                assert (np.bincount(slots.z, minlength=len(slots.size)) == slots.size).all()
            labels, centers = means(problem.points, slots.z)
            assert objective(problem, labels, centers, xi) <= before + 1e-9 * (1 + abs(before))


def test_a_visit_takes_the_cheapest_choice(rng):
    """Each item's choice against all choices by the definition of J."""
    for _ in range(200):
        n = int(rng.integers(2, 10))
        problem, pairs, same, xi = random_problem(rng, "euclidean", n)
        labels, centers = means(problem.points, random_labels(rng, n))
        slots = new_slots(problem, labels, centers)
        item = int(rng.integers(n))
        alone = (labels == labels[item]).sum() == 1
        choices = dict(enumerate(centers))
        choices[len(centers)] = problem.points[item]
        costs = {}
        for k in choices:
            z = labels.tolist()
            z[item] = k
            if not (alone and k == labels[item]):
                costs[k] = plain_objective("euclidean", problem.points, z, choices, pairs, same, xi, problem.penalty)
        slots, _ = visit(problem, slots, xi, 0.0, item, item + 1)
        taken = len(centers) if alone and slots.z[item] == labels[item] else int(slots.z[item])
        assert costs[taken] == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)


def test_fixed_xi_lowers_the_objective_from_pass_to_pass(rng):
    for _ in range(100):
        problem, _, _, xi = random_problem(rng, "euclidean", 30)
        end = descend(problem, np.zeros(30, dtype=np.int64), Schedule(xi))
        assert end.converged
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()
        assert end.path[-1] == end.objective


def test_without_links_it_is_dp_means_step_for_step(rng):
    for _ in range(50):
        points = rng.normal(size=(int(rng.integers(5, 40)), 2))
        penalty = float(rng.uniform(0.3, 4))
        problem = Problem.of(points, SQUARED, link_graph([], len(points)), penalty)
        labels = np.zeros(len(points), dtype=np.int64)
        for expected in dp_means(points, penalty, n_passes=5):
            centers = means(points, labels)[1]
            slots, _ = visit(problem, new_slots(problem, labels, centers), (0.0, 0.0), 0.0)
            labels = means(points, slots.z)[0]
            # slots freed in the pass may be used again, so numbers may differ; partitions may not
            assert len(set(zip(labels, expected, strict=True))) == labels.max() + 1 == max(expected) + 1


def test_with_a_high_penalty_it_is_lloyd(rng):
    points = np.concatenate([rng.normal(center, 1.0, size=(20, 3)) for center in (0, 3, 6)])
    problem = Problem.of(points, SQUARED, link_graph([], 60), 1e6)
    start = rng.integers(0, 3, 60)
    end = descend(problem, start, Schedule((0.0, 0.0)))
    z = start
    for _ in range(len(end.path)):
        centers = np.stack([points[z == k].mean(axis=0) for k in range(3)])
        z = np.square(points[:, None] - centers).sum(axis=2).argmin(axis=1)
    assert (end.labels == z).all()


def test_growing_xi_ends_where_more_of_it_changes_nothing(rng):
    for scale in (1.0, 1e6):
        for _ in range(50):
            problem, _, _, _ = random_problem(rng, "euclidean", 12)
            problem = Problem.of(scale * problem.points, SQUARED, problem.graph, scale**2 * problem.penalty)
            end = descend(problem, np.zeros(12, dtype=np.int64), Schedule((1e-3, 1e-3), 2.0))
            assert end.converged
            for factor in (2.0, 1e3, 1e6):
                xi = (factor * end.xi[0], factor * end.xi[1])
                _, tally = visit(problem, new_slots(problem, end.labels, end.centers), xi, 0.0)
                assert tally[MOVED] == 0


def test_growth_ends_at_most(rng):
    problem, _, _, _ = random_problem(rng, "euclidean", 12)
    end = descend(problem, np.zeros(12, dtype=np.int64), Schedule((1e-3, 2e-3), 2.0, most=0.1))
    assert max(end.xi) <= 0.1 * (1 + 1e-12)
    assert end.xi[1] == pytest.approx(2 * end.xi[0])


def test_links_of_large_scale_are_not_given_up_early():
    """Twenty passes without a change, the paper's rule, would end while xi is a millionth of the distances."""
    points = 1e4 * np.array([[0.0], [0.1], [9.9], [10.0]])
    links = PairwiseConstraints([(0, 1), (1, 2), (1, 3)], [True, True, True], n_items=4)
    problem = Problem.of(points, SQUARED, link_graph([links], 4), penalty=1e8)
    end = descend(problem, np.zeros(4, dtype=np.int64), Schedule((1e-3, 1e-3), 2.0))
    assert end.labels.tolist() == [0, 0, 0, 0]
    assert len(end.path) > 30


def test_the_last_pass_is_reported_when_passes_run_out(rng):
    problem, _, _, xi = random_problem(rng, "euclidean", 30)
    problem = problem._replace(penalty=1.0)
    end = descend(problem, np.zeros(30, dtype=np.int64), Schedule(xi), max_iter=1)
    assert len(end.path) == 1
    assert not end.converged
