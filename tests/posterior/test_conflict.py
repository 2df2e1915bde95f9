"""Whether each source is foreseen by the rest: against enumeration, and calibrated."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.conflict import held_out_probabilities
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.tree import group, stored_views, to_datatree

Z = np.repeat([0, 1], 20)


def tree(z, links, p, q):
    noise = {
        name: np.broadcast_to(value, (*z.shape[:2], links.n_sources))
        for name, value in (("p", p), ("q", q))
    }
    return to_datatree({"z": z} | noise, constraints=[links])


def held_out(posterior):
    (view,) = stored_views(posterior)
    z = posterior["posterior"]["z"].values
    confusion = confusions(view, group(posterior, "posterior"))
    return held_out_probabilities(
        view, z.reshape(-1, z.shape[-1]), confusion.reshape(-1, *confusion.shape[2:])
    )


def test_by_enumeration(all_partitions):
    """Odds of 3 for every answer that is right: partitions as often as their posterior says, with and without an answer."""
    every = all_partitions(4)
    links = bc.PairwiseConstraints(
        [(0, 1), (1, 2), (2, 3), (0, 3)], [True, True, False, True], n_items=4
    )
    right = links.truths(every) == links.answers
    draws = np.repeat(every, 3 ** right.sum(axis=1), axis=0)
    found = held_out(tree(draws[None], links, 0.75, 0.75))
    for i in range(4):
        rest = 3.0 ** np.delete(right, i, axis=1).sum(axis=1)
        same = float(rest[links.truths(every)[:, i] == 1].sum() / rest.sum())
        np.testing.assert_allclose(
            found[i], [0.25 * same + 0.75 * (1 - same), 0.75 * same + 0.25 * (1 - same)], atol=1e-12
        )


def test_score_is_that_of_leave_one_out(rng):
    z = np.where(rng.random((2, 40, 40)) < 0.1, 1 - Z, Z)
    links = bc.PairwiseConstraints.sample(Z, size=60, error_rate=0.1, n_sources=2, seed=0)
    posterior = tree(z, links, rng.beta(9, 1, (2, 40, 2)), rng.beta(9, 1, (2, 40, 2)))
    assert held_out(posterior).sum(axis=1) == pytest.approx(1)
    by_source = bc.constraint_credibility(posterior).groupby("source")["elpd_loo"].mean()
    np.testing.assert_allclose(bc.view_conflict(posterior)["elpd_loo"], by_source, atol=1e-10)


def test_surprise_is_standard_where_the_rest_is_right(rng):
    asked = bc.PairwiseConstraints.sample(Z, size=120, seed=0)
    found = []
    for _ in range(200):
        links = asked.simulate(Z, {"p": [0.9], "q": [0.8]}, rng)
        found.append(bc.view_conflict(tree(np.tile(Z, (1, 4, 1)), links, 0.9, 0.8)).iloc[0])
    z_score = np.array([row["z_score"] for row in found])
    assert abs(z_score.mean()) < 4 / np.sqrt(200)
    assert z_score.std() == pytest.approx(1, abs=0.2)
    assert np.mean([row["finding"] == "agrees" for row in found]) > 0.97


def test_gain_by_hand():
    links = bc.PairwiseConstraints([(0, 1), (0, 20), (0, 21)], [True, False, False], n_items=40)
    (row,) = bc.view_conflict(tree(np.tile(Z, (1, 2, 1)), links, 0.9, 0.8)).to_dict("records")
    # "same" was given by none of the two others, "different" by one of them, and one of each is
    # assumed before
    habit = np.log([1 / 4, 2 / 4, 2 / 4]).mean()
    assert row["elpd_loo"] == pytest.approx(np.log([0.9, 0.8, 0.8]).mean())
    assert row["gain_over_marginal"] == pytest.approx(np.log([0.9, 0.8, 0.8]).mean() - habit)
    entropies = [p * np.log(p) + (1 - p) * np.log(1 - p) for p in (0.9, 0.8, 0.8)]
    assert row["expected"] == pytest.approx(np.mean(entropies))


def test_three_findings(rng):
    pairs = bc.PairwiseConstraints.sample(Z, size=90, seed=0).items
    right = Z[pairs[:, 0]] == Z[pairs[:, 1]]
    answers = np.where(
        np.arange(90) < 30, right, np.where(np.arange(90) < 60, ~right, rng.random(90) < 0.5)
    )
    links = bc.PairwiseConstraints(pairs, answers, 40, source=np.repeat([0, 1, 2], 30))
    table = bc.view_conflict(tree(np.tile(Z, (1, 3, 1)), links, [0.9, 0.9, 0.5], [0.9, 0.9, 0.5]))
    assert table["finding"].tolist() == ["agrees", "conflicts with the rest", "is uninformative"]
    assert table["answers"].tolist() == [30, 30, 30]
