"""The blocked sampler in Geweke's joint test, and in simulation-based calibration."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.blocked import BlockedChains
from bayesclust.inference.blocked import chains as blocked
from bayesclust.inference.starts import seeded_partition
from tests.exactness import test_calibration as calibration
from tests.exactness.generative import World, answers_given, data_given
from tests.exactness.test_geweke import (
    LIMIT,
    assert_agree,
    functionals,
    marginal_conditional,
    standard_error,
    template,
)


def state_of(made, problem):
    chain, z = made.unknowns[0], made.labels_of_items()[0].astype(np.int64)
    return functionals(problem, z, chain.values, chain.hyper, chain.noise)


def successive_conditional(name, problem, number, rng):
    """One sweep, then data and answers drawn anew given its state, again and again."""
    world = World(problem, rng)
    start = np.unique(world.z, return_inverse=True)[1]
    made = BlockedChains(world.problem, start[None], [rng], slot_multiple=128)
    chain = made.unknowns[0]
    chain.values, chain.hyper, chain.noise = dict(world.values), world.hyper, world.noise
    problem, rows = world.problem, []
    for _ in range(number):
        made.sweep()
        z = made.labels_of_items()[0].astype(np.int64)
        family = data_given(problem.family, z, chain.hyper, rng)
        problem = replace(
            problem,
            family=family,
            constraints=answers_given(problem.constraints, z, chain.noise, rng),
        )
        made.put_data(problem)
        made.put_labels(z[None])
        rows.append(state_of(made, problem))
    return {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}


def z_scores(name, number, seed, **options):
    first, second = np.random.default_rng(seed).spawn(2)
    problem = template(name, **options)
    expected = marginal_conditional(name, problem, 4 * number, first)
    found = successive_conditional(name, problem, number, second)
    return {
        key: (found[key].mean() - expected[key].mean())
        / np.hypot(standard_error(found[key]), expected[key].std() / np.sqrt(4 * number))
        for key in expected
    }


def test_joint_distribution():
    assert_agree(z_scores("multinomial", 3000, seed=1))


def test_concentration_counted_twice_is_noticed(monkeypatch):
    right = blocked.draw_weights
    monkeypatch.setattr(
        blocked,
        "draw_weights",
        lambda sizes, sticks, *rest: right(sizes, (0, 2 * sticks[1]), *rest),
    )
    scores = z_scores("multinomial", 1000, seed=2)
    assert max(abs(score) for score in scores.values()) > LIMIT + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(name, 10_000, seed=5))


@pytest.mark.slow
def test_joint_distribution_with_confusion_matrix():
    assert_agree(z_scores("gaussian", 10_000, seed=6, confusion=True))


CHAINS, PER_CHAIN, WARMUP, THINNING = 9, 11, 150, 15


def quantities(variables, statistics, c):
    """What is ranked, of one chain's draw."""
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
    """Rank of the truth among the draws of several chains, ties broken at random."""
    problem, rows, made = calibration.template(name), [], None
    for rng in np.random.default_rng(seed).spawn(number):
        world = World(problem, rng)
        z = np.unique(world.z, return_inverse=True)[1]
        if made is None:
            made = BlockedChains(
                world.problem,
                np.zeros((CHAINS, len(z)), np.int64),
                rng.spawn(CHAINS),
                slot_multiple=128,
            )
        made.put_data(world.problem)
        made.put_labels(np.tile(z, (CHAINS, 1)))
        for chain in made.unknowns:
            chain.values, chain.hyper, chain.noise = dict(world.values), world.hyper, world.noise
        truth = quantities(*made.draw(), 0)
        X = world.problem.family.embedding()
        for chain in made.unknowns:
            fresh = blocked.Unknowns(world.problem, chain.components, chain.rng)
            chain.values, chain.hyper, chain.noise = fresh.values, fresh.hyper, fresh.noise
            chain.hyper_sampler = fresh.hyper_sampler
        made.put_labels(
            np.stack([seeded_partition(X, int(rng.integers(1, 6)), rng) for _ in range(CHAINS)])
        )
        for sweep in range(WARMUP):
            made.sweep(adapt=True, freeze_noise=2 * sweep < WARMUP)
        draws = []
        for _ in range(PER_CHAIN):
            for _ in range(THINNING):
                made.sweep()
            draw = made.draw()
            draws += [quantities(*draw, c) for c in range(CHAINS)]
        below = {key: sum(draw[key] < value for draw in draws) for key, value in truth.items()}
        level = {key: sum(draw[key] == value for draw in draws) for key, value in truth.items()}
        rows.append({key: below[key] + int(rng.integers(level[key] + 1)) for key in truth})
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian_spherical", "multinomial"])
def test_ranks_are_uniform(name):
    assert CHAINS * PER_CHAIN == calibration.DRAWS
    values = calibration.p_values(ranks(name, 120, seed=1))
    assert {key: value for key, value in values.items() if value < 1e-3} == {}
