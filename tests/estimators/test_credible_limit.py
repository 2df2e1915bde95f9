"""The limit at a posterior's credibility: formulas by hand, and agreement with the sampler."""

import numpy as np
import pytest
from scipy.special import gammaln

import bayesclust as bc
from bayesclust.families.gaussian import Mahalanobis
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.posterior.tree import to_datatree
from tests.refusals import cases, refusal

Y = np.repeat([0, 1, 2], [20, 10, 10])


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3)) + 6.0 * np.eye(3)[Y]


def tree(views=(), noise=None, labels=Y, alpha=1.5, **attrs):
    """Two draws of one chain, of one partition; noise parameters on two sources or one."""
    draws = {
        "z": np.tile(labels, (1, 2, 1)),
        "concentration": np.array([[alpha - 0.5, alpha + 0.5]]),
    }
    dims = {}
    for name, (view, values) in (noise or {}).items():
        draws[name] = np.stack([np.stack([np.asarray(values) * 0.98, np.asarray(values) * 1.02])])
        dims[name] = (f"{view}_source", *(("truth", "answer") if name == "confusion" else ()))
    return to_datatree(draws, constraints=views, dims=dims, attrs=attrs)


def scale(X, labels=Y):
    """gamma, W and T of spherical clusters, by loops."""
    n, d, names = len(X), X.shape[1], np.unique(labels)
    W = sum(np.square(X[labels == k] - X[labels == k].mean(axis=0)).sum() for k in names) / (
        n - len(names)
    )
    return d / (2 * W), W, np.square(X - X.mean(axis=0)).sum() / (n - 1)


def test_penalty_is_what_two_halves_of_a_cluster_cost(X):
    est = bc.RDPMeans.from_posterior(tree(), X, divergence="euclidean")
    gamma, W, T = scale(X)
    cost = 0.0
    for i in range(40):
        n = (Y[i] == Y).sum()
        cost += gammaln(n) - 2 * gammaln(n / 2) - np.log(1.5) + 1.5 * np.log(n * T / (4 * W))
    assert est.penalty == pytest.approx(cost / 40 / gamma)
    assert est.xi is None
    assert est.init.tolist() == Y.tolist()


def test_a_discount_changes_what_halves_cost(X):
    """Pitman-Yor: W(m) = Gamma(m - s) / Gamma(1 - s); a cluster beside K others weighs t + s K."""
    posterior = tree(settings={"partition_prior": "PitmanYor()"})
    draws = posterior["posterior"].to_dataset()
    posterior["posterior"] = draws.assign(discount=(("chain", "draw"), [[0.2, 0.4]]))
    est = bc.RDPMeans.from_posterior(posterior, X, divergence="euclidean")
    gamma, W, T = scale(X)
    n = np.bincount(Y)[Y]
    cost = gammaln(n - 0.3) - 2 * gammaln(n / 2 - 0.3) + gammaln(0.7) - np.log(1.5 + 0.3 * 3)
    cost += 1.5 * np.log(n * T / (4 * W))
    assert est.penalty == pytest.approx(cost.mean() / gamma)


def test_every_source_has_its_own_confidence(X):
    links = bc.PairwiseConstraints.sample(Y, size=40, n_sources=2, seed=0)
    triplets = bc.RelativeConstraints.sample(Y, size=30, n_sources=2, seed=0)
    p, q, eps = [0.9, 0.7], [0.95, 0.6], [0.1, 0.4]
    posterior = tree(
        [links, triplets], {"p": ("links", p), "q": ("links", q), "noise": ("triplets", eps)}
    )
    est = bc.RDPMeans.from_posterior(posterior, X, divergence="euclidean")
    gamma = scale(X)[0]
    for s in range(2):
        expected = np.log(p[s] / (1 - q[s])) / gamma, np.log(q[s] / (1 - p[s])) / gamma
        assert est.xi["links"][s] == pytest.approx(expected)
        true = np.log((1 - eps[s]) / (eps[s] / 2)) / gamma
        np.testing.assert_allclose(est.xi["triplets"][s], -true * np.eye(3))
    fitted = est.fit(X, constraints=[links, triplets])
    np.testing.assert_allclose(fitted.xi_["links"], est.xi["links"])


def test_a_confusion_matrix_gives_costs(X):
    triplets = bc.RelativeConstraints.sample(Y, size=30, seed=0)
    triplets = triplets.with_noise(bc.ConfusionNoise())
    C = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]])
    est = bc.RDPMeans.from_posterior(
        tree([triplets], {"confusion": ("triplets", C[None])}), X, divergence="euclidean"
    )
    np.testing.assert_allclose(est.xi["triplets"][0], -np.log(C) / scale(X)[0])
    assert est.fit(X, constraints=triplets).n_clusters_ == 3


