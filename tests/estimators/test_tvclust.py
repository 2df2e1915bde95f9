"""TVClust by each sampler, under every prior that it takes: what it finds, keeps and refuses."""

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

import bayesclust as bc
from bayesclust.inference import runner
from bayesclust.inference.chain import Chain
from bayesclust.inference.runner import usual_draws
from bayesclust.partition_priors import DirichletProcess, KnownK, PitmanYor
from tests.refusals import refused

SHORT = {
    "cluster_model": "single",
    "num_chains": 2,
    "num_warmup": 40,
    "num_samples": 30,
    "progress": False,
    "random_state": 5,
}
MEAN_FIELD = bc.VariationalSettings(n_init=2)
FITS = {
    "collapsed": ("collapsed", None),
    "blocked, pitman-yor": ("blocked", PitmanYor()),
    "blocked, known number": ("blocked", KnownK(3, (2.0, 2.0))),
    "variational, dirichlet process": (MEAN_FIELD, DirichletProcess()),
    "variational, pitman-yor": (MEAN_FIELD, PitmanYor()),
    "variational, known number": (MEAN_FIELD, KnownK(3, (2.0, 2.0))),
}


@pytest.fixture(scope="module")
def data():
    return bc.datasets.make_mixture(60, 2, 3, separation=20.0, seed=1)


@pytest.fixture(scope="module")
def views(data):
    links = bc.PairwiseConstraints.sample(
        data.y, fraction=0.05, error_rate=[0.0, 0.3], n_sources=2, seed=2
    )
    more = bc.PairwiseConstraints.sample(data.y, size=20, seed=3, name="more")
    triplets = bc.RelativeConstraints.sample(data.y, size=40, error_rate=0.1, seed=4)
    return [links, more, triplets.with_noise(bc.ConfusionNoise())]


@pytest.fixture(scope="module")
def fits(data, views):
    """A fit by each sampler, made when it is first asked for."""
    made = {}

    def fit(name):
        if name not in made:
            sampler, prior = FITS[name]
            est = bc.TVClust(sampler, partition_prior=prior, **SHORT)
            made[name] = est.fit(data.X, constraints=views)
        return made[name]

    return fit


@pytest.fixture(params=FITS)
def fitted(request, fits):
    return fits(request.param)


def test_clusters_are_found_predicted_and_most_probable(fitted, data):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert sorted(set(fitted.labels_)) == list(range(fitted.n_clusters_))
    assert (fitted.predict(data.X) == fitted.labels_).mean() > 0.95
    assert fitted.log_joint(fitted.labels_) > fitted.log_joint(np.arange(60) % 2)
    far = data.X.mean(axis=0) + 1000 * data.X.std(axis=0)
    known = isinstance(fitted.partition_prior, KnownK)
    assert (fitted.predict_novelty([far])[0] > 0.5) != known


def test_draws_are_of_every_source_view_and_parameter(fitted, views):
    draws = fitted.posterior_["posterior"]
    assert draws["p"].dims == ("chain", "draw", "links_source")
    assert draws["p"].shape == (*draws["n_clusters"].shape, 2)
    assert draws["q_more"].dims == ("chain", "draw", "more_source")
    assert draws["confusion"].dims == ("chain", "draw", "triplets_source", "truth", "answer")
    assert np.allclose(draws["confusion"].sum("answer"), 1)
    assert draws["z"].dtype == np.int16
    assert (draws["z"].max("item") + 1 == draws["n_clusters"]).all()
    prior = fitted.partition_prior or DirichletProcess()
    assert set(prior.parameters) <= set(draws.variables)
    assert (draws["n_clusters"] <= (prior.most_clusters or 60)).all()
    assert len(bc.constraint_credibility(fitted)) == sum(map(len, views))


def test_draws_repeat_whatever_the_number_of_threads(fits, data, views):
    fitted = fits("collapsed")
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


