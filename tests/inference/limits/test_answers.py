"""Answers of any kind: costs are limits of log probabilities; graphs count by definition."""

import numpy as np
import pytest

from bayesclust.constraints import (
    ConfusionNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.inference.limits.answers import (
    LinkGraph,
    answer_costs,
    cost_table,
    largest,
    link_graph,
    pose,
    smallest,
    times,
)
from tests.inference.limits.reference import kinds, random_case, random_pairs

GAMMA = 200.0


@pytest.fixture
def links(rng):
    pairs, same = random_pairs(rng, 12, 40)
    return PairwiseConstraints(pairs, same, n_items=12)


@pytest.fixture
def triplets(rng):
    asked = np.array([rng.choice(12, 3, replace=False) for _ in range(50)])
    return RelativeConstraints(asked, rng.integers(0, 3, 50), n_items=12)


def share(constraints, confidence, z):
    """The answers' share of J."""
    return compile_sites(constraints, 12).inside(z, cost_table(constraints, confidence))


def test_links_are_the_limit_of_their_noise(links, rng):
    """ln(p / (1 - q)) = gamma xi1, ln(q / (1 - p)) = gamma xi2; may-links' xi1 is left out."""
    xi1, xi2 = 0.4, 0.15
    A, B = np.exp(GAMMA * xi1), np.exp(GAMMA * xi2)
    p, q = A * (B - 1) / (A * B - 1), B * (A - 1) / (A * B - 1)
    # 1 - p and 1 - q without cancellation
    not_p, not_q = (A - 1) / (A * B - 1), (B - 1) / (A * B - 1)
    may = links.answers == 1
    for _ in range(20):
        z = rng.integers(0, 4, 12)
        together = z[links.items[:, 0]] == z[links.items[:, 1]]
        right = np.where(may, np.where(together, p, not_q), np.where(together, not_p, q))
        expected = share([links], {"links": np.array([[xi1, xi2]])}, z) + xi1 * may.sum()
        assert -np.log(right).sum() / GAMMA == pytest.approx(expected, abs=1e-6)


def test_triplets_are_the_limit_of_their_noise(triplets, rng):
    """eps = 2 / (2 + exp(gamma xi)); or the confusion matrix is proportional to exp(-gamma c)."""
    xi = 0.1
    rate = UniformNoise(eps=2 / (2 + np.exp(GAMMA * xi)))
    costs = rng.uniform(0.1, 0.5, size=(3, 3)) * (1 - np.eye(3))
    C = np.exp(-GAMMA * costs)
    C /= C.sum(axis=1, keepdims=True)
    # +xi for each answer is left out
    uniform = rate, -xi * np.eye(3), xi * len(triplets)
    for noise, cost, left_out in (uniform, (ConfusionNoise(matrix=C), costs, 0.0)):
        noisy = triplets.with_noise(noise)
        for _ in range(20):
            z = rng.integers(0, 4, 12)
            expected = share([triplets], {"triplets": cost[None]}, z) + left_out
            found = -noisy.log_prob(z, noise.initial(1)) / GAMMA
            assert found == pytest.approx(expected, abs=1e-6)


@kinds
def test_graphs_count_answers_by_their_definition(rng, triplets):
    """Inside clusters, between every two of them, and of one item in each."""
    for _ in range(30):
        case = random_case(rng, "euclidean", 10, triplets)
        graph, z = case.problem.graph, rng.integers(0, 4, 10)
        apart = case.answers(np.arange(10))
        before = case.answers(z)
        assert graph.inside(z, case.xi) == pytest.approx(before, abs=1e-9)
        assert graph.inside(np.arange(10), case.xi) == pytest.approx(apart, abs=1e-9)
        between = graph.between(z, 4, case.xi)
        for a in range(4):
            for b in range(a):
                change = case.answers(np.where(z == a, b, z)) - before
                assert between[a, b] == pytest.approx(change, abs=1e-9)
                assert between[b, a] == pytest.approx(change, abs=1e-9)
        costs = answer_costs(graph, case.xi, z, 3, 5)
        moved = np.tile(z[:, None], 5)
        moved[3] = np.arange(5)
        np.testing.assert_allclose(
            costs - costs[4], case.answers(moved) - case.answers(moved)[4], atol=1e-9
        )
        assert costs[4] == 0.0


def test_the_graph_for_links_alone_is_the_fast_one(links, triplets, rng):
    graph, unit = pose([links], 12)
    assert isinstance(graph, LinkGraph)
    assert unit == (1.0, 1.0)
    z = rng.integers(0, 4, 12)
    expected = share([links], {"links": np.array([[2.0, 5.0]])}, z)
    assert graph.inside(z, (2.0, 5.0)) == pytest.approx(expected)
    assert link_graph([links, links], 12).inside(z, (2.0, 5.0)) == pytest.approx(2 * expected)
    _, table = pose([links, triplets], 12)
    assert largest(times(table, 3.0)) == smallest(times(table, 3.0)) == 3.0
    assert triplets.unit_confidence().tolist() == (-np.eye(3)[None]).tolist()
