"""The skeleton of a loss, against entropies and against all partitions."""

import numpy as np
import pytest

import bayesclust as bc
from docs.skeletons.loss import TsallisVI
from tests.exactness.exact import partitions


def plain(truth, estimate, q=1.5):
    """The loss from its definition by entropies."""

    def entropy(*labels):
        shares = np.unique(np.stack(labels), axis=1, return_counts=True)[1] / len(labels[0])
        return (1 - (shares**q).sum()) / (q - 1)

    return 2 * entropy(truth, estimate) - entropy(truth) - entropy(estimate)


def test_skeleton_loss_is_a_metric_of_entropies(rng):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        assert TsallisVI().loss(truth, estimate) == pytest.approx(plain(truth, estimate), abs=1e-13)
        assert TsallisVI(q=2.0).loss(truth, estimate) == pytest.approx(
            bc.losses.Binder().loss(truth, estimate)
        )
    every = partitions(5)
    d = bc.losses.pairwise_losses(TsallisVI(), every, every)
    assert (d[:, None, :] <= d[:, :, None] + d[None] + 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
def test_skeleton_loss_gives_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    every = partitions(6)
    draws = every[rng.choice(len(every), size=9)]
    expected = [np.mean([plain(truth, estimate) for truth in draws]) for estimate in every]
    found = bc.point_estimate(draws, loss=TsallisVI(), max_clusters=6)
    assert np.mean([plain(truth, found) for truth in draws]) == pytest.approx(min(expected))