def test_responsibilities_and_bound_belong_to_the_labels(fits, data, views):
    fitted = fits("variational, dirichlet process")
    assert np.array_equal(fitted.responsibilities_.argmax(axis=1), fitted.labels_)
    np.testing.assert_allclose(fitted.responsibilities_.sum(axis=1), 1.0)
    assert fitted.bound_ == fitted.bound_path_[-1]
    assert fitted.converged_
    assert np.array_equal(bc.point_estimate(fitted.posterior_), fitted.labels_)
    # halving every unit doubles the numbers and makes each of the n d of them half as dense
    scaled = clone(fitted).fit(2.0 * data.X, constraints=views)
    assert scaled.bound_ == pytest.approx(fitted.bound_ - data.X.size * np.log(2.0), rel=1e-9)
    from_one = clone(fitted).fit(data.X, init=np.zeros(60, int))
    assert bc.metrics.adjusted_rand(from_one.labels_, data.y) > 0.9


def test_answers_decide_where_data_are_silent():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    links = bc.PairwiseConstraints.sample(y, fraction=0.5, seed=0)
    est = bc.TVClust(**SHORT)
    assert bc.metrics.adjusted_rand(est.fit(X, constraints=links).labels_, y) == 1.0


def test_chains_can_start_from_a_partition(data, monkeypatch):
    monkeypatch.setattr(Chain, "sweep", lambda self, **_: None)
    est = bc.TVClust(**SHORT).fit(data.X, init=data.y + 7)
    assert bc.metrics.adjusted_rand(est.labels_, data.y) == 1.0


X = np.arange(12.0).reshape(6, 2)


def fit(sampler="collapsed", init=None, **settings):
    return bc.TVClust(sampler, **settings).fit(X, init=init)


ROWS = """
fit('nuts')
    ValueError: sampler must be "collapsed" or "gibbs" or "blocked" or "variational"; got 'nuts'.
fit(family='gamma')
    ValueError: family='gamma' is not known; choose one of 'gaussian', 'gaussian_tied',
    'gaussian_diagonal', 'gaussian_spherical', 'multinomial', 'bernoulli', 'poisson',
    'categorical', 'von_mises_fisher', 'hurdle', 'mixed'.
fit(moves=bc.Moves(restricted_scans=-2))
    ValueError: restricted_scans of Moves must be an integer from 0 to 1000; got -2.
fit(moves=bc.Moves(fast='no'))
    TypeError: fast of Moves must be True or False; got 'no'.
fit(moves=bc.Moves(single_site=False, split_merge=0))
    ValueError: Moves without single_site and split_merge do not reach every partition: leave one of
    them.
fit(init=[0, 1])
    ValueError: init has shape (2,), but X has 6 items: pass one label per item, an estimator
    fitted to these items, or its posterior_.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())


@pytest.mark.parametrize("sampler", ["blocked", "variational"])
def test_moves_and_priors_that_a_sampler_lacks_are_refused(sampler):
    with pytest.raises(ValueError, match=f"^moves is given, but sampler='{sampler}' has no moves"):
        fit(sampler, moves=bc.Moves())
    sentence = "^partition_prior is a MixtureOfFiniteMixtures, which has no stick-breaking form: "
    with pytest.raises(ValueError, match=sentence):
        fit(sampler, partition_prior="finite_mixtures")
    with pytest.raises(ValueError, match="allows 2: start from fewer"):
        fit(sampler, partition_prior=KnownK(2), init=np.arange(6))


def test_many_items_have_fewer_draws_unless_told(monkeypatch):
    assert [usual_draws(n) for n in (10, 1000, 2000, 5000)] == [1000, 1000, 500, 250]
    monkeypatch.setattr(runner, "FREE_ITEMS", 1)
    X = np.random.default_rng(0).normal(size=(500, 1))
    settings = SHORT | {"num_warmup": 2, "num_samples": None}
    est = bc.TVClust(family="gaussian_diagonal", **settings).fit(X)
    assert est.posterior_["posterior"].sizes["draw"] == 250


def test_fit_warns_of_draws_not_to_be_trusted_and_notes_it():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(bc.posterior.DiagnosisWarning, match="From bayesclust.diagnose") as caught:
        est = bc.TVClust(**SHORT | {"num_warmup": 0, "num_samples": 2}).fit(X)
    assert est.posterior_.attrs["diagnosis"] in str(caught[0].message)
