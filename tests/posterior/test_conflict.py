"""Conflicts of sources with the rest, and of data with constraints."""

from itertools import combinations

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.conflict import held_out_probabilities, violations, won_by_merging
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.tree import group, stored_constraints, to_datatree

Z = np.repeat([0, 1], 20)
Y = np.repeat([0, 1, 2], 40)
PIECES = np.arange(120) // 10
"""Each class of Y in four pieces."""
SETTINGS = {"sampler": "collapsed", "family": "gaussian", "cluster_model": "single", "power": None}


def tree(z, links, p, q):
    shape = (*z.shape[:2], links.n_sources)
    noise = {"p": np.broadcast_to(p, shape), "q": np.broadcast_to(q, shape)}
    return to_datatree({"z": z} | noise, constraints=[links])


def held_out(posterior):
    (view,) = stored_constraints(posterior)
    z = posterior["posterior"]["z"].values
    confusion = confusions(view, group(posterior, "posterior"))
    confusion = confusion.reshape(-1, *confusion.shape[2:])
    return held_out_probabilities(view, z.reshape(-1, z.shape[-1]), confusion)


def test_held_out_probabilities_agree_with_enumeration(all_partitions):
    """Odds of 3 for every right answer: partitions as often as their posterior says."""
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
        expected = [0.25 * same + 0.75 * (1 - same), 0.75 * same + 0.25 * (1 - same)]
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_elpd_of_a_source_is_that_of_its_constraints(rng):
    z = np.where(rng.random((2, 40, 40)) < 0.1, 1 - Z, Z)
    links = bc.PairwiseConstraints.sample(Z, size=60, error_rate=0.1, n_sources=2, seed=0)
    posterior = tree(z, links, rng.beta(9, 1, (2, 40, 2)), rng.beta(9, 1, (2, 40, 2)))
    assert held_out(posterior).sum(axis=1) == pytest.approx(1)
    by_source = bc.constraint_credibility(posterior).groupby("source")["elpd_loo"].mean()
    np.testing.assert_allclose(bc.view_conflict(posterior)["elpd_loo"], by_source, atol=1e-10)


def test_z_scores_are_standard_where_the_rest_is_right(rng):
    asked = bc.PairwiseConstraints.sample(Z, size=120, seed=0)
    found = []
    for _ in range(200):
        links = asked.simulate(Z, {"p": [0.9], "q": [0.8]}, rng)
        found.append(bc.view_conflict(tree(np.tile(Z, (1, 4, 1)), links, 0.9, 0.8)).iloc[0])
    z_score = np.array([row["z_score"] for row in found])
    assert abs(z_score.mean()) < 4 / np.sqrt(200)
    assert z_score.std() == pytest.approx(1, abs=0.2)
    assert np.mean([row["finding"] == "agrees" for row in found]) > 0.97


def test_gain_over_marginal_by_hand():
    links = bc.PairwiseConstraints([(0, 1), (0, 20), (0, 21)], [True, False, False], n_items=40)
    (row,) = bc.view_conflict(tree(np.tile(Z, (1, 2, 1)), links, 0.9, 0.8)).to_dict("records")
    # "same" was given by none of the two others, "different" by one; one of each is added
    marginal = np.log([1 / 4, 2 / 4, 2 / 4]).mean()
    assert row["elpd_loo"] == pytest.approx(np.log([0.9, 0.8, 0.8]).mean())
    assert row["gain_over_marginal"] == pytest.approx(row["elpd_loo"] - marginal)
    entropies = [p * np.log(p) + (1 - p) * np.log(1 - p) for p in (0.9, 0.8, 0.8)]
    assert row["expected"] == pytest.approx(np.mean(entropies))


def test_sources_agree_conflict_or_are_uninformative(rng):
    pairs = bc.PairwiseConstraints.sample(Z, size=90, seed=0).items
    right = Z[pairs[:, 0]] == Z[pairs[:, 1]]
    answers = np.concatenate([right[:30], ~right[30:60], (rng.random(90) < 0.5)[60:]])
    links = bc.PairwiseConstraints(pairs, answers, 40, source=np.repeat([0, 1, 2], 30))
    table = bc.view_conflict(tree(np.tile(Z, (1, 3, 1)), links, [0.9, 0.9, 0.5], [0.9, 0.9, 0.5]))
    assert table["finding"].tolist() == ["agrees", "conflicts with the rest", "is uninformative"]
    assert table["answers"].tolist() == [30, 30, 30]


def fitted(z, *constraints, columns=2, **settings):
    return to_datatree(
        {"z": np.tile(z, (2, 4, 1))},
        X=np.zeros((len(z), columns)),
        constraints=constraints,
        attrs={"settings": SETTINGS | settings},
    )


def asked(error_rate, size=300, seed=0, y=Y):
    return bc.PairwiseConstraints.sample(y, size=size, error_rate=error_rate, seed=seed)


