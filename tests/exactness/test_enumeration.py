"""Chains against the exact posterior over all partitions, within Monte Carlo error."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bayesclust.constraints import LabelConstraints, LinkNoise, UniformNoise
from bayesclust.constraints.base import check_constraints
from bayesclust.families import FAMILIES, FullGaussian, HyperPrior, Multinomial
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.moves.parameter_scan import ParameterScan
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain, default_moves, gibbs_chain
from bayesclust.partition_priors import DirichletProcess, KnownK
from tests.exactness import exact
from tests.exactness.cases import (
    VARIANTS,
    all_views,
    data_for,
    known_views,
    partitions_drawn,
    problem,
    triplets,
)
from tests.priors import SAMPLED

MOVES = {
    "default": Moves(),
    "single-site": Moves(split_merge=0.0, link_blocks=False),
    "plain scan": Moves(split_merge=0.0, link_blocks=False, fast=False),
    "split-merge": Moves(split_merge=4.0, link_blocks=False, single_site=False),
    "link blocks": Moves(split_merge=0.0),
}


QUICK = 2500
each_chain = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


def compared(case, moves, number, seed, sampler=collapsed_chain):
    """A chain's draws against the exact posterior; by default, as the chain moves by default."""
    states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    moves = default_moves(sampler, case.n_items) if moves is None else moves
    draws = partitions_drawn(case, moves, number, seed, sampler=sampler)
    return exact.compare(draws, states, values)


def assert_exact(case, moves, number, seed, sampler=collapsed_chain):
    result = compared(case, moves, number, seed, sampler)
    assert result.agrees, result
    assert result.number >= 5, "hardly any partition was compared"
    return result


# mixed columns, missing cells and items that weigh less; all variants are in the slow tests
VARIED = [
    ("gaussian_diagonal with holes", collapsed_chain),
    ("poisson with holes", collapsed_chain),
    ("mixed with holes", collapsed_chain),
    ("multinomial coarsened", collapsed_chain),
    ("hurdle coarsened", collapsed_chain),
    ("hurdle coarsened", gibbs_chain),
    ("gaussian_spherical at gamma", gibbs_chain),
]


@pytest.mark.parametrize(("name", "sampler"), [*product(FAMILIES, SAMPLERS.values()), *VARIED])
def test_every_family(name, sampler):
    assert_exact(problem(name, n=6, seed=1), None, QUICK, 1, sampler)


@each_chain
@pytest.mark.parametrize("d", [1, 3])
def test_other_dimensions_without_side_information(d, sampler):
    case = replace(problem("gaussian", n=6, d=d, seed=9), constraints=())
    assert_exact(case, None, QUICK, 9, sampler)


