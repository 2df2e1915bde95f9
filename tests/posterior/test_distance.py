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
    assert found.between == pytest.approx((0 + 1 + 1 + 2) / 4)
    assert found.within == pytest.approx((0.5 * 4 / 3, 0.5 * 4 / 3))


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


def test_energy_distance_of_binder_compares_similarities(rng):
    """Over all draws and with repetition; the estimate leaves a draw's distance from itself out."""
    first, second = rng.integers(3, size=(12, 9)), rng.integers(2, size=(12, 9))
    found = bc.posterior.posterior_distance(first, second, loss="binder", num_draws=6)
    chosen = np.linspace(0, 11, 6).round().astype(int)
    P, Q = bc.similarity_matrix(first[chosen]), bc.similarity_matrix(second[chosen])
    biased = found.between - sum(found.within) / 2 * 5 / 6
    assert biased == pytest.approx(((P - Q) ** 2).sum() / 81, abs=1e-12)