def test_greedy_merges_mostly_find_the_best_of_few_groups(rng):
    partitions = [np.unique(z, return_inverse=True)[1] for z in np.ndindex((4,) * 4)]
    pairs, hits = np.array(list(combinations(range(4), 2))), 0
    for _ in range(100):
        weight = rng.integers(-3, 4, size=6).astype(float)
        best = max(weight[z[pairs[:, 0]] == z[pairs[:, 1]]].sum() for z in partitions)
        found = won_by_merging(pairs, weight)
        assert found <= best
        hits += found == best
    assert hits > 85
    repeated = np.array([[0, 1], [1, 0], [2, 2], [1, 2], [0, 2]])
    assert won_by_merging(repeated, np.array([1.0, 2.0, 9.0, -1.0, 3.0])) == 3 + 3 - 1


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
def test_a_class_in_pieces_conflicts_with_its_constraints(error_rate):
    found = violations(fitted(PIECES, asked(error_rate)))
    assert found.finding == "data against constraints"
    assert found.reconciled > 30 > 2 * found.chance
    assert str(found).startswith("Data and constraints conflict: the fit violates ")


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        ({}, ['cluster_model="mixture"', "power="], ["gaussian_tied"]),
        (
            {"cluster_model": "auto", "columns": 34},
            ['family="gaussian_tied", one covariance for 34 columns'],
            ['cluster_model="mixture"'],
        ),
        ({"family": "gaussian_tied", "columns": 34}, ["power="], ["gaussian_tied"]),
        ({"family": "multinomial", "cluster_model": "auto"}, ["leave_view_out"], ["try"]),
    ],
)
def test_remedies_are_those_not_tried_yet(settings, said, unsaid):
    text = str(violations(fitted(PIECES, asked(0.0), **settings)))
    assert all(word in text for word in said)
    assert not any(word in text for word in unsaid)


def test_contradicting_sources_are_told_from_wrong_shapes():
    rng = np.random.default_rng(1)
    pairs = np.array(list(combinations(range(0, 120, 4), 2)))
    right = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    links = bc.PairwiseConstraints(pairs, right ^ (rng.random(len(pairs)) < 0.45), 120)
    found = violations(fitted(Y, links))
    assert found.finding == "constraints against each other"
    assert 0.5 * found.wrong <= found.alone <= found.wrong
    assert "The sources are at fault" in str(found)
    assert "cluster_model=" not in str(found)


def test_few_constraints_on_an_item_leave_it_undecided():
    """A chain of pairs cannot contradict itself, whatever is answered."""
    pairs = np.c_[np.arange(119), np.arange(1, 120)]
    links = bc.PairwiseConstraints(pairs, np.ones(119, bool), 120)
    # all answers alike: shuffled they are the same
    assert violations(fitted(np.tile([0, 1], 60), links)).finding == "undecided"
    inside = bc.PairwiseConstraints(pairs, np.zeros(119, bool), 120)
    found = violations(fitted(np.zeros(120, int), inside))
    assert (found.finding, found.wrong, found.alone) == ("undecided", 119, 0)
    assert "too few are about the same items" in str(found)


@pytest.mark.parametrize(
    ("y", "error_rate", "size"),
    [
        (Y, 0.0, 30),
        (Y, 0.2, 30),
        (Y, 0.1, 300),
        (Y, 0.2, 3000),
        (np.arange(120) // 6, 0.15, 100),  # small clusters: merges win something by chance
        (np.arange(120) // 6, 0.15, 1000),
    ],
)
def test_good_fits_are_not_accused(y, error_rate, size):
    for seed in range(20):
        found = violations(fitted(y, asked(error_rate, size=size, seed=seed, y=y)))
        assert (found.finding, str(found)) == ("as expected", ""), (seed, found)


def test_expected_violations_follow_the_prior():
    links = asked(0.0).with_noise(bc.LinkNoise(p=(9.0, 1.0), q=0.7))
    (view,) = stored_constraints(fitted(Y, links))
    assert view.prior == pytest.approx({"p": 0.9, "q": 0.7})
    same = int((Y[links.items[:, 0]] == Y[links.items[:, 1]]).sum())
    found = violations(fitted(Y, links))
    assert found.expected == pytest.approx(0.1 * same + 0.3 * (300 - same))
    assert found.wrong == 0


def test_posteriors_without_pairs_have_no_violations():
    triplets = bc.RelativeConstraints([(0, 1, 80)], ["yes"], n_items=120)
    for posterior in (np.tile(Y, (2, 4, 1)), fitted(Y), fitted(Y, triplets)):
        assert violations(posterior) is None


def test_diagnose_reports_the_conflict(rng):
    z = np.where(rng.random((2, 100, 120)) < 0.02, 0, PIECES)
    links, log_joint = asked(0.1), rng.normal(size=(2, 100))
    told = bc.diagnose(to_datatree({"z": z}, {"log_joint": log_joint}, constraints=[links]))
    silent = bc.diagnose(to_datatree({"z": z}, {"log_joint": log_joint}))
    assert (told.ok, told.verdict) == (silent.ok, silent.verdict)
    assert silent.conflict == ""
    assert told.conflict.startswith("Data and constraints conflict")
    assert str(told) == f"{told.verdict} {told.conflict}"
    assert told.conflict.split(":")[0] in told._repr_html_()


def test_mixtures_resolve_the_conflict_of_split_classes():
    """Classes of opposite corners, as a single-component fit and a fit of mixtures see them."""
    corners, y = np.array([[0, 0], [8, 8], [0, 8], [8, 0]]), np.repeat([0, 0, 1, 1], 20)
    X = np.repeat(corners, 20, axis=0) + np.random.default_rng(0).normal(size=(80, 2))
    links = bc.PairwiseConstraints.sample(y, size=120, error_rate=0.1, seed=1)
    short = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "random_state": 0} | {
        "progress": False
    }
    conflicts = [
        bc.diagnose(bc.TVClust(cluster_model=model, **short).fit(X, constraints=links)).conflict
        for model in ("single", "mixture")
    ]
    assert conflicts[0].startswith("Data and constraints conflict")
    assert conflicts[1] == ""
