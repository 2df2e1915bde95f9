"""TVClust at gamma, and the path of gammas to RDP-means."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

import bayesclust as bc
from bayesclust.estimators import AtGamma
from bayesclust.estimators.gamma_path import default_gammas
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import link_graph
from bayesclust.inference.limits.rdp_means import Problem
from tests.refusals import cases, refusal

SHORT = {"num_chains": 2, "num_warmup": 40, "num_samples": 30, "progress": False, "random_state": 0}


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray


@pytest.fixture(scope="module")
def data():
    """Round clusters of variance 1, whose centres are 8 apart."""
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(60) % 3)
    return Data(np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])[y] + rng.normal(size=(60, 2)), y)


@pytest.fixture(scope="module")
def links(data):
    return bc.PairwiseConstraints.sample(data.y, fraction=0.05, error_rate=0.05, seed=2)


@pytest.fixture(scope="module")
def limit(data, links):
    return bc.RDPMeans(penalty=40.0, xi=5.0, n_init=20, random_state=0).fit(
        data.X, constraints=links
    )


@pytest.fixture(scope="module")
def path(data, links, limit):
    return bc.limit_path(data.X, constraints=links, limit=limit, **SHORT)


@pytest.mark.parametrize("sampler", ["collapsed", "gibbs"])
def test_at_large_gamma_the_posterior_is_the_limit(data, links, limit, sampler):
    est = bc.TVClust(sampler, cluster_model=AtGamma(1e6, limit=limit), **SHORT).fit(
        data.X, constraints=links, init=limit
    )
    draws = est.posterior_["posterior"]["z"].values.reshape(-1, 60)
    assert (draws == draws[0]).all()
    assert bc.metrics.variation_of_information(est.labels_, limit.labels_) == 0.0
    assert est.limit_ is limit
    assert {"evidence_same", "evidence_different", "concentration"} <= set(
        est.posterior_["posterior"]
    )
    np.testing.assert_allclose(est.posterior_["posterior"]["evidence_same"], 1e6 * limit.xi_[0])
    assert est._problem.partition_prior.log_fixed < -1e6


def test_new_items_are_seen_at_large_gamma(data):
    est = bc.TVClust(cluster_model=AtGamma(1e6, limit=bc.DPMeans(penalty=40.0)), **SHORT).fit(
        data.X, init=data.y
    )
    assert (est.predict(data.X) == est.labels_).all()
    # a new item costs the penalty alone, and n / (n + 1) of its squared distance in a cluster of n
    # = 20
    centre, radius = data.X[data.y == 0].mean(axis=0), np.sqrt(est.limit_.penalty_ * 21 / 20)
    near, far = centre - [[0.99 * radius, 0.0], [1.01 * radius, 0.0]]
    np.testing.assert_allclose(est.predict_novelty([near, far]), [0.0, 1.0], atol=1e-12)


def test_a_limit_that_is_not_fitted_is_fitted_as_a_copy(data, links):
    limit = bc.RDPMeans(n_clusters=3, xi=2.0, random_state=0)
    est = bc.TVClust(cluster_model=AtGamma(2.0, limit=limit), **SHORT).fit(
        data.X, constraints=links
    )
    assert not hasattr(limit, "labels_")
    expected = clone(limit).fit(data.X, constraints=links)
    np.testing.assert_array_equal(est.limit_.labels_, expected.labels_)
    plain = bc.TVClust(cluster_model=AtGamma(2.0), **SHORT).fit(data.X, constraints=links).limit_
    default = bc.RDPMeans(random_state=0).fit(data.X, constraints=links)
    assert (plain.penalty_, plain.xi_) == (default.penalty_, default.xi_)


def test_the_path_arrives_at_rdp_means(path, limit):
    mean = path.sel(statistic="mean")
    assert float(mean["vi"][0]) > 0.3
    for name, arrived in (("vi", 0.0), ("ari", 1.0), ("n_clusters", limit.n_clusters_)):
        np.testing.assert_allclose(mean[name][-3:], arrived, atol=1e-12)
    np.testing.assert_allclose(mean["entropy"][-1], path.attrs["limit_entropy"], atol=1e-9)
    np.testing.assert_allclose(mean["objective"][-1], limit.objective_)
    gap = np.abs(mean["energy"] - mean["objective"]).values
    assert gap[-1] < 1e-2 * abs(limit.objective_)
    assert (np.diff(gap[-5:]) < 0).all()
    assert (path["share_below"][-3:] == 0).all()
    np.testing.assert_allclose(path["chain_objective"][-1], limit.objective_)
    for name in ("vi_within", "vi_between"):
        assert path[name][0] > 0.3
        assert path[name][-1] < 1e-9
    for name in ("vi", "energy", "n_clusters", "objective"):
        lower, upper = path[name].sel(statistic="lower"), path[name].sel(statistic="upper")
        assert (lower <= upper + 1e-9).all()
        # nearer to the limit one draw in a hundred may differ, which moves the mean beyond both
        # quantiles
        assert lower[0] <= mean[name][0] <= upper[0]


def test_a_poor_limit_is_found_out(data):
    poor = bc.DPMeans(penalty=40.0).fit(data.X)
    poor.labels_ = np.arange(60) % 2
    path = bc.limit_path(data.X, limit=poor, gammas=[0.5, 50.0, 5000.0], **SHORT)
    assert path["share_below"][-1] == 1
    end = path.isel(gamma=-1)
    assert (end["objective"] < path.attrs["limit_objective"]).all()
    assert float(end["vi"].sel(statistic="mean")) > 0.5


def test_gammas_are_visited_once_and_in_order(data, limit):
    path = bc.limit_path(data.X, limit=limit, gammas=[1e4, 0.3, 1e4], sampler="gibbs", **SHORT)
    np.testing.assert_array_equal(path["gamma"], [0.3, 1e4])
    assert path["vi_within"][-1] < 1e-9  # nothing moves there


def test_answers_of_all_kinds_and_sources(data, links):
    triplets = bc.RelativeConstraints.sample(data.y, size=40, error_rate=0.05, seed=3)
    sources = bc.PairwiseConstraints(
        links.items, links.answers, n_items=60, source=np.arange(len(links)) % 2
    )
    xi = {"links": {0: 5.0, 1: (1.0, 2.0)}, "triplets": 3.0}
    limit = bc.RDPMeans(penalty=40.0, xi=xi, n_init=20, random_state=0)
    path = bc.limit_path(
        data.X, constraints=[sources, triplets], limit=limit, gammas=[0.1, 1e4], **SHORT
    )
    end = path.sel(statistic="mean").isel(gamma=-1)
    assert float(end["vi"]) < 1e-9
    assert float(end["energy"]) == pytest.approx(path.attrs["limit_objective"], rel=1e-2)
    est = bc.TVClust(cluster_model=AtGamma(2.0, limit=limit), **SHORT).fit(
        data.X, constraints=[sources, triplets]
    )
    draws = est.posterior_["posterior"]
    np.testing.assert_allclose(draws["evidence_same"][0, 0], [10.0, 2.0])
    np.testing.assert_allclose(draws["evidence_different"][0, 0], [10.0, 4.0])
    np.testing.assert_allclose(draws["costs"][0, 0, 0], -6.0 * np.eye(3))
    table = bc.constraint_credibility(est).groupby("view")
    assert (table["elpd_loo"].max() > -0.01).all()  # log(1 / (1 + 2 exp(-6))) and more
    assert set(bc.constraint_ppc(est)["view"]) == {"links", "triplets"}


def test_a_fit_survives_pickling(rng):
    X = rng.normal(size=(20, 3))
    model = AtGamma(2.0, limit=bc.DPMeans(n_clusters=2, divergence="mahalanobis"))
    est = bc.TVClust(cluster_model=model, **SHORT).fit(X)
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.predict_proba(X[:4]), est.predict_proba(X[:4]))
    np.testing.assert_array_equal(again.limit_.labels_, est.limit_.labels_)


def test_a_path_is_in_the_units_of_its_divergence(rng):
    limit = bc.DPMeans(n_clusters=3, divergence="mahalanobis", n_init=5, random_state=0)
    path = bc.limit_path(rng.normal(size=(30, 3)), limit=limit, gammas=[1.0, 1e7], **SHORT)
    end = path.sel(gamma=1e7, statistic="mean")
    assert float(end["energy"]) == pytest.approx(float(end["objective"]), rel=1e-3)
    assert bc.plots.limit_path(path)[4].get_ylabel() == "squared standard units"


def test_gammas_go_from_one_cluster_to_far_beyond(rng):
    X = rng.normal(size=(100, 2)) * 3.0
    problem = Problem.of(X, SquaredEuclidean(), link_graph([], 100), 5.0)
    gammas = default_gammas(problem)
    assert 1 / (2 * gammas[0]) == pytest.approx(X.var(axis=0).mean())
    assert gammas[-1] * 5.0 / 100 >= 100
    np.testing.assert_allclose(np.diff(np.log(gammas)), np.log(gammas[1] / gammas[0]))
    alike = Problem.of(np.ones((4, 2)), SquaredEuclidean(), link_graph([], 4), 1.0)
    assert default_gammas(alike)[0] == 1.0


X = np.arange(12.0).reshape(6, 2)
HOLES = [[1, np.nan], [2, 2], [3, 3]]
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)


def at_gamma(gamma=1.0, limit=None, X=X, sampler="collapsed", constraints=None, **settings):
    est = bc.TVClust(sampler, cluster_model=AtGamma(gamma, limit=limit), **settings)
    return est.fit(X, constraints=constraints)


ROWS = """
at_gamma(sampler='blocked')
    ValueError: sampler='blocked' does not sample the model at a gamma: choose "collapsed" or
    "gibbs".
