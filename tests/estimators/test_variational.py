"""TVClust by mean field as an estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import bayesclust as bc
from bayesclust.inference.variational.fit import VariationalSettings

SHORT = {"sampler": "variational", "num_chains": 2, "num_samples": 30, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return bc.datasets.make_mixture(60, 2, 3, separation=20.0, seed=1)


@pytest.fixture(scope="module")
def views(data):
    links = bc.PairwiseConstraints.sample(
        data.y, fraction=0.05, error_rate=[0.0, 0.3], n_sources=2, seed=2
    )
    triplets = bc.RelativeConstraints.sample(data.y, size=40, error_rate=0.1, seed=4)
    return [links, triplets.with_noise(bc.ConfusionNoise())]


@pytest.fixture(scope="module")
def fitted(data, views):
    return bc.TVClust(**SHORT).fit(data.X, constraints=views)


def test_scikit_learn_accepts_it():
    variational = VariationalSettings(n_init=1, n_refined=1)
    failed = [
        (result["check_name"], result["exception"])
        for result in check_estimator(
            bc.TVClust(**(SHORT | {"sampler": variational})), on_fail=None, on_skip=None
        )
        if result["status"] == "failed"
    ]
    assert failed == []


def test_labels_responsibilities_and_bound_belong_together(fitted, data):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert sorted(set(fitted.labels_)) == list(range(fitted.n_clusters_))
    assert np.array_equal(fitted.responsibilities_.argmax(axis=1), fitted.labels_)
    np.testing.assert_allclose(fitted.responsibilities_.sum(axis=1), 1.0)
    assert fitted.bound_ == fitted.bound_path_[-1]
    assert fitted.converged_


def test_posterior_serves_what_samplers_serve(fitted, data, views):
    posterior = fitted.posterior_["posterior"]
    assert posterior["z"].shape == (2, 30, 60)
    assert posterior["p"].dims == ("chain", "draw", "links_source")
    assert posterior["confusion"].shape == (2, 30, 1, 3, 3)
    assert {"concentration", "base_scale"} <= set(posterior.data_vars)
    assert len(bc.constraint_credibility(fitted)) == sum(map(len, views))
    assert bc.similarity_matrix(fitted.posterior_).shape == (60, 60)
    assert np.array_equal(bc.point_estimate(fitted.posterior_), fitted.labels_)


def test_bound_is_in_the_users_units(fitted, data, views):
    """Halving every unit doubles the numbers and makes each of the n d of them half as dense."""
    scaled = clone(fitted).fit(2.0 * data.X, constraints=views)
    assert scaled.bound_ == pytest.approx(fitted.bound_ - data.X.size * np.log(2.0), rel=1e-9)


def test_starts_where_it_is_told(data):
    found = bc.TVClust(**SHORT).fit(data.X, init=np.zeros(60, int))
    assert bc.metrics.adjusted_rand(found.labels_, data.y) > 0.9
