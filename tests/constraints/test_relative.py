"""Relative constraints: the true answer, and sampling."""

import numpy as np
import pytest
from scipy import stats

from bayesclust.constraints import RelativeConstraints
from tests.constraints.known import fold

CONFUSION = np.array([[0.7, 0.1, 0.2], [0.05, 0.8, 0.15], [0.02, 0.03, 0.95]])


@pytest.mark.parametrize(
    ("z", "pattern", "answer"),
    [
        ([5, 5, 5], 0, "dnk"),
        ([5, 5, 2], 1, "yes"),
        ([5, 2, 5], 2, "no"),
        ([2, 5, 5], 3, "dnk"),
        ([1, 2, 3], 4, "dnk"),
    ],
)
def test_the_true_answer_is_eq_1_of_dcrc(z, pattern, answer):
    triplet = RelativeConstraints([(0, 1, 2)], [answer], 3)
    assert triplet.patterns(z).tolist() == [pattern]
    assert triplet.truths(z).tolist() == triplet.answers.tolist()


def test_answers_go_wrong_at_the_rate_of_their_source(rng):
    labels = rng.integers(3, size=80)
    rates = [0.0, 0.2, 0.6]
    view = RelativeConstraints.sample(labels, size=9000, error_rate=rates, n_sources=3, seed=0)
    truths = view.truths(labels)
    np.testing.assert_array_equal(view.flipped, view.answers != truths)
    for source, rate in enumerate(rates):
        mine = view.source == source
        assert stats.binomtest(int(view.flipped[mine].sum()), int(mine.sum()), rate).pvalue > 1e-3
    for truth in range(3):
        wrong = view.answers[view.flipped & (truths == truth)]
        times = np.bincount(wrong, minlength=3)[np.arange(3) != truth]
        assert stats.chisquare(times).pvalue > 1e-3, "the two wrong answers are equally likely"


@pytest.mark.parametrize("matrices", [CONFUSION, [CONFUSION, CONFUSION[[1, 0, 2]][:, [1, 0, 2]]]])
def test_answers_follow_a_confusion_matrix(matrices, rng):
    labels = rng.integers(3, size=80)
    view = RelativeConstraints.sample(labels, size=9000, confusion=matrices, n_sources=2, seed=0)
    folded = fold(view.noise, view.counts(labels))
    expected = np.broadcast_to(matrices, (2, 3, 3))
    for source in range(2):
        for truth in range(3):
            row = folded[source, truth]
            assert stats.chisquare(row, expected[source, truth] * row.sum()).pvalue > 1e-3


def test_a_fraction_is_of_all_questions():
    assert (
        len(RelativeConstraints.sample([0, 0, 1, 1, 2], fraction=1.0, error_rate=0.0, seed=0)) == 30
    )