def test_sources_that_tell_nothing_are_left_aside(X):
    links = bc.PairwiseConstraints.sample(Y, size=40, n_sources=2, seed=0)
    posterior = tree([links], {"p": ("links", [0.9, 0.4]), "q": ("links", [0.9, 0.5])})
    with pytest.warns(
        UserWarning,
        match=r"^source 1 of 'links' is as likely wrong as right in this posterior: it is left",
    ):
        est = bc.RDPMeans.from_posterior(posterior, X, divergence="euclidean")
    assert est.xi["links"][1].tolist() == [0.0, 0.0]
    assert min(est.xi["links"][0]) > 0
    triplets = bc.RelativeConstraints.sample(Y, size=30, seed=0)
    with pytest.warns(UserWarning, match=r"^source 0 of 'triplets'"):
        est = bc.RDPMeans.from_posterior(
            tree([triplets], {"noise": ("triplets", [0.7])}), X, divergence="euclidean"
        )
    assert not est.xi["triplets"].any()


def test_the_family_decides_the_divergence(X):
    spherical = bc.RDPMeans.from_posterior(tree(settings={"family": "gaussian_spherical"}), X)
    assert spherical.divergence == SquaredEuclidean()
    full = bc.RDPMeans.from_posterior(tree(settings={"family": "gaussian"}), X).divergence
    assert isinstance(full, Mahalanobis)
    pooled = sum(np.cov(X[k == Y], rowvar=False) * ((k == Y).sum() - 1) for k in range(3)) / 37
    np.testing.assert_allclose(full.covariance, pooled + 1e-3 * np.cov(X, rowvar=False, bias=True))


ROUND = {"settings": {"family": "gaussian_spherical"}}
ROWS = """
limit(tree(), X)
    ValueError: the posterior does not say which family it is of, and no divergence follows from
    that: pass divergence=, such as "standardized", and an X of numbers.
limit(tree(settings={"family": "mixed"}), X)
    ValueError: the posterior has family='mixed', and no divergence follows from that: pass
    divergence=, such as "standardized", and an X of numbers.
limit(tree(settings={"family": "von_mises_fisher"}), X)
    ValueError: the posterior has family='von_mises_fisher', and no divergence follows from that:
    pass divergence=, such as "standardized", and an X of numbers.
limit(tree(**ROUND), X[:39])
    ValueError: X has 39 items, but the posterior is about 40: pass the data that was clustered.
limit(tree(labels=np.arange(40), **ROUND), X)
    ValueError: the point estimate has 40 clusters of 40 items without scatter within them, so the
    scale of the limit is not known: set penalty and xi yourself.
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_what_a_posterior_cannot_tell(X, call, error):
    limit = bc.RDPMeans.from_posterior
    assert refusal(call, globals() | {"X": X, "limit": limit}) == error


def test_clusters_of_more_than_one_centre_are_told(rng):
    """Two rings about one point."""
    angle = 2 * np.pi * rng.random(40)
    X = np.repeat([1.0, 4.0], 20)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    rings = tree(labels=np.repeat([0, 1], 20), **ROUND)
    said = r"^\d\d% of the items are nearest to the centre of their own cluster: one centre each"
    with pytest.warns(UserWarning, match=said) as caught:
        bc.RDPMeans.from_posterior(rings, X)
    assert caught[0].filename == __file__


def test_the_limit_agrees_with_the_sampler_on_data(rng):
    """Two sources, one of which guesses: the limit stays with the sampler."""
    data = bc.datasets.load("wine")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    links = bc.PairwiseConstraints.sample(
        data.y, size=300, n_sources=2, error_rate=[0.05, 0.45], seed=0
    )
    chains = bc.TVClust(
        num_chains=2, num_warmup=100, num_samples=100, random_state=0, progress=False
    )
    chains.fit(X, constraints=links)
    est = bc.RDPMeans.from_posterior(chains, X).fit(X, constraints=links)
    assert bc.metrics.adjusted_rand(est.labels_, chains.labels_) > 0.9
    afresh = bc.RDPMeans.from_posterior(chains, X, n_init=20, random_state=0).fit(
        X, constraints=links
    )
    assert bc.metrics.adjusted_rand(afresh.labels_, chains.labels_) > 0.9
    careful, guessing = est.xi_["links"]
    assert careful.min() > 4 * guessing.max()
    assert bc.metrics.pairwise_f(est.labels_, data.y) > 0.9
