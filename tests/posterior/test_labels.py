"""Class labels in draws: classes of items, credibility, reliability and checks, by plain loops."""

import warnings
from copy import copy

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

import bayesclust as bc
from bayesclust.comparison import _labels_given
from bayesclust.constraints import LabelNoise
from bayesclust.models.joint import log_data
from bayesclust.posterior.diagnosis import DiagnosisWarning
from bayesclust.posterior.tree import stored_constraints, to_datatree
from tests.exactness.exact import log_labels

ROWS = [(0, "cat"), (0, "dog"), (1, "cat"), (4, "dog"), (5, "dog"), (5, "dog")]
NOISE = LabelNoise(none=0.2)
N = 7


@pytest.fixture
def labels():
    return bc.LabelConstraints(
        ROWS, N, source=["ann", "bob", "bob", "ann", "ann", "bob"], noise=NOISE
    )


@pytest.fixture
def tree(rng, labels):
    z = rng.integers(0, 3, (2, 10, N))
    noise = {"accuracy": rng.random((2, 10, 2)), "confusion": rng.dirichlet([1, 1], (2, 10, 2, 3))}
    dims = {"accuracy": ("label_source",), "confusion": ("label_source", "class", "class_label")}
    return to_datatree({"z": z, **noise}, constraints=[labels], dims=dims)


def plain_shares(labels, z, confusion, item, without=None):
    """Probability of each class of an item's cluster, maybe without one of the labels."""
    p = np.array([0.4, 0.4, 0.2])
    for m, (other, source, answer) in enumerate(
        zip(labels.items[:, 0], labels.source, labels.answers, strict=True)
    ):
        if z[other] == z[item] and m != without:
            p = p * confusion[source, :, answer]
    return p / p.sum()


def each_draw(tree):
    draws = tree["posterior"]
    z = draws["z"].values.reshape(-1, N)
    return list(zip(z, draws["confusion"].values.reshape(-1, 2, 3, 2), strict=True))


def test_credibility_is_that_of_plain_loops(tree, labels):
    table = bc.constraint_credibility(tree)
    assert table["answer"].tolist() == [word for _, word in ROWS]
    assert table["source"].tolist() == ["ann", "bob", "bob", "ann", "ann", "bob"]
    for m, row in table.iterrows():
        item, source, answer = labels.items[m, 0], labels.source[m], labels.answers[m]
        whole = [plain_shares(labels, z, c, item) for z, c in each_draw(tree)]
        rest = [plain_shares(labels, z, c, item, m) for z, c in each_draw(tree)]
        p = [own @ c[source, :, answer] for own, (_, c) in zip(rest, each_draw(tree), strict=True)]
        right = np.average([own[answer] for own in rest], weights=1 / np.array(p))
        assert row["credibility"] == pytest.approx(np.mean(whole, axis=0)[answer])
        assert row["credibility_loo"] == pytest.approx(right)
        assert row["elpd_loo"] == pytest.approx(-np.log(np.mean(1 / np.array(p))))
        assert row["likely"] == ["cat", "dog", "none"][np.mean(whole, axis=0).argmax()]


def test_reliability_counts_wrong_labels(tree, labels):
    table = bc.source_reliability(tree).set_index(["source", "parameter"])
    wrong = np.zeros(2)
    for m in range(len(labels)):
        shares = [plain_shares(labels, z, c, labels.items[m, 0]) for z, c in each_draw(tree)]
        wrong[labels.source[m]] += 1 - np.mean(shares, axis=0)[labels.answers[m]]
    found = [table.loc[(name, "accuracy"), "wrong"] for name in ("ann", "bob")]
    np.testing.assert_allclose(found, wrong)
    matrix = tree["posterior"]["confusion"].mean(("chain", "draw")).values
    assert table.loc[("bob", "confusion[none, dog]"), "mean"] == pytest.approx(matrix[1, 2, 1])


def test_log_likelihood_is_of_each_label_given_the_others(tree, labels):
    value = bc.constraint_log_likelihood(tree)["log_likelihood"]["label"].values.reshape(-1, 6)
    for s, (z, c) in enumerate(each_draw(tree)):
        rest = plain_shares(labels, z, c, 0, 1)
        assert value[s, 1] == pytest.approx(np.log(rest @ c[1, :, 1]))


