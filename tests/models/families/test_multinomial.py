"""Dirichlet-multinomial clusters against SciPy, Monte Carlo and bad counts."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import dirichlet_multinomial, multinomial

from bayesclust.families import Multinomial


@pytest.fixture
def counts(rng):
    return rng.multinomial([3, 8, 1, 12, 5], [0.2, 0.5, 0.25, 0.05]).astype(float)


@pytest.mark.parametrize("beta", [0.05, 1.0, 7.0])
def test_is_a_chain_of_dirichlet_multinomials(beta, counts):
    family = Multinomial(concentration=beta).bind(counts)
    expected, seen = 0.0, np.zeros(4)
    for x in counts.astype(int):
        expected += dirichlet_multinomial(beta + seen, x.sum()).logpmf(x)
        seen += x
    assert family.log_marginal(family.X, np.array([beta])) + family.log_constant == pytest.approx(
        expected, rel=1e-10
    )


def test_by_monte_carlo(counts, rng):
    beta, number = 0.8, 20_000
    family = Multinomial(concentration=beta).bind(counts[:2])
    shares = np.maximum(rng.dirichlet(np.full(4, beta), size=number), 1e-300)
    shares /= shares.sum(axis=1, keepdims=True)
    logs = sum(multinomial(int(x.sum()), shares).logpmf(x) for x in counts[:2])
    weights = np.exp(logs - logs.max())
    error = weights.std() / weights.mean() / math.sqrt(number)
    value = family.log_marginal(family.X, np.array([beta])) + family.log_constant
    assert error < 0.05
    assert value == pytest.approx(logsumexp(logs) - math.log(number), abs=4 * error)


def test_two_clusters_have_independent_shares(counts):
    family = Multinomial(concentration=1.0).bind(counts)
    one, hyper = np.array([1.0]), family.initial_hyper()
    np.testing.assert_array_equal(one, hyper)
    # of one item with one count in d columns every column is as likely as any other
    single = np.eye(4)[:1]
    assert family.log_marginal(single, hyper) == pytest.approx(-math.log(4))


def test_large_counts_stay_finite():
    family = Multinomial().bind(np.array([[1e12, 3.0], [0.0, 5e14]]))
    assert np.isfinite(family.log_marginal(family.X, family.initial_hyper()))


def test_embedding_sees_shares_not_sizes():
    family = Multinomial().bind(np.array([[1.0, 3.0], [10.0, 30.0], [4.0, 0.0]]))
    points = family.embedding()
    np.testing.assert_allclose(points[0], points[1])
    np.testing.assert_allclose((points**2).sum(axis=1), 1)


@pytest.mark.parametrize(
    "X", [[[1.5, 1], [2, 3]], [[-1, 1], [2, 3]], [[0, 0], [2, 3]], [[np.nan, 1], [2, 3]]]
)
def test_what_are_no_counts(X):
    with pytest.raises(ValueError, match=r"^X "):
        Multinomial().bind(np.array(X, dtype=float))
