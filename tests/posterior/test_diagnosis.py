import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score, rand_score

import bayesclust as bc
from bayesclust.posterior.diagnosis import diagnose, label_free, partition_distances
from bayesclust.posterior.tree import to_datatree


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


def test_functionals_against_plain_formulas(good):
    variables, statistics = good(2, 5, 12)
    z, log_joint = variables["z"], statistics["log_joint"]
    values = label_free(to_datatree(variables, statistics), 6, 0).values
    reference = z.reshape(10, 12)[log_joint.argmax()]
    for c, b in np.ndindex(2, 5):
        sizes = np.unique(z[c, b], return_counts=True)[1]
        assert values["n_clusters"][c, b] == len(sizes)
        assert values["largest_cluster"][c, b] == sizes.max()
        assert values["entropy"][c, b] == pytest.approx(entropy(sizes, base=2))
        assert values["rand_to_reference"][c, b] == pytest.approx(rand_score(reference, z[c, b]))
    np.testing.assert_array_equal(values["log_joint"], log_joint)
    np.testing.assert_array_equal(values["p[1]"], variables["p"][:, :, 1])
    np.testing.assert_array_equal(values["concentration"], variables["concentration"])


def test_pairs_differ_and_half_are_within_clusters(good):
    variables, statistics = good(2, 50, 30)
    names = [
        name
        for name in label_free(to_datatree(variables, statistics), 20, 0).values
        if name.startswith("tog")
    ]
    pairs = [tuple(map(int, name[9:-1].split(", "))) for name in names]
    assert len(set(pairs)) == 20
    assert all(0 <= i < j < 30 for i, j in pairs)
    z = variables["z"].reshape(100, 30)
    reference = z[statistics["log_joint"].argmax()]
    assert sum(reference[i] == reference[j] for i, j in pairs) >= 10
    values = label_free(to_datatree(variables, statistics), 20, 0).values
    for name, (i, j) in zip(names, pairs, strict=True):
        assert values[name].dtype == np.int8
        np.testing.assert_array_equal(values[name].ravel(), z[:, i] == z[:, j])
    for n, expected in [(1, 0), (2, 1), (3, 3), (30, 20)]:
        values = label_free(to_datatree({"z": np.zeros((2, 4, n), int)}), 20, 0).values
        assert sum(name.startswith("together") for name in values) == expected


def test_distances_are_mean_variations_of_information(good):
    z = good(2, 6, 10)[0]["z"]

    def vi(a, b):
        shared = mutual_info_score(a, b)
        return (entropy(np.bincount(a)) + entropy(np.bincount(b)) - 2 * shared) / np.log(2)

    distances = partition_distances(z)
    assert (
        distances[0, 1]
        == distances[1, 0]
        == pytest.approx(np.mean([vi(a, b) for a in z[0] for b in z[1]]))
    )
    within = [vi(z[1, b], z[1, other]) for b in range(6) for other in range(6) if b != other]
    assert distances[1, 1] == pytest.approx(np.mean(within))


def test_r_hat_and_ess_are_arvizs(good):
    import arviz as az

    variables, statistics = good()
    tree = to_datatree(variables, statistics)
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
    assert [report.ok for report in reports] == [True] * 15
    assert all(
        report.verdict.startswith(("Trust this run", "This run will do")) for report in reports
    )
    assert str(reports[0]) == reports[0].verdict
    assert set(reports[0].table["state"]) <= {"converged", "constant"}
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
    tree = to_datatree({"z": z}, {"log_joint": rng.normal(size=(4, 200))})
    report = diagnose(tree, n_pairs=0)
    assert not report.ok
    assert (
        "partitions of chains 0 and 1 are 2.00 bits apart (VI), those within a chain 0.00"
        in report.verdict
    )
    np.testing.assert_allclose(
        report.distances.to_numpy(), 2.0 * (np.indices((4, 4)).sum(axis=0) % 2), atol=1e-9
    )


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


def test_a_slow_chain_is_told_to_run_longer(good, rng):
    variables, statistics = good(4, 200)
    walk = np.cumsum(rng.normal(size=(4, 200)), axis=1)
    report = diagnose(to_datatree({**variables, "concentration": np.exp(walk / 10)}, statistics))
    assert not report.ok
    assert report.table.loc["concentration", "state"] == "slow"
    assert "one quantity falls short" in report.verdict
    assert "increase num_warmup and num_samples" in report.verdict


def test_one_chain_is_never_trusted(good, rng):
    variables, statistics = good(1, 400)
    report = diagnose(to_datatree(variables, statistics))
    assert not report.ok
    assert "nothing tells whether another would find other partitions" in report.verdict
    assert "By itself it looks settled" in report.verdict
    assert report.distances.shape == (1, 1)
    variables["z"][0, 200:] = rng.integers(4, size=(200, 40))
    assert (
        "Even by itself it has not settled" in diagnose(to_datatree(variables, statistics)).verdict
    )


@pytest.mark.parametrize("draws", [1, 3])
def test_a_handful_of_draws_cannot_be_judged(good, draws):
    report = diagnose(to_datatree(*good(2, draws)))
    assert not report.ok
    assert f"{draws} draws a chain are too few" in report.verdict
    assert set(report.table["state"]) == {"unknown"}


def test_the_point_estimate_is_a_reference(noisy_draws):
    z = noisy_draws(20, 3, 80).reshape(2, 40, 20)
    values = label_free(to_datatree({"z": z}), 4, 0).values
    reference = bc.point_estimate(z.reshape(80, 20))
    assert "log_joint" not in values
    assert values["rand_to_reference"][1, 3] == pytest.approx(rand_score(reference, z[1, 3]))


def test_notebooks_show_the_verdict_and_the_table(good):
    report = diagnose(to_datatree(*good(2, 100)))
    html = report._repr_html_()
    assert "<table" in html
    assert "n_clusters" in html
    assert html.index("R-hat is at most") < html.index("<table")
    assert repr(report).startswith(f"Diagnosis(ok={report.ok}")


def test_labels_alone_are_refused():
    with pytest.raises(
        TypeError,
        match=r"a posterior is an xarray.DataTree or a fitted estimator with posterior_; got",
    ):
        diagnose("labels")


def test_draws_of_other_packages_are_diagnosed(good):
    z = good(3, 100)[0]["z"]
    found, whole = diagnose(z), diagnose(to_datatree({"z": z}))
    pd.testing.assert_frame_equal(found.table, whole.table)
    assert found.verdict == whole.verdict
    one = diagnose(z.reshape(300, -1))
    assert one.verdict.startswith("This run cannot be judged from one chain")


def test_a_mean_field_is_not_diagnosed(good):
    tree = to_datatree(*good(4, 300))
    assert diagnose(tree).ok
    tree.attrs["approximation"] = "mean field"
    report = diagnose(tree)
    assert not report.ok
    assert report.verdict.startswith("Chains tell nothing here: these draws come from a mean field")
    assert len(report.table)


def test_fits_by_mean_field_say_so(rng):
    X = rng.normal(size=(30, 2)) + np.repeat([[0.0], [5.0]], 15, axis=0)
    for est in (
        bc.TVClust("variational", num_samples=20, random_state=0),
        bc.DCRC(2, n_init=1, random_state=0),
    ):
        assert "mean field" in diagnose(est.fit(X)).verdict
    sampled = bc.TVClust(
        num_chains=2, num_warmup=20, num_samples=20, progress=False, random_state=0
    ).fit(X)
    assert "mean field" not in diagnose(sampled).verdict
