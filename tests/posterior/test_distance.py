"""Distances between posteriors."""

from itertools import permutations

import numpy as np
import pytest

import bayesclust as bc


def test_distance_by_hand():
    halves, one, each = [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 2, 3]
    found = bc.posterior.posterior_distance([halves, one] * 4, [halves, each] * 4)
    # matched: half of the draws stay, and one cluster becomes four, two bits; or each goes to the
    # halves and on
    assert found.wasserstein == pytest.approx(1.0)
    assert found.self_distance == 0


def test_wasserstein_is_the_best_matching(rng):
    first, second = rng.integers(3, size=(2, 10, 8))
    found = bc.posterior.posterior_distance(first, second, num_draws=5)
    chosen = np.linspace(0, 9, 5).round().astype(int)
    cost = [[bc.losses.VI().loss(a, b) for b in second[chosen]] for a in first[chosen]]
    best = min(
        np.mean([cost[i][j] for i, j in enumerate(order)]) for order in permutations(range(5))
    )
    assert found.wasserstein == pytest.approx(best, abs=1e-12)


def test_disagreeing_chains_show_in_the_self_distance():
    stuck = np.repeat([[[0, 0, 1, 1]], [[0, 1, 0, 1]]], 50, axis=1)
    found = bc.posterior.posterior_distance(stuck, stuck)
    assert found.wasserstein == 0
    assert found.self_distance == 2.0
