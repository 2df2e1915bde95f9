"""RDPMeans and DPMeans as users call them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesclust as bc


@parametrize_with_checks(
    [
        bc.RDPMeans(),
        bc.RDPMeans(n_clusters=3, n_init=2, order="random"),
        bc.RDPMeans(divergence="mahalanobis"),
        bc.DPMeans(),
        bc.DPMeans(n_clusters=3),
        bc.DPMeans(n_clusters=3, divergence="standardized"),
    ],
    expected_failed_checks=None,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def groups(labels):
    """A partition free of label numbers."""
    return (np.asarray(labels)[:, None] == labels).tolist()


def test_attributes(blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.1, seed=0)
    est = bc.RDPMeans(n_clusters=3, random_state=0).fit(X, constraints=links)
    assert sorted(set(est.labels_)) == list(range(est.n_clusters_))
    for k in range(est.n_clusters_):
        np.testing.assert_allclose(est.cluster_centers_[k], X[est.labels_ == k].mean(axis=0))
    assert est.n_iter_ == len(est.objective_path_)
    assert est.objective_ == est.objective_path_[-1]
    assert est.n_features_in_ == 2
    together = est.labels_[links.items[:, 0]] == est.labels_[links.items[:, 1]]
    terms = np.square(X - est.cluster_centers_[est.labels_]).sum() + est.penalty_ * est.n_clusters_
    terms += (
        est.xi_[1] * (together & (links.answers == 0)).sum()
        - est.xi_[0] * (together & (links.answers == 1)).sum()
    )
    assert est.objective_ == pytest.approx(terms)


def test_predict_is_the_nearest_centre(blobs, rng):
    X, _ = blobs
    est = bc.DPMeans(n_clusters=3).fit(X)
    new = rng.normal(size=(20, 2))
    assert (
        est.predict(new)
        == np.square(new[:, None] - est.cluster_centers_).sum(axis=2).argmin(axis=1)
    ).all()
    assert est.predict(new[:1]).shape == (1,)


def test_without_answers_it_is_dp_means(blobs):
    X, _ = blobs
    none = bc.PairwiseConstraints(np.empty((0, 2), dtype=int), [], n_items=120)
    for settings in ({}, {"n_clusters": 4}, {"penalty": 2.0}):
        plain = bc.DPMeans(**settings).fit(X)
        for constraints in (None, [], none, [none, none]):
            est = bc.RDPMeans(**settings).fit(X, constraints=constraints)
            assert (est.labels_ == plain.labels_).all()
            assert est.objective_ == plain.objective_


def test_a_fixed_xi_never_raises_the_objective(blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=300, error_rate=0.2, seed=0)
    est = bc.RDPMeans(n_clusters=3, xi=(2.0, 0.5)).fit(X, constraints=links)
    assert est.xi_ == (2.0, 0.5)
    assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()


def test_xi_between_data_and_answers(blobs):
    """xi = 0 leaves answers aside; growth without end follows right answers to the letter."""
    X, y = blobs
    noisy_X = X + np.random.default_rng(0).normal(scale=3, size=X.shape)
    links = bc.PairwiseConstraints.sample(y, size=1500, seed=0)
    blind = bc.RDPMeans(n_clusters=3, xi=0.0).fit(noisy_X, constraints=links)
    assert (blind.labels_ == bc.DPMeans(n_clusters=3).fit(noisy_X).labels_).all()
    literal = bc.RDPMeans(n_clusters=3, xi=float("inf"), n_init=5, random_state=0).fit(
        noisy_X, constraints=links
    )
    together = literal.labels_[links.items[:, 0]] == literal.labels_[links.items[:, 1]]
    assert (together == (links.answers == 1)).all()
    assert groups(literal.labels_) == groups(y)


def test_wrong_answers_do_not_overrule_the_data(blobs):
    """With one answer in five wrong, confidence chosen by held-out answers beats confidence without end."""
    X, y = blobs
    right = {}
    for xi in (None, float("inf")):
        scores = []
        for seed in range(5):
            links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.2, seed=seed)
            labels = (
                bc.RDPMeans(n_clusters=3, xi=xi, random_state=0).fit(X, constraints=links).labels_
            )
            scores.append(bc.metrics.pairwise_f(y, labels))
        right[xi] = np.mean(scores)
    assert right[None] > 0.95
    assert right[None] > right[float("inf")] + 0.1


def test_no_setting_is_needed(blobs):
    X, y = blobs
    assert groups(bc.DPMeans().fit(X).labels_) == groups(bc.DPMeans(n_clusters=3).fit(X).labels_)
    links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.1, seed=0)
    est = bc.RDPMeans(random_state=0).fit(X, constraints=links)
    assert bc.metrics.pairwise_f(y, est.labels_) > 0.95
    few = links.restrict(np.arange(20))
    assert bc.RDPMeans().fit(X[:20], constraints=few).n_clusters_ >= 1


def test_results_follow_the_scale_of_the_data(blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=100, error_rate=0.1, seed=0)
    for estimator in (bc.RDPMeans(random_state=0), bc.RDPMeans(n_clusters=4, random_state=0)):
        labels = [
            clone(estimator).fit(scale * X, constraints=links).labels_
            for scale in (1.0, 2.0**-20, 2.0**20)
        ]
        assert (labels[0] == labels[1]).all()
        assert (labels[0] == labels[2]).all()


@pytest.mark.parametrize(
    "X", [np.ones((5, 2)), [[0.0], [1.0]], np.repeat([[0.0], [7.0]], 5, axis=0)]
)
@pytest.mark.parametrize(
    "estimator", [bc.DPMeans(), bc.RDPMeans(n_clusters=2), bc.DPMeans(n_clusters=2, n_init=3)]
)
def test_few_different_items(X, estimator):
    labels = clone(estimator).set_params(random_state=0).fit(X).labels_
    distinct = np.unique(X, axis=0)
    assert len(set(labels)) <= len(distinct)
