"""Moves of partition and noise together: exact, and they cross between two modes."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.constraints import LinkNoise, PairwiseConstraints, factor_graph
from bayesclust.families import FullGaussian
from bayesclust.inference.chain import Moves, Noise, TVClustProblem
from bayesclust.inference.moves import split_merge
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import links, problem
from tests.exactness.test_enumeration import assert_exact, compared
from tests.exactness.test_two_level import compared as compared_on_two_levels
from tests.exactness.test_two_level import small

ALONE = Moves(split_merge=4.0, link_blocks=False, single_site=False)


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(split_merge, "INTEGRATED_SHARE", 1.0)


def noisy(seed=2, name="gaussian", n=6):
    """Answers whose noise is hardly known, so that integrating it out changes much."""
    case, rng = problem(name, n=n, seed=seed), np.random.default_rng(seed)
    pairs = links(n, rng, LinkNoise(p=(2.0, 1.0), q=(2.0, 1.0)))
    return replace(case, constraints=(pairs, *case.constraints[1:]))


def test_joint_moves_alone_reach_the_exact_posterior(always):
    assert_exact(noisy(), ALONE, 2500, 2)


def test_with_some_noise_known(always):
    case, rng = noisy(), np.random.default_rng(5)
    half, other = links(6, rng, LinkNoise(p=(2.0, 1.0), q=0.7)), links(6, rng)
    known = PairwiseConstraints(
        other.items, other.answers, 6, noise=LinkNoise(p=0.8, q=0.7), name="known"
    )
    assert_exact(replace(case, constraints=(half, known, *case.constraints[1:])), ALONE, 2500, 6)


@pytest.mark.slow
def test_with_one_covariance_for_all(always):
    assert_exact(noisy(7, "gaussian_tied", n=5), ALONE, 1200, 3)


def test_on_two_levels(always):
    case = small("gaussian", 3, DirichletProcess((2.0, 1.0)), n=4)
    assert (result := compared_on_two_levels(case, Moves(split_merge=2.0), 2000, 5)).agrees, result


def test_forgotten_gain_of_integrating_out_is_noticed(always, monkeypatch):
    rows = factor_graph.stack_dirichlets(noisy().constraints)
    forgetful = factor_graph.NONE._replace(
        kind=np.full_like(rows.kind, factor_graph.PASSED_OVER), factor=rows.factor
    )
    monkeypatch.setattr(factor_graph, "stack_dirichlets", lambda views: forgetful)
    assert not compared(noisy(), ALONE, 2500, 2).agrees


def crossings(share, monkeypatch):
    """How many of 20 chains part two groups that touch, starting where all answers are noise."""
    monkeypatch.setattr(split_merge, "INTEGRATED_SHARE", share)
    rng, truth = np.random.default_rng(0), np.repeat([0, 1], 150)
    X = np.c_[rng.normal(size=300) + 1.5 * truth, rng.normal(size=300)]
    pairs = [tuple(rng.choice(300, 2, replace=False).tolist()) for _ in range(300)]
    view = PairwiseConstraints(
        pairs, [truth[i] == truth[j] for i, j in pairs], 300, noise=LinkNoise(p=(9, 1), q=(9, 1))
    )
    case, parted = TVClustProblem(FullGaussian().bind(X), (view,)), 0
    for seed in range(20):
        one = collapsed_chain(case, np.zeros(300, np.int64), np.random.default_rng(seed), Moves())
        Noise()(one.state, adapt=False, freeze_noise=False)
        for _ in range(12):
            one.sweep()
        parted += bool((one.labels[:150, None] != one.labels[None, 150:]).mean() > 0.8)
    return parted


def test_joint_moves_cross_where_answers_were_taken_for_noise(monkeypatch):
    assert crossings(0.5, monkeypatch) >= crossings(0.0, monkeypatch) + 10
