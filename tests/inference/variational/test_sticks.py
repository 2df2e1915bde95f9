"""q(V) and q(alpha): the closed form against the sum of its terms, against perturbations and against draws."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.inference.variational.mean_field import fit_sticks
from bayesclust.partition_priors import Parameter
from tests.inference.variational import plain

SIZES = [np.array([4.2, 2.5, 0.3]), np.array([6.0]), np.array([3.0, 3.0, 1.0, 0.0])]


def factors(size, alpha):
    later = np.array([size[k + 1 :].sum() for k in range(len(size))])
    return 1 + size, alpha + later


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("prior", [Parameter(0.7), Parameter(None, 2.0, 1.5)])
def test_the_closed_form_is_the_sum_of_its_terms(size, prior):
    found = fit_sticks(size, prior, prior.initial)
    gamma = () if prior.fixed is not None else (found.shape, found.rate)
    first, second = factors(size, found.alpha)
    assert found.bound == pytest.approx(
        plain.stick_bound(size, prior, first, second, *gamma), rel=1e-10
    )
    np.testing.assert_allclose(
        found.expected_log_weights, plain.log_weights(first, second), rtol=1e-10
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("prior", [Parameter(0.7), Parameter(None, 2.0, 1.5)])
def test_no_other_factors_have_a_higher_bound(size, prior, rng):
    found = fit_sticks(size, prior, prior.initial)
    first, second = factors(size, found.alpha)
    gamma = np.array([] if prior.fixed is not None else [found.shape, found.rate])
    for _ in range(30):
        others = [
            part * np.exp(0.1 * rng.normal(size=len(part))) for part in (first, second, gamma)
        ]
        assert plain.stick_bound(size, prior, *others[:2], *others[2]) < found.bound


def test_a_partition_with_fixed_alpha_has_its_exact_probability(rng):
    """E over the sticks of the product of pi_k^N_k, by drawing the sticks."""
    size, alpha = np.array([3.0, 2.0, 1.0]), 1.3
    v = rng.beta(1.0, alpha, size=(400_000, 3))
    weights = v * np.cumprod(np.column_stack([np.ones(len(v)), 1 - v[:, :-1]]), axis=1)
    values = (weights**size).prod(axis=1)
    exact = np.exp(fit_sticks(size, Parameter(alpha), alpha).bound)
    assert abs(values.mean() - exact) < 4.5 * values.std() / np.sqrt(len(values))


def test_a_learned_alpha_is_bounded_by_its_integral():
    size, prior = np.array([5.0, 3.0, 1.0]), Parameter(None, 2.0, 1.0)
    log_alpha = np.linspace(-12, 5, 6001)
    values = [
        fit_sticks(size, Parameter(float(np.exp(x))), 1.0).bound
        + prior.log_prior(float(np.exp(x)))
        + x
        for x in log_alpha
    ]
    exact = logsumexp(values) + np.log(log_alpha[1] - log_alpha[0])
    gap = exact - fit_sticks(size, prior, 1.0).bound
    assert (
        0 < gap < 1.0
    )  # mean field takes alpha and three sticks as independent: a fraction of a nat each


@pytest.mark.parametrize("prior", [Parameter(0.7), Parameter(None, 2.0, 1.5)])
def test_largest_first_is_the_best_order(prior, rng):
    size = np.array([5.0, 3.1, 2.0, 0.4])
    best = fit_sticks(size, prior, prior.initial).bound
    for _ in range(10):
        assert fit_sticks(rng.permutation(size), prior, prior.initial).bound <= best + 1e-12
