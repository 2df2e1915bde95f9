"""Posterior predictive checks: calibrated where the model is right, each finds its failure."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

N = 30
Z = np.repeat([0, 1, 2], 10)
MORE = "more than the noise model expects"


def known(*constraints, z=Z, p=0.9, q=0.85, draws=80):
    """A posterior that is sure of the partition and of the noise."""
    variables = {"z": np.tile(z, (1, draws, 1))}
    for at, view in enumerate(constraints):
        suffix = f"_{view.name}" if at else ""
        for name, value in (("p", p), ("q", q)):
            variables[name + suffix] = np.full((1, draws, view.n_sources), value)
    return to_datatree(variables, constraints=constraints)


def row(table, check, source=0):
    mine = table["source"].isna() if source is None else table["source"] == source
    (found,) = table[(table["check"] == check) & mine].to_dict("records")
    return found


def ask(rng, size, z=Z, p=0.9, q=0.85, n_sources=1):
    pairs = np.array([rng.choice(len(z), 2, replace=False) for _ in range(size)])
    source = rng.integers(n_sources, size=size)
    asked = bc.PairwiseConstraints(pairs, np.zeros(size, bool), len(z), source=source)
    return asked.simulate(z, {"p": np.full(n_sources, p), "q": np.full(n_sources, q)}, rng)


def test_observed_statistics_by_hand():
    pairs = [(0, 1), (1, 2), (0, 2), (2, 0), (3, 4), (3, 4), (4, 3)]
    answers = [True, True, False, True, False, False, True]
    links = bc.PairwiseConstraints(pairs, answers, n_items=5, source=[0, 0, 0, 1, 1, 0, 1])
    table = bc.constraint_ppc(known(links, z=np.array([0, 0, 1, 1, 1])))
    expected = {
        ('share of "same"', 0): 2 / 4,
        ('share of "same"', 1): 2 / 3,
        ("contradictions", 0): 1,  # 0 and 2 are joined by 1
        ("contradictions", 1): 1,  # 3 and 4, answered both ways
        ("contradictions", None): 3,
        ("disagreements", None): 1 + 2,  # about 0 and 2; two of the three about 3 and 4
        ("wrong answers", 0): 2,  # 1 and 2 answered "same", 3 and 4 "different"
        ("wrong answers", 1): 2,  # 0 and 2 "same", 3 and 4 "different"
        ("wrong answers by item", 0): 0,
    }
    for (check, source), value in expected.items():
        assert row(table, check, source)["observed"] == pytest.approx(value), (check, source)
    assert row(table, "wrong answers")["expected"] == pytest.approx(0.1 + 3 * 0.125, abs=0.4)


def test_wrong_answers_by_cluster_by_hand():
    pairs, answers = [(0, 1), (0, 2), (1, 3), (2, 3)], [False, False, True, True]
    links = bc.PairwiseConstraints(pairs, answers, n_items=4)
    table = bc.constraint_ppc(known(links, z=np.array([0, 0, 1, 1]), p=0.9, q=0.8))
    # within the first: 1 wrong, 0.1 expected; across: 1 and 0.4; within the second: 0 and 0.1
    expected = 0.9**2 / 0.1 + 0.6**2 / 0.4 + 0.1
    assert row(table, "wrong answers by cluster")["observed"] == pytest.approx(expected)


def test_p_values_are_uniform_where_the_model_is_right(rng):
    """For a posterior that has not learned from the answers; one that has pulls them to 1/2."""
    every = pd.concat(
        bc.constraint_ppc(known(ask(rng, 80, n_sources=2), draws=40), seed=rng) for _ in range(12)
    )
    p = every.groupby("check")["p"].agg(["mean", "size"])
    assert len(p) >= 6
    assert (abs(p["mean"] - 0.5) < 4 * 0.29 / np.sqrt(p["size"])).all()
    assert 0.005 < (every["finding"] != "as expected").mean() < 0.1


def test_underestimated_noise_is_found(rng):
    table = bc.constraint_ppc(known(ask(rng, 150, p=0.75, q=0.75), p=0.98, q=0.98))
    for check, source in [("wrong answers", 0), ("disagreements", None)]:
        found = row(table, check, source)
        assert found["finding"] == MORE
        assert found["observed"] > found["upper"]


def test_errors_that_sources_share_are_found(rng):
    once = bc.PairwiseConstraints.sample(Z, size=100, error_rate=0.2, seed=rng)
    items, answers = np.tile(once.items, (2, 1)), np.tile(once.answers, 2)
    copied = bc.PairwiseConstraints(items, answers, N, source=np.repeat([0, 1], 100))
    found = row(bc.constraint_ppc(known(copied, p=0.8, q=0.8)), "disagreements", None)
    assert found["finding"] == "less than the noise model expects"
    assert found["observed"] == 0 < found["lower"]


def test_hard_items_are_found(rng):
    pairs = ask(rng, 300).items
    hard = (pairs < 2).any(axis=1)
    right = Z[pairs[:, 0]] == Z[pairs[:, 1]]
    rate = 1 - hard.mean()  # all answers about two items are wrong, no others
    links = bc.PairwiseConstraints(pairs, right ^ hard, N)
    table = bc.constraint_ppc(known(links, p=rate, q=rate))
    assert row(table, "wrong answers")["finding"] == "as expected"
    assert row(table, "wrong answers by item")["finding"] == MORE


def test_a_source_that_confuses_two_clusters_is_found(rng):
    pairs = ask(rng, 200).items
    coarse = np.minimum(Z, 1)
    answers = coarse[pairs[:, 0]] == coarse[pairs[:, 1]]
    q = float((~answers)[Z[pairs[:, 0]] != Z[pairs[:, 1]]].mean())
    table = bc.constraint_ppc(known(bc.PairwiseConstraints(pairs, answers, N), p=0.97, q=q))
    assert row(table, 'share of "same"')["finding"] == "as expected"
    assert row(table, "wrong answers by cluster")["finding"] == MORE


def test_triplets_have_three_shares_and_no_contradictions():
    triplets = bc.RelativeConstraints.sample(Z, size=60, error_rate=0.1, seed=0)
    draws = {"z": np.tile(Z, (1, 50, 1)), "noise": np.full((1, 50, 1), 0.1)}
    table = bc.constraint_ppc(to_datatree(draws, constraints=[triplets]))
    shares = [f'share of "{word}"' for word in triplets.vocabulary]
    wrong = ["wrong answers", "wrong answers by item", "wrong answers by cluster"]
    assert table["check"].tolist() == shares + wrong
    assert sum(row(table, share)["observed"] for share in shares) == pytest.approx(1)
    assert row(table, "wrong answers")["observed"] == triplets.flipped.sum()
    assert table["p"].between(0, 1).all()


def test_each_view_has_rows_and_the_seed_decides(rng):
    more = ask(rng, 20)
    more.name = "more"
    tree = known(ask(rng, 30), more)
    table = bc.constraint_ppc(tree, num_draws=20, seed=1)
    assert table["view"].unique().tolist() == ["links", "more"]
    pd.testing.assert_frame_equal(table, bc.constraint_ppc(tree, num_draws=20, seed=1))
    with pytest.raises(ValueError, match="num_draws must be an integer of at least 1"):
        bc.constraint_ppc(tree, num_draws=0)
