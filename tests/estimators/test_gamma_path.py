"""The path of gammas from TVClust to RDP-means, and from DCRC to its hard labels."""

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

import bayesclust as bc
from bayesclust.estimators.gamma_path import default_gammas
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import link_graph
from bayesclust.inference.limits.rdp_means import Problem
from tests.refusals import refused

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


def test_a_limit_that_is_not_fitted_is_fitted_as_a_copy(data, links):
    given = {"constraints": links, "gammas": [2.0], **SHORT}
    limit = bc.RDPMeans(n_clusters=3, xi=2.0, random_state=0)
    path = bc.limit_path(data.X, limit=limit, **given)
    assert not hasattr(limit, "labels_")
    expected = clone(limit).fit(data.X, constraints=links)
    np.testing.assert_array_equal(path["limit_labels"], expected.labels_)
    default = bc.RDPMeans(random_state=0).fit(data.X, constraints=links)
    assert bc.limit_path(data.X, **given).attrs["penalty"] == default.penalty_


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
    for name in ("vi_within", "vi_between"):
        assert path[name][0] > 0.3
        assert path[name][-1] < 1e-9
    for name in ("vi", "energy", "n_clusters", "objective"):
        lower, upper = path[name].sel(statistic="lower"), path[name].sel(statistic="upper")
        assert (lower <= upper + 1e-9).all()
        # nearer to the limit one draw in a hundred may differ, which moves the mean beyond both
        # quantiles
        assert lower[0] <= mean[name][0] <= upper[0]


def test_a_limit_of_other_data_or_answers_is_refused(data, links, limit):
    others = bc.PairwiseConstraints.sample(data.y, fraction=0.05, seed=9)
    for X, given in ((data.X + 1e-3 * data.X**2, links), (data.X, others), (data.X, None)):
        with pytest.raises(ValueError, match=r"was fitted to other data or constraints than these"):
            bc.limit_path(X, constraints=given, limit=limit, **SHORT)


def test_chains_that_missed_the_limit_are_found_out(data):
    """From a large gamma on single items move downhill alone."""
    limit = bc.DPMeans(penalty=5.0, n_init=10, random_state=0).fit(data.X)
    alone = SHORT | {"num_chains": 1, "moves": bc.Moves(split_merge=0.0, link_blocks=False)}
    with pytest.warns(UserWarning, match=r"stand still at a partition whose J is \d.*missed"):
        path = bc.limit_path(data.X, limit=limit, gammas=[1e6, 1e7], **alone)
    assert path["objective"][-1, 0] > path.attrs["limit_objective"]


def test_a_poor_limit_is_found_out(data):
    poor = bc.DPMeans(penalty=40.0).fit(data.X)
    poor.labels_ = np.arange(60) % 2
    with pytest.warns(UserWarning, match=r"a local minimum: its J is \d.*more starts"):
        path = bc.limit_path(data.X, limit=poor, gammas=[0.5, 50.0, 5000.0], **SHORT)
    assert path["share_below"][-1] == 1
    end = path.isel(gamma=-1)
    assert (end["objective"] < path.attrs["limit_objective"]).all()
    assert float(end["vi"].sel(statistic="mean")) > 0.5


def test_gammas_are_visited_once_and_in_order(data):
    limit = bc.DPMeans(penalty=40.0, n_init=20, random_state=0).fit(data.X)
    path = bc.limit_path(data.X, limit=limit, gammas=[1e4, 0.3, 1e4], sampler="gibbs", **SHORT)
    np.testing.assert_array_equal(path["gamma"], [0.3, 1e4])
    assert path["vi_within"][-1] < 1e-9  # nothing moves there


