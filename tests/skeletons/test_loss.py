"""The skeleton of a loss, against pairs counted and against all partitions."""

import numpy as np
import pytest
from sklearn.metrics.cluster import pair_confusion_matrix

import bayesclust as bc
from docs.skeletons.loss import OneMinusF
from tests.judges.exact import partitions


def plain(truth, estimate):
    """One minus F from its definition."""
    (_, joined), (split, both) = pair_confusion_matrix(truth, estimate)
    return 0.0 if joined + split == 0 else 1 - 2 * both / (2 * both + joined + split)


def test_it_counts_pairs(rng):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        assert OneMinusF().loss(truth, estimate) == pytest.approx(plain(truth, estimate), abs=1e-14)
    assert OneMinusF().loss(range(5), range(5)) == 0
    assert OneMinusF().loss(range(5), [0] * 5) == 1


def test_it_is_no_metric():
    pair, whole, other = [0, 0, 1], [0, 0, 0], [0, 1, 1]
    loss = OneMinusF().loss
    assert (
        loss(pair, other) == 1 > loss(pair, whole) + loss(whole, other) - 1e-12
        or not OneMinusF().is_metric
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_estimate_is_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    all_of_them = partitions(6)
    draws = all_of_them[rng.choice(len(all_of_them), size=9)]
    expected = [np.mean([plain(truth, estimate) for truth in draws]) for estimate in all_of_them]
    found = bc.point_estimate(draws, loss=OneMinusF())
    assert np.mean([plain(truth, found) for truth in draws]) == pytest.approx(
        min(expected), abs=1e-12
    )
