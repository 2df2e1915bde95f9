"""Posterior predictive checks of answers: calibrated where the model is right, and each finds its own failure."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

N = 30
Z = np.repeat([0, 1, 2], 10)


def known(views, z=Z, p=0.9, q=0.85, draws=80):
    """A posterior that is sure of the partition and of the noise."""
    views = views if isinstance(views, list) else [views]
    variables = {"z": np.tile(z, (1, draws, 1))}
    for view, suffix in zip(views, ["", *(f"_{view.name}" for view in views[1:])], strict=True):
        variables |= {
            name + suffix: np.full((1, draws, view.n_sources), v)
            for name, v in (("p", p), ("q", q))
        }
    return to_datatree(variables, constraints=views)


def row(table, check, source=0):
    mine = table["source"].isna() if source is None else table["source"] == source
    (found,) = table[(table["check"] == check) & mine].to_dict("records")
    return found


def ask(rng, size, z=Z, p=0.9, q=0.85, n_sources=1):
    pairs = np.array([rng.choice(len(z), 2, replace=False) for _ in range(size)])
    asked = bc.PairwiseConstraints(
        pairs, np.zeros(size, bool), len(z), source=rng.integers(n_sources, size=size)
    )
    return asked.simulate(z, {"p": np.full(n_sources, p), "q": np.full(n_sources, q)}, rng)


def test_numbers_by_hand():
    pairs = [(0, 1), (1, 2), (0, 2), (2, 0), (3, 4), (3, 4), (4, 3)]
    answers = [True, True, False, True, False, False, True]
    links = bc.PairwiseConstraints(pairs, answers, n_items=5, source=[0, 0, 0, 1, 1, 0, 1])
    table = bc.constraint_ppc(known(links, z=np.array([0, 0, 1, 1, 1])))
    assert row(table, 'share of "same"')["observed"] == pytest.approx(2 / 4)
    assert row(table, 'share of "same"', 1)["observed"] == pytest.approx(2 / 3)
    assert row(table, "contradictions")["observed"] == 1  # 0 and 2 are joined by 1
    assert row(table, "contradictions", 1)["observed"] == 1  # 3 and 4, said to be both
    assert row(table, "contradictions", None)["observed"] == 3
    assert (
        row(table, "disagreements", None)["observed"] == 1 + 2
    )  # about 0 and 2; two of the three about 3 and 4
    assert row(table, "wrong answers")["observed"] == 2  # 1 and 2 said to be the same, 3 and 4 not
    assert row(table, "wrong answers", 1)["observed"] == 2  # 0 and 2 the same, 3 and 4 not
    assert row(table, "wrong answers by item")["observed"] == 0
    assert row(table, "wrong answers", 0)["expected"] == pytest.approx(0.1 + 3 * 0.125, abs=0.4)


def test_wrong_answers_by_cluster_by_hand():
    links = bc.PairwiseConstraints(
        [(0, 1), (0, 2), (1, 3), (2, 3)], [False, False, True, True], n_items=4
    )
    found = row(
        bc.constraint_ppc(known(links, z=np.array([0, 0, 1, 1]), p=0.9, q=0.8)),
        "wrong answers by cluster",
    )
    # within the first: 1 wrong, 0.1 expected; across: 1 and 0.4; within the second: 0 and 0.1
    assert found["observed"] == pytest.approx(0.9**2 / 0.1 + 0.6**2 / 0.4 + 0.1)


def test_p_values_are_spread_evenly_where_the_model_is_right(rng):
    """Of a posterior that has not learned from the answers; one that has pushes them to the middle."""
    tables = [
        bc.constraint_ppc(known(ask(rng, 80, n_sources=2), draws=40), seed=rng) for _ in range(30)
    ]
    p = pd.concat(tables).groupby("check")["p"].agg(["mean", "size"])
    assert len(p) >= 6
    assert (abs(p["mean"] - 0.5) < 4 * 0.29 / np.sqrt(p["size"])).all()
    every = pd.concat(tables)
    assert 0.01 < (every["finding"] != "as expected").mean() < 0.1


def test_noise_that_is_believed_to_be_less_than_it_is(rng):
    table = bc.constraint_ppc(known(ask(rng, 150, p=0.75, q=0.75), p=0.98, q=0.98))
    for check in ("broken triangles", "wrong answers", "disagreements"):
        source = None if check == "disagreements" else 0
        assert row(table, check, source)["finding"] == "more than the noise model expects"
        assert row(table, check, source)["observed"] > row(table, check, source)["upper"]


def test_contradictions_of_a_few_answers():
    """Chains of three answers with a fourth against them, ten times; one such would be too much for good sources."""
    chains = [(i, i + 1) for i in range(29) if i % 3 < 2]
    ends = [(i, i + 2) for i in range(0, 30, 3)]
    links = bc.PairwiseConstraints(
        chains + ends, [True] * len(chains) + [False] * len(ends), n_items=30
    )
    table = bc.constraint_ppc(known(links, z=np.repeat(np.arange(10), 3), p=0.98, q=0.98))
    assert (
        row(table, "contradictions")["observed"] == row(table, "broken triangles")["observed"] == 10
    )
    assert row(table, "contradictions")["finding"] == "more than the noise model expects"


def test_triangles_by_hand():
    answers = {
        (0, 1): True,
        (1, 2): True,
        (0, 2): False,
        (2, 3): True,
        (0, 3): False,
        (1, 3): False,
        (3, 4): True,
    }
    links = bc.PairwiseConstraints(list(answers), list(answers.values()), n_items=5)
    # 0 - 1 - 2 and 1 - 2 - 3; what 0 and 3 are both the same as, nobody says
    assert (
        row(bc.constraint_ppc(known(links, z=np.zeros(5, int))), "broken triangles")["observed"]
        == 2
    )


def test_a_source_that_always_agrees(rng):
    pairs = ask(rng, 100).items
    table = bc.constraint_ppc(known(bc.PairwiseConstraints(pairs, np.ones(100, bool), N)))
    assert row(table, 'share of "same"')["finding"] == "more than the noise model expects"
    assert row(table, "contradictions")["observed"] == 0


def test_errors_that_sources_share(rng):
    once = bc.PairwiseConstraints.sample(Z, size=100, error_rate=0.2, seed=rng)
    items, answers = np.tile(once.items, (2, 1)), np.tile(once.answers, 2)
    copied = bc.PairwiseConstraints(items, answers, N, source=np.repeat([0, 1], 100))
    found = row(bc.constraint_ppc(known(copied, p=0.8, q=0.8)), "disagreements", None)
    assert found["finding"] == "less than the noise model expects"
    assert found["observed"] == 0 < found["lower"]


def test_hard_items(rng):
    pairs = ask(rng, 300).items
    hard = (pairs < 2).any(axis=1)
    right = Z[pairs[:, 0]] == Z[pairs[:, 1]]
    rate = hard.sum() / len(hard)  # all answers about two items are wrong, no others
    table = bc.constraint_ppc(
        known(bc.PairwiseConstraints(pairs, right ^ hard, N), p=1 - rate, q=1 - rate)
    )
    assert row(table, "wrong answers")["finding"] == "as expected"
    assert row(table, "wrong answers by item")["finding"] == "more than the noise model expects"


def test_a_source_that_does_not_tell_two_clusters_apart(rng):
    pairs = ask(rng, 200).items
    coarse = np.minimum(Z, 1)
    answers = coarse[pairs[:, 0]] == coarse[pairs[:, 1]]
    q = float((~answers)[Z[pairs[:, 0]] != Z[pairs[:, 1]]].mean())
    table = bc.constraint_ppc(known(bc.PairwiseConstraints(pairs, answers, N), p=0.97, q=q))
    assert row(table, 'share of "same"')["finding"] == "as expected"
    assert row(table, "wrong answers by cluster")["finding"] == "more than the noise model expects"


def test_triplets_have_three_shares_and_no_contradictions(rng):
    triplets = bc.RelativeConstraints.sample(Z, size=60, error_rate=0.1, seed=0)
    draws = {"z": np.tile(Z, (1, 50, 1)), "noise": np.full((1, 50, 1), 0.1)}
    table = bc.constraint_ppc(to_datatree(draws, constraints=[triplets]))
    shares = [f'share of "{word}"' for word in triplets.vocabulary]
    assert table["check"].tolist() == [
        *shares,
        "wrong answers",
        "wrong answers by item",
        "wrong answers by cluster",
    ]
    assert sum(row(table, share)["observed"] for share in shares) == pytest.approx(1)
    assert row(table, "wrong answers")["observed"] == triplets.flipped.sum()
    assert table["p"].between(0, 1).all()


def test_views_have_rows_of_their_own_and_the_seed_decides(rng):
    views = [ask(rng, 30), ask(rng, 20)]
    views[1].name = "more"
    tree = known(views)
    table = bc.constraint_ppc(tree, num_draws=20, seed=1)
    assert table["view"].unique().tolist() == ["links", "more"]
    pd.testing.assert_frame_equal(table, bc.constraint_ppc(tree, num_draws=20, seed=1))


def test_bad_input():
    with pytest.raises(ValueError, match="draws must be an integer of at least 1"):
        bc.constraint_ppc(known(ask(np.random.default_rng(0), 5)), num_draws=0)
    with pytest.raises(ValueError, match="this posterior has no group 'constant_data'"):
        bc.constraint_ppc(to_datatree({"z": np.zeros((1, 2, 3), int)}))
