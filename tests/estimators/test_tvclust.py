"""TVClust as an estimator: draws that repeat, a posterior that can be kept, refusals."""

import re

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

import bayesclust as bc
from bayesclust.inference.chain import Moves

SHORT = {"num_chains": 2, "num_warmup": 40, "num_samples": 30, "progress": False}


@pytest.fixture(scope="module")
def data():
    return bc.datasets.make_mixture(60, 2, 3, separation=8.0, seed=1)


@pytest.fixture(scope="module")
def views(data):
    links = bc.PairwiseConstraints.sample(
        data.y, fraction=0.05, error_rate=[0.0, 0.3], n_sources=2, seed=2
    )
    more = bc.PairwiseConstraints.sample(data.y, size=20, seed=3, name="more")
    triplets = bc.RelativeConstraints.sample(data.y, size=40, error_rate=0.1, seed=4)
    return [links, more, triplets.with_noise(bc.ConfusionNoise())]


@pytest.fixture(scope="module")
def fitted(data, views):
    return bc.TVClust(random_state=5, **SHORT).fit(data.X, constraints=views)


def test_finds_the_clusters_and_labels_without_gaps(fitted, data):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert sorted(set(fitted.labels_)) == list(range(fitted.n_clusters_))


def test_draws_repeat_whatever_the_number_of_threads(fitted, data, views):
    again = clone(fitted).set_params(n_jobs=1).fit(data.X, constraints=views)
    for name in ("posterior", "sample_stats"):
        xr.testing.assert_identical(
            again.posterior_[name].to_dataset(), fitted.posterior_[name].to_dataset()
        )
    assert np.array_equal(again.labels_, fitted.labels_)
    other = clone(fitted).set_params(random_state=6).fit(data.X, constraints=views)
    assert not np.array_equal(
        other.posterior_["posterior"]["p"], fitted.posterior_["posterior"]["p"]
    )


def test_every_source_and_every_view_has_its_noise(fitted):
    draws = fitted.posterior_["posterior"]
    assert draws["p"].dims == ("chain", "draw", "links_source")
    assert draws["p"].shape == (2, 30, 2)
    assert draws["q_more"].dims == ("chain", "draw", "more_source")
    assert draws["confusion"].dims == ("chain", "draw", "triplets_source", "truth", "answer")
    assert np.allclose(draws["confusion"].sum("answer"), 1)
    assert draws["z"].dtype == np.int16
    assert (draws["z"].max("item") + 1 == draws["n_clusters"]).all()


def test_posterior_survives_a_file(fitted, tmp_path):
    fitted.posterior_.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as back:
        assert set(back.children) == {"posterior", "sample_stats", "observed_data", "constant_data"}
        for name in back.children:
            xr.testing.assert_equal(back[name].to_dataset(), fitted.posterior_[name].to_dataset())
        table = bc.constraint_credibility(back.load())
    assert table.equals(bc.constraint_credibility(fitted.posterior_))


def test_answers_decide_where_data_are_silent():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    links = bc.PairwiseConstraints.sample(y, fraction=0.5, seed=0)
    est = bc.TVClust(random_state=0, **SHORT)
    assert bc.metrics.adjusted_rand(est.fit(X, constraints=links).labels_, y) == 1.0


def test_chains_can_start_from_a_partition(data):
    still = Moves(single_site=False, link_blocks=False, split_merge=0)
    est = bc.TVClust(moves=still, random_state=0, **SHORT).fit(data.X, init=data.y + 7)
    assert bc.metrics.adjusted_rand(est.labels_, data.y) == 1.0


X = np.arange(12.0).reshape(6, 2)
BAD = {
    "no such sampler": (
        lambda: bc.TVClust(sampler="nuts").fit(X),
        ValueError,
        'sampler must be "collapsed" or "gibbs" or "blocked" or "variational"; got \'nuts\'.',
    ),
    "no such family": (
        lambda: bc.TVClust(family="gamma").fit(X),
        ValueError,
        "family='gamma' is not known; choose one of 'gaussian', 'gaussian_tied', "
        "'gaussian_diagonal', 'gaussian_spherical', "
        "'multinomial', 'bernoulli', 'poisson', 'categorical', 'hurdle', 'recoded', 'mixed'.",
    ),
    "family of another kind": (
        lambda: bc.TVClust(family=3).fit(X),
        TypeError,
        "family is a int; give a name or an object of bayesclust.families.",
    ),
    "start of another length": (
        lambda: bc.TVClust().fit(X, init=[0, 1]),
        ValueError,
        "init has shape (2,), but X has 6 items: pass one label per item, an estimator fitted to "
        "these items, or its posterior_.",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_a_sentence(case):
    call, kind, sentence = BAD[case]
    with pytest.raises(kind, match=f"^{re.escape(sentence)}$"):
        call()
