"""Mixed columns and missing cells through the front door."""

import numpy as np
import pandas as pd
import pytest
from numpyro.infer.util import log_density
from sklearn.base import clone

import bayesclust as bc
from bayesclust.models import tvclust


@pytest.fixture(scope="module")
def data():
    """Two groups that every column tells apart a little; missing cells, one item all missing."""
    rng = np.random.default_rng(0)
    n, z = 60, np.arange(60) % 2
    frame = {
        "height": 170 + 15 * z + 5 * rng.normal(size=n),
        "weight": 60 + 18 * z + 6 * rng.normal(size=n),
        "colour": (rng.random(n) < 0.15 + 0.7 * z) + 1.0 * (rng.random(n) < 0.2),
        "smokes": (rng.random(n) < 0.1 + 0.8 * z).astype(float),
    }
    X = pd.DataFrame(frame)
    X = X.mask(rng.random(X.shape) < 0.2)
    X.iloc[7] = np.nan
    return X, z


def family():
    return bc.families.Product([("gaussian_diagonal", [0, 1]), ("categorical", [2, 3])])


def test_mixed_columns_with_gaps(data):
    X, z = data
    links = bc.PairwiseConstraints.from_lists(
        must_link=[(0, 2), (7, 9)], cannot_link=[(0, 1)], n_items=60
    )
    est = bc.TVClust("variational", family=family(), num_samples=150, random_state=0)
    est.fit(X, constraints=links)
    seen = np.arange(60) != 7
    assert bc.metrics.adjusted_rand(z[seen], est.labels_[seen]) > 0.8
    posterior = est.posterior_
    assert {"base_scale", "base_concentration"} <= set(posterior["posterior"].coords)
    np.testing.assert_array_equal(posterior["observed_data"]["X"], X.to_numpy())
    assert np.isfinite(est.bound_path_).all()
    again = clone(est).fit(X.to_numpy(), constraints=links)
    np.testing.assert_array_equal(again.posterior_["posterior"]["z"], posterior["posterior"]["z"])


def test_who_takes_missing_cells():
    for name in ("gaussian_diagonal", "bernoulli", "poisson", "categorical", family()):
        assert bc.TVClust(family=name).__sklearn_tags__().input_tags.allow_nan
    for name in ("gaussian", "gaussian_spherical", "multinomial", "unknown"):
        assert not bc.TVClust(family=name).__sklearn_tags__().input_tags.allow_nan
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 4.0]])
    for name in ("gaussian", "gaussian_spherical", "multinomial"):
        with pytest.raises(ValueError, match=r"^X has NaN in row 1: "):
            bc.TVClust(family=name).fit(X)
    with pytest.raises(ValueError, match=r"^X has infinity in row 1: "):
        bc.TVClust(family="gaussian_diagonal").fit(np.where(np.isnan(X), np.inf, X))


def test_gradients_of_the_program_do_not_see_missing_cells(data):
    import jax

    X, T = data[0].to_numpy()[:, [0, 1, 2]], 2
    parts = [(bc.families.DiagonalGaussian(0.5, 4.0), [0, 1]), (bc.families.Categorical(1.0), 2)]
    mixed = bc.families.Product(parts)
    values = {
        "concentration": np.array(1.0),
        "stick": np.array([0.4]),
        "part_1_variance": np.full((T, 2), 0.5),
        "part_1_mean": np.array([[0.0, 0.3], [1.0, -1.0]]),
        "part_2_probability_0": np.full((T, 3), 1 / 3),
    }

    def density(free):
        return log_density(tvclust, (X, None, mixed), {"truncation": T}, free | {"z": data[1]})[0]

    slope = jax.jit(jax.grad(density))(values)
    assert all(np.isfinite(array).all() for array in slope.values())
    assert np.abs(slope["part_1_mean"]).min() > 0


def test_words_of_a_frame_are_columns(rng):
    y = rng.integers(3, size=120)
    word = np.array(["low", "mid", "high"], dtype=object)[(y + (rng.random(120) < 0.1)) % 3]
    word[7] = None
    frame = pd.DataFrame({"a": rng.normal(size=120) + 2 * y, "b": rng.normal(size=120)})
    frame = frame.assign(word=word, kind=pd.Categorical(np.where(y > 1, "u", "v")))
    links = bc.PairwiseConstraints.sample(y, size=100, seed=0)
    settings = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "progress": False}
    settings |= {"cluster_model": "single", "random_state": 0}
    est = bc.TVClust(family="mixed", **settings).fit(frame, constraints=links)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    parts = [type(part).__name__ for part in est._problem.family.parts]
    assert parts == ["BoundFullGaussian", "BoundCategorical"]
    np.testing.assert_array_equal(est.predict(frame)[:5], est.labels_[:5])
    some = frame[frame["kind"] == "u"].head(5)  # the codes are those of the fit
    np.testing.assert_array_equal(est.predict(some), est.predict(frame)[some.index])
    for wrong in (frame[["b", "a", "word", "kind"]], frame.drop(columns="word")):
        with pytest.raises(ValueError, match=r"^The feature names should match those"):
            est.predict(wrong.head(3))
    unseen = r"^column 'word' of X has 'other' in row 1, which the fit has not seen: leave the cell"
    with pytest.raises(ValueError, match=unseen):
        est.predict(frame.head(3).assign(word=["low", "other", "mid"]))
    with pytest.raises(
        TypeError, match=r"^column 'word' of X holds integer values, but words in the"
    ):
        est.predict(frame.head(3).assign(word=[0, 1, 2]))  # which are no codes
    with pytest.raises(
        TypeError, match=r"^X must be a DataFrame with words, as in the fit; got a "
    ):
        est.predict(np.zeros((2, 4)))
    missing = frame.head(3).assign(word=np.nan)
    assert est.predict_proba(missing).shape == (3, est.n_clusters_)
    kinds = bc.describe_columns(frame)["kind"].tolist()
    assert kinds == ["continuous", "continuous", "words", "words"]
    named = frame.assign(name=[f"call {i}" for i in range(120)])
    assert bc.describe_columns(named)["finding"].tolist() == [*["fine"] * 4, "names each item"]
    counted = frame[["a", "b"]].assign(number=rng.permutation(120) + 1000)
    assert bc.describe_columns(counted)["finding"].tolist() == ["fine", "fine", "names each item"]
    commas = frame.assign(a=frame["a"].round(1).astype(str).str.replace(".", ","))
    with pytest.raises(
        TypeError, match=r"^X holds numbers written as words in column 'a': .*commas"
    ):
        bc.TVClust(family="mixed", **settings).fit(commas)
    with pytest.raises(ValueError, match=r"^the column 'name' of X has another word for each item"):
        bc.TVClust(family="mixed", **settings).fit(named, constraints=links)
