"""The blocked sampler in Geweke's joint test."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.blocked import chains as blocked
from bayesclust.inference.blocked.chains import BlockedChains
from tests.exactness.generative import (
    World,
    answers_given,
    assert_agree,
    assert_noticed,
    compare_means,
    data_given,
)
from tests.exactness.test_geweke import (
    functionals,
    independent,
    marginal_conditional,
    template,
)


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


def z_scores(name, number, seed, drawn=None, **options):
    """Beside draws from the prior, which may be given."""
    first, second = np.random.default_rng(seed).spawn(2)
    problem = template(name, **options)
    drawn = marginal_conditional(problem, number, first) if drawn is None else drawn
    return compare_means(drawn, successive_conditional(problem, number, second))


def test_joint_distribution():
    assert_agree(z_scores("multinomial", 1500, 1, independent("multinomial")))


def test_concentration_counted_twice_is_noticed(monkeypatch):
    right = blocked.draw_weights
    monkeypatch.setattr(
        blocked,
        "draw_weights",
        lambda sizes, sticks, *rest: right(sizes, (0, 2 * sticks[1]), *rest),
    )
    assert_noticed(z_scores("multinomial", 1000, 2, independent("multinomial")))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(name, 4000, seed=5, confusion=name == "gaussian"))
