"""Credibility, leave-one-out, reliability and conflict against exact posteriors and plain loops."""

import warnings

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.estimators import cluster_models
from bayesclust.estimators.cluster_models import Choice
from bayesclust.partition_priors import PitmanYor
from bayesclust.posterior.diagnosis import DiagnosisWarning
from bayesclust.posterior.tree import to_datatree
from tests.exactness.cases import links, triplets
from tests.exactness.exact import partitions


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
    return [links(15, rng, size=40), triplets(15, rng, bc.ConfusionNoise(), size=60)]


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


def test_leaving_one_out_is_the_posterior_without_it():
    """All partitions of three items by their exact posterior, with and without the last link."""
    rng = np.random.default_rng(0)
    every = partitions(3)
    prior = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    p, q = 0.8, 0.7
    links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], n_items=3)
    same = every[:, [0, 1]] == every[:, [1, 2]]
    likelihoods = np.where(same, p, 1 - q)
    posterior = prior * likelihoods.prod(axis=1)
    posterior /= posterior.sum()
    number = 200_000
    z = every[rng.choice(5, size=(1, number), p=posterior)]
    known = {"p": np.full((1, number, 1), p), "q": np.full((1, number, 1), q)}
    table = bc.constraint_credibility(to_datatree({"z": z, **known}, constraints=[links]))
    for m in (0, 1):
        rest = prior * likelihoods[:, 1 - m]
        rest /= rest.sum()
        elpd = np.log((rest * likelihoods[:, m]).sum())
        assert table["credibility_loo"][m] == pytest.approx(rest[same[:, m]].sum(), abs=0.01)
        assert table["elpd_loo"][m] == pytest.approx(elpd, abs=0.01)
        assert table["credibility"][m] == pytest.approx(posterior[same[:, m]].sum(), abs=0.01)


def test_standard_errors_cover_the_errors(rng):
    """Of 300 constraints about pairs that are together in three draws of ten, independently."""
    share, m = 0.3, 300
    z = np.tile(np.arange(2 * m), (2, 200, 1))
    z[..., 1::2] -= rng.random((2, 200, m)) < share
    links = bc.PairwiseConstraints(np.arange(2 * m).reshape(m, 2), np.ones(m, bool), n_items=2 * m)
    table = bc.constraint_credibility(to_datatree({"z": z}, constraints=[links]))
    expected = np.sqrt(share * (1 - share) / 400)
    assert table["mcse"].mean() == pytest.approx(expected, rel=0.05)
    covered = (abs(table["credibility"] - share) < 2 * table["mcse"]).mean()
    assert covered == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / m))


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


HALVES = np.repeat([0, 1], 20)


def tree(z, links, p, q):
    shape = (*z.shape[:2], links.n_sources)
    noise = {"p": np.broadcast_to(p, shape), "q": np.broadcast_to(q, shape)}
    return to_datatree({"z": z} | noise, constraints=[links])


def test_conflicts_agree_with_enumeration():
    """Odds of 3 for every right answer: partitions as often as their posterior says."""
    every = partitions(4)
    pairs, same = [(0, 1), (1, 2), (2, 3), (0, 3)], [True, True, False, True]
    links = bc.PairwiseConstraints(pairs, same, n_items=4, source=range(4))
    right = links.truths(every) == links.answers
    draws = np.repeat(every, 3 ** right.sum(axis=1), axis=0)
    posterior = tree(draws[None], links, 0.75, 0.75)
    table = bc.view_conflict(posterior)
    for i in range(4):
        rest = 3.0 ** np.delete(right, i, axis=1).sum(axis=1)
        share = float(rest[links.truths(every)[:, i] == 1].sum() / rest.sum())
        p = np.array([0.25 * share + 0.75 * (1 - share), 0.75 * share + 0.25 * (1 - share)])
        assert table["elpd_loo"][i] == pytest.approx(np.log(p[int(same[i])]))
        assert table["expected"][i] == pytest.approx(p @ np.log(p))
    by_answer = bc.constraint_credibility(posterior)["elpd_loo"]
    np.testing.assert_allclose(table["elpd_loo"], by_answer)


