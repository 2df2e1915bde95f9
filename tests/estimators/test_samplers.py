"""TVClust by the blocked sampler and by mean field, under every prior that has sticks."""

import numpy as np
import pytest
from sklearn.base import clone

import bayesclust as bc
from bayesclust.partition_priors import DirichletProcess, KnownK, PitmanYor

SHORT = {"num_chains": 2, "num_warmup": 40, "num_samples": 30, "progress": False, "random_state": 0}
MEAN_FIELD = bc.VariationalSettings(n_init=2, n_refined=1)
FITS = {
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
    triplets = bc.RelativeConstraints.sample(data.y, size=40, error_rate=0.1, seed=4)
    return [links, triplets.with_noise(bc.ConfusionNoise())]


@pytest.fixture(scope="module", params=FITS)
def fitted(request, data, views):
    sampler, prior = FITS[request.param]
    return bc.TVClust(sampler, partition_prior=prior, **SHORT).fit(data.X, constraints=views)


def test_clusters_are_found_predicted_and_most_probable(fitted, data):
    assert bc.metrics.adjusted_rand(fitted.labels_, data.y) > 0.9
    assert (fitted.predict(data.X) == fitted.labels_).mean() > 0.95
    assert fitted.log_joint(fitted.labels_) > fitted.log_joint(np.arange(60) % 2)
    far = data.X.mean(axis=0) + 1000 * data.X.std(axis=0)
    known = isinstance(fitted.partition_prior, KnownK)
    assert (fitted.predict_novelty([far])[0] > 0.5) != known


def test_draws_have_the_shapes_of_the_collapsed_ones(fitted, data, views):
    few = {"num_warmup": 5, "num_chains": 2, "num_samples": 30}
    other = clone(fitted).set_params(sampler="collapsed", **few).fit(data.X, constraints=views)
    shapes = [
        {name: one.shape for name, one in est.posterior_["posterior"].data_vars.items()}
        for est in (fitted, other)
    ]
    assert shapes[0] == shapes[1]
    draws = fitted.posterior_["posterior"]
    assert set(fitted.partition_prior.parameters) <= set(draws.data_vars)
    most = fitted.partition_prior.most_clusters or 60
    assert (draws["n_clusters"] <= most).all()
    assert len(bc.constraint_credibility(fitted)) == sum(map(len, views))


def test_responsibilities_and_bound_belong_to_the_labels(data, views):
    fitted = bc.TVClust(MEAN_FIELD, **SHORT).fit(data.X, constraints=views)
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


@pytest.mark.parametrize("sampler", ["blocked", "variational"])
def test_moves_and_priors_that_a_sampler_lacks_are_refused(data, sampler):
    with pytest.raises(ValueError, match=f"^moves is given, but sampler='{sampler}' has no moves"):
        bc.TVClust(sampler, moves=bc.Moves()).fit(data.X)
    sentence = (
        "^partition_prior is a MixtureOfFiniteMixtures, which has no stick-breaking form: use "
    )
    with pytest.raises(ValueError, match=sentence):
        bc.TVClust(sampler, partition_prior="finite_mixtures").fit(data.X)
    with pytest.raises(ValueError, match="allows 2: start from fewer"):
        bc.TVClust(sampler, partition_prior=KnownK(2), **SHORT).fit(data.X, init=np.arange(60))
