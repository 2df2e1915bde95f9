"""DCRC's chains as users call them."""

import numpy as np
import pytest
from sklearn.base import clone

import bayesclust as bc
from bayesclust.inference.dcrc.gibbs import class_shares, match_classes

QUICK = {"n_init": 3, "random_state": 0, "n_jobs": 1, "progress": False}
SHORT = {"inference": "gibbs", "num_chains": 2, "num_warmup": 60, "num_samples": 80, **QUICK}


@pytest.fixture(scope="module")
def data():
    return bc.datasets.make_mixture(90, 2, 3, separation=12.0, seed=1)


@pytest.fixture(scope="module")
def answers(data):
    triplets = bc.RelativeConstraints.sample(data.y, size=60, error_rate=0.1, n_sources=2, seed=2)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.01, error_rate=0.1, seed=5)
    return [triplets, links]


@pytest.fixture(scope="module", params=["mode", "sample"])
def fitted(request, data, answers):
    return bc.DCRC(3, noise="learn", weights=request.param, **SHORT).fit(
        data.X, constraints=answers
    )


def test_attributes_belong_together(fitted, data, answers):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert sorted(set(fitted.labels_)) == list(range(fitted.n_clusters_))
    assert (fitted.proba_.argmax(axis=1) == fitted.labels_).all()
    np.testing.assert_allclose(fitted.proba_.sum(axis=1), 1.0)
    # the classifier's clusters are those of the labels
    assert (fitted.predict(data.X) == fitted.labels_).mean() > 0.9
    assert fitted.coef_.shape == (3, 2)
    assert fitted.intercept_.shape == (3,)
    assert (np.diff(fitted.objective_path_) >= -1e-9).all()


def test_draws_agree_with_the_attributes(fitted):
    draws = fitted.posterior_["posterior"]
    assert draws["noise"].dims == ("chain", "draw", "triplets_source")
    rates = draws["noise"].values
    np.testing.assert_allclose(1 - fitted.confusion_["triplets"][:, 0, 0], rates.mean(axis=(0, 1)))
    together = fitted.proba_ @ fitted.proba_.T
    assert np.abs(bc.similarity_matrix(fitted) - together)[~np.eye(90, dtype=bool)].max() < 0.25
    if fitted.weights == "sample":
        W = fitted.posterior_["classifier"]["W"]
        assert W.dims == ("chain", "draw", "cluster", "coefficient")
        np.testing.assert_allclose(W.mean(("chain", "draw"))[:, :2], fitted.coef_)
        assert draws["precision"].dims == ("chain", "draw")


def test_summaries_take_the_posterior(fitted, answers):
    tree = fitted.posterior_
    assert bc.point_estimate(tree).shape == (90,)
    assert bc.credible_ball(tree, fitted.labels_).radius >= 0
    credible = bc.constraint_credibility(tree)
    assert len(credible) == sum(map(len, answers))
    wrong = credible["credibility"][:60][answers[0].flipped]
    assert wrong.mean() < 0.5 < credible["credibility"][:60][~answers[0].flipped].mean()
    reliable = bc.source_reliability(tree)
    assert list(reliable["parameter"]) == ["noise", "noise", "p", "q"]
    report = bc.diagnose(tree)
    assert not any(name.startswith("W") for name in report.table.index)
    assert "log_likelihood" in bc.constraint_log_likelihood(tree).children
    assert "accept_rate" in tree["sample_stats"] or fitted.weights == "mode"


def test_free_items_follow_the_classifier_of_the_mode(data, answers):
    est = bc.DCRC(3, **SHORT).fit(data.X, constraints=answers[:1])
    free = np.setdiff1d(np.arange(90), answers[0].items)
    np.testing.assert_allclose(est.proba_[free], est.predict_proba(data.X[free]))


def test_without_answers_and_with_a_kernel(data):
    for weights in ("mode", "sample"):
        est = bc.DCRC(
            2, kernel="rbf", weights=weights, **SHORT | {"num_warmup": 10, "num_samples": 10}
        ).fit(data.X[:30])
        assert est.confusion_ == {}
        assert est.predict_proba(data.X[30:33]).shape == (3, 2)


def draws_of(est):
    tree = est.posterior_
    found = {name: values.values for name, values in tree["posterior"].to_dataset().items()}
    return found | ({"W": tree["classifier"]["W"].values} if "classifier" in tree.children else {})


@pytest.mark.parametrize("weights", ["mode", "sample"])
def test_a_longer_run_goes_on_from_a_checkpoint(data, answers, tmp_path, weights):
    est = bc.DCRC(3, noise="learn", weights=weights, **SHORT | {"num_warmup": 6, "num_samples": 5})
    est.fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
    longer = (
        clone(est)
        .set_params(num_samples=12)
        .fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
    )
    whole = clone(est).set_params(num_samples=12).fit(data.X, constraints=answers)
    for name, values in draws_of(whole).items():
        np.testing.assert_array_equal(values, draws_of(longer)[name], err_msg=name)
    np.testing.assert_array_equal(longer.labels_, whole.labels_)
    with pytest.raises(ValueError, match=r"of another run, with other tau: give another path"):
        clone(est).set_params(tau=0.5).fit(data.X, constraints=answers, checkpoint=tmp_path / "run")


def test_classes_are_matched(rng):
    """Draws of one noisy labeling under random numberings come back to one numbering."""
    truth = rng.integers(3, size=200)
    numbering = np.array([rng.permutation(3) for _ in range(50)])
    noisy = np.where(rng.random((50, 200)) < 0.2, rng.integers(3, size=(50, 200)), truth)
    z = np.take_along_axis(np.argsort(numbering, axis=1), noisy, axis=1)
    matched = match_classes(z, rng.integers(3, size=200), 3)
    relative = np.take_along_axis(matched, np.argsort(numbering, axis=1), axis=1)
    assert (relative == relative[0]).all()
    shares = class_shares(z, matched)
    assert bc.metrics.adjusted_rand(shares.argmax(axis=1), truth) == 1.0
    expected = np.stack([(noisy == k).mean(axis=0) for k in range(3)], axis=1)
    columns = [shares[truth == k].sum(axis=0).argmax() for k in range(3)]
    np.testing.assert_allclose(shares[:, columns], expected)


EM = {"inference": "variational_em"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"weights": "map"}, 'weights must be "mode" or "sample"; got'),
        ({"weights": "sample"} | EM, 'weights="sample" needs chains'),
        ({"noise": 0.0}, "noise=0.0 makes answers binding"),
        ({"temperature": 0.5}, "temperature=0.5 is of the mean field"),
        ({"weights": "sample", "penalty": 0.0}, "penalty=0 leaves the weights without a prior"),
    ],
)
def test_bad_settings(data, answers, settings, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        bc.DCRC(3, **SHORT | settings).fit(data.X, constraints=answers)
    assert str(caught.value).startswith(words)


def test_mean_field_has_no_checkpoint(data, answers, tmp_path):
    with pytest.raises(ValueError, match=r"inference='variational_em' has none: leave it out"):
        bc.DCRC(3, **QUICK).fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
