"""A fitted TVClust about items that it has not seen."""

import pickle
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import bayesclust as bc
from bayesclust.typing import NDArray

SHORT = {"num_chains": 2, "num_warmup": 40, "num_samples": 60, "progress": False}
METHODS = ("predict", "predict_proba", "predict_novelty", "predict_similarity", "score_samples")


class Blobs(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]


@pytest.fixture(scope="module")
def data():
    """Sixty items in three clusters far apart."""
    y = np.arange(60) % 3
    centres = np.array([[0.0, 0.0], [25.0, 0.0], [0.0, 25.0]])
    return Blobs(centres[y] + np.random.default_rng(1).normal(size=(60, 2)), y)


@pytest.fixture(scope="module")
def fitted(data):
    links = bc.PairwiseConstraints.sample(data.y, size=30, seed=2)
    return bc.TVClust(random_state=5, **SHORT).fit(data.X, constraints=links)


@pytest.fixture(scope="module")
def plain(data):
    return bc.TVClust(random_state=0, **SHORT).fit(pd.DataFrame(data.X, columns=["a", "b"]))


def test_items_of_clusters_far_apart_go_where_they_came_from(fitted, data):
    np.testing.assert_array_equal(fitted.predict(data.X), fitted.labels_)
    shares = fitted.predict_proba(data.X)
    assert shares.shape == (60, fitted.n_clusters_)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares[np.arange(60), fitted.labels_] > 0.9).all()


def test_similarity_is_that_of_the_items_nearby(fitted, data):
    near = data.X + 1e-6
    similarity = fitted.predict_similarity(near)
    assert similarity.shape == (60, 60)
    same = data.y[:, None] == data.y
    assert similarity[same].mean() > 0.9
    assert similarity[~same].mean() < 0.05


def test_an_item_far_from_all_is_new(fitted, data):
    far = [data.X.mean(axis=0) + 1000 * data.X.std(axis=0), data.X[0]]
    novelty = fitted.predict_novelty(far)
    assert novelty[0] > 0.5 > 0.1 > novelty[1] > 0
    scores = fitted.score_samples(far)
    assert scores[0] < scores[1] - 5


def test_scores_are_the_average_over_the_draws_used(fitted, data):
    """Densities of single draws, by trees of one draw each, average to those of all."""
    few = fitted.score_samples(data.X[:3], max_draws=4)
    alone, draws = [], fitted.posterior_["posterior"].to_dataset()
    for number in np.linspace(0, 119, 4).round().astype(int):
        one = pickle.loads(pickle.dumps(fitted))
        kept = draws.isel(chain=[number // 60], draw=[number % 60])
        one.posterior_ = bc.posterior.tree.to_datatree(
            {name: kept[name].values for name in kept.data_vars}
        )
        alone.append(one.score_samples(data.X[:3]))
    np.testing.assert_allclose(few, logsumexp(alone, axis=0) - np.log(4))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_units_enter_by_their_jacobian_alone(data, plain):
    # powers of two, so that the draws stay the same to the last bit
    scale = np.array([1024.0, 0.25])
    new = data.X[::7] + 0.3
    moved = bc.TVClust(random_state=0, **SHORT).fit(data.X * scale)
    difference = plain.score_samples(new) - moved.score_samples(new * scale)
    np.testing.assert_allclose(difference, np.log(scale).sum(), rtol=1e-9)
    np.testing.assert_allclose(
        plain.predict_proba(new), moved.predict_proba(new * scale), atol=1e-9
    )


def test_counts(rng):
    data = bc.datasets.make_counts(60, 20, 3, seed=0)
    est = bc.TVClust(family="multinomial", random_state=0, **SHORT).fit(data.X)
    assert (est.predict(data.X) == est.labels_).mean() > 0.9
    assert (est.score_samples(data.X) < 0).all()
    with pytest.raises(
        ValueError,
        match=r"^X has negative counts in row 1: pass how often each outcome was seen\.$",
    ):
        est.predict(np.where(np.arange(60)[:, None] == 1, -1.0, data.X))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_constant_columns_are_left_out(data, plain):
    est = bc.TVClust(random_state=0, **SHORT).fit(np.column_stack([data.X, np.ones(60)]))
    new = data.X[:5] + 0.1
    np.testing.assert_allclose(
        est.score_samples(np.column_stack([new, np.arange(5)])), plain.score_samples(new)
    )


def test_gibbs_gives_draws_to_predict_from(data):
    est = bc.TVClust("gibbs", random_state=0, **SHORT).fit(data.X)
    np.testing.assert_array_equal(est.predict(data.X), est.labels_)
    assert (est.predict_novelty(data.X) < 0.2).all()


@pytest.mark.parametrize("method", METHODS)
def test_survives_pickling_and_does_not_change_the_fit(fitted, data, method):
    before = fitted.posterior_.copy(deep=True)
    expected = getattr(fitted, method)(data.X)
    np.testing.assert_array_equal(
        getattr(pickle.loads(pickle.dumps(fitted)), method)(data.X), expected
    )
    assert before.identical(fitted.posterior_)
    # items are judged one by one
    np.testing.assert_allclose(getattr(fitted, method)(data.X[7:9]), expected[7:9], rtol=1e-10)


BAD = {
    "other columns": (
        [[1.0, 2.0, 3.0]],
        ValueError,
        "X has 3 features, but TVClust is expecting 2 features as input.",
    ),
    "missing": (
        [[1.0, np.nan]],
        ValueError,
        "X has NaN in row 0: remove these items or fill in values.",
    ),
    "nothing": (np.empty((0, 2)), ValueError, "X has no items: pass at least one item."),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("method", METHODS)
def test_bad_items_are_refused_in_a_sentence(fitted, case, method):
    X, kind, sentence = BAD[case]
    with pytest.raises(kind, match=f"^{re.escape(sentence)}$"):
        getattr(fitted, method)(X)


def test_other_bad_calls(fitted, data):
    with pytest.raises(NotFittedError, match="This TVClust instance is not fitted yet"):
        clone(fitted).predict(data.X)
    with pytest.raises(ValueError, match=r"^max_draws must be an integer of at least 1; got 0\.$"):
        fitted.predict(data.X, max_draws=0)


def test_columns_are_known_by_name(data, plain):
    frame = pd.DataFrame(data.X, columns=["a", "b"])
    np.testing.assert_array_equal(plain.predict(frame), plain.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        plain.predict(frame.rename(columns={"b": "c"}))


def test_held_out_items_are_more_likely_than_under_one_gaussian():
    X = load_iris().data
    held = np.arange(len(X)) % 3 == 0
    est = bc.TVClust(
        random_state=0, num_chains=2, num_warmup=150, num_samples=100, progress=False
    ).fit(X[~held])
    mean, covariance = X[~held].mean(axis=0), np.cov(X[~held].T)
    one = scipy.stats.multivariate_normal(mean, covariance).logpdf(X[held])
    gain = est.score_samples(X[held]) - one
    assert gain.mean() > 3 * gain.std() / np.sqrt(len(gain))
