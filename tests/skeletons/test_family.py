"""The skeleton of a family, in the tests of the built-in ones."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ive

from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, gibbs_chain
from bayesclust.partition_priors import DirichletProcess
from docs.skeletons.family import Directions, log_bessel
from tests.exactness.cases import all_views
from tests.exactness.test_enumeration import QUICK, assert_exact
from tests.families.drive import assert_compiled_functions, assert_parameters_in_hand

HYPER = np.array([2.3])


def directions(n, d, rng):
    """Two groups about opposite directions."""
    return np.pi * rng.integers(2, size=(n, 1)) + rng.vonmises(0.0, 1.5, size=(n, d)) - np.pi / 2


@pytest.fixture
def bound(rng):
    return Directions().bind(directions(12, 2, rng))


def test_the_bessel_function_is_that_of_scipy():
    for x in (0.0, 1e-8, 0.3, 7.0, 19.999, 20.0, 45.0, 1e3, 1e9):
        assert log_bessel(x) == pytest.approx(float(np.log(ive(0, x)) + x), rel=1e-13, abs=1e-15)


def test_the_plain_marginal_is_the_integral(bound):
    expected = 0.0
    for column in bound.X[:4].T:

        def joint(mu, x=column):
            return stats.vonmises(HYPER[0], loc=mu).pdf(x).prod() / (2 * np.pi)

        expected += np.log(integrate.quad(joint, -np.pi, np.pi, epsabs=0)[0])
    assert bound.log_marginal(bound.X[:4], HYPER) == pytest.approx(expected, abs=1e-8)


def test_compiled_functions_follow_items_in_and_out(bound, rng):
    assert_compiled_functions(bound, HYPER, rng)


def test_directions_in_hand_predict_as_the_marginals_do(bound, rng):
    assert_parameters_in_hand(bound, HYPER, rng)


def test_the_numpyro_sites_are_von_mises(bound):
    from numpyro import handlers

    mu, z = np.array([[2.0, -0.1], [0.5, 3.0]]), np.arange(12) % 2
    with handlers.substitute(data={"direction": mu}), handlers.seed(rng_seed=0):
        found = bound.component_sites(HYPER)(z).log_prob(bound.X)
    np.testing.assert_allclose(
        found, stats.vonmises(HYPER[0], loc=mu[z]).logpdf(bound.X).sum(axis=1), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("precision", "sampler"),
    [(2.0, gibbs_chain), (None, collapsed_chain)],
    ids=["known", "learned"],
)
def test_skeleton_family_leads_to_the_exact_posterior(precision, sampler):
    rng = np.random.default_rng(5)
    family = Directions(precision).bind(directions(6, 2, rng))
    case = TVClustProblem(family, all_views(6, rng), DirichletProcess((2.0, 1.0)))
    assert_exact(case, None, QUICK, 5, sampler)


def test_angles_are_wrapped_and_degrees_refused():
    np.testing.assert_allclose(
        Directions().bind(np.array([[-0.5], [2 * np.pi - 0.5]])).X, -0.5, atol=1e-15
    )
    with pytest.raises(ValueError, match=r"^X holds 359, which is more than a full turn: pass"):
        Directions().bind(np.array([[1.0], [359.0]]))
