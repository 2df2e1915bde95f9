"""scikit-learn's own checks on every estimator, and on settings that its defaults do not reach."""

import inspect

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
@pytest.mark.filterwarnings("ignore::bayesclust.posterior.DiagnosisWarning")
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