at_gamma(family='multinomial')
    ValueError: family is given, and at a gamma it follows from the limit: leave it out.
at_gamma(partition_prior='pitman_yor')
    ValueError: partition_prior is given, and at a gamma it follows from the limit: leave it
    out.
at_gamma(limit=bc.RDPMeans(penalty=3.0).fit(X[:5]))
    ValueError: limit was fitted to 5 items with 2 columns, but X has shape (6, 2): fit it to
    the same X, or pass it unfitted.
at_gamma(limit=bc.RDPMeans(penalty=3.0).fit(X), constraints=TRIPLETS)
    ValueError: the limit was fitted to other constraints than these, 'triplets' of 1 sources:
    fit it with the same, or pass it unfitted.
at_gamma(limit=bc.RDPMeans(divergence='poisson'), X=HOLES)
    ValueError: no model at gamma is known for the divergence SeenCells, only for those of
    whole data by mahalanobis, standardized, euclidean, kl, bernoulli, poisson, categorical:
    choose one of these.
bc.limit_path(X, limit=bc.RDPMeans(cluster_model='mixture'))
    ValueError: limit has cluster_model="mixture", and the model at a gamma is known for single
    clusters: pass another limit.
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_bad_input_is_refused_in_a_sentence(call, error):
    assert refusal(call, globals()) == error