@each_chain
@pytest.mark.parametrize("prior", SAMPLED.values(), ids=SAMPLED)
def test_every_prior(prior, sampler):
    case = replace(problem("gaussian", n=5, seed=8), partition_prior=prior)
    assert_exact(case, MOVES["default"], QUICK, 2, sampler)


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("prior", [DirichletProcess((2.0, 1.0)), KnownK(3, 0.6)], ids=str)
def test_every_move(prior, moves):
    case = replace(problem("gaussian", n=6, seed=2), partition_prior=prior)
    assert_exact(case, moves, QUICK, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("prior", SAMPLED)
@pytest.mark.parametrize("name", ["gaussian_tied", "poisson"])
def test_every_prior_at_length(name, prior):
    case = replace(problem(name, n=7, seed=2), partition_prior=SAMPLED[prior])
    # two clusters at most: what is shared changes little while neither can open another
    number = 30_000 if prior == "known number, learned" else 8000
    assert_exact(case, MOVES["default"], number, 2)


@each_chain
def test_known_noise_and_concentration(sampler, rng):
    case = problem("gaussian", n=6, seed=4)
    case = TVClustProblem(case.family, known_views(6, rng), DirichletProcess(0.7))
    assert_exact(case, None, QUICK, 4, sampler)


def test_partial_labels_are_enumerated_as_the_pairs_that_they_imply():
    case = problem("gaussian", n=6, seed=6)
    labels = LabelConstraints([(0, 1), (2, 0), (3, 1), (5, 2)], 6, noise=LinkNoise(p=(3, 1), q=0.9))
    given = tuple(check_constraints(labels, 6))
    assert_exact(replace(case, constraints=given), MOVES["default"], QUICK, seed=6)


def learning(family, n, seed):
    rng = np.random.default_rng(seed)
    bound = family.bind(data_for(family, n, 2, rng))
    return TVClustProblem(bound, all_views(n, rng), DirichletProcess())


LEARNED = {
    "scale": FullGaussian(strength=3.0, mean_precision=0.2),
    "strength": FullGaussian(
        scale=0.4, strength=HyperPrior("base_strength", 3.0, 1.0, lower=1.0), mean_precision=0.2
    ),
    "mean precision": FullGaussian(scale=0.4, strength=3.0, mean_precision="learn"),
    "counts": Multinomial(),
}


@pytest.mark.parametrize("free", LEARNED)
def test_learned_hyper_parameter(free):
    sampler = gibbs_chain if free == "strength" else collapsed_chain
    assert_exact(learning(LEARNED[free], 5, 2), None, QUICK, 5, sampler)


def loose():
    """Data alone, and clusters so vague that the draw of their parameters matters."""
    rng = np.random.default_rng(4)
    family = FullGaussian(scale=0.8, strength=1.5, mean_precision=1.0)
    bound = family.bind(data_for(family, 4, 2, rng))
    return TVClustProblem(bound, (), DirichletProcess((2.0, 1.0)))


def one_degree_more(kappa, nu, mean, lower, kappa0):
    return kappa, nu + 1, mean, lower


def no_prior_precision(kappa, nu, mean, lower, kappa0):
    return kappa - kappa0, nu, mean * (kappa / (kappa - kappa0))[:, None], lower


@pytest.mark.parametrize("fault", [one_degree_more, no_prior_precision])
def test_faulty_draw_of_parameters_is_noticed(fault, monkeypatch):
    right = BoundFullGaussian._posterior

    def wrong(self, statistics, hyper):
        return fault(*right(self, statistics, hyper), self.parameters(hyper)[0])

    monkeypatch.setattr(BoundFullGaussian, "_posterior", wrong)
    assert not compared(loose(), None, 5000, 4, gibbs_chain).agrees


def test_new_cluster_with_parameters_from_the_prior_is_noticed(monkeypatch):
    def from_prior(self, state, rows):
        family = state.problem.family
        nothing = family.statistics(np, rows, np.zeros((1, 1)))
        return family.terms(nothing, state.hyper, state.rng)

    monkeypatch.setattr(ParameterScan, "draw_alone", from_prior)
    assert not compared(loose(), None, 5000, 4, gibbs_chain).agrees


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["default", "split-merge"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_at_length(name, moves):
    assert_exact(problem(name, n=7, seed=10), MOVES[moves], 8000, 10)


@pytest.mark.slow
@each_chain
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_at_length(name, sampler):
    assert_exact(problem(name, n=7, seed=10), None, 12_000, 10, sampler)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_of_every_family_at_length(name):
    assert_exact(problem(name, n=7, d=3, seed=12), MOVES["default"], 8000, 12, gibbs_chain)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "scans"), [(1, 0), (5, 5)])
def test_eight_items_are_exact(d, scans):
    moves = replace(MOVES["default"], restricted_scans=scans)
    assert_exact(problem("gaussian", n=8, d=d, seed=20 + d), moves, 12_000, seed=20)


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["default", "split-merge"])
def test_answers_taken_as_certain(moves, rng):
    # partitions that break fewer answers have all the weight, and only whole clusters can move
    case = problem("gaussian", n=7, seed=40)
    case = replace(case, constraints=(triplets(7, rng, UniformNoise(eps=0.0), size=3),))
    assert_exact(case, MOVES[moves], 10_000, seed=40)
