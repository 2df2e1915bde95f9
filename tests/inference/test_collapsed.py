"""One chain as a whole: log joint, what a draw holds, room, and sweeps from bad places."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from bayesclust.families import FAMILIES, FullGaussian
from bayesclust.inference.collapsed import CollapsedChain, Moves
from bayesclust.inference.problem import TVClustProblem
from bayesclust.models.priors import Concentration
from tests.inference.states import STARTS, chain, check_seating


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", STARTS)
def test_seats_are_in_order_after_every_sweep(name, kind):
    sampler = chain(name, n=30, kind=kind, seed=1, moves=Moves(split_merge=3.0))
    for sweep in range(15):
        sampler.sweep(adapt=sweep < 8, trust=sweep < 4)
        check_seating(sampler)


@pytest.mark.parametrize("name", FAMILIES)
def test_log_joint_is_written_out(name):
    sampler = chain(name, n=20, seed=2)
    problem = sampler.problem
    for _ in range(5):
        sampler.sweep(adapt=True)
        z = np.unique(sampler.seating.z, return_inverse=True)[1]
        sizes = np.bincount(z)
        alpha = sampler.alpha
        expected = (
            len(sizes) * math.log(alpha)
            + gammaln(sizes).sum()
            + gammaln(alpha)
            - gammaln(alpha + len(z))
        )
        expected += -alpha  # Gamma(1, 1)
        expected += problem.family.log_data(
            [problem.family.X[z == k] for k in range(len(sizes))], sampler.hyper
        )
        expected += problem.family.log_constant
        for prior, value in zip(problem.family.hyper_priors, sampler.hyper, strict=False):
            expected += prior.log_prob(value)
        for view, noise in zip(problem.constraints, sampler.noise, strict=True):
            expected += view.log_prob(z, noise) + view.noise.log_prior(noise)
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-9)
        assert sampler.draw()[1]["log_joint"] == sampler.log_joint()


def test_a_draw_names_everything():
    sampler = chain(n=20, seed=3)
    sampler.sweep()
    variables, statistics = sampler.draw()
    assert variables["n_clusters"] == len(np.unique(variables["z"]))
    shapes = {name: np.shape(value) for name, value in variables.items()}
    assert shapes == {
        "z": (20,),
        "n_clusters": (),
        "concentration": (),
        "base_scale": (),
        "base_strength": (),
        "base_mean_precision": (),
        "p": (2,),
        "q": (2,),
        "noise": (1,),
        "confusion": (1, 3, 3),
    }
    assert {"log_joint", "moved", "split_merge_accept", "blocks_moved"} <= set(statistics)
    assert 0 <= statistics["moved"] <= 1
    assert sampler.draw()[0]["z"] is not sampler.seating.z


def test_a_draw_leaves_out_what_is_fixed():
    X = np.random.default_rng(0).normal(size=(10, 2))
    family = FullGaussian(scale=0.5, strength="learn", mean_precision=0.1).bind(X)
    sampler = CollapsedChain(
        TVClustProblem(family), np.zeros(10, int), np.random.default_rng(0), Moves()
    )
    sampler.sweep()
    names = set(sampler.draw()[0])
    assert names == {"z", "n_clusters", "concentration", "base_strength"}


def test_what_is_fixed_stays():
    X = np.random.default_rng(0).normal(size=(10, 2))
    family = FullGaussian(scale=0.5, strength=2.0, mean_precision=0.1).bind(X)
    problem = TVClustProblem(family, (), Concentration(fixed=0.7))
    sampler = CollapsedChain(problem, np.zeros(10, int), np.random.default_rng(0), Moves())
    for _ in range(5):
        sampler.sweep(adapt=True)
    assert sampler.alpha == 0.7
    np.testing.assert_array_equal(sampler.hyper, [0.5, 2.0, 0.1])


def test_trust_holds_the_noise():
    sampler = chain(n=20, seed=4)
    start = [{name: np.copy(value) for name, value in noise.items()} for noise in sampler.noise]
    sampler.sweep(adapt=True, trust=True)
    for before, after in zip(start, sampler.noise, strict=True):
        for name in before:
            np.testing.assert_array_equal(before[name], after[name])
    sampler.sweep(adapt=True)
    assert all(
        (before[name] != after[name]).any()
        for before, after in zip(start, sampler.noise, strict=True)
        for name in before
    )


@pytest.mark.parametrize(
    "moves",
    [Moves(single_site=False), Moves(split_merge=0.0), Moves(split_merge=0.0, link_blocks=False)],
)
def test_moves_can_be_left_out(moves):
    sampler = chain(n=20, seed=5, moves=moves)
    found = []
    for _ in range(20):
        sampler.sweep()
        found.append(sampler.draw()[1])
    assert any(np.isfinite(row["split_merge_accept"]) for row in found) == (moves.split_merge > 0)
    assert any(np.isfinite(row["blocks_moved"]) for row in found) == moves.link_blocks
    assert any(row["moved"] > 0 for row in found) == moves.single_site


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_hardly_any_items(name, n):
    X = np.array([[1.0, 4.0], [2.0, 0.0], [0.0, 3.0]])[:n]
    family = FAMILIES[name]().bind((X > 1).astype(float) if name == "bernoulli" else X)
    sampler = CollapsedChain(
        TVClustProblem(family), np.zeros(n, int), np.random.default_rng(0), Moves()
    )
    sizes = set()
    for _ in range(300):
        sampler.sweep()
        sizes.add(int(sampler.seating.number[0]))
    assert sizes == set(range(1, n + 1))
    assert np.isfinite(sampler.log_joint())


def test_identical_items_end_in_finite_states():
    family = FullGaussian().bind(np.ones((15, 3)))
    sampler = CollapsedChain(
        TVClustProblem(family), np.arange(15), np.random.default_rng(0), Moves()
    )
    for _ in range(50):
        sampler.sweep(adapt=True)
    assert np.isfinite(sampler.log_joint())
    assert np.isfinite(sampler.hyper).all()


@pytest.mark.parametrize("name", ["gaussian", "gaussian_tied"])
def test_one_item_stays_alone(name):
    sampler = chain(name, n=1, views=False, moves=Moves(split_merge=3.0))
    for sweep in range(20):
        sampler.sweep(adapt=sweep < 10)
        check_seating(sampler)
    assert sampler.n_clusters == 1
    assert math.isnan(sampler.accepted)
