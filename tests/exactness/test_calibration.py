"""Simulation-based calibration (Talts et al. 2018): the truth's rank among draws is uniform.

Unlike enumeration it sees problems of a realistic size, unlike Geweke's test it sees the sampler as
it is used: from starts of its own, adapting while it warms up.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bayesclust import profiles
from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.blocked import chains as blocked
from bayesclust.inference.blocked.chains import BlockedChains
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.prediction import Prediction
from bayesclust.inference.samplers import collapsed_chain, default_moves
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import data_for, links, triplets
from tests.exactness.dcrc import World as DCRCWorld
from tests.exactness.dcrc import on_more_items
from tests.exactness.generative import DRAWS, World, answers_given, assert_uniform, p_values, rank
from tests.exactness.test_blocked import put_truth
from tests.exactness.test_dcrc import K
from tests.exactness.test_enumeration import each_chain
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


def of_partition(z):
    """Functions of a partition that are ranked."""
    first, second = np.triu_indices(len(z), 1)
    return {
        "pairs together": int((z[first] == z[second]).sum()),
        "neighbours together": int((z[:-1] == z[1:]).sum()),
    }


def of_parameters(arrays):
    """The numbers in arrays of parameters, by name and place."""
    return {
        f"{name}{at}": float(value)
        for name, array in arrays.items()
        for at, value in np.ndenumerate(array)
    }


def quantities(chain):
    """The quantities that are ranked: continuous unknowns, and functions of the partition."""
    state = chain.state
    values = {**state.values, "K": state.n_clusters, **of_partition(chain.labels)}
    values["log joint"] = state.log_joint()
    # what clusters share stands behind the hyper-parameters, and is ranked by the log joint
    names = [prior.name for prior in chain.problem.family.hyper_priors]
    values |= dict(zip(names, state.hyper[: len(names)].tolist(), strict=True))
    for noise in state.noise:
        values |= of_parameters(noise)
    return values


def thinned(chain, read, number=DRAWS, *, warmup=120, thinning=8):
    """What is read of a chain after its warm-up, every so many sweeps."""
    for sweep in range(warmup):
        chain.sweep(adapt=True, freeze_noise=2 * sweep < warmup)
    for _ in range(number):
        for _ in range(thinning):
            chain.sweep()
        yield read()


def ranks(name, number, seed, sampler=collapsed_chain, *, warmup=120, thinning=8):
    """Ranks of the truth among thinned draws, for every simulated data set."""
    problem, rows = template(name), []
    for rng in np.random.default_rng(seed).spawn(number):
        world = World(problem, rng)
        truth = quantities(world.chain(collapsed_chain, rng, Moves()))
        start = seeded_partition(world.problem.family.embedding(), int(rng.integers(1, 6)), rng)
        chain = sampler(world.problem, start, rng, default_moves(sampler, N_ITEMS))
        draws = thinned(chain, partial(quantities, chain), warmup=warmup, thinning=thinning)
        rows.append(rank(truth, list(draws), rng))
    return rows


@pytest.mark.slow
@each_chain
@pytest.mark.parametrize("name", FAMILIES)
def test_ranks_are_uniform(name, sampler):
    # single items mix more slowly than blocks: the ranks are those of draws further apart
    thinning = 8 if sampler is collapsed_chain else 24
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


# --- parameters of clusters

MORE = 600
"""Further items from the same clusters: their moments are the true parameters."""


def simulated(base, rng):
    """A problem, and the moments and the share of the cluster of its first item."""
    rows = np.resize(base.family.X, (N_ITEMS + MORE, base.family.X.shape[1]))
    world = World(replace(base, family=base.family.with_rows(rows), constraints=()), rng)
    noise = [each.noise.sample_prior(each.n_sources, rng) for each in base.constraints]
    answered = answers_given(base.constraints, world.z[:N_ITEMS], noise, rng)
    family = world.problem.family
    X = getattr(family, "centre", 0.0) + getattr(family, "unit", 1.0) * family.X
    own = X[world.z == world.z[0]]
    known = np.isin(world.z, world.z[:N_ITEMS]).sum()
    sd = own[:, 1].std(ddof=min(1, len(own) - 1))
    truth = {"share": len(own) / known, "mean": own[:, 0].mean(), "sd": sd}
    return replace(base, family=family.with_rows(family.X[:N_ITEMS]), constraints=answered), truth


def parameters(chain, rng):
    """The same, drawn given the chain's partition and hyper-parameters."""
    z = np.unique(chain.labels, return_inverse=True)[1]
    own, state = chain.problem, chain.state
    given = own.family, z[None], [state.values], state.hyper[None], own.partition_prior
    if isinstance(own, TwoLevelProblem):
        parts = np.unique(state.assignment.z, return_inverse=True)[1]
        given += (parts[None], own.within, [state.within])
    means, variances, shares = profiles._draw(Prediction(*given), z, 1, own.family.moments, rng)
    k = z[0]
    found = {"mean": means[0, k, 0], "sd": np.sqrt(variances[0, k, 1])}
    return found | {"share": shares[0, k]}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "two_levels"), [("gaussian", False), ("gaussian_diagonal", True)])
