import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score, mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from bayesclust.posterior.losses import (
    VI,
    Binder,
    adjusted_rands,
    as_loss,
    expected_losses,
    pairwise_losses,
)
from tests.exactness.exact import partitions

LOSSES = [VI(), VI(a=0.4), VI(a=1.7), Binder(), Binder(a=0.4), Binder(a=1.7)]


@pytest.mark.parametrize("a", [0.3, 1.0, 1.6])
def test_losses_are_entropies_and_pairs(rng, a):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        shared = mutual_info_score(truth, estimate)
        lost = entropy(np.bincount(truth)) - shared
        added = entropy(np.bincount(estimate)) - shared
        bits = (a * added + (2 - a) * lost) / np.log(2)
        assert VI(a).loss(truth, estimate) == pytest.approx(bits, abs=1e-12)
        (_, joined), (split, _) = pair_confusion_matrix(truth, estimate)  # ordered pairs
        pairs = (a * split + (2 - a) * joined) / 30**2
        assert Binder(a).loss(truth, estimate) == pytest.approx(pairs, abs=1e-14)


def test_adjusted_rand_agrees_with_scikit_learn(rng):
    truth, draws = rng.integers(4, size=30), rng.integers(6, size=(20, 30))
    draws[0] = truth + 2
    expected = [adjusted_rand_score(truth, draw) for draw in draws]
    np.testing.assert_allclose(adjusted_rands(truth, draws), expected, atol=1e-12)
    for n in (1, 2, 5):
        found = adjusted_rands(np.zeros(n, int), np.stack([np.zeros(n, int), np.arange(n)]))
        assert found.tolist() == [1.0, float(n == 1)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_that_claim_to_be_metrics_are_metrics(loss):
    every = partitions(5)
    d = pairwise_losses(loss, every, every)
    assert (np.diag(d) < 1e-15).all()
    assert (d[~np.eye(len(d), dtype=bool)] > 0.01).all()
    is_metric = np.allclose(d, d.T) and (d[:, None] <= d[:, :, None] + d[None] + 1e-12).all()
    assert is_metric == (loss.a == 1)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_expected_loss_is_the_mean_over_draws(noisy_draws, loss, monkeypatch):
    draws = noisy_draws(25, 4, 40)
    matrix = np.array([[loss.loss(draw, z) for draw in draws] for z in draws[:5]])
    renamed = -100 * draws + 10**12
    assert loss.expected(draws[3], renamed) == pytest.approx(matrix[3].mean(), abs=1e-12)
    swapped = type(loss)(2 - loss.a)
    np.testing.assert_allclose(pairwise_losses(swapped, draws, draws[:5]).T, matrix, atol=1e-12)
    monkeypatch.setattr("bayesclust.posterior.losses.CELLS", 100)  # in parts
    np.testing.assert_allclose(expected_losses(loss, draws[:5], draws), matrix.mean(axis=1))
    np.testing.assert_allclose(pairwise_losses(loss, draws[:5], draws), matrix, atol=1e-12)


def test_losses_have_names():
    assert [as_loss(name) for name in ("vi", "Binder")] == [VI(), Binder()]
    assert as_loss(VI(a=0.5)) == VI(0.5)
