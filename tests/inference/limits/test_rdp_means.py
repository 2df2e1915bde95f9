"""Descents of RDP-means: DP-means and Lloyd's k-means as special cases, and growing xi."""

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
    visit,
)
from tests.inference.limits.reference import DIVERGENCES, dp_means, random_case, random_problem

SQUARED = DIVERGENCES["euclidean"]


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
            assert (
                len(set(zip(labels, expected, strict=True)))
                == labels.max() + 1
                == max(expected) + 1
            )


def test_with_the_number_of_clusters_held_it_is_sequential_k_means(rng):
    """A penalty beyond all distances opens no cluster; every pass is one of Lloyd's, items in the order given."""
    points = np.concatenate([rng.normal(center, 1.0, size=(20, 3)) for center in (0, 2, 4)])
    problem = Problem.of(points, SQUARED, link_graph([], 60), 1e6)
    z = labels = rng.integers(0, 3, 60)
    moved = []
    for _ in range(8):
        centers = means(points, labels)[1]
        slots, tally = visit(problem, new_slots(problem, labels, centers), (0.0, 0.0), 0.0)
        labels = means(points, slots.z)[0]
        plain = np.stack([points[z == k].mean(axis=0) for k in range(3)])
        z = np.array([np.square(x - plain).sum(axis=1).argmin() for x in points])
        assert (labels == z).all()
        moved.append(int(tally[MOVED]))
    assert moved[0] > 0
    assert moved[-1] == 0


@pytest.mark.parametrize("triplets", [False, True])
def test_fixed_confidence_lowers_the_objective_with_triplets_too(rng, triplets):
    for _ in range(40):
        case = random_case(rng, "euclidean", 25, triplets)
        end = descend(case.problem, np.zeros(25, dtype=np.int64), Schedule(case.xi))
        assert end.converged
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()
        assert end.objective == pytest.approx(case.at_means(end.labels))


def test_growing_xi_ends_where_more_of_it_changes_nothing(rng):
    for scale in (1.0, 1e6):
        for _ in range(50):
            problem, _, _, _ = random_problem(rng, "euclidean", 12)
            problem = Problem.of(
                scale * problem.points, SQUARED, problem.graph, scale**2 * problem.penalty
            )
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
