"""Credibility, leave-one-out and reliability against exact posteriors and plain loops."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


def plain_truth(labels):
    """The answer of a faultless source about two or three items with these labels."""
    if len(labels) == 2:
        return "same" if labels[0] == labels[1] else "different"
    i, j, k = labels
    if i == j != k:
        return "yes"
    if i == k != j:
        return "no"
    return "dnk"


@pytest.fixture
def asked(rng):
    pairs = np.array([rng.choice(15, 2, replace=False) for _ in range(40)])
    links = bc.PairwiseConstraints(
        pairs, rng.random(40) < 0.5, n_items=15, source=np.arange(40) % 2
    )
    triples = np.array([rng.choice(15, 3, replace=False) for _ in range(60)])
    triplets = bc.RelativeConstraints(
        triples, rng.choice(["yes", "no", "dnk"], 60), n_items=15, noise=bc.ConfusionNoise()
    )
    return [links, triplets]


@pytest.fixture
def noisy(rng, noisy_draws, asked):
    """A posterior of noisy partitions, with draws of the noise of all sources."""
    noise = {
        "p": rng.uniform(0.6, 0.9, (3, 20, 2)),
        "q": rng.uniform(0.6, 0.9, (3, 20, 2)),
        "confusion": rng.dirichlet([1, 1, 1], (3, 20, 1, 3)),
    }
    dims = {"p": ("source",), "q": ("source",), "confusion": ("triplet_source", "truth", "answer")}
    z = noisy_draws(15, 3, 60, noise=0.3).reshape(3, 20, 15)
    return to_datatree({"z": z, **noise}, constraints=asked, dims=dims)


def test_credibility_of_every_constraint_is_a_share_of_draws(noisy, asked):
    z = noisy["posterior"]["z"].values.reshape(60, 15)
    table = bc.constraint_credibility(noisy)
    assert len(table) == 100
    rows = table.itertuples(index=False)
    for view in asked:
        for items, answer, source in zip(view.items, view.answers, view.source, strict=True):
            row = next(rows)
            word = view.vocabulary[answer]
            truths = [plain_truth(labels) for labels in z[:, items].tolist()]
            shares = {name: truths.count(name) / 60 for name in view.vocabulary}
            assert (row.view, row.answer, row.source) == (view.name, word, source)
            assert [row.i, row.j, row.k][: len(items)] == items.tolist()
            assert row.credibility == pytest.approx(shares[word])
            assert shares[row.likely] == pytest.approx(max(shares.values()))
    assert table["k"].isna().tolist() == [True] * 40 + [False] * 60
    pairs = bc.constraint_credibility(to_datatree({"z": [[[0] * 15] * 4]}, constraints=asked[:1]))
    columns = ["view", "i", "j", "answer", "source", "credibility", "mcse", "likely"]
    assert pairs.columns.tolist() == columns


def test_log_likelihood_is_the_entry_of_the_noise(noisy, asked):
    group = bc.constraint_log_likelihood(noisy)["log_likelihood"]
    assert "log_likelihood" not in noisy.children
    draws = noisy["posterior"]
    for c, b in [(0, 0), (1, 7), (2, 19)]:
        labels = draws["z"].values[c, b]
        p, q, confusion = (draws[name].values[c, b] for name in ("p", "q", "confusion"))
        for view in asked:
            for m, (items, answer, s) in enumerate(
                zip(view.items, view.answers, view.source, strict=True)
            ):
                truth = plain_truth(labels[items].tolist())
                if len(items) == 3:
                    expected = confusion[0, view.vocabulary.index(truth), answer]
                else:
                    right = p[s] if truth == "same" else q[s]
                    expected = right if truth == view.vocabulary[answer] else 1 - right
                found = group[view.name].values[c, b, m]
                assert found == pytest.approx(np.log(expected))


def test_leaving_one_out_is_the_posterior_without_it(all_partitions):
    """All partitions of three items by their exact posterior, with and without the last link."""
    rng = np.random.default_rng(0)
    partitions = all_partitions(3)
    prior = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    p, q = 0.8, 0.7
    links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], n_items=3)
    same = partitions[:, [0, 1]] == partitions[:, [1, 2]]
    likelihoods = np.where(same, p, 1 - q)
    posterior = prior * likelihoods.prod(axis=1)
    posterior /= posterior.sum()
    number = 200_000
    z = partitions[rng.choice(5, size=(1, number), p=posterior)]
    known = {"p": np.full((1, number, 1), p), "q": np.full((1, number, 1), q)}
    table = bc.constraint_credibility(to_datatree({"z": z, **known}, constraints=[links]))
    for m in (0, 1):
        rest = prior * likelihoods[:, 1 - m]
        rest /= rest.sum()
        elpd = np.log((rest * likelihoods[:, m]).sum())
        assert table["credibility_loo"][m] == pytest.approx(rest[same[:, m]].sum(), abs=0.01)
        assert table["elpd_loo"][m] == pytest.approx(elpd, abs=0.01)
        assert table["credibility"][m] == pytest.approx(posterior[same[:, m]].sum(), abs=0.01)


def test_elpd_is_that_of_arviz(rng):
    arviz = pytest.importorskip("arviz")
    links = bc.PairwiseConstraints([(0, 1), (1, 2), (2, 3)], [True, False, True], n_items=4)
    z = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 2]])[rng.integers(3, size=(2, 1000))]
    noise = {name: rng.uniform(0.6, 0.9, (2, 1000, 1)) for name in "pq"}
    tree = to_datatree({"z": z, **noise}, constraints=[links])
    expected = arviz.loo(bc.constraint_log_likelihood(tree), var_name="links").elpd
    # Pareto smoothing changes the largest weights a little
    found = bc.constraint_credibility(tree)["elpd_loo"].sum()
    assert found == pytest.approx(float(expected), rel=0.02)


def test_standard_errors_cover_the_errors(rng):
    share, runs = 0.3, 300
    links = [bc.PairwiseConstraints([(0, 1)], [True], n_items=2)]
    errors, claimed = [], []
    for _ in range(runs):
        together = rng.random((2, 200)) < share
        z = np.zeros((2, 200, 2), int)
        z[..., 1] = ~together
        row = bc.constraint_credibility(to_datatree({"z": z}, constraints=links)).iloc[0]
        errors.append(row["credibility"] - share)
        claimed.append(row["mcse"])
    assert np.mean(claimed) == pytest.approx(np.sqrt(share * (1 - share) / 400), rel=0.05)
    covered = np.mean(np.abs(errors) < 2 * np.array(claimed))
    assert covered == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / runs))


def test_bayes_factors_are_over_the_chinese_restaurant_process(asked):
    """Items join in turn: the second the first, the third either."""
    z = np.zeros((1, 4, 15), int)
    z[0, 0, :] = np.arange(15)  # all together in three draws of four, all apart in one
    alpha = np.array([[0.5, 1.0, 2.0, 4.0]])
    tree = to_datatree({"z": z, "concentration": alpha}, constraints=asked)
    table = bc.constraint_credibility(tree)
    together, third = (1 / (1 + alpha)).mean(), 1 / (2 + alpha)
    # j joins i and k opens a cluster
    yes = (1 / (1 + alpha) * alpha * third).mean()
    prior = {"same": together, "different": 1 - together, "yes": yes, "no": yes, "dnk": 1 - 2 * yes}
    right = {"same": 3, "different": 1, "yes": 0, "no": 0, "dnk": 4}
    for row in table.itertuples():
        p, times = prior[row.answer], right[row.answer]
        expected = (times + 0.5) / (4.5 - times) / (p / (1 - p))
        assert row.bayes_factor == pytest.approx(expected)


def test_items_are_shown_with_their_clusters(asked):
    tree = to_datatree({"z": np.zeros((1, 4, 15), int)}, constraints=asked)
    labels = np.arange(15) // 5
    table = bc.constraint_credibility(tree, labels=labels)
    assert (table["cluster_i"] == labels[table["i"]]).all()
    assert table["cluster_k"].isna().tolist() == [True] * 40 + [False] * 60
    assert table["cluster_k"].dropna().tolist() == labels[asked[1].items[:, 2]].tolist()

    class Fitted:
        posterior_, labels_ = tree, labels

    assert bc.constraint_credibility(Fitted()).equals(table)
    with pytest.raises(ValueError, match="labels has 2 items, but the posterior has 15"):
        bc.constraint_credibility(tree, labels=[0, 1])


def test_reliability_sums_up_the_noise_of_each_source(rng, noisy):
    y = rng.integers(3, size=30)
    links = bc.PairwiseConstraints.sample(y, size=300, error_rate=[0.0, 0.4], n_sources=2, seed=0)
    z = np.tile(y, (2, 50, 1))
    p, q = rng.beta([90, 60], [10, 40], (2, 50, 2)), rng.beta([80, 55], [20, 45], (2, 50, 2))
    dims = {"p": ("source",), "q": ("source",)}
    tree = to_datatree({"z": z, "p": p, "q": q}, constraints=[links], dims=dims)
    table = bc.source_reliability(tree)
    assert table["source"].tolist() == [0, 0, 1, 1]
    assert table["parameter"].tolist() == ["p", "q", "p", "q"]
    means = [drawn[..., s].mean() for s in (0, 1) for drawn in (p, q)]
    np.testing.assert_allclose(table["mean"], means)
    np.testing.assert_allclose(table["lower"][0], np.quantile(p[..., 0], 0.05))
    flipped = np.bincount(links.source, weights=links.flipped, minlength=2)
    np.testing.assert_allclose(table["wrong"], np.repeat(flipped, 2))
    np.testing.assert_array_equal(table["answers"], np.repeat(np.bincount(links.source), 2))
    cells = bc.source_reliability(noisy).query("view == 'triplets'")
    assert cells["parameter"].tolist()[:2] == ["confusion[yes, yes]", "confusion[yes, no]"]
    expected = noisy["posterior"]["confusion"].values.mean(axis=(0, 1)).ravel()
    np.testing.assert_allclose(cells["mean"], expected)


def test_posteriors_without_constraints_or_noise_are_refused():
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=2)
    z = {"z": np.zeros((1, 4, 2), int)}
    for function in (bc.constraint_log_likelihood, bc.source_reliability):
        with pytest.raises(ValueError, match="has no p, q"):
            function(to_datatree(z, constraints=[links]))
    with pytest.raises(ValueError, match=r"has no group 'constant_data'.* fit with constraints"):
        bc.constraint_credibility(to_datatree(z))
