"""Suggestions of a sampled posterior."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.active.expected_gain import expected_gains, uncertainty
from bayesclust.posterior.tree import to_datatree

Z = np.array([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 1, 1, 1]])


def tree(p, q):
    links = bc.PairwiseConstraints([(0, 1), (2, 4)], [True, False], n_items=5)
    noise = {"p": np.reshape(p, (1, 4, 1)), "q": np.reshape(q, (1, 4, 1))}
    return to_datatree(
        {"z": Z[None], **noise}, constraints=[links], dims=dict.fromkeys(noise, ("links_source",))
    )


def test_the_noise_of_each_draw_is_heeded():
    p, q = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.6, 0.7, 0.8, 0.9])
    table = bc.active.suggest_queries(tree(p, q), queries=[(0, 2), (1, 2)], target="partition")
    same = Z[:, [0, 1]] == Z[:, [2, 2]]
    says_same = np.where(same, p[:, None], 1 - q[:, None])
    share = 1 / 12  # nobody skipped, two answered
    answers = np.stack(
        [(1 - share) * says_same.T, (1 - share) * (1 - says_same.T), np.full((2, 4), share)], axis=2
    )
    wanted = expected_gains(uncertainty("partition", Z), np.full(4, 0.25), answers)
    assert table["gain"].to_numpy() == pytest.approx(wanted)
    assert table["same"].to_numpy() == pytest.approx(answers[:, :, 0].mean(axis=1))


def test_what_was_answered_is_not_suggested_and_the_best_comes_first():
    table = bc.active.suggest_queries(tree([0.9] * 4, [0.9] * 4), size=20, target="partition")
    assert not {(0, 1), (2, 4)} & set(map(tuple, table[["i", "j"]].to_numpy().tolist()))
    assert table["gain"][0] == table["gain"].max() == pytest.approx(table["adds"][0])
    assert (
        table["adds"] <= table["gain"] + 1e-12
    ).all()  # information of answers that are independent given the draw


def test_triplets_where_none_were_asked_and_estimators():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (8, 2)), rng.normal(2, 1, (8, 2))]
    est = bc.TVClust(
        num_chains=2, num_warmup=30, num_samples=30, progress=False, random_state=0
    ).fit(X)
    table = bc.active.suggest_queries(est, "triplet", size=3, target="n_clusters")
    assert list(table.columns) == ["kind", "i", "j", "k", "gain", "yes", "no", "dnk", "adds"]
    assert table[["yes", "no", "dnk"]].sum(axis=1).to_numpy() == pytest.approx(np.ones(3))


def test_bad_questions_are_refused():
    with pytest.raises(ValueError, match=r"^pairs\[0\] names item 5"):
        bc.active.suggest_queries(Z, queries=[(0, 5)])
    with pytest.raises(ValueError, match=r'^kind must be "pair" or "triplet"'):
        bc.active.suggest_queries(Z, "quartet")
