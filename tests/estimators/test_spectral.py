"""SpectralRDPMeans as users call it."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesclust as bc
from bayesclust.inference.limits.tuning import LARGEST_SHARE


@parametrize_with_checks(
    [bc.SpectralRDPMeans(n_clusters=3, max_clusters=4)], expected_failed_checks=None
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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
    still = bc.SpectralRDPMeans(n_clusters=3, xi0=0.25, xi_rate=1.0).fit(X, constraints=links)
    assert still.xi_ == (0.25, 0.25)


def test_results_follow_the_data_where_they_lie(blobs, links):
    X, _ = blobs
    for settings in ({"n_clusters": 3, "random_state": 0}, {"random_state": 0}):
        plain = bc.SpectralRDPMeans(**settings).fit(X, constraints=links)
        for moved, scale in ((X + 64.0, 1.0), (2.0**20 * X, 2.0**40), (2.0**-20 * X, 2.0**-40)):
            est = bc.SpectralRDPMeans(**settings).fit(moved, constraints=links)
            assert (est.labels_ == plain.labels_).all()
            assert est.bound_ == pytest.approx(scale * plain.bound_)


def test_sources_have_a_confidence_each(blobs):
    """Source 1 answers at random: with xi = 0 for it the partition is that of source 0 alone."""
    X, y = blobs
    good = bc.PairwiseConstraints.sample(y, size=300, seed=0)
    bad = bc.PairwiseConstraints.sample(y, size=300, error_rate=0.5, seed=1)
    pairs, same = (
        np.concatenate([good.items, bad.items]),
        np.concatenate([good.answers, bad.answers]),
    )
    both = bc.PairwiseConstraints(pairs, same, n_items=120, source=np.repeat([0, 1], 300))
    alone = bc.SpectralRDPMeans(n_clusters=3, xi=20.0).fit(X, constraints=good)
    est = bc.SpectralRDPMeans(n_clusters=3, xi={"links": {0: 20.0, 1: 0.0}}).fit(
        X, constraints=both
    )
    assert (est.labels_ == alone.labels_).all()
    assert est.bound_ == pytest.approx(alone.bound_)
    assert est.xi_["links"].tolist() == [[20.0, 20.0], [0.0, 0.0]]


def test_as_a_start_it_saves_restarts():
    """At the same penalty and xi, descent from it ends lower than from one cluster, on average."""
    gains = []
    for name in ("iris", "wine", "balance"):
        data = bc.datasets.load(name)
        X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
        for seed in range(3):
            links = bc.PairwiseConstraints.sample(data.y, fraction=0.01, error_rate=0.1, seed=seed)
            settings = {"n_clusters": 3, "xi": 8.0}
            spectral = bc.SpectralRDPMeans(**settings).fit(X, constraints=links)
            plain = bc.RDPMeans(**settings).fit(X, constraints=links)
            started = bc.RDPMeans(**settings, init=spectral).fit(X, constraints=links)
            again = bc.RDPMeans(**settings, init=spectral.labels_).fit(X, constraints=links)
            assert (started.labels_ == again.labels_).all()
            assert started.objective_ <= spectral.objective_
            gains.append((plain.objective_ - started.objective_) / plain.penalty_)
    assert np.mean(gains) > 0


def test_max_clusters_is_kept(blobs, links):
    X, _ = blobs
    for most in (1, 2, 5):
        est = bc.SpectralRDPMeans(penalty=0.5, xi=5.0, max_clusters=most).fit(X, constraints=links)
        assert est.n_clusters_ <= most
        assert len(est.eigenvalues_) == most - 1


@pytest.mark.slow
def test_a_hundred_thousand_items():
    """Nothing n x n is made: that alone would take 80 GB."""
    data = bc.datasets.make_mixture(100_000, 16, 10, separation=20.0, seed=0)
    links = bc.PairwiseConstraints.sample(data.y, size=100_000, error_rate=0.1, seed=0)
    est = bc.SpectralRDPMeans(n_clusters=10, xi=1.0).fit(data.X, constraints=links)
    assert est.bound_ <= est.relaxed_objective_
    assert len(est.eigenvalues_) <= 16
    assert bc.metrics.adjusted_rand(est.labels_, data.y) > 0.8


@pytest.mark.parametrize(
    "X", [np.ones((5, 2)), [[0.0], [1.0]], np.repeat([[0.0], [7.0]], 5, axis=0)]
)
def test_few_different_items(X):
    for settings in ({}, {"n_clusters": 2}):
        est = bc.SpectralRDPMeans(**settings).fit(X)
        assert est.n_clusters_ <= len(np.unique(X, axis=0))


def test_triplets_are_refused():
    triplets = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=3)
    with pytest.raises(TypeError, match="uses constraints about pairs or labels alone"):
        bc.SpectralRDPMeans().fit([[0.0], [1.0], [5.0]], constraints=triplets)
