"""Sources that are pooled, against sums over crowds and integrals over rates written out."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesclust as bc
from bayesclust._io import load_netcdf, write_netcdf
from bayesclust.constraints import ConfusionNoise, LinkNoise, PairwiseConstraints, UniformNoise
from bayesclust.constraints import noise as module
from bayesclust.constraints.noise import Pool
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.samplers import SAMPLERS
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import bound_case, fixed, links, triplets
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_blocked import assert_exact as assert_blocked
from tests.exactness.test_enumeration import assert_exact
from tests.exactness.test_geweke import z_scores

STRENGTHS = [2, 4, 8, 16, 32, 64, 128, 256]


def crowds(a, b, cells=32):
    """Beta(a, b) cut into cells: the mean and the probability of each."""
    edges = (1 - np.cos(np.pi * np.arange(cells + 1) / cells)) / 2
    mass = np.diff(stats.beta(a, b).cdf(edges))
    inside = [np.linspace(*ends, 4001) for ends in pairwise(edges)]
    inside = [(x[1:] + x[:-1]) / 2 for x in inside]
    means = [np.average(x, weights=stats.beta(a, b).pdf(x) + 1e-300) for x in inside]
    return list(zip(means, np.maximum(mass, 1e-300), strict=True))


def log_evidence(hits, misses, a, b):
    """log p(these answers of each source in one order), by a sum over crowds."""
    terms = []
    for mean, mass in crowds(a, b):
        for kappa in STRENGTHS:
            given = np.log(mass / len(STRENGTHS))
            for hit, miss in zip(hits, misses, strict=True):
                n = hit + miss
                binomial = stats.betabinom(n, mean * kappa, (1 - mean) * kappa).logpmf(hit)
                given += binomial - np.log(stats.binom(n, 0.5).pmf(hit) * 2.0**n)
            terms.append(given)
    return logsumexp(terms)


def test_evidence_is_a_sum_over_crowds(rng):
    counts = rng.integers(4, size=(6, 2))
    different, same = counts.reshape(3, 2, 2).swapaxes(0, 1)
    by_p = log_evidence(same[:, 0], different[:, 0], 4, 2)
    by_q = log_evidence(different[:, 1], same[:, 1], 3, 3)
    noise = LinkNoise(p=(4, 2), q=(3, 3), pooled=True)
    assert noise.log_marginal(counts) == pytest.approx(by_p + by_q)
    half = LinkNoise(p=(4, 2), q=0.7, pooled=True)
    known = stats.binom(1, 0.7).logpmf([1, 0]) @ [different[:, 1].sum(), same[:, 1].sum()]
    assert half.log_marginal(counts) == pytest.approx(by_p + known)


def test_a_row_is_as_its_kinds_told_apart_one_after_the_other(rng):
    weights = [[4.0, 2.0, 2.0], [1.5, 3.0, 2.0], [2.0, 2.0, 6.0]]
    noise = ConfusionNoise(prior=weights, pooled=True)
    counts = rng.integers(3, size=(6, 5))
    folded = np.zeros((2, 3, 3), dtype=int)
    for pattern, truth in enumerate(noise.truth):
        folded[:, truth] += counts[:, pattern].reshape(2, 3)
    expected = 0.0
    for truth, (a, b, c) in enumerate(weights):
        yes, no, dnk = folded[:, truth].T
        expected += log_evidence(yes, no + dnk, a, b + c) + log_evidence(no, dnk, b, c)
    assert noise.log_marginal(counts) == pytest.approx(expected)


def test_few_points_are_as_good_as_many(monkeypatch, rng):
    counts = rng.integers(3, size=(80, 2))
    few = [LinkNoise(pooled=True).log_marginal(counts * k) for k in (1, 3)]
    monkeypatch.setattr(module, "CROWD_MEANS", 400)
    many = [LinkNoise(pooled=True).log_marginal(counts * k) for k in (1, 3)]
    np.testing.assert_allclose(few, many, atol=0.05)


def over_rates(of, size=150):
    """Integral over two rates by a grid that is dense at the ends."""
    angle = np.pi * (np.arange(size) + 0.5) / (2 * size)
    x, width = np.sin(angle) ** 2, np.pi / (2 * size) * np.sin(2 * angle)
    first, second = np.meshgrid(x, x, indexing="ij")
    return (of(np.stack([first, second], axis=-1)) * np.outer(width, width)).sum()


def test_prior_of_two_sources_integrates_to_the_evidence(rng):
    noise = UniformNoise(eps=(3.0, 4.0), pooled=True)
    counts = rng.integers(1, 3, size=(6, 5))

    def density(eps):
        params = {"noise": eps}
        return np.exp(noise.log_prior(params))

    def joint(eps):
        likelihood = (counts * noise.log_table({"noise": eps})).sum(axis=(-2, -1))
        return density(eps) * np.exp(likelihood - noise.log_marginal(counts))

    assert over_rates(density) == pytest.approx(1, abs=2e-3)
    assert over_rates(joint) == pytest.approx(1, abs=1e-4)


def test_prior_of_rows_integrates_to_one():
    """All three rows being one and the same, the density of one is the third root."""
    noise = ConfusionNoise(prior=[[4, 3, 4]] * 3, pooled=True)

    def density(x):  # the second probability is a share of what the first leaves
        left = 1 - x[..., 0]
        row = np.stack([x[..., 0], left * x[..., 1], left * (1 - x[..., 1])], axis=-1)
        rows = np.broadcast_to(row[..., None, None, :], (*row.shape[:-1], 1, 3, 3))
        return left * np.exp(noise.log_prior({"confusion": rows}) / 3)

    assert over_rates(density) == pytest.approx(1, abs=2e-3)


def fit(workers, noise, seed, sampler="collapsed"):
    """Labels known but for the data: two groups far apart, and five answers of each worker."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 20)
    asked = PairwiseConstraints.sample(
        y, size=5 * workers, n_sources=workers, error_rate=0.2, seed=seed
    )
    X = 9.0 * y[:, None] + rng.normal(size=(40, 2))
    est = bc.TVClust(
        sampler=sampler,
        cluster_model="single",
        num_chains=1,
        num_warmup=50,
        num_samples=200,
        progress=False,
        random_state=seed,
    )
    return est.fit(X, constraints=asked.with_noise(noise)), asked, y


