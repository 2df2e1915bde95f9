"""Searches on two levels against enumeration, and what they share with plain RDP-means."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.inference.limits.search import search
from bayesclust.inference.limits.two_level.descent import steps
from tests.inference.limits.reference import KINDS, random_case
from tests.inference.limits.two_level.states import J, nested_partitions, random_price, same

answers = pytest.mark.parametrize("triplets", [False, True], ids=["links", "links and triplets"])


def found(rng, name, triplets, trials):
    """Share of random problems of up to six items in which twenty starts find the best of all pairs of partitions."""
    hits = []
    for _ in range(trials):
        case = random_case(rng, name, int(rng.integers(4, 7)), triplets)
        price = random_price(rng, case)
        best = min(J(case, price, c, z) for c, z in nested_partitions(len(case.problem.points)))
        end = search(case.problem, Schedule(case.xi), n_init=20, rng=rng, steps=steps(price))
        assert end.objective == pytest.approx(
            J(case, price, end.labels, end.clusters), rel=1e-9, abs=1e-9
        )
        assert (np.diff(end.path) <= 1e-9 * (1 + np.abs(end.path[:-1]))).all()
        assert end.objective >= best - 1e-9 * (1 + abs(best))
        hits.append(end.objective <= best + 1e-9 * (1 + abs(best)))
    return np.mean(hits)


@answers
def test_the_best_of_all_pairs_of_partitions_is_found(rng, triplets):
    assert found(rng, "euclidean", triplets, 6) == 1.0


@pytest.mark.slow
@answers
@pytest.mark.parametrize("name", KINDS)
def test_the_best_of_all_pairs_of_partitions_is_found_for_every_divergence(rng, name, triplets):
    assert found(rng, name, triplets, 100) >= 0.95


def test_there_are_so_many_pairs_of_partitions():
    """Bell numbers iterated (the third-order ones): 1, 3, 12, 60, 358, 2471."""
    assert [len(nested_partitions(n)) for n in range(1, 7)] == [1, 3, 12, 60, 358, 2471]


def test_components_that_would_rather_be_clusters_are_plain_ones(rng):
    """Where a component is cheaper as a cluster and no answer joins any, J is that of DP-means at the sum of the prices."""
    for _ in range(4):
        points = rng.normal(size=(20, 2))
        problem = Problem.of(points, SquaredEuclidean(), link_graph([], 20), 2.0)
        several = search(problem, Schedule((0.0, 0.0)), n_init=10, rng=rng, steps=steps(-0.5))
        plain = search(problem._replace(penalty=1.5), Schedule((0.0, 0.0)), n_init=10, rng=rng)
        assert same([several.labels], [several.clusters])
        assert several.objective == pytest.approx(plain.objective, rel=0.02)


def test_two_corners_are_one_cluster_where_an_answer_says_so(rng):
    corners = np.array([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0], [8.0, 0.0]])
    points = np.repeat(corners, 15, axis=0) + rng.normal(size=(60, 2))
    links = PairwiseConstraints([(0, 15), (30, 45), (0, 30)], [True, True, False], n_items=60)
    problem = Problem.of(points, SquaredEuclidean(), link_graph([links], 60), 40.0)
    end = search(problem, Schedule((5.0, 5.0)), steps=steps(None))
    assert same((end.labels, end.clusters), (np.repeat([0, 1, 2, 3], 15), np.repeat([0, 1], 30)))
    assert end.owner.tolist() == [0, 0, 1, 1]
    # answers as weak as these move no item of a plain cluster so far
    assert len(search(problem, Schedule((5.0, 5.0))).centers) == 4


def test_what_answers_leave_free_goes_to_the_nearest(rng):
    """Two long strips; one answer says that their first ends are apart."""
    along = np.linspace(0, 10, 60)
    points = np.concatenate([np.stack([along, np.full(60, y)], axis=1) for y in (0.0, 2.0)])
    points += rng.normal(scale=0.05, size=points.shape)
    links = PairwiseConstraints([(0, 60)], [False], n_items=120)
    problem = Problem.of(points, SquaredEuclidean(), link_graph([links], 120), 1.0)
    end = search(problem, Schedule((5.0, 5.0)), steps=steps(None))
    assert end.labels.max() > 5
    assert same([end.clusters], [np.repeat([0, 1], 60)])


def test_more_starts_are_never_worse_and_clusters_are_numbered_by_their_first_items(rng):
    for _ in range(5):
        case = random_case(rng, "euclidean", 20)
        one = search(case.problem, Schedule(case.xi), steps=steps(None))
        many = search(case.problem, Schedule(case.xi), n_init=5, rng=rng, steps=steps(None))
        assert many.objective <= one.objective + 1e-9 * abs(one.objective)
        for labels in (many.labels, many.clusters):
            assert (np.diff(np.unique(labels, return_index=True)[1]) > 0).all()
        for k, center in enumerate(many.centers):
            np.testing.assert_allclose(case.problem.points[many.labels == k].mean(axis=0), center)
