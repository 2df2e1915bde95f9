"""scikit-learn's own checks on every estimator, and on samplers that its defaults do not reach."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

import bayesclust as bc
from tests.robustness.world import ESTIMATORS

TINY = {"num_chains": 1, "num_warmup": 2, "num_samples": 3, "progress": False, "random_state": 0}
SETTLED = {**TINY, "num_warmup": 50, "num_samples": 20}
"""For what is to find blobs and within five sweeps has found none from one start in twelve."""
PENALIZED = ("DPMeans", "RDPMeans", "SpectralRDPMeans")
"""What a cluster costs elsewhere here is too much for scikit-learn's blobs."""
MORE = {
    "gibbs": lambda: bc.TVClust("gibbs", **TINY),
    "blocked": lambda: bc.TVClust("blocked", **TINY),
    "mixture": lambda: bc.TVClust(cluster_model="mixture", **SETTLED),
    "diagonal": lambda: bc.TVClust(family="gaussian_diagonal", **TINY),
    "tied": lambda: bc.TVClust(family="gaussian_tied", **TINY),
    "chains of DCRC": lambda: bc.DCRC(2, inference="gibbs", **TINY),
    "several centres": lambda: bc.RDPMeans(cluster_model="mixture", n_clusters=2),
}


def test_every_estimator_is_among_those_that_are_checked():
    public = [getattr(bc.estimators, name) for name in bc.estimators.__all__]
    found = {
        value.__name__
        for value in public
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    assert found == set(ESTIMATORS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ESTIMATORS, *MORE])
def test_scikit_learn_accepts_it(name):
    short = TINY if name == "TVClust" else {"penalty": None} if name in PENALIZED else {}
    estimator = MORE[name]() if name in MORE else ESTIMATORS[name](**short)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert [
        (result["check_name"], result["exception"])
        for result in results
        if result["status"] == "failed"
    ] == []
    assert len(results) > 30
