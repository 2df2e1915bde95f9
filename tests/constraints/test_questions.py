"""Which questions are drawn: distinct, uniform, in the promised number."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from bayesclust.constraints import PairwiseConstraints
from bayesclust.constraints.sampling import (
    questions,
    random_pairs,
    random_triplets,
    unrank_pairs,
)


def test_ranks_run_through_all_pairs():
    expected = sorted(combinations(range(40), 2), key=lambda pair: pair[::-1])
    np.testing.assert_array_equal(unrank_pairs(np.arange(comb(40, 2))), expected)


@pytest.mark.parametrize("high", [10**6, 50_000_001, 4 * 10**8])
def test_ranks_are_exact_for_many_items(high):
    first = high * (high - 1) // 2
    ranks = np.array([first - 1, first, first + 1, first + high - 1, first + high])
    expected = [(high - 2, high - 1), (0, high), (1, high), (high - 1, high), (0, high + 1)]
    np.testing.assert_array_equal(unrank_pairs(ranks), expected)


def test_pairs_are_distinct_and_uniform():
    times = np.zeros((6, 6))
    for seed in range(600):
        pairs = random_pairs(6, 4, np.random.default_rng(seed))
        assert (pairs[:, 0] < pairs[:, 1]).all()
        assert len(np.unique(pairs, axis=0)) == 4
        times[tuple(pairs.T)] += 1
    assert stats.chisquare(times[np.triu_indices(6, 1)]).pvalue > 1e-3


def test_triplets_are_distinct_and_uniform():
    times = {}
    for seed in range(600):
        triplets = random_triplets(5, 6, np.random.default_rng(seed))
        asked = {(i, *sorted((j, k))) for i, j, k in triplets.tolist()}
        assert len(asked) == 6
        assert all(len(set(row)) == 3 for row in triplets.tolist())
        for row in triplets.tolist():
            times[tuple(row)] = times.get(tuple(row), 0) + 1
    assert len(times) == 60
    assert stats.chisquare(list(times.values())).pvalue > 1e-3


def test_all_triplets_can_be_asked():
    triplets = random_triplets(6, 60, np.random.default_rng(0))
    asked = {(i, *sorted((j, k))) for i, j, k in triplets.tolist()}
    assert asked == {
        (i, j, k) for j, k in combinations(range(6), 2) for i in range(6) if i not in (j, k)
    }


def test_a_fraction_is_rounded_and_never_nothing():
    rng = np.random.default_rng(0)
    asked = [questions(2, 5, share, None, 1, rng)[0] for share in (1, 1.0, 0.26, 0.01)]
    assert [len(pairs) for pairs in asked] == [10, 10, 3, 1]


def test_sources_get_equal_shares_at_random():
    dealt = questions(2, 100, None, 1000, 3, np.random.default_rng(0))[1]
    assert np.bincount(dealt).tolist() == [334, 333, 333]
    changes = (dealt[1:] == dealt[:-1]).mean()
    assert 0.27 < changes < 0.4


@pytest.mark.parametrize("seed", [3, np.random.SeedSequence(3)])
def test_seeds_repeat(seed):
    labels = np.arange(30) % 4
    draw = {"fraction": 0.2, "error_rate": 0.3, "n_sources": 2}
    first, second = (PairwiseConstraints.sample(labels, seed=seed, **draw) for _ in range(2))
    for name in ("items", "answers", "source", "flipped"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    other = PairwiseConstraints.sample(labels, seed=4, **draw)
    assert (first.items != other.items).any()