def test_checks_conflicts_and_files_take_labels(tree, labels, tmp_path):
    assert set(bc.view_conflict(tree)["source"]) == {"ann", "bob"}
    checks = bc.constraint_ppc(tree, seed=0)
    assert {"disagreements", "wrong answers"} <= set(checks["check"])
    tree.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as kept:
        again = bc.constraint_credibility(kept)
        (stored,) = stored_constraints(kept)
    assert again.equals(bc.constraint_credibility(tree))
    assert stored.vocabulary == ("cat", "dog")
    assert stored.class_weights == labels.class_weights == (0.4, 0.4, 0.2)


def test_predictive_checks_of_labels_are_calibrated(rng):
    """Labels from the model at known parameters are as expected; twins of one another are not."""
    z = np.tile(np.repeat([0, 1], 50), (1, 200, 1))
    confusion = np.array([[[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]] * 2)
    params = {"accuracy": np.full(2, 0.8), "confusion": confusion}
    rows = [(i, 0) for i in range(100)] * 2
    asked = bc.LabelConstraints(rows, 100, source=np.repeat([0, 1], 100), classes=[0, 1])
    made = asked.simulate(z[0, 0], params, rng)
    twins = made.with_answers(np.tile(made.answers[:100], 2))
    drawn = {
        "z": z,
        "confusion": np.tile(confusion, (1, 200, 1, 1, 1)),
        "accuracy": z[..., :2] * 0.8,
    }
    found = {}
    for name, given in (("made", made), ("twins", twins)):
        table = bc.constraint_ppc(to_datatree(drawn, constraints=[given]), seed=1)
        found[name] = table.set_index("check").loc["disagreements", "finding"]
    assert found == {"made": "as expected", "twins": "less than the noise model expects"}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(0, 1, (60, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[y]
    labels = bc.LabelConstraints.sample(y, size=12, n_sources=2, per_item=2, error_rate=0.1, seed=0)
    links = bc.PairwiseConstraints.sample(y, size=20, seed=0)
    short = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "random_state": 0}
    est = bc.TVClust(cluster_model="single", progress=False, **short)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X, y, est.fit(X, constraints=[links, labels])


def test_items_are_classified(fitted):
    X, y, est = fitted
    proba = est.predict_label_proba()
    assert (proba.to_numpy().argmax(axis=1) == y).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    with_none = est.predict_label_proba(none=True)
    assert list(with_none) == ["0", "1", "2", "none"]
    np.testing.assert_allclose(with_none.sum(axis=1), 1)
    np.testing.assert_allclose(
        with_none.to_numpy()[:, :3] / (1 - with_none[["none"]].to_numpy()), proba
    )
    new = est.predict_label_proba(X + 0.01)
    np.testing.assert_allclose(new, proba, atol=0.1)
    far = est.predict_label_proba([[1e6, 1e6]], none=True)  # a cluster of its own
    assert (far.to_numpy() >= [0.029, 0.029, 0.029, 0.099]).all()


@pytest.mark.parametrize("sampler", ["variational", "blocked"])
def test_other_samplers_take_labels_as_evidence(fitted, sampler):
    X, y, est = fitted
    other = clone(est).set_params(sampler=sampler)
    labels = bc.LabelConstraints.sample(y, size=12, n_sources=2, per_item=2, error_rate=0.1, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.fit(X, constraints=labels)
    assert (other.predict_label_proba().to_numpy().argmax(axis=1) == y).all()
    table = bc.source_reliability(other)
    assert (table.loc[table["parameter"] == "accuracy", "mean"] > 0.6).all()


def test_labels_are_held_out_as_labels(fitted):
    X, y, est = fitted
    labels = bc.LabelConstraints.sample(y, size=12, n_sources=2, per_item=2, error_rate=0.0, seed=0)
    wrong = labels.with_answers(np.roll(labels.answers, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bc.cross_validate(clone(est), X, labels, n_folds=4, random_state=0)
        left = bc.leave_view_out(clone(est).fit(X, constraints=labels), X, labels)
        against = bc.leave_view_out(clone(est).fit(X, constraints=wrong), X, wrong)
    assert table["answers"].tolist() == [6, 6, 6, 6]
    assert table["satisfied"].mean() > 0.9
    assert np.log(0.5) < table["log_score"].mean() < 0
    assert left.loc["label", "finding"] == "agrees with the rest"
    assert left.loc["label", ["right_with", "right_without"]].min() > 0.9
    assert against.loc["label", "finding"] == "conflicts with the rest"


def test_the_bound_on_labels_given_a_partition_is_close(rng):
    z = np.array([0, 1, 0, 2, 1, 0, 1])
    for source in ([0] * 6, [0, 1, 1, 0, 0, 1]):
        labels = bc.LabelConstraints(ROWS, N, source=source, noise=NOISE)
        _, value = _labels_given(labels, z)
        exact = log_labels(labels, z)
        assert exact - 1 < value < exact


def test_a_cluster_without_labels_is_of_the_classes_its_items_would_join(fitted):
    """One term of a draw at a time, by log densities of whole partitions."""
    X, *_ = fitted
    labels = bc.LabelConstraints([(0, 0), (1, 0), (20, 1), (21, 0)], 60, noise=NOISE)
    short = {"num_chains": 2, "num_warmup": 20, "num_samples": 20, "random_state": 0}
    est = bc.TVClust(cluster_model="single", progress=False, **short)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est.fit(X, constraints=labels)
    draws = est.spread_draws(100)
    confusion = est.posterior_["posterior"]["confusion"].values.reshape(-1, 1, 3, 2)
    value = np.zeros((60, 3))
    for z, hyper, own in zip(draws.z, draws.hyper, confusion, strict=True):
        shares = {}
        for k in set(z[[0, 1, 20, 21]]):
            p = np.array([0.4, 0.4, 0.2])
            for item, label in labels.rows:
                p = p * (own[0, :, label] if z[item] == k else 1)
            shares[k] = p / p.sum()
        others = {}
        for k in set(z) - set(shares):
            near = []
            for i in np.flatnonzero(z == k):
                weight = {}
                for joined in shares:
                    moved = z.copy()
                    moved[i] = joined
                    size = np.sum(z == joined)
                    weight[joined] = np.log(size) + log_data(moved, draws.family, hyper)
                top = max(weight.values())
                p = {joined: np.exp(at - top) for joined, at in weight.items()}
                classes = sum(p[j] * shares[j][:2] for j in p)
                near.append(classes / classes.sum())
            found = 0.8 * np.mean(near, axis=0) + 0.2 / 2
            others[k] = np.append(0.8 * found, 0.2)
        shares |= others
        value += [shares[k] for k in z]
    assert any(len(set(z)) > len(set(z[[0, 1, 20, 21]])) for z in draws.z)
    found = est.predict_label_proba(none=True)
    np.testing.assert_allclose(found, value / len(draws.z), atol=1e-6)


def test_links_and_labels_are_read_together(fitted):
    _, _, est = fitted
    table = bc.constraint_credibility(est)
    assert table.loc[table["view"] == "label", "j"].isna().all()
    assert table["j"].dtype == "Int64"
    assert not hasattr(est, "log_joint")  # which has no closed form
    assert bc.compare({"fit": est, "one": np.zeros(60, int)})["n_clusters"].tolist() == [3, 1]
    assert est.to_arviz()["prior"]["confusion"].shape[2:] == (2, 4, 3)


def test_a_fit_without_labels_has_no_classes(fitted):
    X, *_ = fitted
    other = bc.LabelConstraints([(0, 0), (30, 1)], 60, noise=bc.LinkNoise())
    without = bc.TVClust(
        cluster_model="single", num_chains=2, num_warmup=5, num_samples=5, progress=False
    )
    with pytest.warns(DiagnosisWarning):
        without.fit(X, constraints=other)
    with pytest.raises(ValueError, match="this fit had no labels as evidence"):
        without.predict_label_proba()


def test_further_labels_add_to_those_of_a_fit(fitted):
    X, _, est = fitted
    one = bc.LabelConstraints([(0, "a"), (20, "b")], 60, source=["ann", "bob"], noise=NOISE)
    short = {"num_chains": 2, "num_warmup": 20, "num_samples": 10, "random_state": 0}
    again = bc.TVClust(cluster_model="single", progress=False, **short).fit(X, constraints=one)
    more = bc.LabelConstraints([(1, "b")], 60, source=["bob"], noise=NOISE)
    table = bc.constraint_credibility(again.extend(constraints=more))
    assert table[["i", "answer", "source"]].to_numpy().tolist() == [
        [0, "a", "ann"],
        [20, "b", "bob"],
        [1, "b", "bob"],
    ]
    other = bc.LabelConstraints([(1, "c")], 60, source=["bob"], noise=NOISE)
    with pytest.raises(ValueError, match="have the label 'c', and the classes of the fit are"):
        again.extend(constraints=other)
    with pytest.raises(ValueError, match="'label' and 'label_2' are labels: put all annotators"):
        clone(est).fit(X, constraints=[one, copy(one)])
