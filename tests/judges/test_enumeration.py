"""Chains against the exact posterior over all partitions: total variation, judged by its Monte Carlo error."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.inference.collapsed import Moves, TVClustProblem
from bayesclust.models.families import FAMILIES, FullGaussian, HyperPrior, Multinomial
from bayesclust.models.priors import Concentration
from tests.judges import exact
from tests.judges.cases import all_views, data_for, known_views, links, partitions_drawn, problem, triplets

MOVES = {
    "default": Moves.default(6),
    "single-site": Moves(split_merge=0.0, link_blocks=False),
    "plain scan": Moves(split_merge=0.0, link_blocks=False, fast=False),
    "split-merge": Moves(split_merge=4.0, link_blocks=False, single_site=False),
    "link blocks": Moves(split_merge=0.0),
}


def judge(case, moves, number, seed):
    states, values = exact.log_posterior(case.family, case.views, case.concentration)
    result = exact.compare(partitions_drawn(case, moves, number, seed), states, values)
    assert result.agrees, result
    assert result.number > 5, "hardly any partition was compared"
    return result


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name):
    judge(problem(name, n=6, seed=1), MOVES["default"], 6000, seed=1)


@pytest.mark.parametrize("moves", MOVES)
def test_every_move(moves):
    judge(problem("gaussian", n=6, seed=2), MOVES[moves], 8000, seed=2)


def test_without_side_information():
    judge(replace(problem("gaussian", n=7, seed=3), views=()), MOVES["default"], 6000, seed=3)


def test_known_noise_and_concentration(rng):
    case = problem("gaussian", n=6, seed=4)
    case = TVClustProblem(case.family, known_views(6, rng), Concentration(fixed=0.7))
    judge(case, MOVES["default"], 6000, seed=4)


def test_noise_that_must_inform(rng):
    case = problem("gaussian", n=6, seed=6)
    # priors of which the cut takes half, and which most answers contradict
    flat = links(6, rng, LinkNoise(p=(1.0, 1.5), q=(1.0, 1.0), informative=True))
    half = triplets(6, rng, UniformNoise(eps=(3.0, 1.5), informative=True))
    judge(replace(case, views=(flat, half)), MOVES["default"], 8000, seed=6)


def learning(family, n, seed):
    rng = np.random.default_rng(seed)
    return TVClustProblem(family.bind(data_for(family, n, 2, rng)), all_views(n, rng), Concentration())


LEARNED = {
    "scale": FullGaussian(strength=3.0, mean_precision=0.2),
    "strength": FullGaussian(scale=0.4, strength=HyperPrior("base_strength", 3.0, 1.0, least=1.0), mean_precision=0.2),
    "mean precision": FullGaussian(scale=0.4, strength=3.0, mean_precision="learn"),
    "counts": Multinomial(),
}


@pytest.mark.parametrize("free", LEARNED)
def test_learned_hyper_parameter(free):
    judge(learning(LEARNED[free], 6, 5), MOVES["default"], 8000, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 11])
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_and_move_at_length(name, moves, seed):
    judge(problem(name, n=7, seed=seed), MOVES[moves], 30_000, seed)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("restricted_scans", [0, 5])
def test_eight_items(d, restricted_scans):
    case = problem("gaussian", n=8, d=d, seed=20 + d)
    judge(case, replace(MOVES["default"], restricted_scans=restricted_scans), 40_000, seed=20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [30, 31])
@pytest.mark.parametrize("free", LEARNED)
def test_learned_hyper_parameter_at_length(free, seed):
    judge(learning(LEARNED[free], 7, seed), MOVES["default"], 30_000, seed)


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["default", "split-merge"])
def test_answers_taken_as_certain(moves, rng):
    # eps = 0: partitions that break fewer answers have all the weight, and only whole clusters can move
    case = problem("gaussian", n=7, seed=40)
    case = replace(case, views=(triplets(7, rng, UniformNoise(eps=0.0), size=3),))
    judge(case, MOVES[moves], 30_000, seed=40)
