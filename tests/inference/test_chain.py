"""Chains as a whole: states stay consistent, the log joint is right, runs resume bit for bit."""

import pickle

import numpy as np
import pytest

from bayesclust.families import FullGaussian
from bayesclust.inference import assignment
from bayesclust.inference.assignment import dispersed_number, seeded_partition
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.checkpoint import from_text, to_text
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain, default_moves
from bayesclust.models import log_joint
from bayesclust.partition_priors import DirichletProcess, KnownK, Nested, PitmanYor
from tests.exactness.test_enumeration import each_chain
from tests.inference.states import STARTS, chain, check_assignment

SEVERAL = Moves(split_merge=3.0)


def made(sampler, name="gaussian", moves=SEVERAL, prior=None, **where):
    """A chain of a sampler, by its name, on the problem of `states.chain`."""
    start = chain(name, **where)
    kind = TwoLevelProblem if sampler == "mixture" else TVClustProblem
    problem = kind(start.problem.family, start.problem.constraints, prior or DirichletProcess())
    make = SAMPLERS.get(sampler, collapsed_chain)
    return make(problem, start.labels, np.random.default_rng(5), moves)


def check_levels(state):
    """Owners, sizes and numbers of components must agree with the labels of both levels."""
    levels, z = state.levels, state.assignment.z
    labels, number = levels.clusters.z, len(levels.size)
    np.testing.assert_array_equal(levels.owner[z], labels)
    used = levels.clusters.slots[: state.n_clusters]
    assert set(used) == set(labels)
    np.testing.assert_array_equal(np.bincount(labels, minlength=number)[used], levels.size[used])
    parts = [len(np.unique(z[labels == g])) for g in used]
    np.testing.assert_array_equal(parts, levels.parts[used])


@pytest.mark.parametrize(
    ("name", "sampler"),
    [("gaussian", sampler) for sampler in (*SAMPLERS, "mixture")]
    + [("gaussian_tied", "collapsed"), ("gaussian_tied", "mixture"), ("poisson", "collapsed")],
)
@pytest.mark.parametrize("kind", STARTS)
def test_states_are_consistent_after_every_sweep(name, kind, sampler):
    one = made(sampler, name, n=30, kind=kind, seed=1)
    for sweep in range(15):
        one.sweep(adapt=sweep < 8, freeze_noise=sweep < 4)
        check_levels(one.state) if sampler == "mixture" else check_assignment(one.state)


@pytest.mark.parametrize("prior", [DirichletProcess(), PitmanYor(), KnownK(9)], ids=str)
@pytest.mark.parametrize("sampler", [*SAMPLERS, "mixture"])
def test_log_joint_is_that_of_the_model(sampler, prior):
    one = made(sampler, n=20, seed=2, prior=prior)
    for _ in range(5):
        one.sweep(adapt=True)
        state = one.state
        at = {"constraints": state.problem.constraints, "values": state.values}
        at |= {"hyper": state.hyper, "noise": state.noise}
        if sampler == "mixture":
            at |= {"components": state.assignment.z, "within_values": state.within}
        given = Nested(prior) if sampler == "mixture" else prior
        expected = log_joint(state.labels, state.problem.family, partition_prior=given, **at)
        assert state.log_joint() == pytest.approx(expected, abs=1e-8)
        assert one.draw()[1]["log_joint"] == state.log_joint()


