"""Moves: each finds what it is for, none lowers the bound.

And the gains by which merges are ranked are right.
"""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.variational import fit as moves
from bayesclust.inference.variational.mean_field import MeanField, Task, one_hot
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import problem

# three groups of ten, far apart in each of two columns
Z = np.repeat([0, 1, 2], 10)


@pytest.fixture
def grouped(rng):
    X = 8.0 * np.array([[0, 0], [0, 1], [1, 0]])[Z] + rng.normal(size=(30, 2))
    case = problem("gaussian", n=30)
    return replace(case, family=FAMILIES["gaussian"]().bind(X))


def state_of(case, z):
    return MeanField(Task(case), one_hot(np.asarray(z)), case.family.initial_hyper())


def together(state):
    mode = state.r.argmax(axis=1)
    return mode[:, None] == mode


def test_halves_of_a_group_are_merged(grouped):
    halves = Z.copy()
    halves[:5] = 3
    state = state_of(grouped, halves)
    better = moves.merge(state)
    assert better.bound > state.bound
    assert np.array_equal(together(better), Z[:, None] == Z)
    assert moves.merge(better) is None


def test_joined_groups_are_split(grouped, rng):
    state = state_of(grouped, np.minimum(Z, 1))
    *_, better = moves.splits(state, 10, rng)
    assert better.bound > state.bound
    assert np.array_equal(together(better), Z[:, None] == Z)
    assert list(moves.splits(state, 2, rng)) == []


def test_a_needless_component_is_deleted(grouped):
    strays = Z.copy()
    strays[[0, 12]] = 3
    state = state_of(grouped, strays)
    better = moves.delete(state)
    assert better.bound > state.bound
    assert np.array_equal(together(better), Z[:, None] == Z)


def test_one_component_is_neither_merged_nor_deleted(grouped):
    state = state_of(grouped, np.zeros(30, np.int64))
    assert moves.merge(state) is None
    assert moves.delete(state) is None


@pytest.mark.parametrize("name", FAMILIES)
def test_gains_of_merging_known_noise_and_links_are_exact(name, rng):
    """With links of known noise the gain lacks nothing but the sticks."""
    from bayesclust.constraints import LinkNoise

    case = problem(name, n=9)
    views = (
        case.constraints[0].__class__.sample(np.arange(9) % 3, size=15, error_rate=0.2, seed=1),
    )
    views = (views[0].with_noise(LinkNoise(p=0.8, q=0.9)),)
    case = replace(case, constraints=views, partition_prior=DirichletProcess(1.0))
    state = MeanField(Task(case), rng.dirichlet(np.ones(4), size=9), case.family.initial_hyper())
    gain = moves.merge_gains(state)
    for k, j in [(0, 1), (0, 3), (1, 2)]:
        r = np.delete(state.r, j, axis=1)
        r[:, k] += state.r[:, j]
        merged = state.with_responsibilities(r)
        expected = merged.bound - merged.weights.bound - state.bound + state.weights.bound
        assert gain[k, j] == pytest.approx(expected, abs=1e-9)
