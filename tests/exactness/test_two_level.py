"""Clusters that are mixtures, against all partitions on two levels, and in Geweke's test."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.families import FAMILIES
from bayesclust.inference.chain import Moves, PartitionPriorParameters, TwoLevelProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.inference.two_level.moves import TwoLevelScan
from bayesclust.partition_priors import DirichletProcess, KnownK, MixtureOfFiniteMixtures, PitmanYor
from tests.exactness import exact
from tests.exactness.cases import faulty, problem
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_geweke import marginal_conditional, template, z_scores

MOVES = {
    "default": Moves(),
    "single items and components": Moves(split_merge=0.0, link_blocks=False),
    "groups": Moves(split_merge=0.0),
    "split-merge": Moves(split_merge=3.0, link_blocks=False),
}
ABOVE = 1000
"""Added to clusters' labels, so that both levels side by side read as one partition."""


def log_within_marginal(components, clusters, prior):
    """log p(components | clusters), the parameters of the prior integrated out on a grid."""
    groups = [np.bincount(components[clusters == g]) for g in np.unique(clusters)]
    groups = tuple(sorted(tuple(sorted(sizes[sizes > 0].tolist())) for sizes in groups))
    return _log_within_marginal(groups, prior)


@cache
def _log_within_marginal(groups, prior):
    groups = [np.array(sizes) for sizes in groups]
    if not prior.learned:
        return sum(prior.log_prob(sizes, prior.initial()) for sizes in groups)
    (name,) = prior.learned
    one, line = prior.learned[name], np.linspace(-30, 6, 1501)
    values = [prior.initial() | {name: one.from_line(t)} for t in line]
    terms = np.array([one.log_on_line(t) for t in line])
    for sizes in groups:
        terms += [prior.log_prob(sizes, value) for value in values]
    return logsumexp(terms) + np.log(line[1] - line[0])


def exact_posterior(case):
    """Every state and its unnormalised log posterior."""
    components, clusters = map(np.array, zip(*exact.nested_partitions(case.n_items), strict=True))
    values = exact.log_data_marginal(case.family, components)
    for row, (c, g) in enumerate(zip(components, clusters, strict=True)):
        values[row] += exact.log_prior_marginal(np.bincount(g), case.partition_prior)
        values[row] += log_within_marginal(c, g, case.within)
    values += exact.log_answers(case.constraints, clusters)
    return np.concatenate([components, clusters + ABOVE], axis=1), values


def compared(case, moves, number, seed, sampler=collapsed_chain):
    chain = sampler(case, np.zeros(case.n_items, np.int64), np.random.default_rng(seed), moves)
    for _ in range(100):
        chain.sweep(adapt=True)
    draws = np.empty((number, 2 * case.n_items), np.int64)
    for row in range(number):
        chain.sweep()
        draws[row] = np.append(chain.state.assignment.z, chain.labels + ABOVE)
    result = exact.compare(draws, *exact_posterior(case))
    assert result.number > 10, "hardly any state was compared"
    return result


def small(name, seed, within, prior=None, n=5):
    base = problem(name, n=n, seed=seed)
    prior = base.partition_prior if prior is None else prior
    return TwoLevelProblem(base.family, base.constraints, prior, within)


@pytest.mark.parametrize("moves", MOVES)
def test_every_move(moves):
    result = compared(small("gaussian", 3, DirichletProcess((2.0, 2.0))), MOVES[moves], 3000, 3)
    assert result.agrees, result


def test_without_answers():
    case = replace(small("gaussian", 5, DirichletProcess(0.8), n=4), constraints=())
    assert (result := compared(case, MOVES["default"], 3000, 5)).agrees, result


OTHER_PRIORS = {
    "known concentrations": (DirichletProcess(1.3), DirichletProcess(0.6)),
    "Pitman-Yor on both": (PitmanYor(0.4, 1.0), PitmanYor(0.3, 0.7)),
    "finite mixtures above": (MixtureOfFiniteMixtures(0.7), DirichletProcess((2.0, 2.0))),
    "known number above": (KnownK(3, 0.8), PitmanYor(0.3, (2.0, 2.0))),
}


@pytest.mark.parametrize("priors", OTHER_PRIORS)
def test_every_prior(priors):
    above, within = OTHER_PRIORS[priors]
    result = compared(small("gaussian", 3, within, above, n=4), MOVES["default"], 3000, 3)
    assert result.agrees, result


def test_wrong_weight_of_new_components_is_noticed():
    def scaled(factor):
        def change(state):
            state.within = {"concentration": factor * state.within["concentration"]}

        return change

    fault = faulty(TwoLevelScan, collapsed_chain, before=scaled(2.0), after=scaled(0.5))
    case = small("gaussian", 3, DirichletProcess(2.0), n=4)
    assert not compared(case, MOVES["single items and components"], 4000, 3, fault).agrees


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_at_length(name):
    result = compared(small(name, 6, DirichletProcess((1.0, 1.0))), Moves(), 8000, 6)
    assert result.agrees, result


def two_levels(name):
    base = template(name, n=6)
    own = base.family, base.constraints, base.partition_prior, DirichletProcess((2.0, 2.0))
    return TwoLevelProblem(*own)


@cache
def independent():
    """Draws from the prior that right and faulty chains are compared with."""
    return marginal_conditional(two_levels("gaussian"), 1200, np.random.default_rng(0))


def one_component_less(state):
    """Draw beta as if each cluster had a component less, but as many items."""
    z, labels = state.assignment.z, state.labels
    groups = [np.unique(z[labels == g], return_counts=True)[1] for g in np.unique(labels)]
    groups = [np.append(sizes[2:], sizes[:2].sum()) for sizes in groups]
    state.within = state.problem.within.update(state.within, groups, state.rng)


def test_joint_distribution():
    drawn = independent()
    assert_agree(z_scores(two_levels("gaussian"), 1200, 1, Moves(), independent=drawn))


def test_miscounted_components_are_noticed():
    fault = faulty(PartitionPriorParameters, collapsed_chain, after=one_component_less)
    drawn = independent()
    assert_noticed(z_scores(two_levels("gaussian"), 1200, 1, Moves(), fault, drawn))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(two_levels(name), 6000, 2, Moves()))
