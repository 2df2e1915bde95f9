"""Enumeration and its tolerance, fed with right draws and with wrong ones."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import gamma

from bayesclust.families import FullGaussian, HyperPrior
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import problem


def test_partitions_are_all_and_each_once():
    """Bell numbers, and these iterated (OEIS A000110 and A000258)."""
    for n, number in enumerate((1, 2, 5, 15, 52, 203, 877), start=1):
        assert len(np.unique(exact.codes(exact.partitions(n)))) == number
        assert len(exact.partitions(n)) == number
    assert [len(exact.nested_partitions(n)) for n in range(1, 6)] == [1, 3, 12, 60, 358]


def test_codes_do_not_see_labels():
    z = np.array([[0, 0, 1, 2], [2, 2, 0, 1], [5, 5, 3, 3]])
    first, second, third = exact.codes(z)
    assert first == second != third


@pytest.mark.parametrize(
    "prior",
    [DirichletProcess((1.0, 1.0)), DirichletProcess((0.2, 3.0)), DirichletProcess((8.0, 0.5))],
)
def test_concentration_integrated_out(prior):
    sizes = np.array([3, 1, 1])
    one = prior.parameters["concentration"]
    density = gamma(one.a, scale=1 / one.b).pdf

    def log_prob(alpha):
        return prior.log_prob(sizes, {"concentration": alpha})

    expected, _ = quad(
        lambda u: math.exp(log_prob(math.exp(u))) * density(math.exp(u)) * math.exp(u),
        -40,
        6,
        limit=400,
    )
    assert exact.log_prior_marginal(sizes, prior) == pytest.approx(math.log(expected), abs=1e-6)


@pytest.mark.parametrize("least", [0.0, 0.4])
def test_hyper_parameter_integrated_out(least, rng):
    X = rng.normal(size=(3, 1))
    family = FullGaussian(
        scale=HyperPrior("base_scale", 0.5, 0.7, lower=least), strength=3.0, mean_precision=0.2
    ).bind(X)
    states = np.array([[0, 0, 1]])

    def joint(log_scale):
        hyper = np.array([math.exp(log_scale), 3.0, 0.2])
        value = family.log_marginal(family.X[:2], hyper) + family.log_marginal(family.X[2:], hyper)
        return math.exp(value + family.log_hyper_prior(hyper))

    expected, _ = quad(joint, math.log(least) if least else -6.0, 5.0, limit=400)
    assert exact.log_data_marginal(family, states)[0] == pytest.approx(math.log(expected), abs=2e-3)


def posterior():
    case = problem("gaussian_diagonal", n=6, seed=3)
    return exact.log_posterior(case.family, case.constraints, case.partition_prior)


def markov(states, log_values, number, stay, rng):
    """Draws of a chain that keeps its state with probability `stay`, else draws a fresh one."""
    weights = np.exp(log_values - logsumexp(log_values))
    fresh = rng.choice(len(states), size=number, p=weights)
    last = np.maximum.accumulate(np.where(rng.random(number) < stay, 0, np.arange(number)))
    return states[fresh[last]]


def compared(right, drawn_from, stay, rng, number):
    """Comparisons of as many chains with what is right."""
    states, values = right
    return [
        exact.compare(markov(states, drawn_from, 8000, stay, rng), states, values)
        for _ in range(number)
    ]


@pytest.mark.parametrize("stay", [0.0, 0.9])
def test_right_draws_agree(stay, rng):
    states, values = posterior()
    results = compared((states, values), values, stay, rng, 60)
    assert all(result.agrees for result in results)
    assert np.mean([result.ratio for result in results]) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("stay", [0.0, 0.9])
def test_wrong_draws_do_not(stay, rng):
    # the fault of counting "stay alone" twice
    states, values = posterior()
    singletons = np.array([(np.bincount(z) == 1).sum() for z in states])
    wrong = values + math.log(2) * singletons
    assert not any(one.agrees for one in compared((states, values), wrong, stay, rng, 20))


def few():
    """Three partitions of six hold nearly all the mass."""
    states = exact.partitions(6)
    values = np.full(len(states), -12.0)
    values[[3, 50, 120]] = math.log(0.6), math.log(0.3), math.log(0.1)
    return states, values


@pytest.mark.parametrize("stay", [0.0, 0.9])
def test_right_draws_of_few_partitions_agree(stay, rng):
    states, values = few()
    results = compared((states, values), values, stay, rng, 200)
    assert all(result.agrees for result in results)
    assert max(result.ratio for result in results) > 1.6


@pytest.mark.parametrize(("stay", "fault"), [(0.0, 0.15), (0.9, 0.7)])
def test_wrong_draws_of_few_partitions_do_not(stay, fault, rng):
    states, values = few()
    wrong = values.copy()
    wrong[50] += fault
    assert not any(one.agrees for one in compared((states, values), wrong, stay, rng, 20))
