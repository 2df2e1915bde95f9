"""Clusters of one covariance in many columns: found, predicted, in columns of any units."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.metrics import pairwise_f

D = 25
SHORT = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "random_state": 0, "progress": False}


def elongated(n=120, classes=3, seed=0, apart=4):
    """Classes of one long covariance, centres so many standard deviations from zero; new items."""
    rng = np.random.default_rng(seed)
    root = np.linalg.qr(rng.normal(size=(D, D)))[0] * np.geomspace(0.2, 3.0, D)
    centres = rng.normal(size=(classes, D))
    centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)
    y = np.arange(n) % classes
    X = (centres[y] + rng.normal(size=(n, D))) @ root.T
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


@pytest.fixture(scope="module")
def fitted():
    X, y, *_ = elongated(240)
    links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.1, seed=0)
    est = bc.TVClust(cluster_model="single", family="gaussian_tied", **SHORT)
    return est.fit(X, constraints=links)


def test_long_classes_are_found_and_predicted(fitted):
    _, y, new, y_new = elongated(240)
    assert pairwise_f(fitted.labels_, y) > 0.95
    assert pairwise_f(fitted.predict(new), y_new) > 0.9
    np.testing.assert_array_equal(fitted.predict_proba(new), fitted.predict_proba(new))
    far = new[:5] + 100
    assert (fitted.predict_novelty(far) > fitted.predict_novelty(new[:5])).all()


def test_the_covariance_is_not_kept_with_the_draws(fitted):
    names = {"n_clusters", "concentration", "base_scale", "base_mean_precision", "p", "q"}
    draws = fitted.posterior_["posterior"]
    assert set(draws.data_vars) == names
    assert set(draws.coords) == {"z", *draws.dims}
    assert fitted.log_joint(fitted.labels_) > fitted.log_joint(np.arange(120) % 7)


def chains_that_part(moves):
    """How many of six chains find the classes from one cluster within forty sweeps."""
    X, y, *_ = elongated(240, apart=7)
    problem, found = TVClustProblem(bc.families.TiedGaussian().bind(X)), 0
    for seed in range(6):
        chain = collapsed_chain(problem, np.zeros(120, int), np.random.default_rng(seed), moves)
        for _ in range(40):
            chain.sweep(adapt=True)
        found += pairwise_f(chain.labels, y) > 0.9
    return found


def test_a_split_is_found_from_one_cluster():
    """One cluster's covariance holds the distance between classes; only joint moves find it."""
    assert chains_that_part(Moves()) > 1
    assert chains_that_part(Moves(split_merge=0.0)) == 0
