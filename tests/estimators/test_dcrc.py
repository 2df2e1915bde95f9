"""DCRC as users call it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesclust as bc
from bayesclust.inference.dcrc.features import SPREAD, fit_features, radial_features

QUICK = {"n_init": 3, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def data():
    return bc.datasets.make_mixture(90, 2, 3, separation=12.0, seed=1)


@pytest.fixture(scope="module")
def triplets(data):
    return bc.RelativeConstraints.sample(data.y, size=80, error_rate=0.05, seed=2)


@pytest.fixture(scope="module")
def fitted(data, triplets):
    return bc.DCRC(3, **QUICK).fit(data.X, constraints=triplets)


def test_attributes_belong_together(fitted, data, triplets):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert sorted(set(fitted.labels_)) == list(range(fitted.n_clusters_))
    assert (fitted.proba_.argmax(axis=1) == fitted.labels_).all()
    assert (np.diff(fitted.objective_path_) >= -1e-9).all()
    assert fitted.bound_ == fitted.objective_path_[-1]
    assert (fitted.n_iter_, fitted.converged_) == (len(fitted.objective_path_) // 2, True)
    assert fitted.penalty_ == 2.0**-6
    known = np.where(np.eye(3, dtype=bool), 0.95, 0.025)
    np.testing.assert_allclose(fitted.confusion_["triplets"], known[None])


def test_few_answers_are_no_worse_than_none():
    """The prior of the weights grows with the answers, until these are many."""
    scores = []
    for seed in range(4):
        y = np.repeat([0, 1, 2], 20)
        X = np.random.default_rng(seed).normal(size=(60, 2)) + 5 * np.c_[y == 1, y == 2]
        links = bc.PairwiseConstraints.sample(y, size=6, seed=seed)
        est = bc.DCRC(3, random_state=seed).fit(X, constraints=links)
        scores.append(bc.metrics.pairwise_f(est.labels_, y))
    assert np.mean(scores) > 0.9
    many = bc.PairwiseConstraints.sample(y, size=400, seed=0)
    assert bc.DCRC(3, n_init=1, random_state=0).fit(X, constraints=many).penalty_ == 2 / 400


def test_prediction_is_the_classifier(fitted, data, triplets):
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    logits = Z @ fitted.coef_.T + fitted.intercept_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(data.X), expected)
    assert (fitted.predict(data.X) == expected.argmax(axis=1)).all()
    free = np.setdiff1d(np.arange(90), triplets.items)
    np.testing.assert_allclose(fitted.proba_[free], expected[free])


def test_same_seed_same_fit(fitted, data, triplets):
    again = clone(fitted).set_params(n_jobs=3).fit(data.X, constraints=[triplets])
    np.testing.assert_array_equal(again.proba_, fitted.proba_)


def test_an_error_rate_is_learned():
    data = bc.datasets.make_mixture(600, 3, 4, separation=12.0, seed=3)
    triplets = bc.RelativeConstraints.sample(
        data.y, size=600, error_rate=[0.1, 0.3], n_sources=2, seed=4
    )
    est = bc.DCRC(4, noise="learn", **QUICK).fit(data.X, constraints=triplets)
    assert bc.metrics.adjusted_rand(est.labels_, data.y) > 0.9
    rates = 1 - est.confusion_["triplets"][:, 0, 0]
    truth = np.array([triplets.flipped[triplets.source == s].mean() for s in range(2)])
    np.testing.assert_allclose(rates, truth, atol=0.03)
    # two standard deviations of 300 answers
    np.testing.assert_allclose(rates, [0.1, 0.3], atol=0.05)
    drawn = est.posterior_["posterior"]["noise"]
    assert drawn.dims == ("chain", "draw", "triplets_source")
    np.testing.assert_allclose(drawn.mean(("chain", "draw")), rates, atol=0.005)


def test_a_confusion_matrix_is_learned():
    data = bc.datasets.make_mixture(600, 3, 3, separation=12.0, seed=3)
    matrix = np.array([[0.7, 0.05, 0.25], [0.05, 0.7, 0.25], [0.02, 0.02, 0.96]])
    triplets = bc.RelativeConstraints.sample(data.y, size=900, confusion=matrix, seed=4)
    est = bc.DCRC(3, noise="confusion", **QUICK).fit(data.X, constraints=triplets)
    np.testing.assert_allclose(est.confusion_["triplets"][0], matrix, atol=0.08)


def test_posterior_serves_the_summaries(fitted, data):
    tree = fitted.posterior_
    assert tree is fitted.posterior_
    similarity = bc.similarity_matrix(tree)
    expected = fitted.proba_ @ fitted.proba_.T
    np.fill_diagonal(expected, 1.0)
    # five standard errors of 1000 draws
    np.testing.assert_allclose(similarity, expected, atol=0.08)
    credible = bc.constraint_credibility(tree)
    assert len(credible) == 80
    with pytest.raises(NotFittedError):
        _ = bc.DCRC(3).posterior_


def test_pairs_and_triplets_together(data):
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.01, error_rate=0.0, seed=5)
    triplets = bc.RelativeConstraints.sample(data.y, size=30, error_rate=0.0, seed=6)
    est = bc.DCRC(3, noise=0.0, **QUICK).fit(data.X, constraints=[links, triplets])
    for view in (links, triplets):
        assert (view.truths(est.labels_) == view.answers).all()
    own = bc.DCRC(3, noise=None, **QUICK).fit(
        data.X, constraints=[links.with_noise(bc.LinkNoise(p=0.7, q=0.6)), triplets]
    )
    np.testing.assert_allclose(own.confusion_["links"], [[[0.6, 0.4], [0.3, 0.7]]])


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    y, angle = np.repeat([0, 1], 60), rng.uniform(0, 2 * np.pi, 120)
    X = (1 + 2 * y + 0.1 * rng.normal(size=120))[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )
    return X, y, bc.RelativeConstraints.sample(y, size=40, error_rate=0.0, seed=1)


def test_kernels_find_rings(rings):
    X, y, triplets = rings
    landmarks = make_pipeline(
        StandardScaler(), Nystroem(gamma=1.0, n_components=40, random_state=0)
    )
    for kernel in ("rbf", "polynomial", landmarks):
        est = bc.DCRC(2, kernel=kernel, **QUICK).fit(X, constraints=triplets)
        assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
        assert bc.metrics.adjusted_rand(est.predict(X), y) > 0.9
    linear = bc.DCRC(2, **QUICK).fit(X, constraints=triplets)
    assert bc.metrics.adjusted_rand(linear.labels_, y) < 0.7


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_inner_products_of_features_are_centred_kernels(rng, kernel):
    X = rng.normal(size=(40, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gram = (X @ X.T / 3 + 1) ** 3 if kernel == "polynomial" else rbf_kernel(X)
    features = fit_features(X, kernel, rng)
    Z = features(X)
    center = np.eye(40) - 1 / 40
    wanted = center @ gram @ center
    np.testing.assert_allclose(Z @ Z.T, SPREAD * 40 / np.trace(wanted) * wanted, atol=1e-6)
    np.testing.assert_allclose(features(X[3:5]), Z[3:5], atol=1e-8)


def test_radial_features_have_the_median_distance_and_the_columns_variance(rng):
    X = rng.normal(size=(40, 3)) * [1.0, 5.0, 0.2] + 2.0
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((scaled[:, None] - scaled) ** 2).sum(axis=-1)
    gram = np.exp(-squares / np.median(squares[np.triu_indices(40, 1)]))
    features = radial_features(X)
    Z = features(X)
    center = np.eye(40) - 1 / 40
    wanted = center @ gram @ center
    np.testing.assert_allclose(Z @ Z.T, 3 * 40 / np.trace(wanted) * wanted, atol=1e-6)
    np.testing.assert_allclose(features(X[3:5]), Z[3:5], atol=1e-8)
    same = radial_features(np.repeat(X[:2], [30, 2], axis=0))(X)
    assert np.isfinite(same).all()


def test_radial_features_of_many_items_are_few_and_the_same_again(rng):
    X = rng.normal(size=(1200, 2))
    Z = radial_features(X)(X)
    assert Z.shape == (1200, 100)
    np.testing.assert_array_equal(Z, radial_features(X)(X))


def test_constant_columns_become_zero(rng):
    X = np.column_stack([rng.normal(5.0, 3.0, 50), np.full(50, 0.1)])
    np.testing.assert_allclose(fit_features(X, None, rng)(X).std(axis=0), [1.0, 0.0], atol=1e-12)


def test_sizes_of_clusters_are_learned_from_named_items():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.15).astype(int)
    X = rng.normal(size=(400, 2))
    X[:, 0] += 3 * y
    triplets = bc.RelativeConstraints.sample(y, size=100, error_rate=0.0, seed=1)
    even, learned = (
        bc.DCRC(2, balance=balance, **QUICK).fit(X, constraints=triplets)
        for balance in (True, "learn")
    )
    named = np.unique(triplets.items)
    np.testing.assert_allclose(
        np.sort(learned.proportions_), np.sort(np.bincount(y[named]) / len(named)), atol=0.02
    )
    found = even.proba_[named].sum(axis=0) + 1
    np.testing.assert_allclose(
        np.sort(learned.proportions_), np.sort(found / found.sum()), atol=1e-9
    )
    assert even.proportions_ is None
    free = np.setdiff1d(np.arange(400), named)
    assert learned.proba_[free].mean(axis=0).min() < even.proba_[free].mean(axis=0).min()
    assert (np.diff(learned.objective_path_) >= -1e-9).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 91}, "n_clusters must be an integer from 1 to 90; got 91"),
        ({"noise": 1.0}, "noise must lie in"),
        ({"noise": "guess"}, 'noise must be "learn" or "confusion" or "literal"; got \'guess\''),
        ({"noise": True}, "noise must be a number in"),
        ({"balance": 1}, 'balance must be True, False or "learn"; got 1'),
        ({"kernel": "sigmoid"}, 'kernel must be "rbf" or "polynomial"; got'),
        ({"kernel": 3}, 'kernel must be "rbf" or "polynomial"; got 3'),
        ({"tol": 0.0}, "tol must lie in"),
        ({"inference": "gibbs", "noise": 0.0}, "noise=0.0 makes answers binding"),
        ({"inference": "gibbs", "temperature": 0.5}, "temperature=0.5 is of the mean field"),
    ],
)
def test_bad_settings(data, triplets, settings, words):
    kinds = (
        "noise must be a number",
        "balance must be True",
        'kernel must be "rbf" or "polynomial"; got 3',
    )
    with pytest.raises(TypeError if words.startswith(kinds) else ValueError) as caught:
        bc.DCRC(**{"n_clusters": 3, **settings}).fit(data.X, constraints=triplets)
    assert str(caught.value).startswith(words)
