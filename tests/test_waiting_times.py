"""The family in `notebooks/waiting_times.py`, tested as the package's own are."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from tests.families.drive import assert_compiled_functions

FILE = Path(__file__).resolve().parents[1] / "notebooks/waiting_times.py"
HYPER = np.array([1.7])


@pytest.fixture(scope="module")
def family():
    spec = importlib.util.spec_from_file_location("waiting_times", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["waiting_times"] = module  # kernels that are kept name the type by its module
    spec.loader.exec_module(module)
    yield module.WaitingTimes
    sys.modules.pop("waiting_times", None)


@pytest.fixture
def bound(family, rng):
    return family().bind(rng.exponential([1.0, 30.0], size=(12, 2)))


def test_the_plain_marginal_is_the_integral(bound):
    mean = bound.X.mean(axis=0)
    expected = 0.0
    for j, column in enumerate(bound.X[:4].T):
        prior = stats.gamma(HYPER[0], scale=1 / (HYPER[0] * mean[j]))

        def joint(rate, prior=prior, x=column):
            return prior.pdf(rate) * stats.expon(scale=1 / rate).pdf(x).prod()

        expected += np.log(integrate.quad(joint, 0, 20 / mean[j], epsabs=0)[0])
    assert bound.log_marginal(bound.X[:4], HYPER) == pytest.approx(expected, abs=1e-6)


def test_compiled_functions_follow_items_in_and_out(bound, rng):
    assert_compiled_functions(bound, HYPER, rng)


def test_the_numpyro_sites_are_exponential(bound):
    from numpyro import handlers

    rate = np.array([[2.0, 0.1], [0.5, 0.3]])
    z = np.arange(12) % 2
    with handlers.substitute(data={"rate": rate}), handlers.seed(rng_seed=0):
        found = bound.component_sites(HYPER)(z).log_prob(bound.X)
    np.testing.assert_allclose(
        found, stats.expon(scale=1 / rate[z]).logpdf(bound.X).sum(axis=1), rtol=1e-10
    )
