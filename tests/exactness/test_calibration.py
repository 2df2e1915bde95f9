"""Simulation-based calibration (Talts et al. 2018): the truth's rank among draws is uniform.

Unlike enumeration it sees problems of a realistic size, unlike Geweke's test it sees the sampler as
it is used: from starts of its own, adapting while it warms up.
"""

import numpy as np
import pytest

from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, default_moves, gibbs_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import data_for, links, triplets
from tests.exactness.generative import DRAWS, World, assert_uniform, p_values, rank
from tests.exactness.test_geweke import FAULTS

N_ITEMS = 20


def template(name):
    rng = np.random.default_rng(12)
    family = FAMILIES[name]()
    views = (
        links(N_ITEMS, rng, LinkNoise(p=(4.0, 2.0), q=(3.0, 2.0)), size=40),
        triplets(N_ITEMS, rng, UniformNoise(eps=(2.0, 4.0)), size=20),
    )
    bound = family.bind(data_for(family, N_ITEMS, 2, rng))
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


def quantities(chain):
    """The quantities that are ranked: continuous unknowns, and functions of the partition."""
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
    """Ranks of the truth among thinned draws, for every simulated data set."""
    problem, rows = template(name), []
    for rng in np.random.default_rng(seed).spawn(number):
        world = World(problem, rng)
        truth = quantities(world.chain(collapsed_chain, rng, Moves()))
        start = seeded_partition(world.problem.family.embedding(), int(rng.integers(1, 6)), rng)
        chain = sampler(world.problem, start, rng, default_moves(sampler, N_ITEMS))
        for sweep in range(warmup):
            chain.sweep(adapt=True, freeze_noise=2 * sweep < warmup)
        draws = []
        for _ in range(DRAWS):
            for _ in range(thinning):
                chain.sweep()
            draws.append(quantities(chain))
        rows.append(rank(truth, draws, rng))
    return rows


# single items mix more slowly than blocks: the ranks are those of draws further apart
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sampler", "thinning"),
    [("gaussian", gibbs_chain, 24), ("multinomial", collapsed_chain, 8)],
)
def test_ranks_are_uniform(name, sampler, thinning):
    assert_uniform(ranks(name, 150, 1, sampler, thinning=thinning))


@pytest.mark.slow
def test_faulty_sampler_has_other_ranks():
    sampler, _ = FAULTS["new clusters twice"]
    found = ranks("multinomial", 100, 2, sampler, warmup=60, thinning=3)
    assert min(p_values(found).values()) < 1e-6


def test_ranks_of_independent_draws_are_uniform(rng):
    """The histogram itself: truth and draws from one normal, and from two."""
    rows = []
    for _ in range(500):
        draws = rng.normal(size=DRAWS)
        samples = [{"right": x, "wrong": x + 0.4} for x in draws]
        rows.append(rank(dict.fromkeys(("right", "wrong"), rng.normal()), samples, rng))
    found = p_values(rows)
    assert found["right"] > 1e-3
    assert found["wrong"] < 1e-6