def test_ranks_of_cluster_parameters_are_uniform(name, two_levels):
    base, rows = template(name), []
    if two_levels:
        base = TwoLevelProblem(base.family, base.constraints, base.partition_prior)
    for rng in np.random.default_rng(3).spawn(500):
        problem, truth = simulated(base, rng)
        start = seeded_partition(problem.family.embedding(), int(rng.integers(1, 6)), rng)
        moves = default_moves(collapsed_chain, N_ITEMS)
        chain = collapsed_chain(problem, start, rng, moves)
        rows.append(rank(truth, list(thinned(chain, partial(parameters, chain, rng))), rng))
    assert_uniform(rows)


# --- the blocked sampler

CHAINS, PER_CHAIN, WARMUP, THINNING = 3, 3, 120, 15


def quantities_of_blocked(variables, statistics, c):
    """The quantities of one chain's draw that are ranked."""
    values = of_partition(variables["z"][c]) | {"log joint": statistics["log_joint"][c]}
    rest = {name: array[c] for name, array in variables.items() if name != "z"}
    return values | of_parameters(rest)


def ranks_of_blocked(name, number, seed):
    """Ranks of the truth among the draws of several chains."""
    problem, rows, made = template(name), [], None
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
        truth = quantities_of_blocked(*made.draw(), 0)
        X = world.problem.family.embedding()
        for chain in made.unknowns:
            fresh = blocked.Unknowns(world.problem, chain.rng)
            chain.values, chain.hyper, chain.noise = fresh.values, fresh.hyper, fresh.noise
            chain.hyper_sampler = fresh.hyper_sampler
        seeded = [seeded_partition(X, int(rng.integers(1, 6)), rng) for _ in range(CHAINS)]
        made.put_labels(np.stack(seeded))
        read = thinned(made, made.draw, PER_CHAIN, warmup=WARMUP, thinning=THINNING)
        draws = [quantities_of_blocked(*draw, c) for draw in read for c in range(CHAINS)]
        rows.append(rank(truth, draws, rng))
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian_spherical", "multinomial"])
def test_ranks_of_blocked_chains_are_uniform(name):
    assert CHAINS * PER_CHAIN == DRAWS
    assert_uniform(ranks_of_blocked(name, 120, seed=1))


# --- DCRC


def quantities_of_dcrc(z, noise, chain):
    values = {"pairs": of_partition(z)["pairs together"], "log joint": chain.log_joint()}
    for own in noise:
        values |= of_parameters(own)
    return values


@pytest.mark.slow
def test_ranks_of_dcrc_are_uniform():
    rows, base = [], np.random.default_rng(12)
    views = (
        links(19, base, LinkNoise(p=(4.0, 2.0), q=(3.0, 2.0)), size=40),
        triplets(19, base, UniformNoise(eps=(2.0, 4.0)), size=20),
    )
    points, views = base.normal(size=(20, 1)), tuple(on_more_items(view, 20) for view in views)
    problem = DCRCProblem(points, views, base.normal(size=(K, 2)))
    for rng in np.random.default_rng(7).spawn(100):
        world = DCRCWorld(problem, rng)
        truth = quantities_of_dcrc(world.z, world.noise, world.chain(DCRCChain, rng))
        chain = DCRCChain(DCRCProblem(points, world.problem.constraints, problem.W), rng)

        def read(chain=chain):
            chain.draw()
            return quantities_of_dcrc(chain.z, chain.noise, chain)

        rows.append(rank(truth, list(thinned(chain, read)), rng))
    assert_uniform(rows)