def test_z_scores_are_standard_where_the_rest_is_right(rng):
    pairs = np.concatenate([bc.PairwiseConstraints.sample(HALVES, size=120, seed=0).items] * 200)
    source = np.repeat(np.arange(200), 120)
    asked = bc.PairwiseConstraints(pairs, np.zeros(len(pairs), bool), 40, source=source)
    noise = {"p": np.full(200, 0.9), "q": np.full(200, 0.8)}
    links = asked.simulate(HALVES, noise, rng)
    table = bc.view_conflict(tree(np.tile(HALVES, (1, 4, 1)), links, 0.9, 0.8))
    assert abs(table["z_score"].mean()) < 4 / np.sqrt(200)
    assert table["z_score"].std() == pytest.approx(1, abs=0.2)
    assert (table["finding"] == "agrees").mean() > 0.97


def test_gain_over_marginal_by_hand():
    links = bc.PairwiseConstraints([(0, 1), (0, 20), (0, 21)], [True, False, False], n_items=40)
    (row,) = bc.view_conflict(tree(np.tile(HALVES, (1, 2, 1)), links, 0.9, 0.8)).to_dict("records")
    # "same" was given by none of the two others, "different" by one; one of each is added
    marginal = np.log([1 / 4, 2 / 4, 2 / 4]).mean()
    assert row["elpd_loo"] == pytest.approx(np.log([0.9, 0.8, 0.8]).mean())
    assert row["gain_over_marginal"] == pytest.approx(row["elpd_loo"] - marginal)
    entropies = [p * np.log(p) + (1 - p) * np.log(1 - p) for p in (0.9, 0.8, 0.8)]
    assert row["expected"] == pytest.approx(np.mean(entropies))


def test_sources_agree_conflict_or_are_uninformative(rng):
    pairs = bc.PairwiseConstraints.sample(HALVES, size=90, seed=0).items
    right = HALVES[pairs[:, 0]] == HALVES[pairs[:, 1]]
    answers = np.concatenate([right[:30], ~right[30:60], (rng.random(90) < 0.5)[60:]])
    links = bc.PairwiseConstraints(pairs, answers, 40, source=np.repeat([0, 1, 2], 30))
    table = bc.view_conflict(
        tree(np.tile(HALVES, (1, 3, 1)), links, [0.9, 0.9, 0.5], [0.9, 0.9, 0.5])
    )
    assert table["finding"].tolist() == ["agrees", "conflicts with the rest", "is uninformative"]
    assert table["answers"].tolist() == [30, 30, 30]


def test_low_credibilities_come_with_a_caution_unless_the_draws_are_trusted():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    tree = to_datatree({"z": [[[0, 0, 1], [0, 0, 1]]]}, constraints=[links])
    with warnings.catch_warnings(action="error", category=DiagnosisWarning):
        bc.constraint_credibility(tree)
    tree.attrs["diagnosis"] = "No: the constraints contradict the model."
    with pytest.warns(DiagnosisWarning, match="below 0.05 may be right .*: No: the constraints"):
        bc.constraint_credibility(tree)
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=3)
    tree = to_datatree({"z": [[[0, 0, 1], [0, 0, 1]]]}, constraints=[links])
    tree.attrs["diagnosis"] = "No."
    with warnings.catch_warnings(action="error", category=DiagnosisWarning):
        bc.constraint_credibility(tree)


