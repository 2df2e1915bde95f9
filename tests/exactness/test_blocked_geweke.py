"""The blocked sampler in Geweke's joint test, and in simulation-based calibration."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.blocked import BlockedChains
from bayesclust.inference.blocked import chains as blocked
from tests.exactness import test_calibration as calibration
from tests.exactness.generative import (
    DRAWS,
    World,
    answers_given,
    assert_agree,
    assert_noticed,
    assert_uniform,
    compare_means,
    data_given,
    rank,
)
from tests.exactness.test_geweke import functionals, marginal_conditional, template


def put_truth(chain, world):
    """Let one of the chains go on from what is true."""
    chain.values, chain.hyper = dict(world.values), world.hyper
    chain.noise = world.noise


def successive_conditional(problem, number, rng):
    """One sweep, then data and answers drawn anew given its state, again and again."""
    world = World(problem, rng)
    start = np.unique(world.z, return_inverse=True)[1]
    made = BlockedChains(world.problem, start[None], [rng], slot_multiple=128)
    chain = made.unknowns[0]
    put_truth(chain, world)
    problem, rows = world.problem, []
    for _ in range(number):
        made.sweep()
        z = made.labels_of_items()[0].astype(np.int64)
        family = data_given(problem.family, z, chain.hyper, rng)
        views = answers_given(problem.constraints, z, chain.noise, rng)
        problem = replace(problem, family=family, constraints=views)
        made.put_data(problem)
        made.put_labels(z[None])
        values = chain.values
        rows.append(functionals(problem, z, values, chain.hyper, chain.noise))
    return rows


def z_scores(name, number, seed, **options):
    first, second = np.random.default_rng(seed).spawn(2)
    problem = template(name, **options)
    independent = marginal_conditional(problem, 4 * number, first)
    return compare_means(independent, successive_conditional(problem, number, second))


def test_joint_distribution():
    assert_agree(z_scores("multinomial", 2000, seed=1))


def test_concentration_counted_twice_is_noticed(monkeypatch):
    right = blocked.draw_weights
    monkeypatch.setattr(
        blocked,
        "draw_weights",
        lambda sizes, sticks, *rest: right(sizes, (0, 2 * sticks[1]), *rest),
    )
    assert_noticed(z_scores("multinomial", 1000, seed=2))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(name, 10_000, seed=5))


@pytest.mark.slow
def test_joint_distribution_with_confusion_matrix():
    assert_agree(z_scores("gaussian", 10_000, seed=6, confusion=True))


CHAINS, PER_CHAIN, WARMUP, THINNING = 9, 11, 150, 15


def quantities(variables, statistics, c):
    """The quantities of one chain's draw that are ranked."""
    z = variables["z"][c]
    first, second = np.triu_indices(len(z), 1)
    values = {
        "pairs together": int((z[first] == z[second]).sum()),
        "neighbours together": int((z[:-1] == z[1:]).sum()),
        "log joint": statistics["log_joint"][c],
    }
    for name, array in variables.items():
        if name != "z":
            values |= {f"{name}{at}": float(value) for at, value in np.ndenumerate(array[c])}
    return values


def ranks(name, number, seed):
    """Ranks of the truth among the draws of several chains."""
    problem, rows, made = calibration.template(name), [], None
    for rng in np.random.default_rng(seed).spawn(number):
        world = World(problem, rng)
        z = np.unique(world.z, return_inverse=True)[1]
        if made is None:
            starts, seeds = np.zeros((CHAINS, len(z)), np.int64), rng.spawn(CHAINS)
            made = BlockedChains(world.problem, starts, seeds, slot_multiple=128)
        made.put_data(world.problem)
        made.put_labels(np.tile(z, (CHAINS, 1)))
        for chain in made.unknowns:
            put_truth(chain, world)
        truth = quantities(*made.draw(), 0)
        X = world.problem.family.embedding()
        for chain in made.unknowns:
            fresh = blocked.Unknowns(world.problem, chain.components, chain.rng)
            chain.values, chain.hyper, chain.noise = fresh.values, fresh.hyper, fresh.noise
            chain.hyper_sampler = fresh.hyper_sampler
        seeded = [seeded_partition(X, int(rng.integers(1, 6)), rng) for _ in range(CHAINS)]
        made.put_labels(np.stack(seeded))
        for sweep in range(WARMUP):
            made.sweep(adapt=True, freeze_noise=2 * sweep < WARMUP)
        draws = []
        for _ in range(PER_CHAIN):
            for _ in range(THINNING):
                made.sweep()
            draw = made.draw()
            draws += [quantities(*draw, c) for c in range(CHAINS)]
        rows.append(rank(truth, draws, rng))
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian_spherical", "multinomial"])
def test_ranks_are_uniform(name):
    assert CHAINS * PER_CHAIN == DRAWS
    assert_uniform(ranks(name, 120, seed=1))