def test_answers_of_two_sources(data, links):
    sources = bc.PairwiseConstraints(
        links.items, links.answers, n_items=60, source=np.arange(len(links)) % 2
    )
    xi = {"links": [(5.0, 5.0), (1.0, 2.0)]}
    limit = bc.RDPMeans(penalty=40.0, xi=xi, n_init=20, random_state=0)
    path = bc.limit_path(data.X, constraints=sources, limit=limit, gammas=[0.1, 1e4], **SHORT)
    end = path.sel(statistic="mean").isel(gamma=-1)
    assert float(end["vi"]) < 1e-9
    assert float(end["energy"]) == pytest.approx(path.attrs["limit_objective"], rel=1e-2)


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


@pytest.mark.parametrize("sampler", ["gibbs", "variational_em"])
@pytest.mark.parametrize("noise", [0.1, "learn"])
def test_dcrc_arrives_at_its_labels_without_temperature(data, sampler, noise):
    triplets = bc.RelativeConstraints.sample(data.y, size=50, error_rate=0.1, seed=1)
    limit = bc.DCRC(3, noise=noise, temperature=0, random_state=0)
    given = {"constraints": triplets, "sampler": sampler, **SHORT}
    path = bc.limit_path(data.X, limit=limit, **given)
    expected = clone(limit).fit(data.X, constraints=triplets)
    assert bc.metrics.adjusted_rand(path["limit_labels"], expected.labels_) > 0.99
    mean = path.sel(statistic="mean")
    assert float(mean["vi"][0]) > 2
    np.testing.assert_allclose(mean["vi"][-3:], 0.0, atol=1e-12)
    np.testing.assert_allclose(mean["objective"][-3:], path.attrs["limit_objective"])
    assert path["vi_within"][-1] < 1e-9
    assert ("energy" in path) == (sampler == "variational_em")
    if "energy" in path:
        assert (np.diff(mean["energy"]) > -1e-6).all()  # less and less entropy is taken from J
        np.testing.assert_allclose(mean["energy"][-1], mean["objective"][-1])
    panels = bc.plots.limit_path(path)
    assert panels[0].get_title(loc="left") == "Variation of information to hard DCRC"
    assert panels[5].get_xlabel() == "gamma (1 / temperature)"


X = np.arange(12.0).reshape(6, 2)
LINKS = bc.PairwiseConstraints([(0, 1)], [True], n_items=6)
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)


ROWS = """
bc.limit_path(X, sampler='blocked')
    ValueError: sampler must be "collapsed" or "gibbs"; got 'blocked'.
bc.limit_path(X, limit=bc.RDPMeans(penalty=3.0).fit(X[:5]))
    ValueError: limit was fitted to 5 items with 2 columns, but X has shape (6, 2): fit it to
    the same X, or pass it unfitted.
bc.limit_path(X, limit=bc.RDPMeans(3.0, xi={'links': 1.0}).fit(X, constraints=LINKS))
    ValueError: the limit was fitted to other constraints than these, none: fit it with the same,
    or pass it unfitted.
bc.limit_path(X, constraints=TRIPLETS)
    TypeError: constraints[0] is a RelativeConstraints, but this method uses constraints about pairs
    or labels alone: leave it out, or use TVClust with sampler='collapsed', which takes all.
bc.limit_path(X, limit=bc.RDPMeans(cluster_model='mixture'))
    ValueError: limit has cluster_model="mixture", and the model at a gamma is known for single
    clusters: pass another limit.
bc.limit_path(X, limit=bc.MPCKMeans(2))
    TypeError: limit is a MPCKMeans: pass an RDPMeans or a DCRC, fitted or not, or None for RDPMeans
    with its defaults.
bc.limit_path(X, limit=bc.DCRC(2), sampler='collapsed')
    ValueError: sampler must be "gibbs" or "variational_em"; got 'collapsed'.
bc.limit_path(X, limit=bc.DCRC(2).fit(X, constraints=TRIPLETS))
    ValueError: the limit was fitted to other constraints than these: fit it with the same, or pass
    it unfitted.
bc.limit_path(X, limit=bc.DCRC(2, noise=0.0), constraints=TRIPLETS)
    ValueError: the limit has answers that are never wrong, and no temperature makes them weigh
    less: give noise a small error rate such as 0.01.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())
