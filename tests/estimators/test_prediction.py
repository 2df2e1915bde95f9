"""A fitted TVClust about items that it has not seen."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bayesclust as bc
from bayesclust.estimators import tvclust
from bayesclust.posterior import DiagnosisWarning
from bayesclust.typing import NDArray

SHORT = {
    "cluster_model": "single",
    "num_chains": 2,
    "num_warmup": 40,
    "num_samples": 60,
    "progress": False,
}
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


def test_scores_are_the_average_over_the_draws_used(fitted, data, monkeypatch):
    """Densities of single draws, by trees of one draw each, average to those of all."""
    monkeypatch.setattr(tvclust, "MAX_DRAWS", 4)
    few = fitted.score_samples(data.X[:3])
    alone, draws = [], fitted.posterior_["posterior"].to_dataset()
    for number in np.linspace(0, 119, 4).round().astype(int):
        one = pickle.loads(pickle.dumps(fitted))
        kept = draws.isel(chain=[number // 60], draw=[number % 60])
        one.posterior_ = bc.posterior.tree.to_datatree(
            {name: kept[name].values for name in [*kept.data_vars, "z"]}
        )
        alone.append(one.score_samples(data.X[:3]))
    np.testing.assert_allclose(few, logsumexp(alone, axis=0) - np.log(4))


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


def test_items_are_transformed_to_their_similarity_with_clusters(fitted, data):
    similar = fitted.predict_similarity(data.X[:5])
    expected = [similar[:, fitted.labels_ == k].mean(axis=1) for k in range(fitted.n_clusters_)]
    np.testing.assert_allclose(fitted.transform(data.X[:5]), np.transpose(expected))
    table = clone(fitted).set_params(num_samples=3).set_output(transform="pandas")
    with pytest.warns(DiagnosisWarning):
        found = table.fit_transform(data.X, constraints=None)
    assert found.columns.tolist() == [f"tvclust{k}" for k in range(table.n_clusters_)]
    assert fitted.score(data.X) == pytest.approx(fitted.score_samples(data.X).mean())


def test_other_bad_calls(fitted, data):
    with pytest.raises(NotFittedError, match="This TVClust instance is not fitted yet"):
        clone(fitted).predict(data.X)
