"""Expected gains against sums over all answers, and against what is known in closed form."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import entropy

from bayesclust import information, losses
from bayesclust.active.expected_gain import (
    choose_jointly,
    default_min_gain,
    expected_gains,
    uncertainty,
)

S, N, C, A = 7, 6, 5, 3


@pytest.fixture
def case(rng):
    """Draws of partitions, their weights, and p(answer | draw)."""
    draws = np.array(
        [np.unique(row, return_inverse=True)[1] for row in rng.integers(3, size=(S, N))]
    )
    return draws, rng.dirichlet(np.ones(S)), rng.dirichlet(np.ones(A), size=(C, S))


def mutual_information(joint):
    """Of the rows and columns of a table of probabilities."""
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())


def joint_with(values, weights, answers):
    """p(value, answer) of a function of the partition."""
    return np.array([(weights * (values == value)) @ answers for value in np.unique(values)])


def test_partition_is_the_information_of_bald(case):
    draws, weights, answers = case
    bald = [entropy(weights @ p) - weights @ entropy(p, axis=1) for p in answers]
    assert expected_gains(uncertainty("partition", draws), weights, answers) == pytest.approx(bald)


def test_copies_of_a_draw_are_one_draw(case):
    draws, weights, answers = case
    twice, half = np.repeat(draws, 2, axis=0), np.repeat(weights / 2, 2)
    gains = expected_gains(uncertainty("partition", twice), half, np.repeat(answers, 2, axis=1))
    assert gains == pytest.approx(expected_gains(uncertainty("partition", draws), weights, answers))


def test_number_of_clusters(case):
    draws, weights, answers = case
    wanted = [mutual_information(joint_with(draws.max(axis=1), weights, p)) for p in answers]
    assert expected_gains(uncertainty("n_clusters", draws), weights, answers) == pytest.approx(
        wanted
    )


def test_company_of_an_item(case):
    draws, weights, answers = case
    others = [j for j in range(N) if j != 2]
    wanted = [
        np.mean(
            [mutual_information(joint_with(draws[:, j] == draws[:, 2], weights, p)) for j in others]
        )
        for p in answers
    ]
    assert expected_gains(uncertainty(2, draws), weights, answers) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "loss",
    [losses.VI(), losses.Binder(), losses.OneMinusARI()],
    ids=lambda loss: type(loss).__name__,
)
def test_loss_between_two_draws(case, loss):
    draws, weights, answers = case

    def spread(w):
        return sum(w[s] * w[t] * loss.loss(draws[s], draws[t]) for s in range(S) for t in range(S))

    wanted = []
    for p in answers:
        after = [(weights @ p[:, a], weights * p[:, a] / (weights @ p[:, a])) for a in range(A)]
        wanted.append(spread(weights) - sum(share * spread(w) for share, w in after))
    assert expected_gains(uncertainty(loss, draws), weights, answers) == pytest.approx(wanted)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_a_certain_expert_about_labels_of_equal_probability(K):
    """Eq. 3 and 4 of Pei et al., by enumeration of all labels of three items."""
    labels = np.array(list(product(range(K), repeat=3)))
    even = np.full(len(labels), 1 / len(labels))
    same_01, same_02 = labels[:, 0] == labels[:, 1], labels[:, 0] == labels[:, 2]
    yes, no = same_01 & ~same_02, same_02 & ~same_01
    pair = np.stack([same_01, ~same_01, np.zeros_like(same_01)], axis=1)
    triplet = np.stack([yes, no, ~(yes | no)], axis=1)
    gains = expected_gains(
        uncertainty("partition", labels), even, np.stack([pair, triplet]).astype(float)
    )
    assert gains == pytest.approx([information.pair(K), information.triplet(K)])


def joint_information(weights, answers):
    """I(all answers; draw), by all joint answers."""
    rows = weights[None]
    for p in answers:
        rows = np.concatenate([rows * p[:, a] for a in range(p.shape[1])])
    return entropy(weights) - sum(row.sum() * entropy(row / row.sum()) for row in rows)


def test_batches_add_up_to_joint_information_and_repeat_nothing(rng):
    draws, weights = rng.integers(3, size=(30, 12)), np.full(30, 1 / 30)
    answers = np.stack(
        [np.where((draws[:, i] == draws[:, j])[:, None], [0.9, 0.1], [0.2, 0.8]) for i, j in PAIRS]
    )
    measure = uncertainty("partition", draws)
    doubled = np.concatenate([answers, answers])
    chosen, gains = choose_jointly(measure, weights, doubled, 5, rng)
    assert gains.sum() == pytest.approx(joint_information(weights, doubled[chosen]))
    assert gains[0] == pytest.approx(expected_gains(measure, weights, answers).max())
    for step in range(1, 5):  # no other query would have added more
        rest = [c for c in range(len(doubled)) if c not in chosen[:step]]
        best = max(joint_information(weights, doubled[[*chosen[:step], c]]) for c in rest)
        assert best == pytest.approx(joint_information(weights, doubled[chosen[: step + 1]]))
    assert len({c % len(answers) for c in chosen[:3]}) == 3


PAIRS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (1, 2)]


def test_large_batches_are_followed_by_joint_answers_drawn(rng):
    draws, weights = rng.integers(3, size=(40, 24)), np.full(40, 1 / 40)
    confusion = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    answers = np.stack(
        [confusion[(draws[:, 2 * c] == draws[:, 2 * c + 1]).astype(int)] for c in range(12)]
    )
    chosen, gains = choose_jointly(uncertainty("partition", draws), weights, answers, 7, rng)
    assert len(set(chosen.tolist())) == 7
    assert gains.sum() == pytest.approx(joint_information(weights, answers[chosen]), rel=0.05)


def test_the_default_min_gain_is_a_tenth_of_a_misplaced_item():
    draws = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]])
    assert default_min_gain("binder", draws) == pytest.approx(
        0.1 * 2 * (2 + 3) / 36
    )  # pairs torn and pairs made
    assert default_min_gain(losses.Binder(a=0.5), draws) == pytest.approx(
        0.1 * 2 * (0.5 * 2 + 1.5 * 3) / 36
    )
    assert default_min_gain("binder", draws[:1] * 0) == pytest.approx(
        0.1 * 2 * 5 / 36
    )  # out of the only cluster
    assert {default_min_gain(target, draws) for target in ("partition", "n_clusters", 3)} == {0.01}


@pytest.mark.parametrize(
    ("target", "error", "sentence"),
    [
        (
            "weather",
            ValueError,
            r'target must be "partition", "n_clusters", "vi", .* or a loss such as VI\(a=0.5\); got ',
        ),
        (0.5, TypeError, r"target must be .*; got 0.5\.$"),
        (True, TypeError, r"target must be .*; got True\.$"),
        (6, ValueError, r"^target, as an item, must be an integer from 0 to 5; got 6\.$"),
    ],
)
def test_a_target_that_is_none_is_refused(case, target, error, sentence):
    with pytest.raises(error, match=sentence):
        uncertainty(target, case[0])
