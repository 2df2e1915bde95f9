"""Noise that cannot come to mean the opposite: closed forms, integrals, draws; also where next to nothing is left."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, expit, gammaln, logsumexp

from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.constraints import _truncated as truncated


def binomial_tail(a, b, t):
    """log P(Beta(a, b) < x) for whole a and b: at least a of a + b - 1 uniform numbers lie below x."""
    n, j = a + b - 1, np.arange(a, a + b)
    choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return logsumexp(choices - j * np.logaddexp(0, -t) - (n - j) * np.logaddexp(0, t))


def ordered(a, b, c, d):
    """log P(P + Q > 1) for whole weights: the binomial tail of 1 - Q at P, averaged over P term by term."""
    n, j = c + d - 1, np.arange(d, c + d)
    choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return logsumexp(choices + betaln(a + j, b + n - j)) - betaln(a, b)


@pytest.mark.parametrize("largest", [3, 50, 1000, 30_000])
def test_normalisers_are_the_closed_forms_of_whole_weights(largest, rng):
    deepest = 0.0
    for _ in range(25):
        a, b, c, d = (int(w) for w in np.exp(rng.uniform(0, np.log(largest), size=4)))
        expected = ordered(a, b, c, d)
        assert float(truncated.log_order(a, b, c, d)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        t = 4 * rng.normal()
        assert float(truncated.log_below(a, b, t)) == pytest.approx(
            binomial_tail(a, b, t), rel=1e-9, abs=1e-9
        )
        deepest = min(deepest, expected)
    assert largest < 50 or deepest < -20


def test_normalisers_far_beyond_the_smallest_double():
    assert ordered(1, 4000, 2, 3000) < -3000
    assert float(truncated.log_order(1, 4000, 2, 3000)) == pytest.approx(
        ordered(1, 4000, 2, 3000), rel=1e-10
    )
    assert float(truncated.log_below(3000, 2, -5.0)) == pytest.approx(
        binomial_tail(3000, 2, -5.0), rel=1e-10
    )


@pytest.mark.parametrize(
    "weights",
    [(0.01, 5.0, 0.5, 0.3), (1e-3, 1e-3, 1e-3, 1e-3), (0.5, 4.5, 20.0, 0.2), (2.5, 0.7, 1e5, 3.0)],
)
def test_an_order_and_its_opposite_are_certain(weights):
    a, b, c, d = weights
    either = [float(truncated.log_order(a, b, c, d)), float(truncated.log_order(b, a, d, c))]
    assert logsumexp(either) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("p", [(2.0, 3.0), (4.0, 1.0)])
def test_link_evidence_is_the_integral_over_what_is_left(p, rng):
    noise = LinkNoise(p=p, q=(1.5, 2.0), informative=True)
    counts = rng.integers(4, size=(2, 2))
    prior_p, prior_q = stats.beta(*noise.p).pdf, stats.beta(*noise.q).pdf

    def left(integrand):
        return integrate.dblquad(
            lambda q, p: integrand(p, q) * prior_p(p) * prior_q(q),
            0,
            1,
            lambda p: 1 - p,
            1,
            epsabs=1e-7,
            epsrel=1e-6,
        )[0]

    def likelihood(p, q):
        return np.exp((counts * noise.log_table({"p": np.array([p]), "q": np.array([q])})).sum())

    total = left(lambda p, q: 1.0)
    assert noise.log_marginal(counts) == pytest.approx(np.log(left(likelihood) / total), rel=1e-5)
    assert noise.initial(1)["p"][0] == pytest.approx(left(lambda p, q: p) / total, rel=1e-5)
    assert noise.initial(1)["q"][0] == pytest.approx(left(lambda p, q: q) / total, rel=1e-5)
    at = {"p": np.array([0.8]), "q": np.array([0.35])}
    assert noise.log_prior(at) == pytest.approx(
        np.log(prior_p(0.8) * prior_q(0.35) / total), rel=1e-5
    )


def test_evidence_with_one_known_is_the_integral_over_the_other(rng):
    noise = LinkNoise(p=(2.0, 3.0), q=0.7, informative=True)
    counts = rng.integers(4, size=(2, 2))

    def likelihood(p):
        return np.exp((counts * noise.log_table({"p": np.array([p]), "q": np.array([0.7])})).sum())

    prior = stats.beta(2, 3)
    value, _ = integrate.quad(lambda p: likelihood(p) * prior.pdf(p), 0.3, 1)
    assert noise.log_marginal(counts) == pytest.approx(np.log(value / prior.sf(0.3)), rel=1e-8)
    assert noise.log_prior({"p": [0.5], "q": [0.7]}) == pytest.approx(
        np.log(prior.pdf(0.5) / prior.sf(0.3))
    )
    assert noise.initial(1)["p"][0] == pytest.approx(
        integrate.quad(lambda p: p * prior.pdf(p), 0.3, 1)[0] / prior.sf(0.3)
    )


def test_uniform_evidence_is_the_integral_below_two_thirds(rng):
    noise = UniformNoise(eps=(2.0, 2.5), informative=True)
    counts = rng.integers(4, size=(3, 5))
    prior = stats.beta(2, 2.5)

    def integrand(eps):
        return np.exp((counts * noise.log_table({"noise": np.array([eps])})).sum()) * prior.pdf(eps)

    value, _ = integrate.quad(integrand, 0, 2 / 3, epsabs=0)
    assert noise.log_marginal(counts) == pytest.approx(np.log(value / prior.cdf(2 / 3)), rel=1e-8)
    assert noise.log_prior({"noise": [0.3]}) == pytest.approx(
        np.log(prior.pdf(0.3) / prior.cdf(2 / 3))
    )
    assert noise.initial(1)["noise"][0] == pytest.approx(
        integrate.quad(lambda eps: eps * prior.pdf(eps), 0, 2 / 3)[0] / prior.cdf(2 / 3)
    )


def test_nothing_is_left_outside():
    links, triplets = LinkNoise(informative=True), UniformNoise(informative=True)
    assert links.log_prior({"p": [0.9, 0.3], "q": [0.9, 0.69]}) == -np.inf
    assert np.isfinite(links.log_prior({"p": [0.9, 0.3], "q": [0.9, 0.71]}))
    assert triplets.log_prior({"noise": [0.1, 0.7]}) == -np.inf
    assert np.isfinite(triplets.log_prior({"noise": [0.1, 0.66]}))


def link_counts(right_p, wrong_p, right_q, wrong_q):
    """Rows different, same; columns pattern same, different."""
    return np.array([[wrong_p, right_q], [right_p, wrong_q]])


def many(noise, counts, times, rng):
    return noise.draw(np.broadcast_to(counts, (times, *counts.shape)), noise.initial(1), rng)


# likely, rare, and beyond the smallest double
@pytest.mark.parametrize(
    "tallies", [(5, 1, 3, 2), (1, 9, 2, 12), (2, 900, 3, 800), (0, 4000, 3, 2)], ids=str
)
def test_link_draws_follow_what_is_left_of_the_posterior(tallies, rng):
    noise = LinkNoise(informative=True)
    drawn = many(noise, link_counts(*tallies), 3000, rng)
    p, q = drawn["p"][:, 0], drawn["q"][:, 0]
    assert (p + q >= 1 - 1e-15).all()
    a, b, c, d = 4 + tallies[0], 1 + tallies[1], 4 + tallies[2], 1 + tallies[3]
    for sample, weights in ((p, (a, b, c, d)), (q, (c, d, a, b))):
        assert stats.kstest(sample, lambda x, w=weights: marginal_cdf(x, *w)).pvalue > 1e-4
    # given p, q is a Beta variable above 1 - p: its probability transform is uniform and does not
    # know of p
    log_odds = np.log(p) - np.log1p(-p)
    within = np.array([binomial_tail(d, c, t) for t in log_odds])
    own = np.array([binomial_tail(d, c, t) for t in np.log1p(-q) - np.log(q)])
    uniform = np.exp(own - within)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4
    assert abs(stats.spearmanr(uniform, p).statistic) < 4.5 / np.sqrt(3000)


def marginal_cdf(x, a, b, c, d, nodes=40_001):
    """Distribution function of P given P + Q > 1 by a plain sum over a fine grid of its log odds."""
    t = np.linspace(-14, 14, nodes)
    log_x, log_rest = -np.logaddexp(0, -t), -np.logaddexp(0, t)
    n, j = c + d - 1, np.arange(d, c + d)
    choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    few = t[:: nodes // 2000]
    tails = [
        logsumexp(choices - j * np.logaddexp(0, -s) - (n - j) * np.logaddexp(0, s)) for s in few
    ]
    density = a * log_x + b * log_rest + np.interp(t, few, tails)
    cumulative = np.cumsum(np.exp(density - density.max()))
    return np.interp(x, expit(t), cumulative / cumulative[-1])


@pytest.mark.parametrize("right", [5, 0])
@pytest.mark.parametrize("wrong", [3, 2000])
def test_draws_with_one_known_follow_what_is_left(right, wrong, rng):
    noise = LinkNoise(p=(1.0, 1.0), q=0.6, informative=True)
    p = many(noise, link_counts(right, wrong, 1, 1), 3000, rng)["p"][:, 0]
    total = binomial_tail(1 + wrong, 1 + right, np.log(0.6 / 0.4))
    own = np.array([binomial_tail(1 + wrong, 1 + right, t) for t in np.log1p(-p) - np.log(p)])
    assert (p > 0.4).all()
    assert stats.kstest(np.exp(own - total), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("wrong", [3, 2000])
def test_uniform_draws_follow_what_is_left_of_the_posterior(wrong, rng):
    noise, counts = UniformNoise(eps=(1.0, 1.0), informative=True), np.zeros((3, 5), dtype=int)
    counts[0, 0], counts[0, 1] = wrong, 4
    eps = many(noise, counts, 3000, rng)["noise"][:, 0]
    own = np.array([binomial_tail(1 + wrong, 5, t) for t in np.log(eps) - np.log1p(-eps)])
    assert (eps < 2 / 3).all()
    assert (
        stats.kstest(np.exp(own - binomial_tail(1 + wrong, 5, np.log(2))), "uniform").pvalue > 1e-4
    )


def test_prior_draws_are_independent_and_have_the_prior_mean(rng):
    noise = LinkNoise(p=(1.0, 3.0), q=(1.0, 2.0), informative=True)
    sample = noise.sample_prior(20_000, rng)
    for name, values in sample.items():
        assert abs(values.mean() - noise.initial(1)[name][0]) < 4.5 * values.std() / np.sqrt(20_000)
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 4.5 / np.sqrt(20_000)


def test_a_source_that_contradicts_everything_stays_finite():
    counts = np.array([[100_000, 0], [0, 100_000]])
    for noise in (LinkNoise(informative=True), LinkNoise(p=0.9, informative=True)):
        assert np.isfinite(noise.log_marginal(counts))
        assert np.isfinite(noise.expected_log_table(counts, 1)).all()
        params = noise.draw(counts, noise.initial(1), np.random.default_rng(0))
        assert np.isfinite(noise.log_prior(params))
    # such answers are worth a coin's toss, not more
    assert LinkNoise(informative=True).log_marginal(counts) < -200_000 * np.log(2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LinkNoise(p=0.4, q=0.5, informative=True),
            r"keeps p \+ q > 1 alone, but p=0.4 and q=0.5 leaves 0 of",
        ),
        (
            lambda: LinkNoise(p=(1, 30), q=(1, 30), informative=True),
            f"leaves {np.exp(ordered(1, 30, 1, 30)):.2g} of its",
        ),
        (
            lambda: UniformNoise(eps=0.8, informative=True),
            "keeps eps < 2/3 alone, but eps=0.8 leaves 0 of",
        ),
    ],
)
def test_a_prior_that_contradicts_the_cut_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("noise", [LinkNoise, UniformNoise])
def test_the_option_is_a_flag(noise):
    with pytest.raises(TypeError, match="informative must be True or False; got 1 of type int"):
        noise(informative=1)
    assert noise(informative=True) != noise()
