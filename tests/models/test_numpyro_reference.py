"""NumPyro's own samplers run on the program, and find the exact posterior over partitions."""

import jax
import numpy as np
import numpyro.infer
import pytest

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.families import DiagonalGaussian, Multinomial
from bayesclust.models import tvclust
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.exact import compare, log_posterior

N, ALPHA, TRUNCATION = 5, 0.7, 10
BEYOND_THE_STICKS = N * (ALPHA / (1 + ALPHA)) ** (TRUNCATION - 1)

CASES = {
    "gaussian_diagonal": (
        DiagonalGaussian(0.5, 4.0, 0.3),
        np.array([[0.0], [0.4], [1.1], [1.9], [2.0]]),
    ),
    "multinomial": (
        Multinomial(0.7),
        np.array([[3, 0, 1], [2, 1, 0], [0, 3, 1], [1, 2, 0], [0, 1, 2]]),
    ),
}


def answers():
    links = PairwiseConstraints(
        [(0, 1), (1, 2), (0, 4), (3, 4)], [True, True, False, False], n_items=N, source=[0, 0, 1, 1]
    )
    return [links, RelativeConstraints([(0, 1, 3), (2, 3, 4)], ["yes", "dnk"], n_items=N)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_metropolis_within_gibbs_finds_the_exact_posterior(name):
    family, X = CASES[name]
    kernel = numpyro.infer.DiscreteHMCGibbs(numpyro.infer.NUTS(tvclust), modified=True)
    mcmc = numpyro.infer.MCMC(kernel, num_warmup=500, num_samples=20_000, progress_bar=False)
    mcmc.run(jax.random.key(1), X, answers(), family, ALPHA, TRUNCATION)
    z = np.asarray(mcmc.get_samples()["z"])
    states, values = log_posterior(family.bind(X.astype(float)), answers(), DirichletProcess(ALPHA))
    found = compare(z, states, values)
    assert found.expected < 0.05
    assert found.total_variation < 2 * found.expected + BEYOND_THE_STICKS
    # the test can tell: the posterior without the answers is another one
    without = compare(z, *log_posterior(family.bind(X.astype(float)), [], DirichletProcess(ALPHA)))
    assert without.total_variation > 0.3
