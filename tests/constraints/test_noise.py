"""Noise models against conjugate posteriors of SciPy, and definitions."""

import numpy as np
import pytest
from scipy import stats

from bayesclust.constraints import (
    ConfusionNoise,
    GradeNoise,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from tests.constraints.known import fold

WEIGHTS = [[5.0, 1.5, 2.0], [1.0, 4.0, 1.0], [2.0, 2.0, 6.0]]


def counts_of(noise, n_sources, rng, high=5):
    return rng.integers(high, size=(n_sources * noise.n_answers, len(noise.truth)))


def by_rates(folded, params):
    """Log posterior of p and q, each a Beta, from answers of each truth: different, same."""
    right = np.diagonal(folded, axis1=-2, axis2=-1)
    wrong = folded.sum(axis=-1) - right
    log_p = stats.beta(4 + right[:, 1], 1 + wrong[:, 1]).logpdf(params["p"])
    return (log_p + stats.beta(4 + right[:, 0], 1 + wrong[:, 0]).logpdf(params["q"])).sum()


def by_one_rate(folded, params):
    right = np.trace(folded, axis1=-2, axis2=-1)
    wrong = folded.sum(axis=(-2, -1)) - right
    return stats.beta(1 + wrong, 9 + right).logpdf(params["noise"]).sum()


def by_rows(folded, params):
    weights = (np.array(WEIGHTS) + folded).reshape(-1, 3)
    rows = zip(weights, params["confusion"].reshape(-1, 3), strict=True)
    return sum(stats.dirichlet.logpdf(row, weight) for weight, row in rows)


def by_grades(folded, params):
    """Two rows of twelve grades, whose weights are as the middles of the grades."""
    ends = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 1])
    score = 0.1 + 0.8 * (ends[1:] + ends[:-1]) / 2
    weights = 9 / 6 * np.stack([1 - score, score]) + folded
    return sum(
        stats.dirichlet.logpdf(row, weight)
        for rows, own in zip(params["grades"], weights, strict=True)
        for row, weight in zip(rows, own, strict=True)
    )


CONJUGATE = [
    (LinkNoise(), by_rates),
    (UniformNoise(), by_one_rate),
    (ConfusionNoise(prior=WEIGHTS), by_rows),
    (GradeNoise(strength=9.0), by_grades),
]


@pytest.mark.parametrize(("noise", "log_posterior"), CONJUGATE)
def test_evidence_is_likelihood_times_prior_over_posterior(noise, log_posterior, rng):
    """Bayes' theorem at any value of the parameters ties the three densities together."""
    counts = counts_of(noise, 2, rng)
    params = noise.sample_prior(2, rng)
    log_joint = (counts * noise.log_table(params)).sum() + noise.log_prior(params)
    expected = log_joint - log_posterior(fold(noise, counts), params)
    assert noise.log_marginal(counts) == pytest.approx(expected)


@pytest.mark.parametrize("noise", [noise for noise, _ in CONJUGATE])
def test_the_next_answer_is_as_the_mean_confusion_matrix_says(noise, rng):
    counts = np.stack([counts_of(noise, 2, rng) for _ in range(2)])
    predicted = noise.predictive(counts)
    assert predicted.sum(axis=-1) == pytest.approx(np.ones(predicted.shape[:-1]))
    for row, table in zip(counts, predicted, strict=True):
        many = np.broadcast_to(row, (4000, *row.shape))
        sample = noise.confusion(noise.draw(many, noise.initial(2), rng))
        error = sample.std(axis=0) / np.sqrt(len(sample))
        assert (np.abs(sample.mean(axis=0) - table) < 4.5 * error).all()


def test_link_table_is_eq_8():
    table = np.exp(LinkNoise().log_table({"p": [0.9, 0.6], "q": [0.8, 0.7]}))
    # rows source 0 different, same; source 1 different, same; columns pattern same, different
    np.testing.assert_allclose(table, [[0.1, 0.8], [0.9, 0.2], [0.4, 0.7], [0.6, 0.3]])


def test_uniform_table_is_table_1_of_dcrc():
    table = np.exp(UniformNoise().log_table({"noise": [0.1]}))
    right, wrong = 0.9, 0.05
    np.testing.assert_allclose(
        table,
        [
            [wrong, right, wrong, wrong, wrong],  # yes
            [wrong, wrong, right, wrong, wrong],  # no
            [right, wrong, wrong, right, right],  # dnk
        ],
    )


def test_no_error_at_all_leaves_differences_finite():
    triplets = RelativeConstraints(
        [(0, 1, 2), (0, 2, 1)], ["yes", "yes"], 3, noise=UniformNoise(eps=0.0)
    )
    params = triplets.noise.initial(1)
    one_broken, both_broken = triplets.log_prob([[0, 0, 1], [0, 0, 0]], params)
    assert both_broken == pytest.approx(2 * one_broken)
    assert -800 < one_broken < -700
    assert triplets.noise.log_marginal(triplets.counts([0, 0, 1])) < -700


def test_draws_stay_off_zero_and_one():
    noise = LinkNoise(p=(1e-3, 1e-3), q=(1e-3, 1e-3))
    sample = noise.sample_prior(500, np.random.default_rng(0))
    links = PairwiseConstraints([(0, 1)], [True], 2, noise=noise)
    assert all(((value > 0) & (value < 1)).all() for value in sample.values())
    assert np.isfinite(noise.log_prior(sample))
    assert all(
        np.isfinite(links.log_prob([0, 1], {"p": p[None], "q": p[None]})) for p in sample["q"]
    )


def test_models_with_equal_settings_are_equal():
    assert ConfusionNoise() == ConfusionNoise(prior=8 * np.eye(3) + 1 - np.eye(3))
    assert LinkNoise(p=[4, 1]) == LinkNoise()
    assert UniformNoise(eps=0.1) != UniformNoise(eps=0.2)
    assert eval(repr(ConfusionNoise(prior=WEIGHTS))) == ConfusionNoise(prior=WEIGHTS)
