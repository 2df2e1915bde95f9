"""Simulation-based calibration (Talts et al. 2018): the truth's rank among posterior draws must be uniform.

Unlike enumeration it sees problems of a realistic size, unlike Geweke's test it sees the sampler as
it is used: from starts of its own, adapting while it warms up.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, default_moves
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import data_for, links, triplets
from tests.exactness.generative import World
from tests.exactness.test_enumeration import each_chain
from tests.exactness.test_geweke import FAULTS

N_ITEMS, DRAWS, BINS = 20, 99, 10


def template(name):
    rng = np.random.default_rng(12)
    family = FAMILIES[name]()
    views = (
        links(N_ITEMS, rng, LinkNoise(p=(4.0, 2.0), q=(3.0, 2.0)), size=40),
        triplets(N_ITEMS, rng, UniformNoise(eps=(2.0, 4.0)), size=20),
    )
    return TVClustProblem(
        family.bind(data_for(family, N_ITEMS, 2, rng)), views, DirichletProcess((2.0, 1.0))
    )


def quantities(chain):
    """What is ranked: every continuous unknown, and functions of the partition."""
    z, state = chain.labels, chain.state
    first, second = np.triu_indices(N_ITEMS, 1)
    values = {
        **state.values,
        "K": state.n_clusters,
        "pairs together": int((z[first] == z[second]).sum()),
        "neighbours together": int((z[:-1] == z[1:]).sum()),
        "log joint": state.log_joint(),
    }
    # what clusters share stands behind the hyper-parameters, and is ranked by the log joint
    names = [prior.name for prior in chain.problem.family.hyper_priors]
    values |= dict(zip(names, state.hyper[: len(names)].tolist(), strict=True))
    for noise in state.noise:
        for name, array in noise.items():
            values |= {f"{name}{at}": float(value) for at, value in np.ndenumerate(array)}
    return values


def ranks(name, number, seed, sampler=collapsed_chain, *, warmup=150, thinning=8):
    """Rank of the truth among thinned draws, ties broken at random, for every quantity and simulated data set."""
    problem, rows = template(name), []
    for rng in np.random.default_rng(seed).spawn(number):
        world = World(problem, rng)
        truth = quantities(world.chain(collapsed_chain, rng, Moves()))
        start = seeded_partition(world.problem.family.embedding(), int(rng.integers(1, 6)), rng)
        chain = sampler(world.problem, start, rng, default_moves(sampler, N_ITEMS))
        for sweep in range(warmup):
            chain.sweep(adapt=True, freeze_noise=2 * sweep < warmup)
        below, level = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
        for _ in range(DRAWS):
            for _ in range(thinning):
                chain.sweep()
            for key, value in quantities(chain).items():
                below[key] += value < truth[key]
                level[key] += value == truth[key]
        rows.append({key: below[key] + int(rng.integers(level[key] + 1)) for key in truth})
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def p_values(found):
    """Of the rank histograms being flat."""
    tallies = {
        key: np.histogram(values, bins=BINS, range=(0, DRAWS + 1))[0]
        for key, values in found.items()
    }
    return {key: float(chisquare(tally).pvalue) for key, tally in tallies.items()}


@pytest.mark.slow
@each_chain
@pytest.mark.parametrize("name", FAMILIES)
def test_ranks_are_uniform(name, sampler):
    # single items mix more slowly than blocks: the ranks are those of draws further apart
    thinning = 8 if sampler is collapsed_chain else 24
    values = p_values(ranks(name, 150, 1, sampler, thinning=thinning))
    # a right sampler fails once in a hundred runs of a dozen quantities
    assert {key: value for key, value in values.items() if value < 1e-3} == {}


@pytest.mark.slow
def test_a_faulty_sampler_has_other_ranks():
    assert (
        min(
            p_values(
                ranks("multinomial", 100, 2, FAULTS["new clusters twice"][0], warmup=60, thinning=3)
            ).values()
        )
        < 1e-6
    )


def test_ranks_of_independent_draws_are_uniform(rng):
    """The histogram itself: truth and draws from one normal, and from two."""
    truth, draws = rng.normal(size=(500, 1)), rng.normal(size=(500, DRAWS))
    assert p_values({"right": (draws < truth).sum(axis=1)})["right"] > 1e-3
    assert p_values({"wrong": (draws + 0.4 < truth).sum(axis=1)})["wrong"] < 1e-6
