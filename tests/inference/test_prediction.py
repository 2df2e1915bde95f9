"""Prediction of new items against textbooks, sums over all partitions, and its own laws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

from bayesclust.families import (
    FAMILIES,
    DiagonalGaussian,
    FullGaussian,
    Multinomial,
    SphericalGaussian,
)
from bayesclust.inference import prediction
from bayesclust.inference.prediction import Prediction, with_shared
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import data_for, fixed, problem

Z = np.array(
    [[0, 0, 1, 1, 1, 0, 2], [0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1, 1]]
)
ALPHA = np.array([0.3, 1.0, 2.5, 0.8])


def full_t(family, hyper, X, x):
    """Murphy (2007), Eq. 258: multivariate t, in our coordinates."""
    kappa0, nu0, psi0 = family.parameters(hyper)
    n, d = len(X), len(x)
    mean = X.mean(axis=0) if n else np.zeros(d)
    kappa, nu = kappa0 + n, nu0 + n
    psi = psi0 + (X - mean).T @ (X - mean) + kappa0 * n / kappa * np.outer(mean, mean)
    df = nu - d + 1
    return stats.multivariate_t(n * mean / kappa, psi * (kappa + 1) / (kappa * df), df=df).logpdf(x)


def column_t(family, hyper, X, x):
    """Murphy (2007), Eq. 206 ff.: Student's t in every column."""
    kappa0, a0, b0 = family.parameters(hyper)
    n = len(X)
    mean = X.mean(axis=0) if n else np.zeros(len(x))
    kappa, a = kappa0 + n, a0 + n / 2
    b = b0 + 0.5 * ((X - mean) ** 2).sum(axis=0) + 0.5 * kappa0 * n / kappa * mean**2
    return stats.t(2 * a, n * mean / kappa, np.sqrt(b * (kappa + 1) / (a * kappa))).logpdf(x).sum()


def spherical_t(family, hyper, X, x):
    """One variance for all columns: multivariate t with 2 a degrees of freedom."""
    kappa0, a0, b0 = family.parameters(hyper)
    n, d = len(X), len(x)
    mean = X.mean(axis=0) if n else np.zeros(d)
    kappa, a = kappa0 + n, a0 + n * d / 2
    b = b0 + 0.5 * ((X - mean) ** 2).sum() + 0.5 * kappa0 * n / kappa * (mean**2).sum()
    return stats.multivariate_t(
        n * mean / kappa, np.eye(d) * b * (kappa + 1) / (a * kappa), df=2 * a
    ).logpdf(x)


def dirichlet_multinomial(family, hyper, X, x):
    """Multinomial coefficient included, as scipy has it."""
    return stats.dirichlet_multinomial(hyper[0] + X.sum(axis=0), int(x.sum())).logpmf(x)


CASES = {
    "full": (FullGaussian(), full_t),
    "diagonal": (DiagonalGaussian(), column_t),
    "spherical": (SphericalGaussian(), spherical_t),
    "multinomial": (Multinomial(), dirichlet_multinomial),
}


def values(alphas):
    """Parameters of draws by their concentrations."""
    return [{"concentration": float(alpha)} for alpha in alphas]


def by_hand(family, density, rows, jacobian):
    """p(x, joins k) and p(x, alone) from the textbook: a list over draws of (m, K_s + 1)."""
    joint = []
    rng = np.random.default_rng(1)
    hypers = np.array([family.sample_hyper(rng) for _ in Z])
    for z, alpha, hyper in zip(Z, ALPHA, hypers, strict=True):
        clusters = [family.X[z == k] for k in range(z.max() + 1)] + [family.X[:0]]
        weights = np.append(np.bincount(z), alpha) / (len(z) + alpha)
        logs = [[density(family, hyper, X, row) for X in clusters] for row in rows]
        joint.append(weights * np.exp(np.array(logs) + jacobian))
    return hypers, joint


