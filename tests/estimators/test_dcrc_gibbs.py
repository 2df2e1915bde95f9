"""DCRC's chains as users call them."""

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

import bayesclust as bc

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


@pytest.fixture(scope="module")
def fitted(data, answers):
    return bc.DCRC(3, noise="learn", **SHORT).fit(data.X, constraints=answers)


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
    assert "noise" in " ".join(bc.diagnose(tree).table.index)
    assert "log_likelihood" in bc.constraint_log_likelihood(tree).children


def test_free_items_follow_the_classifier_of_the_mode(data, answers):
    est = bc.DCRC(3, **SHORT).fit(data.X, constraints=answers[:1])
    free = np.setdiff1d(np.arange(90), answers[0].items)
    np.testing.assert_allclose(est.proba_[free], est.predict_proba(data.X[free]))


def test_without_answers_and_with_a_kernel(data):
    short = SHORT | {"num_warmup": 10, "num_samples": 10}
    est = bc.DCRC(2, kernel="rbf", **short).fit(data.X[:30])
    assert est.confusion_ == {}
    assert est.predict_proba(data.X[30:33]).shape == (3, 2)


def test_a_longer_run_goes_on_from_a_checkpoint(data, answers, tmp_path):
    est = bc.DCRC(3, noise="learn", **SHORT | {"num_warmup": 6, "num_samples": 5})
    est.fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
    longer = (
        clone(est)
        .set_params(num_samples=12)
        .fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
    )
    whole = clone(est).set_params(num_samples=12).fit(data.X, constraints=answers)
    xr.testing.assert_identical(
        whole.posterior_["posterior"].to_dataset(), longer.posterior_["posterior"].to_dataset()
    )
    np.testing.assert_array_equal(longer.labels_, whole.labels_)
    with pytest.raises(ValueError, match=r"of another run, with other tau: give another path"):
        clone(est).set_params(tau=0.5).fit(data.X, constraints=answers, checkpoint=tmp_path / "run")


def test_mean_field_has_no_checkpoint(data, answers, tmp_path):
    with pytest.raises(ValueError, match=r"inference='variational_em' has none: leave it out"):
        bc.DCRC(3, **QUICK).fit(data.X, constraints=answers, checkpoint=tmp_path / "run")
