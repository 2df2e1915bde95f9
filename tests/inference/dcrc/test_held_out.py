"""Predicting answers that were held out, and choosing by that."""

from itertools import product

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.dcrc.em import EMSettings, choose, log_predictive, mean_confusion


def test_mean_confusion_is_that_of_the_conjugate_posterior(rng):
    z = np.array([0, 0, 1, 1, 2])
    triplets = [(0, 1, 2), (0, 2, 1), (0, 2, 4), (2, 0, 3)]
    view = bc.RelativeConstraints(
        triplets, ["yes", "no", "yes", "dnk"], n_items=5, source=[0, 0, 1, 1]
    )
    counts = view.counts(z)  # of source 0 both are right, of source 1 both are wrong
    found = mean_confusion(view, counts)
    for source, eps in enumerate((1 / 12, 3 / 12)):  # Beta(1, 9) and two answers more
        expected = np.where(np.eye(3, dtype=bool), 1 - eps, eps / 2)
        np.testing.assert_allclose(found[source], expected)
    noise = bc.ConfusionNoise()
    matrix = mean_confusion(view.with_noise(noise), counts)
    np.testing.assert_allclose(
        matrix[0], (np.array(noise.prior) + noise.fold(counts)[0]) / [[11.0], [11.0], [10.0]]
    )


def test_log_predictive_is_the_sum_over_labels(rng):
    q = rng.dirichlet(np.ones(3), size=4)
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (3, 2, 0)], ["yes", "dnk"], n_items=4, source=[1, 0]
    )
    links = bc.PairwiseConstraints([(0, 3), (1, 2)], [True, False], n_items=4)
    for view in (triplets, links):
        A = view.n_answers
        confusion = rng.dirichlet(np.ones(A), size=(view.n_sources, A))
        expected = 0.0
        for t in range(len(view)):
            probability = 0.0
            for z in product(range(3), repeat=4):
                truth = view.truths(np.array(z))[t]
                probability += (
                    q[np.arange(4), z].prod() * confusion[view.source[t], truth, view.answers[t]]
                )
            expected += np.log(probability)
        assert log_predictive(view, q, confusion) == pytest.approx(expected)


def test_the_better_penalty_is_chosen(rng):
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2))
    X[:, 0] += 3 * y
    view = bc.RelativeConstraints.sample(y, size=80, error_rate=0.0, seed=1).with_noise(
        bc.UniformNoise(0.05)
    )
    good, bad = (
        EMSettings(penalty=1e-3),
        EMSettings(penalty=1e3),
    )  # under the second W is 0, and every item even
    assert choose(X, [view], 2, [bad, good], rng) is good
    few = bc.RelativeConstraints([(0, 1, 80)], ["yes"], n_items=120)
    assert choose(X, [few], 2, [bad, good], rng) is bad  # nothing to hold out: the first
