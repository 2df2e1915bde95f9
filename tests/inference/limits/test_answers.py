"""Answers of any kind: their costs are the limit of their log probabilities, and the graph counts them as definitions do."""

import numpy as np
import pytest

from bayesclust.constraints import (
    ConfusionNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from bayesclust.inference.limits.answers import (
    answer_graph,
    cost_table,
    largest,
    pose,
    smallest,
    times,
)
from bayesclust.inference.limits.links import link_graph
from tests.inference.limits.reference import random_case, random_pairs

GAMMA = 200.0


@pytest.fixture
def links(rng):
    pairs, same = random_pairs(rng, 12, 40)
    return PairwiseConstraints(pairs, same, n_items=12)


@pytest.fixture
def triplets(rng):
    asked = np.array([rng.choice(12, 3, replace=False) for _ in range(50)])
    return RelativeConstraints(asked, rng.integers(0, 3, 50), n_items=12)


def share(views, confidence, z):
    """The answers' share of J."""
    return answer_graph(views, 12).inside(z, cost_table(views, confidence))


def test_links_are_the_limit_of_their_noise(links, rng):
    """ln(p / (1 - q)) = gamma xi1, ln(q / (1 - p)) = gamma xi2; +xi1 for each may-link is left out."""
    xi1, xi2 = 0.4, 0.15
    A, B = np.exp(GAMMA * xi1), np.exp(GAMMA * xi2)
    noise = {"p": [A * (B - 1) / (A * B - 1)], "q": [B * (A - 1) / (A * B - 1)]}
    # 1 - p and 1 - q without cancellation
    wrong = {"p": (A - 1) / (A * B - 1), "q": (B - 1) / (A * B - 1)}
    for _ in range(20):
        z = rng.integers(0, 4, 12)
        together = z[links.items[:, 0]] == z[links.items[:, 1]]
        probability = np.where(
            links.answers == 1,
            np.where(together, noise["p"][0], wrong["q"]),
            np.where(together, wrong["p"], noise["q"][0]),
        )
        cost = -np.log(probability).sum() / GAMMA
        expected = (
            share([links], {"links": np.array([[xi1, xi2]])}, z) + xi1 * (links.answers == 1).sum()
        )
        assert cost == pytest.approx(expected, abs=1e-6)


def test_triplets_are_the_limit_of_uniform_noise(triplets, rng):
    """eps = 2 / (2 + exp(gamma xi)); +xi for each answer is left out."""
    xi = 0.1
    eps = 2 / (2 + np.exp(GAMMA * xi))
    for _ in range(20):
        z = rng.integers(0, 4, 12)
        cost = -triplets.with_noise(UniformNoise(eps)).log_prob(z, {"noise": [eps]}) / GAMMA
        expected = share([triplets], {"triplets": -xi * np.eye(3)[None]}, z) + xi * len(triplets)
        assert cost == pytest.approx(expected, abs=1e-6)


def test_triplets_are_the_limit_of_a_confusion_matrix(triplets, rng):
    """C proportional to exp(-gamma c); nothing is left out."""
    costs = rng.uniform(0.1, 0.5, size=(3, 3))
    np.fill_diagonal(costs, 0.0)
    C = np.exp(-GAMMA * costs)
    C /= C.sum(axis=1, keepdims=True)
    for _ in range(20):
        z = rng.integers(0, 4, 12)
        cost = (
            -triplets.with_noise(ConfusionNoise(matrix=C)).log_prob(z, {"confusion": C[None]})
            / GAMMA
        )
        assert cost == pytest.approx(share([triplets], {"triplets": costs[None]}, z), abs=1e-6)


def test_a_graph_of_answers_counts_links_as_a_graph_of_links_does(links, rng):
    one, two = link_graph([links], 12), answer_graph([links], 12)
    table = cost_table([links], {"links": np.array([[2.0, 5.0]])})
    for _ in range(10):
        z = rng.integers(0, 4, 12)
        assert two.inside(z, table) == pytest.approx(one.inside(z, (2.0, 5.0)))
        off = ~np.eye(4, dtype=bool)
        np.testing.assert_allclose(
            two.between(z, 4, table)[off], one.between(z, 4, (2.0, 5.0))[off]
        )


def test_between_is_what_making_one_of_two_clusters_adds(rng):
    for _ in range(30):
        case = random_case(rng, "euclidean", 10, triplets=True)
        graph, z = case.problem.graph, rng.integers(0, 4, 10)
        between = graph.between(z, 4, case.xi)
        for a in range(4):
            for b in range(a):
                change = case.answers(np.where(z == a, b, z)) - case.answers(z)
                assert between[a, b] == pytest.approx(change, abs=1e-9)
                assert between[b, a] == pytest.approx(change, abs=1e-9)


def test_reordering_renames_items(rng):
    case = random_case(rng, "euclidean", 10, triplets=True)
    order, z = rng.permutation(10), rng.integers(0, 3, 10)
    graph = case.problem.graph.reordered(order)
    assert graph.inside(z[order], case.xi) == pytest.approx(case.answers(z))
    for item in range(10):
        mine = graph.factor[graph.start[item] : graph.start[item + 1]]
        assert sorted(mine) == np.flatnonzero((graph.member == item).any(axis=1)).tolist()


def test_the_graph_for_links_alone_is_the_fast_one(links, triplets):
    graph, unit = pose([links], 12)
    assert type(graph) is type(link_graph([links], 12))
    assert unit == (1.0, 1.0)
    _, table = pose([links, triplets], 12)
    assert largest(times(table, 3.0)) == smallest(times(table, 3.0)) == 3.0
    assert triplets.unit_confidence().tolist() == (-np.eye(3)[None]).tolist()


def test_smallest_passes_over_zeros():
    assert smallest(np.array([[0.0, -2.0], [0.5, 0.0]])) == 0.5
    assert smallest(np.zeros((2, 5))) == 0.0
    assert largest(np.zeros((0, 5))) == 0.0
    assert smallest((2.0, 0.0)) == 0.0
