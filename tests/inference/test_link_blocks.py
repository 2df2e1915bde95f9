"""Moves of linked groups: bonds, blocks, exact conditionals, and seats in order."""

import math

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.families import FAMILIES
from bayesclust.inference import link_blocks
from bayesclust.inference.collapsed import CollapsedChain, Moves
from bayesclust.inference.link_blocks import Blocks, move_blocks
from bayesclust.inference.problem import TVClustProblem
from bayesclust.models.priors import crp_log_prob
from tests.inference.states import STARTS, chain, check_seating, from_python

draw_bonds, draw_blocks = from_python(link_blocks.draw_bonds), from_python(link_blocks.draw_blocks)


def test_bonds_have_the_right_frequency(rng):
    p, q = 0.9, 0.7
    view = PairwiseConstraints(
        [[0, 1], [1, 2], [2, 3], [0, 4]], [1, 1, 0, 1], 5, noise=LinkNoise(p=p, q=q)
    )
    sites, table = compile_sites([view], 5), stack_tables([view], [view.noise.initial(1)])
    z = np.array([0, 0, 0, 0, 1])
    roots = np.array([draw_bonds(sites, table, z, rng) for _ in range(4000)])
    bonded = np.array([(roots[:, i] == roots[:, j]).mean() for i, j in view.items])
    expected = 1 - (1 - q) / p
    error = 4.5 * math.sqrt(expected * (1 - expected) / 4000)
    assert bonded[:2] == pytest.approx([expected] * 2, abs=error)
    assert (bonded[2:] == 0).all(), "neither may-not-links nor pairs that sit apart are bonded"


def test_answers_that_mean_their_opposite_are_bonded_by_the_other_word(rng):
    view = PairwiseConstraints([[0, 1], [2, 3]], [1, 0], 4, noise=LinkNoise(p=0.2, q=0.3))
    sites, table = compile_sites([view], 4), stack_tables([view], [view.noise.initial(1)])
    roots = np.array([draw_bonds(sites, table, np.zeros(4, np.int64), rng) for _ in range(4000)])
    assert (roots[:, 0] != roots[:, 1]).all()
    # p(0 | same) = .8 against p(0 | different) = .3
    assert (roots[:, 2] == roots[:, 3]).mean() == pytest.approx(1 - 0.3 / 0.8, abs=0.04)


def test_blocks_are_the_components_of_several_items(rng):
    sampler = chain(n=40, seed=1, kind="one")
    for _ in range(20):
        blocks = draw_blocks(sampler.sites, sampler.table, sampler.seating.z, rng)
        assert sorted(blocks.items) == list(range(40))
        sizes = blocks.end - blocks.begin
        assert (sizes > 1).all()
        listed = [
            set(blocks.items[a:b].tolist()) for a, b in zip(blocks.begin, blocks.end, strict=True)
        ]
        assert sum(map(len, listed)) == len(set().union(*listed))


def block_conditional(sampler, items):
    """p(cluster of the block | rest), by plain twins; may-links inside or out of the block have no say."""
    problem, z = sampler.problem, sampler.seating.place[sampler.seating.z]
    rest = np.setdiff1d(np.arange(len(z)), items)
    others = np.unique(z[rest])
    labels = np.searchsorted(others, z)
    values = []
    for k in range(len(others) + 1):
        labels[items] = k
        compact = np.unique(labels, return_inverse=True)[1]
        value = crp_log_prob(np.bincount(compact), sampler.alpha)
        value += sum(
            problem.family.log_marginal(problem.family.X[compact == c], sampler.hyper)
            for c in range(compact.max() + 1)
        )
        for view, noise in zip(problem.constraints, sampler.noise, strict=True):
            rows = view.noise.log_table(noise)[view.codes, view.patterns(labels)]
            drop = (view.answers == 1) if view.kind == "pairwise" else np.zeros(len(view), bool)
            value += rows[~drop].sum()
        values.append(value)
    return softmax(values), others


@pytest.mark.parametrize("name", FAMILIES)
def test_a_block_has_the_exact_conditional(name):
    for kind, items in (("random", [0, 3]), ("one", [1, 2, 5])):
        sampler = chain(name, n=8, seed=6, kind=kind)
        labels = sampler.seating.place[sampler.seating.z].copy()
        labels[items] = labels[items[0]]
        labels = np.unique(labels, return_inverse=True)[1]
        sampler._seat(labels)
        expected, others = block_conditional(sampler, np.array(items))
        order = np.array([*items, *np.setdiff1d(np.arange(8), items)])
        block = Blocks(order, np.array([0]), np.array([len(items)]))
        tally = np.zeros(len(expected))
        for _ in range(1500):
            sampler._seat(labels)
            move_blocks(
                sampler.state,
                sampler.seating,
                sampler.sites,
                sampler.table,
                math.log(sampler.alpha),
                block,
                0,
                np.zeros(1, np.int64),
                sampler.rng,
            )
            z = sampler.seating.z
            assert len(set(z[items])) == 1
            companions = np.setdiff1d(np.flatnonzero(z == z[items[0]]), items)
            tally[np.searchsorted(others, labels[companions[0]]) if len(companions) else -1] += 1
        error = np.sqrt(expected * (1 - expected) / tally.sum())
        assert (np.abs(tally / tally.sum() - expected) <= 4.5 * error + 3 / tally.sum()).all()


@pytest.mark.parametrize("kind", STARTS)
def test_seats_are_in_order(kind):
    moved = []
    for seed in range(15):
        sampler = chain(n=25, kind=kind, seed=seed, alpha=3.0)
        for _ in range(10):
            sampler._move_blocks()
            check_seating(sampler)
            sampler._scan()
            moved.append(sampler.blocks_moved)
    assert np.nanmean(moved) > 0.02


def test_room_is_made_for_many_blocks(rng):
    # forty pairs, sure of themselves, far from each other and all in one cluster: most leave it in
    # one go
    X = np.repeat(rng.normal(scale=50, size=(40, 2)), 2, axis=0) + rng.normal(size=(80, 2))
    pairs = np.arange(80).reshape(-1, 2)
    links = PairwiseConstraints(pairs, np.ones(40, bool), 80, noise=LinkNoise(p=0.999, q=0.999))
    family = FAMILIES["gaussian"](scale=0.001, strength=20.0, mean_precision=0.001).bind(X)
    sampler = CollapsedChain(TVClustProblem(family, (links,)), np.zeros(80, np.int64), rng, Moves())
    sampler.alpha = 100.0
    capacity = len(sampler.seating.slots)
    sampler._move_blocks()
    check_seating(sampler)
    assert sampler.seating.number[0] > capacity
    assert sampler.blocks_moved > 0.5
