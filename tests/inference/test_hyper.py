"""Learning the base measure: the state stays consistent, steps settle, and the posterior is that of quadrature."""

import math

import numpy as np
import pytest

from bayesclust.families import FAMILIES, FullGaussian, HyperPrior, Multinomial
from bayesclust.inference.hyper import HyperSampler, proposed_log_marginal, total_log_marginal
from bayesclust.inference.moves.parameters import BaseMeasure
from tests.exactness.cases import data_for
from tests.exactness.exact import hyper_nodes
from tests.inference.states import chain, check_assignment, state_of


def plain_total(sampler, hyper):
    family, z = sampler.problem.family, sampler.assignment.z
    return sum(family.log_marginal(family.X[z == k], hyper) for k in np.unique(z))


@pytest.mark.parametrize("name", FAMILIES)
def test_totals_are_the_plain_twin_and_the_state_follows(name):
    sampler = state_of(name, n=25, seed=1)
    steps = HyperSampler(sampler.problem.family)
    for _ in range(30):
        sampler.hyper = steps.update(
            sampler.clusters, sampler.assignment, sampler.hyper, sampler.rng, adapt=True
        )
        expected = plain_total(sampler, sampler.hyper)
        assert total_log_marginal(sampler.clusters, sampler.assignment) == pytest.approx(
            expected, rel=1e-8
        )
        assert proposed_log_marginal(sampler.clusters, sampler.assignment) == pytest.approx(
            expected, rel=1e-8
        )
        check_assignment(sampler)


def test_nothing_to_learn_draws_nothing():
    sampler = state_of(n=10, seed=2)
    family = FullGaussian(scale=0.5, strength=3.0, mean_precision=0.1).bind(
        sampler.problem.family.X
    )
    hyper, before = family.initial_hyper(), sampler.rng.bit_generator.state
    after = HyperSampler(family).update(
        sampler.clusters, sampler.assignment, hyper, sampler.rng, adapt=True
    )
    assert after is hyper
    assert sampler.rng.bit_generator.state == before


@pytest.mark.parametrize(
    "family",
    [
        FullGaussian(strength=3.0, mean_precision=0.2),
        FullGaussian(
            scale=HyperPrior("base_scale", 0.5, 1.0, lower=0.45), strength=3.0, mean_precision=0.2
        ),
        Multinomial(),
    ],
    ids=["scale", "scale, cut off", "counts"],
)
def test_one_hyper_parameter_against_quadrature(family, rng):
    name = "multinomial" if isinstance(family, Multinomial) else "gaussian"
    sampler = state_of(name, n=15, seed=3)
    bound = family.bind(data_for(family, 15, 2, rng))
    sampler.problem = type(sampler.problem)(bound)
    sampler.hyper = bound.initial_hyper()
    sampler.assign(np.arange(15) % 3)
    (j,) = bound.free
    nodes, log_weights = hyper_nodes(bound, per_sd=200)
    density = np.exp(
        log_weights
        + [plain_total(sampler, hyper) for hyper in nodes]
        - plain_total(sampler, bound.initial_hyper())
    )
    cumulative = np.cumsum(density) / density.sum()
    steps, hyper = HyperSampler(bound), sampler.hyper
    draws = np.empty(9000)
    for row in range(-300, len(draws)):
        for _ in range(4):
            hyper = steps.update(sampler.clusters, sampler.assignment, hyper, rng, adapt=row < 0)
        draws[row] = hyper[j]
    ranks = np.interp(np.log(draws), np.log(nodes[:, j]), cumulative)
    batches = ranks.reshape(30, 300)
    for values in (batches, batches**2):
        error = values.mean(axis=1).std(ddof=1) / math.sqrt(30)
        # quadrature takes middles of cells: a share of one cell's weight of leeway
        expected = 0.5 if values is batches else 1 / 3
        assert abs(values.mean() - expected) < 4.5 * error + density.max() / density.sum()


def test_scales_adapt_in_the_warm_up_only():
    sampler = chain(n=40, seed=4)
    (steps,) = [move.sampler for move in sampler.moves if isinstance(move, BaseMeasure)]
    for _ in range(200):
        sampler.sweep(adapt=True)
    scales, root = steps.log_step.copy(), steps._root().copy()
    assert (scales != HyperSampler(sampler.problem.family).log_step).all()
    for _ in range(50):
        sampler.sweep()
    np.testing.assert_array_equal(steps.log_step, scales)
    np.testing.assert_array_equal(steps._root(), root)


def test_impossible_proposals_are_refused():
    sampler = state_of(n=12, seed=5)
    family = sampler.problem.family
    steps = HyperSampler(family)
    lowest = np.array([prior.lower for prior in family.hyper_priors])
    hyper = lowest * 1.0001
    for _ in range(100):
        hyper = steps.update(sampler.clusters, sampler.assignment, hyper, sampler.rng, adapt=False)
        assert (hyper >= lowest).all()
        assert np.isfinite(family.log_hyper_prior(hyper))