@pytest.mark.parametrize("sampler", ["collapsed", "gibbs", "blocked", "variational"])
def test_annotators_with_few_answers_shrink_to_the_crowd(sampler):
    est, asked, y = fit(30, LinkNoise(p=(1, 1), q=(1, 1), pooled=True), 1, sampler)
    table = bc.source_reliability(est)
    of_p = table[table["parameter"] == "p"]["mean"]
    apart = LinkNoise(p=(1, 1), q=(1, 1))
    alone = apart.predictive(asked.counts(y))[:, 1, 1]
    assert of_p.std() < 0.4 * alone.std()
    # given the partition, the draws of every method are of one distribution
    exact = LinkNoise(p=(1, 1), q=(1, 1), pooled=True).predictive(asked.counts(y))[:, 1, 1]
    np.testing.assert_allclose(of_p, exact, atol=0.05)


def test_a_stored_posterior_shows_the_same_sources(tmp_path):
    est, *_ = fit(4, LinkNoise(pooled=True), 2)
    write_netcdf(est.posterior_, tmp_path / "run.nc")
    again = bc.source_reliability(load_netcdf(tmp_path / "run.nc"))
    pd.testing.assert_frame_equal(again, bc.source_reliability(est), check_dtype=False)


def template():
    """Few items, and many answers of several sources who are pooled."""
    rng = np.random.default_rng(5)
    bound = bound_case("gaussian_spherical", 5, 2, rng, fixed)
    noise = LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0), pooled=True)
    views = (
        links(5, rng, noise, n_sources=4, size=24),
        triplets(5, rng, ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]], pooled=True)),
    )
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_chains_reach_the_exact_posterior(sampler):
    assert_exact(template(), None, 2500, 3, sampler)


def test_blocked_chains_reach_the_exact_posterior():
    assert_blocked(template(), 500, seed=3)


def test_joint_distribution_and_a_fault(monkeypatch):
    """The fault: right answers are taken for wrong ones when a crowd is drawn."""
    assert_agree(z_scores(template(), 2000, 4))
    right = Pool.log_weights
    monkeypatch.setattr(Pool, "log_weights", lambda self, pairs: right(self, pairs[..., ::-1]))
    assert_noticed(z_scores(template(), 1500, 4))
