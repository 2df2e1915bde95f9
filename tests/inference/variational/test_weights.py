"""Weights of the components: against loops, integrals, derivatives and draws of sticks."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bayesclust.inference.variational.mean_field import PriorGrid, fit_weights
from bayesclust.partition_priors import DirichletProcess, KnownK, PitmanYor
from tests.inference.variational import plain

SIZES = [np.array([4.2, 2.5, 0.3]), np.array([6.0]), np.array([3.0, 3.0, 1.0, 0.0])]
PRIORS = {
    "dirichlet process": DirichletProcess(0.7),
    "dirichlet process, learned": DirichletProcess((2.0, 1.5)),
    "pitman-yor": PitmanYor(0.4, 1.3),
    "pitman-yor, learned": PitmanYor((2.0, 3.0), (2.0, 1.0)),
    "known number": KnownK(4, 0.6),
    "known number, learned": KnownK(5, (2.0, 2.0)),
}
each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


@each_prior
def test_bound_is_the_integral_over_weights(prior):
    for size in SIZES:
        found = fit_weights(size, PriorGrid(prior))
        assert found.bound == pytest.approx(plain.weight_bound(size, prior), abs=2e-4)
        assert found.mass.sum() == pytest.approx(1.0)


@each_prior
def test_expected_log_weights_are_derivatives_of_the_bound(prior):
    grid, step = PriorGrid(prior), 1e-4
    for size in SIZES[:2]:
        found = fit_weights(size, grid).expected_log
        for k, change in enumerate(step * np.eye(len(size))):
            rise = fit_weights(size + change, grid).bound - fit_weights(size - change, grid).bound
            assert found[k] == pytest.approx(rise / (2 * step), rel=1e-5)


@each_prior
def test_largest_first_is_the_best_order(prior, rng):
    size, grid = np.array([5.0, 3.1, 2.0, 0.4]), PriorGrid(prior)
    best = fit_weights(size, grid).bound
    for _ in range(10):
        assert fit_weights(rng.permutation(size), grid).bound <= best + 1e-12


def test_a_vague_prior_keeps_its_mass_near_zero():
    size, prior = SIZES[2], DirichletProcess((0.05, 0.05))
    line = np.linspace(-400.0, 6.0, 8001)
    log_density = stats.gamma.logpdf(np.exp(line), 0.05, scale=20.0) + line
    alphas = np.exp(np.maximum(line, -27.0))
    log_density += [plain.log_moment(size, 0.0, alpha) for alpha in alphas]
    expected = logsumexp(log_density) + np.log(line[1] - line[0])
    assert fit_weights(size, PriorGrid(prior)).bound == pytest.approx(expected, abs=2e-4)


def test_drawn_parameters_have_the_moments_of_their_grid(rng):
    prior = PRIORS["pitman-yor, learned"]
    grid = PriorGrid(prior)
    mass = fit_weights(SIZES[0], grid).mass
    drawn = grid.draw(mass, (4, 5000), rng)
    for name in prior.parameters:
        mean = mass @ grid.values[name]
        sd = np.sqrt(mass @ (grid.values[name] - mean) ** 2)
        assert abs(drawn[name].mean() - mean) < 4.5 * sd / np.sqrt(20_000) + 0.01 * sd
    assert (grid.draw(mass, (3,), rng)["discount"] < 1).all()
