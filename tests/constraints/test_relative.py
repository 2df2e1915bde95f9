"""Relative constraints: the true answer, sampling, and conflicts against all partitions."""

import numpy as np
import pytest
from scipy import stats

from bayesclust.constraints import ConfusionNoise, RelativeConstraints
from tests.exactness.exact import partitions

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
    folded = ConfusionNoise().fold(view.counts(labels))
    expected = np.broadcast_to(matrices, (2, 3, 3))
    for source in range(2):
        for truth in range(3):
            row = folded[source, truth]
            assert stats.chisquare(row, expected[source, truth] * row.sum()).pvalue > 1e-3


def test_a_fraction_is_of_all_questions():
    assert (
        len(RelativeConstraints.sample([0, 0, 1, 1, 2], fraction=1.0, error_rate=0.0, seed=0)) == 30
    )


@pytest.mark.parametrize("words", [2, 3])
def test_conflicts_are_listed_where_no_partition_is_possible(words):
    """With "yes" and "no" alone the list is complete; with "dnk" each conflict is one indeed."""
    z, found = partitions(5), []
    for seed in range(20):
        rng = np.random.default_rng([words, seed])
        items = [rng.choice(5, 3, replace=False) for _ in range(int(rng.integers(2, 5)))]
        view = RelativeConstraints(items, rng.integers(words, size=len(items)), 5)
        possible = (view.truths(z) == view.answers).all(axis=1).any()
        found.append(len(view.conflicts()) > 0)
        assert found[-1] == (not possible) if words == 2 else not (found[-1] and possible)
    assert 3 <= sum(found) <= 17


def test_conflicts_say_why():
    rows = [
        (0, 1, 2),
        (0, 2, 1),
        (3, 4, 5),
        (4, 3, 6),
        (4, 5, 3),
        (7, 8, 9),
        (7, 9, 10),
        (7, 8, 10),
    ]
    answers = ["yes", "yes", "yes", "dnk", "yes", "yes", "no", "dnk"]
    reasons = RelativeConstraints(rows, answers, 11).conflicts()
    assert reasons[["i", "j", "k", "yes", "no", "dnk", "reason"]].values.tolist() == [
        [0, 1, 2, 1, 1, 0, "several answers were given"],
        [3, 4, 5, 1, 0, 0, "other answers join what this sets apart"],
        [4, 3, 5, 0, 1, 0, "other answers join what this sets apart"],
    ]


@pytest.mark.parametrize(
    ("chain", "triplet", "question", "word"),
    [
        ([(0, 1, 3), (1, 2, 4)], (0, 2, 3), [0, 2, 3], "yes"),
        ([(0, 1, 3), (1, 2, 4)], (0, 3, 2), [0, 2, 3], "yes"),
        ([(0, 1, 2), (1, 3, 4)], (0, 2, 3), [0, 2, 3], "no"),
        ([(2, 3, 0), (0, 1, 4)], (0, 1, 2), [0, 1, 2], "yes"),
    ],
)
def test_what_others_entail_contradicts_dnk(chain, triplet, question, word):
    conflicts = RelativeConstraints([*chain, triplet], ["yes", "yes", "dnk"], 5).conflicts()
    assert conflicts[["i", "j", "k"]].values.tolist() == [question]
    assert conflicts["reason"].tolist() == [f"other answers entail {word}"]
    (mine,) = RelativeConstraints([question], [word], 5).answers
    z = partitions(5)
    both = RelativeConstraints(chain, ["yes", "yes"], 5)
    fitting = z[(both.truths(z) == both.answers).all(axis=1)]
    assert (RelativeConstraints([question], ["dnk"], 5).truths(fitting) == mine).all()
