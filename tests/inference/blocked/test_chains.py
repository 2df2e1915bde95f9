"""Blocked chains: statistics, draws, and independence of the layout."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.families import FAMILIES
from bayesclust.families.base import hard_statistics
from bayesclust.inference.blocked.chains import BlockedChains
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.models.joint import log_joint
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import all_views, data_for, learned


def case(name="gaussian", n=40, d=2, seed=0, views=True):
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES[name])
    own = all_views(n, rng) if views else ()
    return TVClustProblem(family.bind(data_for(family, n, d, rng)), own, DirichletProcess())


def chains(problem, number=2, seed=0, start=None, **options):
    rng = np.random.default_rng(seed)
    starts = np.stack(
        [
            np.unique(rng.integers(4, size=problem.n_items), return_inverse=True)[1]
            for _ in range(number)
        ]
    )
    return BlockedChains(problem, starts if start is None else start, rng.spawn(number), **options)


def run(made, sweeps):
    """Labels after every sweep, and the last draw."""
    labels = []
    for sweep in range(sweeps):
        made.sweep(adapt=sweep < sweeps // 2, freeze_noise=4 * sweep < sweeps)
        labels.append(made.labels_of_items())
    return np.array(labels), made.draw()


def assert_same(found, expected):
    """The same partitions; numbers equal up to rounding."""
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        for name in other:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("name", FAMILIES)
def test_statistics_draws_and_density_are_those_of_the_labels(name):
    problem = case(name)
    made = chains(problem)
    for _ in range(4):
        made.sweep(adapt=True)
    variables, statistics = made.draw()
    start, rng = np.zeros(40, np.int64), np.random.default_rng(0)
    single, _ = collapsed_chain(problem, start, rng, Moves()).draw()
    shapes = {key: (2, *np.shape(value)) for key, value in single.items()}
    assert {key: np.shape(value) for key, value in variables.items()} == shapes
    for c, (z, chain) in enumerate(
        zip(variables["z"].astype(np.int64), made.unknowns, strict=True)
    ):
        number = z.max() + 1
        assert set(z) == set(range(number))
        expected = hard_statistics(problem.family, z, number)
        for found, part in zip(chain.statistics, expected, strict=True):
            np.testing.assert_allclose(found, part, rtol=1e-10, atol=1e-10)
        for counts, view in zip(chain.counts, problem.constraints, strict=True):
            np.testing.assert_array_equal(counts, view.counts(z))
        density = log_joint(
            z,
            problem.family,
            constraints=problem.constraints,
            partition_prior=problem.partition_prior,
            values={"concentration": variables["concentration"][c]},
            hyper=chain.hyper,
            noise=chain.noise,
        )
        assert statistics["log_joint"][c] == pytest.approx(density, rel=1e-9)


def test_padding_and_blocks_change_nothing():
    problem = case()
    expected = run(chains(problem), 12)
    assert_same(run(chains(problem, block_size=6, slot_multiple=64), 12), expected)


def test_a_chain_does_not_depend_on_the_others():
    problem = case()
    starts = np.stack([np.arange(40) % 3, np.zeros(40, np.int64)])
    both = run(BlockedChains(problem, starts, np.random.default_rng(1).spawn(2)), 10)
    for c in range(2):
        alone = run(BlockedChains(problem, starts[[c]], [np.random.default_rng(1).spawn(2)[c]]), 10)
        np.testing.assert_array_equal(alone[0][:, 0], both[0][:, c])
        assert alone[1][1]["log_joint"][0] == pytest.approx(both[1][1]["log_joint"][c], rel=1e-10)
    assert (both[0][:, 0] != both[0][:, 1]).any()


def test_frozen_noise_stays():
    made = chains(case())
    before = made.unknowns[0].noise
    made.sweep(freeze_noise=True)
    assert made.unknowns[0].noise is before
    made.sweep()
    assert made.unknowns[0].noise[0]["p"][0] != before[0]["p"][0]


def test_noise_without_answers_is_drawn():
    problem = case(views=False)
    empty = PairwiseConstraints.from_lists([], [], n_items=40)
    made = chains(TVClustProblem(problem.family, (empty,)))
    before = made.unknowns[0].noise[0]["p"][0]
    made.sweep()
    assert made.layout.answered.shape[0] == 0
    assert made.unknowns[0].noise[0]["p"][0] != before


def test_many_clusters_need_many_slots():
    problem = case(views=False)
    made = chains(problem, start=np.tile(np.arange(40), (2, 1)))
    assert made.slots == 64
    for _ in range(30):
        made.sweep()
    assert made.slots >= max(len(chain.least) for chain in made.unknowns)