@pytest.mark.parametrize("sampler", [*SAMPLERS, "mixture"])
def test_restored_chain_resumes_bit_for_bit(sampler):
    first, second = (made(sampler, n=25, seed=3, prior=PitmanYor()) for _ in range(2))
    for sweep in range(20):
        first.sweep(adapt=True, freeze_noise=sweep < 5)
    second.restore(from_text(to_text(first.snapshot())))
    for _ in range(20):
        first.sweep()
        second.sweep()
        for one, other in zip(first.draw(), second.draw(), strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                np.testing.assert_array_equal(other[name], value, err_msg=name)


def test_draw_names_everything():
    one = chain(n=20, seed=3)
    one.sweep()
    variables, statistics = one.draw()
    assert variables["n_clusters"] == len(np.unique(variables["z"]))
    shapes = {name: np.shape(value) for name, value in variables.items()}
    scalars = ("n_clusters", "concentration", "base_scale", "base_strength", "base_mean_precision")
    noise = {"p": (2,), "q": (2,), "noise": (1,), "confusion": (1, 3, 3)}
    assert shapes == dict.fromkeys(scalars, ()) | noise | {"z": (20,)}
    assert {"log_joint", "moved", "split_merge_accept", "blocks_moved"} <= set(statistics)
    assert 0 <= statistics["moved"] <= 1
    assert variables["z"] is not one.labels


def test_fixed_parameters_stay_and_are_not_drawn():
    X = np.random.default_rng(0).normal(size=(10, 2))
    family = FullGaussian(scale=0.5, strength="learn", mean_precision=0.1).bind(X)
    problem = TVClustProblem(family, (), DirichletProcess(0.7))
    one = collapsed_chain(problem, np.zeros(10, int), np.random.default_rng(0), Moves())
    for _ in range(5):
        one.sweep(adapt=True)
    assert one.state.values == {"concentration": 0.7}
    np.testing.assert_array_equal(one.state.hyper[[0, 2]], [0.5, 0.1])
    assert set(one.draw()[0]) == {"z", "n_clusters", "concentration", "base_strength"}


def test_frozen_noise_stays():
    one = chain(n=20, seed=4)
    noises = one.state.noise
    before = [{name: np.copy(value) for name, value in noise.items()} for noise in noises]
    one.sweep(adapt=True, freeze_noise=True)
    for start, after in zip(before, one.state.noise, strict=True):
        for name in start:
            np.testing.assert_array_equal(start[name], after[name])
    one.sweep(adapt=True)
    pairs = zip(before, one.state.noise, strict=True)
    assert all((start[name] != after[name]).any() for start, after in pairs for name in start)


@pytest.mark.parametrize(
    "moves",
    [Moves(single_site=False), Moves(split_merge=0.0), Moves(split_merge=0.0, link_blocks=False)],
)
def test_moves_can_be_left_out(moves):
    one, found = chain(n=20, seed=5, moves=moves), []
    for _ in range(20):
        one.sweep()
        found.append(one.draw()[1])
    for name, asked in (
        ("split_merge_accept", moves.split_merge > 0),
        ("blocks_moved", moves.link_blocks),
        ("moved", moves.single_site),
    ):
        assert any(row.get(name, np.nan) > 0 for row in found) == asked


@pytest.mark.parametrize("n", [1, 2, 3])
@each_chain
def test_few_items_visit_every_number_of_clusters(sampler, n):
    X = np.array([[1.0, 4.0], [2.0, 0.0], [0.0, 3.0]])[:n]
    problem, moves = TVClustProblem(FullGaussian().bind(X)), default_moves(sampler, n)
    one, sizes = sampler(problem, np.zeros(n, int), np.random.default_rng(0), moves), set()
    for _ in range(300):
        one.sweep()
        sizes.add(one.state.n_clusters)
    assert sizes == set(range(1, n + 1))
    assert np.isfinite(one.state.log_joint())


@each_chain
def test_identical_and_far_items_leave_finite_states(sampler):
    far = [[1e6, -1e6, 1e6], [1e12, 0, 0]]
    X = np.r_[np.zeros((30, 3)), np.random.default_rng(0).normal(size=(30, 3)), far]
    problem = TVClustProblem(FullGaussian().bind(X))
    moves = default_moves(sampler, 62)
    one = sampler(problem, np.arange(62), np.random.default_rng(1), moves)
    for _ in range(20):
        one.sweep(adapt=True)
        assert np.isfinite(one.state.log_joint())
    assert one.labels[60] != one.labels[61]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_room_is_made_for_many_clusters(sampler):
    one = made(sampler, n=80, kind="one", seed=3, prior=DirichletProcess(500.0))
    capacity = len(one.state.assignment.slots)
    one.sweep()
    assert one.state.n_clusters > capacity
    check_assignment(one.state)


# --- where chains start


@pytest.mark.parametrize(
    ("n", "expected"), [(2, [1] * 5), (10, [2, 2, 2, 2, 2]), (1000, [3, 6, 12, 24, 3])]
)
def test_numbers_of_clusters_are_dispersed(n, expected):
    assert [dispersed_number(chain, n) for chain in range(5)] == expected


def test_many_items_start_from_more_clusters_where_parts_are_to_be_joined():
    numbers = {n: [dispersed_number(c, n, finer=True) for c in range(4)] for n in (300, 900, 9000)}
    assert numbers == {300: [3, 6, 12, 24], 900: [6, 12, 24, 48], 9000: [12, 24, 48, 96]}


@pytest.mark.parametrize("seeded_from", [assignment.SEEDED_FROM, 100])
def test_seeded_partition_is_that_of_the_nearest_seed(rng, monkeypatch, seeded_from):
    monkeypatch.setattr(assignment, "SEEDED_FROM", seeded_from)
    monkeypatch.setattr(assignment, "CHUNK", 300)
    centres = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    truth = np.arange(2000) % 4
    labels = seeded_partition(centres[truth] + rng.normal(size=(2000, 2)), 4, rng)
    assert set(zip(labels, truth, strict=True)) == {(labels[k], k) for k in range(4)}
    assert len(np.unique(labels)) == 4


def test_seeded_partition_has_no_gaps(rng):
    for number in (1, 3, 30):
        labels = seeded_partition(rng.normal(size=(30, 2)), number, rng)
        assert set(labels) == set(range(labels.max() + 1))
    assert labels.max() == 29
    assert seeded_partition(np.ones((5, 2)), 4, rng).tolist() == [0] * 5
    equal = np.repeat([[0.0], [1.0]], 4, axis=0)
    assert len(np.unique(seeded_partition(equal, 5, rng))) == 2


def test_a_copied_chain_draws_what_the_chain_itself_draws():
    one = made("collapsed", n=30, kind="random", seed=1)
    copied = pickle.loads(pickle.dumps(one))
    for _ in range(20):
        one.sweep()
        copied.sweep()
    assert copied.labels.tolist() == one.labels.tolist()
    assert copied.state.rng.random() == one.state.rng.random()
