"""The Chinese restaurant process, its concentration, and log-normal priors of hyper-parameters."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import gamma, kstest

from bayesclust.families import HyperPrior
from bayesclust.models.priors import Concentration, crp_log_prob
from tests.judges.exact import partitions


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_partitions_have_probability_one_in_all(n, alpha):
    total = sum(math.exp(crp_log_prob(np.bincount(z), alpha)) for z in partitions(n))
    assert total == pytest.approx(1, abs=1e-12)


def test_restaurant_guest_by_guest():
    alpha, expected = 0.6, 0.0
    z = [0, 0, 1, 0, 2, 1]
    for i, k in enumerate(z):
        expected += math.log((z[:i].count(k) or alpha) / (i + alpha))
    assert crp_log_prob(np.bincount(z), alpha) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("number", [3, 100])
def test_no_partition_has_an_empty_cluster(number):
    assert (
        crp_log_prob(np.r_[0, np.ones(number, int)], 1.0) == np.inf
    )  # Gamma(0), whatever their number


@pytest.mark.parametrize(
    "value", [0.5, (2.0, 3.0), [2.0, 3.0], np.array([1.0, 4.0]), Concentration(fixed=2.0)]
)
def test_parse_good(value):
    parsed = Concentration.parse(value)
    if isinstance(value, Concentration):
        assert parsed is value
    elif np.ndim(value) == 0:
        assert parsed.fixed == parsed.initial() == value
    else:
        assert (parsed.shape, parsed.rate, parsed.fixed) == (value[0], value[1], None)
        assert parsed.initial() == value[0] / value[1]


@pytest.mark.parametrize(
    "value",
    [0, -1.0, np.nan, np.inf, (1.0, 0.0), (1.0,), (1.0, 2.0, 3.0), "one", None, ("a", 1), []],
)
def test_parse_bad(value):
    with pytest.raises(
        ValueError, match=r"neither a positive number nor a pair .*; give one of these\.$"
    ):
        Concentration.parse(value)


def test_prior_is_gamma(rng):
    prior = Concentration(2.5, 3.0)
    for alpha in (0.1, 1.0, 4.0):
        assert prior.log_prior(alpha) == pytest.approx(gamma(2.5, scale=1 / 3).logpdf(alpha))
    draws = [prior.sample_prior(rng) for _ in range(2000)]
    assert kstest(draws, gamma(2.5, scale=1 / 3).cdf).pvalue > 1e-3


def test_fixed_stays(rng):
    prior = Concentration(fixed=0.3)
    assert prior.update(0.3, 4, 10, rng) == prior.sample_prior(rng) == 0.3
    assert prior.log_prior(0.3) == 0


@pytest.mark.parametrize(
    ("shape", "rate", "n_clusters", "n_items"),
    [(1.0, 1.0, 3, 20), (0.3, 2.0, 1, 8), (4.0, 0.5, 8, 8), (1.0, 1.0, 9, 5000)],
)
def test_escobar_and_west_against_quadrature(shape, rate, n_clusters, n_items, rng):
    prior = Concentration(shape, rate)

    def log_density(log_alpha):
        alpha = math.exp(log_alpha)
        value = (shape + n_clusters) * log_alpha - rate * alpha
        return value + gammaln(alpha) - gammaln(alpha + n_items)

    grid = np.linspace(-30, 6, 20_001)
    density = np.exp(np.array([log_density(u) for u in grid]) - max(log_density(u) for u in grid))
    cumulative = np.cumsum(density) / density.sum()
    alpha, draws = prior.initial(), []
    for _ in range(4000):
        for _ in range(5):
            alpha = prior.update(alpha, n_clusters, n_items, rng)
        draws.append(math.log(alpha))
    ranks = np.interp(draws, grid, cumulative)
    # draws are still a little dependent: allow twice the independent error
    counts = np.histogram(ranks, bins=10, range=(0, 1))[0]
    assert np.abs(counts - 400).max() < 2 * 4 * math.sqrt(360)
    assert ranks.mean() == pytest.approx(0.5, abs=2 * 4 / math.sqrt(12 * 4000))


@pytest.mark.parametrize(
    ("median", "log_sd", "least"),
    [(0.5, 1.0, 0.0), (0.5, 1.0, 0.4), (15.0, 0.5, 1.0), (1.0, 0.4, 2.0)],
)
def test_hyper_prior_is_a_density_of_the_logarithm(median, log_sd, least, rng):
    prior = HyperPrior("base_scale", median, log_sd, least)
    low = math.log(least) if least else math.log(median) - 9 * log_sd
    high = math.log(median) + 9 * log_sd
    assert quad(lambda u: math.exp(prior.log_prob(math.exp(u))), low, high)[0] == pytest.approx(
        1, abs=1e-7
    )
    draws = np.log([prior.sample(rng) for _ in range(1000)])
    assert draws.min() >= low
    cdf = np.vectorize(lambda u: quad(lambda v: math.exp(prior.log_prob(math.exp(v))), low, u)[0])
    assert kstest(draws, cdf).pvalue > 1e-3


def test_hyper_prior_outside_its_support():
    prior = HyperPrior("base_scale", 0.5, 1.0, least=0.1)
    for value in (0.0999, 0.0, np.inf, np.nan):
        assert prior.log_prob(value) == -np.inf


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"median": 0.0, "log_sd": 1.0},
            "median=0.0 of the prior of x is not a finite number that is positive",
        ),
        ({"median": np.nan, "log_sd": 1.0}, "median=nan"),
        (
            {"median": 1.0, "log_sd": -1.0},
            "log_sd=-1.0 of the prior of x is not a finite number that is not negative",
        ),
        ({"median": 1.0, "log_sd": np.inf}, "log_sd=inf"),
        ({"median": 1.0, "log_sd": 1.0, "least": -1.0}, "least=-1.0"),
        (
            {"median": 1.0, "log_sd": 0.1, "least": 3.0},
            "least=3.0 cuts off nearly all of the prior of x",
        ),
    ],
)
def test_hyper_prior_bad(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        HyperPrior("x", **settings)


@pytest.mark.parametrize("alpha", [1e-8, 0.3, 50.0])
def test_concentration_by_its_logarithm(alpha):
    by_log = Concentration.from_log(math.log(alpha))
    assert by_log.fixed == pytest.approx(alpha)
    for sizes in ([1], [3, 1], [2, 2, 5]):
        assert by_log.log_prob(np.array(sizes), 1.0) == pytest.approx(
            crp_log_prob(np.array(sizes), alpha), rel=1e-12
        )


@pytest.mark.parametrize("log_alpha", [-1e6, -1e12, 1e6])
def test_concentration_beyond_floats(log_alpha):
    prior = Concentration.from_log(log_alpha)
    assert 0 < prior.initial() < np.inf
    assert prior.log(prior.initial()) == log_alpha
    # alpha^(K - 1) over prod_{0 < j < n} (alpha + j), one of which outweighs the other
    rising = 6 * log_alpha if log_alpha > 0 else math.log(720)
    expected = (3 - 1) * log_alpha - rising + math.log(1 * 6 * 1)
    assert prior.log_prob(np.array([2, 4, 1]), prior.initial()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "rate"), [(1.0, 1.0), (0.05, 2.0), (3.0, 40.0), (2.0, 0.01), (50.0, 5.0)]
)
def test_with_the_concentration_integrated_out_partitions_have_probability_one_in_all(shape, rate):
    prior = Concentration(shape, rate)
    total = sum(math.exp(prior.log_marginal(np.bincount(z))) for z in partitions(6))
    assert total == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("sizes", [[300], [1] * 60, [500, 300, 2, 1]])
def test_integral_over_the_concentration_by_quadrature(sizes):
    prior, sizes = Concentration(2.0, 1.5), np.array(sizes)
    shift = crp_log_prob(sizes, prior.initial())
    value, _ = quad(
        lambda alpha: math.exp(crp_log_prob(sizes, alpha) - shift + prior.log_prior(alpha)),
        0,
        80,
        limit=500,
        epsrel=1e-12,
    )
    assert prior.log_marginal(sizes) == pytest.approx(shift + math.log(value), rel=1e-9)


def test_a_fixed_concentration_needs_no_integral():
    assert Concentration(fixed=0.7).log_marginal(np.array([3, 2])) == crp_log_prob(
        np.array([3, 2]), 0.7
    )
    tiny = Concentration.from_log(-1e5)
    assert tiny.log_marginal(np.array([3, 2])) == pytest.approx(-1e5, rel=1e-3)