@pytest.mark.parametrize("case", CASES)
def test_given_draws_against_the_textbook(case, rng):
    configuration, density = CASES[case]
    X = data_for(configuration, 12, 3, rng)
    if case != "multinomial":
        X = X * [2.0, 0.1, 30.0] + 5
    family = configuration.bind(X[:7])
    rows = family.transform(X[7:])
    jacobian = 0.0 if case == "multinomial" else -np.log(family.unit).sum()
    hypers, joint = by_hand(family, density, rows, jacobian)
    found = Prediction(family, Z, values(ALPHA), hypers)
    total = sum(terms.sum(axis=1) for terms in joint)
    np.testing.assert_allclose(found.log_density(rows), np.log(total / len(Z)), rtol=1e-9)
    np.testing.assert_allclose(
        found.novelty(rows), sum(terms[:, -1] for terms in joint) / total, rtol=1e-8
    )
    together = sum(terms[:, z] for terms, z in zip(joint, Z, strict=True)) / total[:, None]
    np.testing.assert_allclose(found.similarity(rows), together, rtol=1e-8)
    labels = Z[0]
    member = np.zeros((len(rows), 3))
    for terms, z in zip(joint, Z, strict=True):
        for k in range(z.max() + 1):
            for c in range(3):
                member[:, c] += terms[:, k] * (labels[z == k] == c).mean()
    np.testing.assert_allclose(
        found.memberships(rows, labels), member / member.sum(axis=1, keepdims=True), rtol=1e-8
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_prediction_is_the_sum_over_partitions_with_the_item(name):
    """The weights of the partitions of n + 1 items give density and co-clustering of the last."""
    whole = problem(name, n=6, seed=3)
    prior = DirichletProcess(0.8)
    family = whole.family.with_rows(whole.family.X[:5])
    views = tuple(view.restrict(np.arange(5)) for view in whole.constraints)
    states, logs = exact.log_posterior(family, views, prior)
    wider = tuple(
        type(view)(view.items, view.answers, 6, view.source, view.noise, view.name)
        for view in views
    )
    more, joint = exact.log_posterior(whole.family, wider, prior)
    times = np.random.default_rng(0).multinomial(60_000, np.exp(logs - logsumexp(logs)))
    z = np.repeat(states, times, axis=0)[:: 60_000 // 3000]
    hyper = np.tile(family.initial_hyper()[: len(family.hyper_priors)], (len(z), 1))
    found = Prediction(family, z, values([0.8] * len(z)), with_shared(family, z, hyper))
    row = whole.family.X[5:]
    evidence = logsumexp(joint) - logsumexp(logs) + float(family.row_constants(row)[0])
    assert found.log_density(row)[0] == pytest.approx(evidence, abs=0.01)
    weights = np.exp(joint - logsumexp(joint))
    together = weights @ (more[:, :5] == more[:, 5:])
    np.testing.assert_allclose(found.similarity(row)[0], together, atol=0.01)
    alone = weights @ (more[:, :5] != more[:, 5:]).all(axis=1)
    assert found.novelty(row)[0] == pytest.approx(alone, abs=0.01)


@pytest.fixture
def line(rng):
    """Draws about eight items on a line."""
    X = np.r_[rng.normal(-3, 1, 4), rng.normal(4, 0.5, 4)][:, None] * 7 + 100
    family = FullGaussian().bind(X)
    z = np.array([[0] * 4 + [1] * 4, [0, 0, 1, 1, 2, 2, 2, 2], [0] * 8])
    return Prediction(
        family, z, values([0.5, 1.0, 2.0]), np.array([family.sample_hyper(rng) for _ in z])
    )


def test_density_integrates_to_one(line):
    def density(x):
        return np.exp(line.log_density(line.family.transform([[x]])))[0]

    middle, _ = integrate.quad(density, 0, 200, limit=200, points=[75, 128])
    tails = [integrate.quad(density, *ends, limit=200)[0] for ends in ((-np.inf, 0), (200, np.inf))]
    assert middle + sum(tails) == pytest.approx(1, abs=1e-6)


def test_probability_of_counts_sums_to_one(rng):
    family = Multinomial().bind(np.array([[3.0, 1], [2, 2], [0, 4]]))
    found = Prediction(
        family, np.array([[0, 0, 1], [0, 1, 2]]), values([1.0, 1.0]), np.array([[0.5], [2.0]])
    )
    every = np.array([[k, 6 - k] for k in range(7)], dtype=float)
    assert np.exp(found.log_density(family.transform(every))).sum() == pytest.approx(1)


def test_every_item_is_somewhere(line):
    rows = line.family.transform(np.linspace(0, 300, 7)[:, None])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    np.testing.assert_allclose(line.memberships(rows, labels).sum(axis=1), 1)
    # under a draw of clusters of equal size, company summed over items is size times the chance of
    # joining
    one = replace(line, z=line.z[:1], values=line.values[:1], hyper=line.hyper[:1])
    np.testing.assert_allclose(one.similarity(rows).sum(axis=1), 4 * (1 - one.novelty(rows)))


def test_far_items_have_finite_densities_and_memberships(line):
    far = line.family.transform([[1e7], [-1e7]])
    shares = line.memberships(far, line.z[0])
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.isfinite(line.log_density(far)).all()


def test_blocks_do_not_change_the_result(line, monkeypatch):
    rows = line.family.transform(np.linspace(50, 150, 11)[:, None])
    whole = line.log_density(rows), line.similarity(rows), line.memberships(rows, line.z[1])
    monkeypatch.setattr(prediction, "BLOCK", 25)
    for one, other in zip(
        whole,
        (line.log_density(rows), line.similarity(rows), line.memberships(rows, line.z[1])),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", FAMILIES)
def test_learned_and_held_hyper_parameters_of_every_family(name, rng):
    """A draw of one cluster at next to no concentration: the density is a ratio of marginals."""
    configuration = fixed(FAMILIES[name])
    X = data_for(configuration, 9, 2, rng)
    family = configuration.bind(X[:8])
    row = family.transform(X[8:])
    hyper = family.sample_hyper(rng)
    found = Prediction(family, np.zeros((1, 8), np.int64), values([1e-12]), hyper[None])
    expected = family.log_marginal(np.concatenate([family.X, row]), hyper) - family.log_marginal(
        family.X, hyper
    )
    assert found.log_density(row)[0] == pytest.approx(
        expected + family.row_constants(row)[0], rel=1e-8
    )
