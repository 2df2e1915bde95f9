"""Rules as evidence, against enumeration of partitions and in Geweke's test."""

from functools import cache

import numpy as np
import pytest

from bayesclust.constraints import (
    ImplicationConstraints,
    LinkNoise,
    RuleNoise,
    SpreadConstraints,
    UniformNoise,
    factor_graph,
)
from bayesclust.inference.chain import Moves, Noise, TVClustProblem, TwoLevelProblem
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact, test_two_level
from tests.exactness.cases import bound_case, faulty, fixed, links, partitions_drawn, triplets
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_geweke import z_scores
from tests.exactness.test_labels import MOVES

GROUPS = [((0, 1, 2, 3), 1), ((2, 3, 4), 1), ((0, 2, 4), 2), ((1, 3, 4), 2), ((1, 4), 1)]
IMPLICATIONS = [
    ([(0, 1, True)], [(2, 3, True), (0, 4, False)]),
    ([(0, 2, False), (1, 3, True)], [(1, 4, True)]),
    ([], [(0, 3, False), (1, 4, False)]),
]
NOISE = RuleNoise(p=(6.0, 1.0), q=(5.0, 2.0))


def rules(n=6, noise=NOISE):
    said = [True, True, False, True, True]
    return (
        SpreadConstraints(GROUPS, n, noise=noise, source=[0, 1, 0, 1, 1], answers=said),
        ImplicationConstraints(IMPLICATIONS, n, noise=noise),
    )


@cache
def problem(beside=False, n=6):
    rng = np.random.default_rng(3)
    bound = bound_case("gaussian", n, 2, rng, fixed)
    others = (links(n, rng), triplets(n, rng, UniformNoise(eps=(2.0, 3.0)))) if beside else ()
    groups, implications = rules(n)
    views = (*others[:1], groups, *others[1:], implications)
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


def compared(case, moves, number, seed, sampler=collapsed_chain):
    states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    return exact.compare(
        partitions_drawn(case, moves, number, seed, sampler=sampler), states, values
    )


def by_hand(groups, z):
    return [len({z[i] for i in items}) <= most for items, most in groups]


def test_formulas_say_what_rows_say():
    groups, implications = rules(6)
    z = exact.partitions(6)
    assert (groups.truths(z) == [by_hand(GROUPS, labels) for labels in z]).all()
    expected = [
        [
            all((x[i] == x[j]) == same for i, j, same in conclusion)
            or not all((x[i] == x[j]) == same for i, j, same in premise)
            for premise, conclusion in IMPLICATIONS
        ]
        for x in z
    ]
    assert (implications.truths(z) == expected).all()
    sites = factor_graph.compile_sites(rules(6), 6)
    counts = np.zeros((6, 5), np.int64)
    factor_graph.count_answers(sites, z[100], counts)
    assert (counts[:4, :2] == groups.counts(z[100])).all()
    assert (counts[4:, :2] == implications.counts(z[100])).all()


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside links and triplets"])
def test_rules_are_exact(beside, sampler):
    result = compared(problem(beside), Moves(), 4000, 1, sampler)
    assert result.agrees, result


@pytest.mark.parametrize("moves", MOVES)
def test_every_move(moves):
    result = compared(problem(True), MOVES[moves], 4000, 2)
    assert result.agrees, result
    assert result.number >= 5


@pytest.mark.parametrize("moves", ["default", "split-merge"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside links and triplets"])
def test_mixtures_are_exact(beside, moves):
    one = problem(beside, n=5)
    case = TwoLevelProblem(
        one.family, one.constraints, one.partition_prior, DirichletProcess((2.0, 2.0))
    )
    result = test_two_level.compared(case, test_two_level.MOVES[moves], 4000, 3)
    assert result.agrees, result


def test_rules_counted_twice_are_noticed(monkeypatch):
    right = factor_graph.compile_sites

    def twice(constraints, n_items):
        sites = right(constraints, n_items)
        formulas = 2 * [one for rule in constraints if not rule.members for one in rule.formulas]
        codes = 2 * sites.groups.code.tolist()
        return sites._replace(groups=factor_graph.group_sites(formulas, codes, n_items))

    monkeypatch.setattr(factor_graph, "compile_sites", twice)
    assert not compared(problem(), Moves(), 4000, 1).agrees


def template():
    rng = np.random.default_rng(11)
    bound = bound_case("gaussian", 6, 2, rng)
    noise = RuleNoise(p=(3.0, 2.0), q=(2.0, 2.0))
    views = (links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0)), size=5), *rules(6, noise))
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


def test_joint_distribution():
    assert_agree(z_scores(template(), 2500, 1))


def swap(state):
    """Take p of groups for q and q for p."""
    own = state.noise[1]
    own["p"], own["q"] = own["q"], own["p"]
    state.noise = state.noise


def test_faulty_draw_of_noise_is_noticed():
    assert_noticed(z_scores(template(), 2500, 2, sampler=faulty(Noise, after=swap)))
