"""Diagnosis of chains against plain formulas and ArviZ, and of data against constraints."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.metrics import rand_score

import bayesclust as bc
from bayesclust.posterior.diagnosis import (
    Conflict,
    diagnose,
    label_free,
    partition_distances,
    violations,
)
from bayesclust.posterior.tree import canonical, to_datatree


@pytest.fixture
def good(noisy_draws, rng):
    """Four chains of independent draws from one distribution, as the arrays of a tree."""

    def make(chains=4, draws=200, n=40):
        z = noisy_draws(n, 4, chains * draws).reshape(chains, draws, n)
        variables = {
            "z": z,
            "concentration": rng.gamma(2.0, size=z.shape[:2]),
            "p": rng.beta(9, 1, (*z.shape[:2], 2)),
        }
        return variables, {"log_joint": rng.normal(-500, 4, z.shape[:2])}

    return make


def test_functionals_agree_with_plain_formulas(good):
    variables, statistics = good(2, 5, 12)
    z, log_joint = variables["z"], statistics["log_joint"]
    values = label_free(to_datatree(variables, statistics), canonical(z), 6, 0)
    reference = z.reshape(10, 12)[log_joint.argmax()]
    for c, b in np.ndindex(2, 5):
        sizes = np.unique(z[c, b], return_counts=True)[1]
        assert values["n_clusters"][c, b] == len(sizes)
        assert values["largest_cluster"][c, b] == sizes.max()
        assert values["entropy"][c, b] == pytest.approx(entropy(sizes, base=2))
        assert values["rand_to_reference"][c, b] == pytest.approx(rand_score(reference, z[c, b]))
    np.testing.assert_array_equal(values["log_joint"], log_joint)
    np.testing.assert_array_equal(values["p[1]"], variables["p"][:, :, 1])
    values = label_free(to_datatree({"z": z}), canonical(z), 4, 0)
    estimate = bc.point_estimate(z.reshape(10, 12))
    assert "log_joint" not in values
    assert values["rand_to_reference"][1, 3] == pytest.approx(rand_score(estimate, z[1, 3]))


def test_distances_are_mean_variations_of_information(good):
    z = good(2, 6, 10)[0]["z"]
    vi = bc.metrics.variation_of_information
    distances = partition_distances(z)
    across = np.mean([vi(a, b) for a in z[0] for b in z[1]])
    assert distances[0, 1] == distances[1, 0] == pytest.approx(across)
    within = [vi(z[1, b], z[1, other]) for b in range(6) for other in range(6) if b != other]
    assert distances[1, 1] == pytest.approx(np.mean(within))


def test_r_hat_and_ess_are_those_of_arviz(good):
    import arviz as az

    tree = to_datatree(*good())
    table = diagnose(tree).table
    draws = tree["posterior"].to_dataset()
    names = ["n_clusters", "concentration"]
    rhat, ess = az.rhat(draws[names]), az.ess(draws[names])
    for name in names:
        assert table.loc[name, "rhat"] == pytest.approx(float(rhat[name]))
        assert table.loc[name, "ess"] == pytest.approx(float(ess[name]))
        assert table.loc[name, "mean"] == pytest.approx(float(draws[name].mean()))


def test_independent_draws_are_trusted(good):
    reports = [diagnose(to_datatree(*good())) for _ in range(15)]
    assert all(report.ok for report in reports)
    verdicts = ("Trust this run", "This run will do")
    assert all(report.verdict.startswith(verdicts) for report in reports)
    assert set(reports[0].table["state"]) <= {"converged", "constant"}
    assert repr(reports[0]).startswith("Diagnosis(ok=True")
    assert "This run will do for means" in diagnose(to_datatree(*good(4, 60))).verdict


def test_a_chain_in_another_mode_is_named(good):
    variables, statistics = good()
    variables["z"][2] = np.where(variables["z"][2] == 1, 0, variables["z"][2])
    statistics["log_joint"][2] -= 140
    report = diagnose(to_datatree(variables, statistics))
    assert not report.ok
    level = np.median(statistics["log_joint"], axis=1)
    gap = level.max() - level[2]
    sentence = f"chain 2 sits up to {gap:.0f} nats of log joint below chain {level.argmax()}"
    assert sentence in report.verdict
    assert report.table.loc["log_joint", "state"] == "slow"


def test_modes_of_equal_numbers_differ_in_their_partitions():
    """Each chain in a mode of its own: equal sizes, log joints and parameters, other members."""
    rng = np.random.default_rng(0)
    z = np.stack([np.tile(np.arange(40) % 2, (200, 1)), np.tile(np.arange(40) // 20, (200, 1))] * 2)
    report = diagnose(to_datatree({"z": z}, {"log_joint": rng.normal(size=(4, 200))}), n_pairs=0)
    assert not report.ok
    assert (
        "partitions of chains 0 and 1 are 2.00 bits apart (VI), those within a chain 0.00"
        in report.verdict
    )
    expected = 2.0 * (np.indices((4, 4)).sum(axis=0) % 2)
    np.testing.assert_allclose(report.distances.to_numpy(), expected, atol=1e-9)


def test_frozen_chains_fail_and_constant_ones_agree():
    z = np.tile(np.arange(10) // 5, (4, 50, 1))
    report = diagnose(to_datatree({"z": z, "q": np.full((4, 50), 0.9)}))
    assert report.ok
    assert set(report.table["state"]) == {"constant"}
    assert report.table["rhat"].isna().all()
    assert report.verdict.startswith("All 4 chains hold the same partition throughout")
    z[3, :, 0] = 2
    report = diagnose(to_datatree({"z": z}))
    assert not report.ok
    assert report.table.loc["n_clusters", "state"] == "frozen"
    assert "each chain keeps its own value of n_clusters" in report.verdict


def test_a_slow_chain_is_to_run_longer(good, rng):
    variables, statistics = good(4, 200)
    walk = np.cumsum(rng.normal(size=(4, 200)), axis=1)
    report = diagnose(to_datatree({**variables, "concentration": np.exp(walk / 10)}, statistics))
    assert not report.ok
    assert report.table.loc["concentration", "state"] == "slow"
    assert f"1 of {len(report.table)} quantities fall short" in report.verdict
    assert "increase num_warmup and num_samples" in report.verdict


def test_slow_quantities_count_where_their_means_differ(good, rng):
    """Chains keep levels of their own, apart by less or more than matters."""
    variables, statistics = good(4, 200)
    levels = np.array([0.0, 0.1, 0.0, 0.1])[:, None]
    noise = rng.normal(size=(4, 200))
    near = {"base_scale": 2.0 + levels + 0.01 * noise, "p": 0.9 + levels / 8 + 1e-4 * noise}
    log_joint = {"log_joint": statistics["log_joint"] + 90 * levels}
    report = diagnose(to_datatree(variables | near, log_joint))
    assert report.ok
    assert report.verdict.startswith("This run will do for means; more draws would sharpen")
    assert set(report.table.loc[[*near, "log_joint"], "state"]) == {"close"}
    for name, far in (("base_scale", 2.0 + 10 * levels), ("p", 0.7 + levels)):
        report = diagnose(to_datatree(variables | near | {name: far + 1e-4 * noise}, log_joint))
        assert not report.ok
        assert report.table.loc[name, "state"] == "slow"


def test_one_chain_is_never_trusted(good, rng):
    variables, statistics = good(1, 400)
    report = diagnose(to_datatree(variables, statistics))
    assert not report.ok
    assert "nothing tells whether another would find other partitions" in report.verdict
    assert "By itself it looks settled" in report.verdict
    assert report.distances.shape == (1, 1)
    variables["z"][0, 200:] = rng.integers(4, size=(200, 40))
    report = diagnose(to_datatree(variables, statistics))
    assert "Even by itself it has not settled" in report.verdict


@pytest.mark.parametrize("draws", [1, 3])
def test_a_handful_of_draws_tells_nothing(good, draws):
    report = diagnose(to_datatree(*good(2, draws)))
    assert not report.ok
    assert f"{draws} draws a chain are too few" in report.verdict
    assert set(report.table["state"]) == {"unknown"}


def test_draws_of_other_packages_are_diagnosed(good):
    z = good(3, 100)[0]["z"]
    found, whole = diagnose(z), diagnose(to_datatree({"z": z}))
    pd.testing.assert_frame_equal(found.table, whole.table)
    assert found.verdict == whole.verdict


def test_a_mean_field_is_not_diagnosed(good, rng):
    tree = to_datatree(*good(4, 300))
    assert diagnose(tree).ok
    tree.attrs["approximation"] = "mean field"
    report = diagnose(tree)
    assert not report.ok
    assert report.verdict.startswith("Chains say nothing here: these draws come from a mean field")
    X = rng.normal(size=(30, 2)) + np.repeat([[0.0], [5.0]], 15, axis=0)
    fit = bc.DCRC(2, n_init=1, random_state=0).fit(X)
    assert "mean field" in diagnose(fit).verdict


# --- violated constraints

Y = np.repeat([0, 1, 2], 40)
PIECES = np.arange(120) // 10
"""Each class of Y in four pieces."""
SETTINGS = {"sampler": "collapsed", "family": "gaussian", "cluster_model": "single", "power": None}


def fitted(z, *constraints, columns=2, **settings):
    return to_datatree(
        {"z": np.tile(z, (2, 4, 1))},
        X=np.zeros((len(z), columns)),
        constraints=constraints,
        attrs={"settings": SETTINGS | settings},
    )


def asked(error_rate, size=300, seed=0, y=Y):
    return bc.PairwiseConstraints.sample(y, size=size, error_rate=error_rate, seed=seed)


def numbers(sentence):
    return [int(number) for number in re.findall(r"\d+", sentence)]


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
def test_a_class_in_pieces_conflicts_with_its_constraints(error_rate):
    links = asked(error_rate)
    said = violations(fitted(PIECES, links)).said
    assert said.startswith("Data and constraints conflict: the fit violates ")
    wrong, of, won, chance = numbers(said)[:4]
    assert (wrong, of) == ((links.truths(PIECES) != links.answers).sum(), 300)
    assert won > 30 > 2 * chance


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        ({}, ['cluster_model="auto"'], ["leave_view_out", "power"]),
        ({"cluster_model": "mixture"}, ['cluster_model="auto"'], ["leave_view_out", "power"]),
        ({"family": "multinomial", "cluster_model": "auto"}, ["leave_view_out"], ["try"]),
    ],
)
def test_remedies_are_those_not_tried_yet(settings, said, unsaid):
    text = violations(fitted(PIECES, asked(0.0), **settings)).said
    assert all(word in text for word in said)
    assert not any(word in text for word in unsaid)


def test_contradicting_sources_differ_from_wrong_shapes():
    rng = np.random.default_rng(1)
    pairs = np.array(list(combinations(range(0, 120, 4), 2)))
    right = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    links = bc.PairwiseConstraints(pairs, right ^ (rng.random(len(pairs)) < 0.45), 120)
    said, misfit = violations(fitted(Y, links))
    assert said.startswith("The constraints contradict each other")
    assert not misfit
    wrong, _, _, alone = numbers(said)
    assert 0.5 * wrong <= alone <= wrong
    assert "The sources are at fault" in said


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
    for seed in range(10):
        links = asked(error_rate, size=size, seed=seed, y=y)
        assert violations(fitted(y, links)) == Conflict(), seed


def test_expected_violations_follow_the_prior():
    """Thirty of 300 wrong are as expected by a prior of one in ten, and too many by a firm one."""
    links = asked(0.2)
    loose, firm = (links.with_noise(bc.LinkNoise(p=p, q=p)) for p in (0.8, 0.99))
    assert violations(fitted(Y, loose)) == Conflict()
    same = int(links.truths(Y).sum())
    assert f"where {0.01 * same + 0.01 * (300 - same):.0f} were" in violations(fitted(Y, firm)).said


def test_posteriors_without_pairs_have_no_violations():
    triplets = bc.RelativeConstraints([(0, 1, 80)], ["yes"], n_items=120)
    for posterior in (np.tile(Y, (2, 4, 1)), fitted(Y), fitted(Y, triplets)):
        assert violations(posterior) == Conflict()


def test_diagnose_reports_the_conflict(rng):
    z = np.where(rng.random((2, 100, 120)) < 0.02, 0, PIECES)
    log_joint = {"log_joint": rng.normal(size=(2, 100))}
    loud = diagnose(to_datatree({"z": z}, log_joint, constraints=[asked(0.1)]))
    silent = diagnose(to_datatree({"z": z}, log_joint))
    assert silent.ok
    assert not loud.ok, "the constraints refute the model"
    assert (silent.conflict, str(silent)) == ("", silent.verdict)
    assert loud.conflict.startswith("Data and constraints conflict")
    assert str(loud) == f"{loud.conflict} {loud.verdict}"
