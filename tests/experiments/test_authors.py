"""The authors' preset: R's normals, its prior, and what it finds."""

import numpy as np
from scipy.special import betaln
from scipy.stats import invwishart, multivariate_normal

import bayesclust as bc
from experiments.authors import PRIOR, Beliefs, Links, fit_as_released, r_normals
from experiments.sources import standardized


def test_normals_are_those_of_r():
    """R: set.seed(1); rnorm(8), and set.seed(42); rnorm(3), as printed in countless manuals."""
    first = [-0.6264538, 0.1836433, -0.8356286, 1.5952808]
    first += [0.3295078, -0.8204684, 0.4874291, 0.7383247]
    np.testing.assert_allclose(r_normals(1, 8), first, atol=5e-8)
    np.testing.assert_allclose(r_normals(42, 3), [1.37095845, -0.56469817, 0.36312841], atol=5e-9)


def test_a_bound_of_certain_labels_is_their_log_joint(rng):
    """By the chain rule at one theta: p(X, z) = p(X, theta, z) / p(theta | X, z)."""
    X, z = rng.normal(size=(12, 2)), np.repeat([0, 1], 6)
    links = bc.PairwiseConstraints([(0, 1), (0, 7), (2, 9)], [True, True, False], n_items=12)
    mean, cov = np.array([0.3, -0.2]), np.array([[1.2, 0.4], [0.4, 0.9]])
    expected = 0.0
    for k in range(2):
        own = X[z == k]
        n, total = len(own), own.sum(axis=0)
        middle = total / (1 + n)
        scale = np.eye(2) + own.T @ own - np.outer(total, total) / (1 + n)
        expected += multivariate_normal.logpdf(own, mean, cov).sum()
        expected += multivariate_normal.logpdf(mean, np.zeros(2), cov)
        expected += invwishart.logpdf(cov, 2, np.eye(2))
        expected -= multivariate_normal.logpdf(mean, middle, cov / (1 + n))
        expected -= invwishart.logpdf(cov, 2 + n, scale)
    # sticks of lengths Beta(1, 1); "same" once within a cluster, "same" and "different" between
    expected += betaln(1 + 6, 1 + 6) + betaln(1 + 6, 1)
    expected += betaln(0.5 + 1, 5.0) - betaln(0.5, 5.0)
    expected += betaln(5.0 + 1, 0.5 + 1) - betaln(5.0, 0.5)
    found = Beliefs(X, Links(links, 12), np.eye(2)[z]).bound()
    assert np.isclose(found, expected)


def test_the_path_never_falls_and_keeps_the_settings():
    data = bc.datasets.load("iris")
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.06, error_rate=0.2, seed=3)
    found, path = fit_as_released(standardized(data.X), links)
    assert found.r.shape == (150, 15)
    assert len(path) <= 30
    assert (np.diff(path) > -1e-8).all()
    assert bc.metrics.adjusted_rand(found.r.argmax(axis=1), data.y) > 0.9


def test_links_say_nothing_before_any_was_counted():
    data = bc.datasets.load("iris")
    start = Beliefs(data.X, Links(None, 150), np.full((150, 2), 0.5))
    assert PRIOR[True] == PRIOR[False][::-1]
    np.testing.assert_allclose(start.weight(), 0.0, atol=1e-12)
