"""Expected gains by sums over all answers and in closed form; candidates."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import chisquare, entropy

import bayesclust as bc
from bayesclust import information, losses
from bayesclust.active.expected_gain import (
    atoms,
    choose_jointly,
    expected_gains,
    propose,
    uncertainty,
)
from bayesclust.posterior.tree import to_datatree

S, N, C, A = 7, 6, 5, 3


@pytest.fixture
def case(rng):
    """Draws of partitions, their weights, and p(answer | draw)."""
    draws = np.array(
        [np.unique(row, return_inverse=True)[1] for row in rng.integers(3, size=(S, N))]
    )
    return draws, rng.dirichlet(np.ones(S)), rng.dirichlet(np.ones(A), size=(C, S))


def test_entropic_gains_are_mutual_information(case):
    """Of the answer with the partition (BALD)."""
    draws, weights, answers = case
    bald = [entropy(weights @ p) - weights @ entropy(p, axis=1) for p in answers]
    measure = uncertainty("partition", draws)
    assert expected_gains(measure, weights, answers) == pytest.approx(bald)
    twice = uncertainty("partition", np.repeat(draws, 2, axis=0))
    found = expected_gains(twice, np.repeat(weights / 2, 2), np.repeat(answers, 2, axis=1))
    assert found == pytest.approx(bald)


@pytest.mark.parametrize("loss", [losses.VI(), losses.Binder(a=0.5)], ids=repr)
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


# --- candidates


def test_atoms_are_the_items_that_no_draw_parts(rng):
    draws = rng.integers(2, size=(3, 30))
    group = atoms(draws)
    for i, j in combinations(range(30), 2):
        assert (group[i] == group[j]) == (draws[:, i] == draws[:, j]).all()
    assert np.unique(group).tolist() == list(range(group.max() + 1))


def test_one_pair_stands_for_each_two_atoms(rng):
    draws = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1]])  # atoms {0, 1, 2}, {3, 4}, {5}
    even = np.array([0.5, 0.5])
    asked = {(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (3, 5), (4, 5)}
    for _ in range(20):
        rows = propose("pair", draws, even, asked, 100, rng)
        assert not set(map(tuple, rows.tolist())) & asked
        of_atoms = sorted(tuple(sorted(atoms(draws)[row])) for row in rows)
        assert of_atoms in ([(0, 1), (0, 2)], [(0, 2)])
    assert len(propose("pair", draws, even, set(), 100, rng)) == 3


def test_pairs_come_by_how_much_the_draws_disagree(rng):
    draws = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 1, 2]])
    weights = np.array([0.5, 0.3, 0.2])
    pairs = list(combinations(range(5), 2))
    pi = np.array([weights @ (draws[:, i] == draws[:, j]) for i, j in pairs])
    counts = dict.fromkeys(pairs, 0)
    for _ in range(1500):
        for row in propose("pair", draws, weights, set(), 1, rng).tolist():
            counts[tuple(row)] += 1
    seen, share = np.array(list(counts.values())), pi * (1 - pi)
    assert (seen[share == 0] == 0).all()
    assert chisquare(seen[share > 0], share[share > 0] / share.sum() * seen.sum()).pvalue > 1e-3


# --- suggestions of a sampled posterior

Z = np.array([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 1, 1, 1]])


def tree(p, q):
    links = bc.PairwiseConstraints([(0, 1), (2, 4)], [True, False], n_items=5)
    noise = {"p": np.reshape(p, (1, 4, 1)), "q": np.reshape(q, (1, 4, 1))}
    return to_datatree(
        {"z": Z[None], **noise}, constraints=[links], dims=dict.fromkeys(noise, ("links_source",))
    )


def test_the_noise_of_each_draw_is_heeded():
    p, q = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.6, 0.7, 0.8, 0.9])
    table = bc.active.suggest_queries(tree(p, q), size=20, target="partition")
    same = Z[:, table["i"]] == Z[:, table["j"]]
    says_same = np.where(same, p[:, None], 1 - q[:, None])
    share = 1 / 12  # none skipped, two answered
    answers = np.stack(
        [(1 - share) * says_same.T, (1 - share) * (1 - says_same.T), np.full(same.T.shape, share)],
        axis=2,
    )
    wanted = expected_gains(uncertainty("partition", Z), np.full(4, 0.25), answers)
    assert table["gain"].to_numpy() == pytest.approx(wanted)
    assert table["same"].to_numpy() == pytest.approx(answers[:, :, 0].mean(axis=1))


def test_new_queries_are_suggested_the_best_first():
    table = bc.active.suggest_queries(tree([0.9] * 4, [0.9] * 4), size=20, target="partition")
    assert not {(0, 1), (2, 4)} & set(map(tuple, table[["i", "j"]].to_numpy().tolist()))
    assert table["gain"][0] == table["gain"].max() == pytest.approx(table["adds"][0])
    # information of answers that are independent given the draw
    assert (table["adds"] <= table["gain"] + 1e-12).all()
