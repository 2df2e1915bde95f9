"""SpectralRDPMeans as users call it."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.limits.tuning import LARGEST_SHARE, folds


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.5 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


@pytest.fixture
def links(blobs):
    return bc.PairwiseConstraints.sample(blobs[1], size=200, error_rate=0.1, seed=0)


def test_attributes(blobs, links):
    X, y = blobs
    est = bc.SpectralRDPMeans(n_clusters=3, random_state=0).fit(X, constraints=links)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    assert sorted(set(est.labels_.tolist())) == list(range(est.n_clusters_))
    for k in range(est.n_clusters_):
        np.testing.assert_allclose(est.cluster_centers_[k], X[est.labels_ == k].mean(axis=0))
    assert (np.diff(est.eigenvalues_) <= 0).all()
    assert est.eigenvalues_.min() > est.penalty_
    assert est.bound_ <= est.relaxed_objective_
    assert est.n_features_in_ == 2
    together = est.labels_[links.items[:, 0]] == est.labels_[links.items[:, 1]]
    terms = np.square(X - est.cluster_centers_[est.labels_]).sum() + est.penalty_ * est.n_clusters_
    terms += (
        est.xi_[1] * (together & (links.answers == 0)).sum()
        - est.xi_[0] * (together & (links.answers == 1)).sum()
    )
    assert est.objective_ == pytest.approx(terms)


@pytest.mark.parametrize("settings", [{}, {"n_clusters": 4}, {"penalty": 9.0}])
def test_settings_are_those_that_predict_held_out_links_best(blobs, links, settings):
    """Each penalty and confidence is scored by a relaxation of its own, afresh."""
    X = blobs[0]
    est = bc.SpectralRDPMeans(**settings, random_state=0).fit(X, constraints=links)
    squared = np.square(X - X.mean(axis=0)).sum(axis=1).mean()
    if "penalty" in settings:
        penalties = [9.0]
    elif settings:
        penalties = [bc.RDPMeans(n_clusters=4).fit(X).penalty_]
    else:
        penalties = 120 * squared * 0.5 ** np.arange(1, 9)
    scores = {}
    for kept, held in folds([links], np.random.default_rng(0)):
        for penalty in penalties:
            for step in range(10):
                xi = 1e-3 * squared * 4.0**step
                again = bc.SpectralRDPMeans(penalty, xi=xi).fit(X, constraints=kept[0])
                own = held[0].noise.log_marginal(held[0].counts(again.labels_))
                scores[penalty, xi] = scores.get((penalty, xi), 0.0) + own
    # the largest penalty, then the smallest confidence, of equals
    best = max(scores.values()) - 1e-9
    expected = next(setting for setting in scores if scores[setting] >= best)
    assert (est.penalty_, est.xi_[0]) == pytest.approx(expected)


def test_given_confidence_leaves_the_penalty_to_the_data(blobs, links):
    X, _ = blobs
    est = bc.SpectralRDPMeans(xi=(2.0, 0.5)).fit(X, constraints=links)
    alone = bc.SpectralRDPMeans().fit(X)
    assert est.penalty_ == alone.penalty_
    assert est.xi_ == (2.0, 0.5)
    assert alone.xi_ == (0.0, 0.0)
    assert alone.n_clusters_ == 3
    assert alone.objective_ == pytest.approx(alone.relaxed_objective_)


def test_a_sample_chooses_a_penalty_for_all_items(rng):
    """Eigenvalues grow in proportion to the items, and the penalty with them."""
    y = rng.integers(3, size=4000)
    X = rng.normal(size=(4000, 2)) + 5.0 * np.array([[0, 0], [2, 0], [0, 2]])[y]
    links = bc.PairwiseConstraints.sample(y, size=2000, error_rate=0.1, seed=0)
    for given in (links, None):
        est = bc.SpectralRDPMeans(random_state=0, max_clusters=10).fit(X, constraints=given)
        assert est.n_clusters_ == 3
        assert bc.metrics.adjusted_rand(est.labels_, y) > 0.99


def test_growth_without_end_ends_at_many_mean_distances(blobs, links):
    X, _ = blobs
    est = bc.SpectralRDPMeans(n_clusters=3, xi=float("inf")).fit(X, constraints=links)
    expected = LARGEST_SHARE * np.square(X - X.mean(axis=0)).sum(axis=1).mean()
    assert est.xi_ == pytest.approx((expected, expected))


def test_max_clusters_is_kept(blobs, links):
    X, _ = blobs
    for most in (1, 2, 5):
        est = bc.SpectralRDPMeans(penalty=0.5, xi=5.0, max_clusters=most).fit(X, constraints=links)
        assert est.n_clusters_ <= most
        assert len(est.eigenvalues_) == most - 1
