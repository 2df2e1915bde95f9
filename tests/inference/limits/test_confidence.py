"""The confidence in answers that held-out answers suggest."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.confidence import choose, enough, first_xi, held_out_log_prob
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.limits.search import improve
from tests.inference.limits.reference import DIVERGENCES

SQUARED = DIVERGENCES["euclidean"]


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def test_first_xi_is_a_share_of_the_mean_divergence(rng):
    points = rng.normal(size=(30, 2))
    problem = Problem.of(points, SQUARED, link_graph([], 30), 1.0)
    assert first_xi(problem, 0.01) == pytest.approx(0.01 * points.var(axis=0).sum())
    assert first_xi(Problem.of(np.ones((3, 2)), SQUARED, link_graph([], 3), 1.0), 0.01) == 0.01


def test_wrong_answers_lower_the_confidence(blobs):
    points, y = blobs
    confidence = {}
    for flip in (0.0, 0.3):
        links = PairwiseConstraints.sample(y, size=400, error_rate=flip, seed=0)
        _, schedule = choose(
            [links], points, SQUARED, np.array([12.0]), None, 2.0, np.random.default_rng(0)
        )
        confidence[flip] = schedule.most
    assert confidence[0.3] < confidence[0.0]


def test_held_out_answers_are_not_seen(blobs, rng):
    """Answers by coin: a partition that has seen them fits nearly all, but they cannot be predicted."""
    points, y = blobs
    coins = PairwiseConstraints(
        PairwiseConstraints.sample(y, size=100, seed=0).items, rng.random(100) < 0.5, n_items=120
    )
    problem = Problem.of(points, SQUARED, link_graph([coins], 120), 12.0)
    seen = coins.noise.log_marginal(
        coins.counts(improve(problem, np.zeros(120, np.int64), (1e3, 1e3)).labels)
    )
    assert seen > -50
    scores = held_out_log_prob([coins], problem, np.array([1e-3, 1e3]), np.random.default_rng(0))
    assert (scores < -100 * np.log(2)).all()


def test_the_penalty_is_chosen_with_it(blobs):
    points, y = blobs
    links = PairwiseConstraints.sample(y, size=300, error_rate=0.1, seed=0)
    penalty, _ = choose(
        [links], points, SQUARED, np.array([1e3, 12.0, 0.1]), None, 2.0, np.random.default_rng(0)
    )
    assert penalty == 12.0


def test_several_views_and_sources_count(blobs):
    points, y = blobs
    views = [
        PairwiseConstraints.sample(y, size=150, error_rate=flip, seed=seed)
        for seed, flip in enumerate((0.0, 0.3))
    ]
    problem = Problem.of(points, SQUARED, link_graph([], 120), 12.0)
    scores = held_out_log_prob(views, problem, np.array([0.1]), np.random.default_rng(0))
    assert np.isfinite(scores).all()
    assert scores[0] < 0
    assert [len(view) for view in views] == [150, 150]


def test_enough_answers():
    pairs = [(0, i) for i in range(1, 11)]
    assert enough([PairwiseConstraints(pairs, [True] * 10, n_items=11)])
    assert not enough([PairwiseConstraints(pairs[:9], [True] * 9, n_items=11)])
    assert not enough([])
