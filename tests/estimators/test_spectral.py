"""SpectralRDPMeans as users call it."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.limits.tuning import LARGEST_SHARE


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


@pytest.mark.parametrize(
    "settings", [{}, {"n_clusters": 4}, {"penalty": 9.0}, {"n_clusters": 3, "xi": (2.0, 0.5)}]
)
def test_penalty_and_confidence_are_chosen_as_for_rdp_means(blobs, links, settings):
    X, _ = blobs
    est = bc.SpectralRDPMeans(**settings, random_state=0).fit(X, constraints=links)
    other = bc.RDPMeans(**settings, random_state=0).fit(X, constraints=links)
    assert est.penalty_ == other.penalty_
    # descent may end before confidence has grown to where it is to end
    assert np.less_equal(other.xi_, np.multiply(est.xi_, 1 + 1e-12)).all()
    if "xi" in settings:
        assert est.xi_ == other.xi_
    alone = bc.SpectralRDPMeans(**settings).fit(X)
    assert alone.penalty_ == bc.RDPMeans(**settings).fit(X).penalty_
    assert alone.objective_ == pytest.approx(alone.relaxed_objective_)


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