@pytest.mark.parametrize(
    ("prior", "discount", "concentration"),
    [
        (None, 0.0, (1.0, 1.0)),
        ("DirichletProcess(concentration=(3.0, 0.5), log_fixed=None)", 0.0, (3.0, 0.5)),
        ("DirichletProcess(concentration=(0.05, 0.05), log_fixed=None)", 0.0, (0.05, 0.05)),
        (
            "Nested(among=DirichletProcess(concentration=(1.0, 1.0), log_fixed=None), within="
            "PitmanYor(discount=0.9, concentration=9.0))",
            0.0,
            (1.0, 1.0),
        ),
        ("PitmanYor(discount=0.3, concentration=(1.0, 1.0))", 0.3, (1.0, 1.0)),
        (
            "Nested(among=PitmanYor(discount=(1.0, 3.0), concentration=1.0), within="
            "DirichletProcess(concentration=(1.0, 10.0), log_fixed=None))",
            (1.0, 3.0),
            1.0,
        ),
    ],
)
def test_bayes_factors_are_over_the_prior_of_the_fit(asked, prior, discount, concentration):
    """By the probabilities that the prior gives to partitions of two and three items."""
    z = np.zeros((1, 4, 15), int)
    z[0, 0, :] = np.arange(15)  # all together in three draws of four, all apart in one
    # what the data say of the parameters is no matter
    draws = {"z": z, "concentration": np.array([[0.01, 0.02, 0.1, 0.01]])}
    if prior is not None and "Pitman" in prior:
        draws["discount"] = np.full((1, 4), 0.9)
    settings = {"settings": {"partition_prior": prior}}
    table = bc.constraint_credibility(to_datatree(draws, constraints=asked, attrs=settings))
    rng, size = np.random.default_rng(0), 20_000
    discounts, concentrations = [discount] * size, [concentration] * size
    if isinstance(discount, tuple):
        discounts = rng.beta(*discount, size)
    if isinstance(concentration, tuple):
        concentrations = rng.gamma(concentration[0], 1 / concentration[1], size)
    values = list(zip(discounts, concentrations, strict=True))

    def share(*sizes):
        process = PitmanYor(0.5, 1.0)
        named = [{"discount": s, "concentration": t} for s, t in values]
        return np.mean([np.exp(process.log_prob(np.array(sizes), value)) for value in named])

    together = share(2)
    yes = share(2, 1)  # j joins i and k opens a cluster
    prior = {"same": together, "different": 1 - together, "yes": yes, "no": yes, "dnk": 1 - 2 * yes}
    right = {"same": 3, "different": 1, "yes": 0, "no": 0, "dnk": 4}
    for row in table.itertuples():
        p, times = prior[row.answer], right[row.answer]
        expected = (times + 0.5) / (4.5 - times) / (p / (1 - p))
        # the error of 20,000 draws of the prior is a hundredth of the odds at most
        assert row.bayes_factor == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    "prior",
    [
        "PitmanYor(discount=np.float64(0.3), concentration=1.0)",
        "KnownK(gamma=1.0, n_clusters=3)",
        "finite_mixtures",
        "Own(2)",
    ],
)
def test_other_priors_give_no_bayes_factor(asked, prior):
    tree = to_datatree(
        {"z": np.zeros((1, 4, 15), int), "concentration": np.ones((1, 4))},
        constraints=asked,
        attrs={"settings": {"partition_prior": prior}},
    )
    assert "bayes_factor" not in bc.constraint_credibility(tree)


LEFT_OUT = ("credibility_loo", "elpd_loo")


@pytest.mark.parametrize("name", ["DCRC", "DCRC gibbs", "classifier", "variational"])
def test_draws_that_constraints_moved_otherwise_leave_nothing_out(name, tmp_path, monkeypatch):
    """Weights that were fitted to an answer know it, whatever weights the draws get."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 4.0 * y[:, None]
    links = bc.PairwiseConstraints.sample(y, size=60, error_rate=0.1, seed=0)
    taken = Choice("classifier", 1.0, "logistic", 2, n_classes=2)
    monkeypatch.setattr(cluster_models, "choose", lambda *_: (taken, None))
    short = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "random_state": 0}
    est = {
        "DCRC": bc.DCRC(2, random_state=0),
        "DCRC gibbs": bc.DCRC(2, inference="gibbs", **short),
        "classifier": bc.TVClust(progress=False, **short),
        "variational": bc.TVClust("variational", cluster_model="single", random_state=0),
    }[name]
    est.fit(X, constraints=links)
    assert getattr(est, "cluster_model_", name) in {name, "single"}
    table = bc.constraint_credibility(est)
    assert "credibility" in table
    assert not table.columns.isin(LEFT_OUT).any()
    assert (bc.source_reliability(est)["answers"] > 0).all()
    why = "a mean field has" if name == "variational" else "the weights were fitted"
    for refused in (bc.view_conflict, bc.plots.calibration):
        with pytest.raises(ValueError, match=f"left out of these draws by weights, since {why}"):
            refused(est)
    bc.write_report(est, tmp_path / "page.html")
    sampled = bc.TVClust(cluster_model="single", progress=False, **short).fit(X, constraints=links)
    assert bc.constraint_credibility(sampled).columns.isin(LEFT_OUT).sum() == 2
