"""scikit-learn's own checks on every estimator, and on settings that its defaults do not reach."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

import bayesclust as bc

TINY = {"num_chains": 1, "num_warmup": 2, "num_samples": 3, "progress": False, "random_state": 0}
SETTLED = {**TINY, "num_warmup": 50, "num_samples": 20}
"""For what is to find blobs and within five sweeps has found none from one start in twelve."""
NOT_OF_CLUSTERERS = {
    f"check_estimator_sparse_{kind}": "asks what has predict_proba for the tags of a classifier"
    for kind in ("array", "matrix")
}
QUICK = [
    bc.TVClust(**TINY),
    bc.DCRC(2, n_init=3, random_state=0, n_jobs=1),
    bc.RDPMeans(divergence="mahalanobis"),
    bc.RDPMeans(cluster_model="mixture", n_clusters=3, n_init=2),
    bc.DPMeans(n_clusters=3, divergence="standardized"),
    bc.SpectralRDPMeans(n_clusters=3, max_clusters=4),
    bc.MPCKMeans(metric="full", per_cluster=True, random_state=0),
    bc.MPCKMeans(metric="euclidean", max_iter=0, random_state=0),
    bc.MinimalModification(),
]
SLOW = [
    bc.TVClust("blocked", **TINY),
    bc.TVClust(bc.VariationalSettings(n_init=1), **TINY),
    bc.TVClust(cluster_model="mixture", **SETTLED),
    bc.DCRC(2, inference="gibbs", **TINY),
]


def test_every_estimator_is_among_those_that_are_checked():
    public = [getattr(bc.estimators, name) for name in bc.estimators.__all__]
    classes = {value for value in public if inspect.isclass(value)}
    assert {type(one) for one in QUICK} == {c for c in classes if issubclass(c, BaseEstimator)}


@pytest.mark.filterwarnings("ignore::bayesclust.families.TiedColumnsWarning")  # of its zeros
@pytest.mark.parametrize(
    "estimator",
    [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)],
    ids=lambda one: repr(one)[:60],
)
def test_scikit_learn_accepts_it(estimator):
    expected = NOT_OF_CLUSTERERS if hasattr(estimator, "predict_proba") else {}
    results = check_estimator(
        estimator, on_fail=None, on_skip=None, expected_failed_checks=expected
    )
    failed = [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"]
    assert failed == []
    assert len(results) > 30


X = np.random.default_rng(0).normal(size=(30, 2)) + 9.0 * (np.arange(30) % 2)[:, None]


def squares(centers):
    return np.square(X[:, None] - centers).sum(axis=2)


def nearest_components(est):
    each = squares(est.component_centers_)
    own = [each[:, est.component_clusters_ == k] for k in range(est.n_clusters_)]
    return np.stack([one.min(axis=1) for one in own], axis=1)


DISTANCES = [
    (bc.RDPMeans(40.0), lambda est: squares(est.cluster_centers_)),
    (bc.RDPMeans(cluster_model="mixture", within_penalty=2.0), nearest_components),
    (
        bc.MPCKMeans(2, metric="euclidean", random_state=0),
        lambda est: squares(est.cluster_centers_),
    ),
]


@pytest.mark.parametrize(("est", "expected"), DISTANCES)
def test_items_are_transformed_to_their_distances_from_clusters(est, expected):
    links = bc.PairwiseConstraints.from_lists([(0, 2), (1, 3), (4, 6)], [(0, 1)], n_items=30)
    table = est.set_output(transform="pandas").fit_transform(X, constraints=links)
    name = type(est).__name__.lower()
    assert table.columns.tolist() == [f"{name}{k}" for k in range(est.n_clusters_)]
    distances = expected(est)
    np.testing.assert_allclose(table, distances)
    np.testing.assert_array_equal(est.predict(X), distances.argmin(axis=1))
    assert est.score(X) == pytest.approx(-distances.min(axis=1).sum())


def test_a_classifier_transforms_items_to_probabilities():
    est = bc.DCRC(3, n_init=3, random_state=0).fit(X)
    np.testing.assert_array_equal(est.transform(X), est.predict_proba(X))
    assert est.get_feature_names_out().tolist() == ["dcrc0", "dcrc1", "dcrc2"]
