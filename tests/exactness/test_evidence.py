"""Class labels and rules as evidence, against enumeration of partitions and in Geweke's test."""

from functools import cache

import numpy as np
import pytest

from bayesclust.constraints import (
    ImplicationConstraints,
    LabelConstraints,
    LabelNoise,
    LinkNoise,
    RuleNoise,
    SpreadConstraints,
    UniformNoise,
    factor_graph,
)
from bayesclust.inference.chain import Moves, Noise, TVClustProblem, TwoLevelProblem
from bayesclust.inference.dcrc.gibbs import DCRCProblem
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact, test_dcrc, test_two_level
from tests.exactness.cases import bound_case, faulty, fixed, links, triplets
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_enumeration import MOVES, assert_exact, compared, each_chain
from tests.exactness.test_geweke import z_scores

ROWS = [(0, "a"), (0, "a"), (1, "a"), (2, "b"), (2, "a"), (3, "b"), (3, "b")]
SOURCE = [0, 1, 1, 0, 1, 0, 1]
GROUPS = [((0, 1, 2, 3), 1), ((2, 3, 4), 1), ((0, 2, 4), 2), ((1, 3, 4), 2), ((1, 4), 1)]
IMPLICATIONS = [
    ([(0, 1, True)], [(2, 3, True), (0, 4, False)]),
    ([(0, 2, False), (1, 3, True)], [(1, 4, True)]),
    ([], [(0, 3, False), (1, 4, False)]),
]


def labels(n, noise):
    return (LabelConstraints(ROWS, n, noise=noise, source=SOURCE),)


def rules(n, noise):
    said = [True, True, False, True, True]
    return (
        SpreadConstraints(GROUPS, n, noise=noise, source=[0, 1, 0, 1, 1], answers=said),
        ImplicationConstraints(IMPLICATIONS, n, noise=noise),
    )


# strong noise for enumeration, and weak noise for Geweke's test
EVIDENCE = {
    "labels": (
        labels,
        LabelNoise(accuracy=(5.0, 1.0), alike=6.0, none=0.2),
        LabelNoise(accuracy=(3.0, 1.0), alike=4.0, none=0.3),
    ),
    "rules": (rules, RuleNoise(p=(6.0, 1.0), q=(5.0, 2.0)), RuleNoise(p=(3.0, 2.0), q=(2.0, 2.0))),
}
each_kind = pytest.mark.parametrize("kind", EVIDENCE)
alone_or_not = pytest.mark.parametrize(
    "beside", [False, True], ids=["alone", "beside links and triplets"]
)


@cache
def problem(kind, beside=False, n=6):
    rng = np.random.default_rng(3)
    bound = bound_case("gaussian", n, 2, rng, fixed)
    others = (links(n, rng), triplets(n, rng, UniformNoise(eps=(2.0, 3.0)))) if beside else ()
    make, noise, _ = EVIDENCE[kind]
    first, *rest = make(n, noise)
    views = (*others[:1], first, *others[1:], *rest)
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


@each_chain
@alone_or_not
@each_kind
def test_every_sampler(kind, beside, sampler):
    assert_exact(problem(kind, beside), Moves(), 4000, 1, sampler)


@pytest.mark.parametrize("moves", MOVES)
@each_kind
def test_every_move(kind, moves):
    assert_exact(problem(kind, beside=True), MOVES[moves], 4000, 2)


@pytest.mark.parametrize("moves", ["default", "split-merge"])
@alone_or_not
@each_kind
def test_mixtures_are_exact(kind, beside, moves):
    one = problem(kind, beside, n=5)
    case = TwoLevelProblem(
        one.family, one.constraints, one.partition_prior, DirichletProcess((2.0, 2.0))
    )
    result = test_two_level.compared(case, test_two_level.MOVES[moves], 4000, 3)
    assert result.agrees, result


def classifier(views, seed=5):
    """Classes of a classifier with known weights, and an item that no answer names."""
    rng = np.random.default_rng(seed)
    return DCRCProblem(rng.normal(size=(6, 2)), views, rng.normal(size=(3, 3)))


@alone_or_not
def test_classifiers_are_exact(beside):
    others = test_dcrc.case().constraints if beside else ()
    own = labels(6, LabelNoise(accuracy=(5.0, 1.0), alike=6.0, none=0.2))
    result = test_dcrc.compared(classifier((*others[:1], *own, *others[1:])), 5000, 2)
    assert result.agrees, result
    assert result.number > 10


def test_joint_distribution_of_classifiers():
    rng = np.random.default_rng(11)
    noise = LabelNoise(accuracy=(3.0, 1.0), alike=4.0, none=0.3)
    beside = links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0)), size=5)
    template = classifier((beside, *labels(6, noise)))
    assert_agree(test_dcrc.z_scores(template, 2000, seed=1, items=(1, 5)))


def test_labels_counted_twice_by_a_classifier_are_noticed(monkeypatch):
    labels_twice(monkeypatch)
    own = labels(6, LabelNoise(accuracy=(5.0, 1.0), alike=6.0, none=0.2))
    assert not test_dcrc.compared(classifier(own), 5000, 2).agrees


def test_formulas_say_what_rows_say():
    views = rules(6, RuleNoise())
    groups, implications = views
    z = exact.partitions(6)
    by_hand = [[len({x[i] for i in items}) <= most for items, most in GROUPS] for x in z]
    assert (groups.truths(z) == by_hand).all()
    expected = [
        [
            all((x[i] == x[j]) == same for i, j, same in conclusion)
            or not all((x[i] == x[j]) == same for i, j, same in premise)
            for premise, conclusion in IMPLICATIONS
        ]
        for x in z
    ]
    assert (implications.truths(z) == expected).all()
    sites = factor_graph.compile_sites(views, 6)
    counts = np.zeros((6, 5), np.int64)
    factor_graph.count_answers(sites, z[100], counts)
    assert (counts[:4, :2] == groups.counts(z[100])).all()
    assert (counts[4:, :2] == implications.counts(z[100])).all()


def labels_twice(monkeypatch):
    right = LabelConstraints.sites

    def twice(self, params):
        own = right(self, params)
        return own._replace(evidence=2 * own.evidence)

    monkeypatch.setattr(LabelConstraints, "sites", twice)


def rules_twice(monkeypatch):
    right = factor_graph.compile_sites

    def twice(constraints, n_items):
        sites = right(constraints, n_items)
        formulas = 2 * [one for rule in constraints if not rule.members for one in rule.formulas]
        codes = 2 * sites.groups.code.tolist()
        return sites._replace(groups=factor_graph.group_sites(formulas, codes, n_items))

    monkeypatch.setattr(factor_graph, "compile_sites", twice)


@pytest.mark.parametrize(("kind", "twice"), [("labels", labels_twice), ("rules", rules_twice)])
def test_evidence_counted_twice_is_noticed(kind, twice, monkeypatch):
    case = problem(kind)
    twice(monkeypatch)
    assert not compared(case, Moves(), 4000, 1).agrees


def test_classes_that_are_not_redrawn_are_noticed(monkeypatch):
    right = LabelConstraints.draw_counts

    def first(self, z, params, rng):
        return right(self, z, params, _Least())

    monkeypatch.setattr(LabelConstraints, "draw_counts", first)
    assert not compared(problem("labels"), Moves(), 8000, 1).agrees


class _Least:
    """A generator of zeros: every cluster has the first class."""

    def random(self, shape):
        return np.zeros(shape)


def template(kind):
    rng = np.random.default_rng(11)
    bound = bound_case("gaussian", 6, 2, rng)
    make, _, noise = EVIDENCE[kind]
    beside = links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0)), size=5)
    return TVClustProblem(bound, (beside, *make(6, noise)), DirichletProcess((2.0, 1.0)))


@each_kind
def test_joint_distribution(kind):
    assert_agree(z_scores(template(kind), 2500, 1))


def forget_none(state):
    """Draw confusions as if every cluster had a class, and the first sources' at that."""
    _, own = state.noise
    weights = state.problem.constraints[1].noise.weights(0.8)
    drawn = state.rng.dirichlet(weights[0] + 1.0, size=own["confusion"].shape[:1])
    own["confusion"][:, 0] = drawn
    state.noise = state.noise


def swap(state):
    """Take p of groups for q and q for p."""
    own = state.noise[1]
    own["p"], own["q"] = own["q"], own["p"]
    state.noise = state.noise


@pytest.mark.parametrize(("kind", "fault"), [("labels", forget_none), ("rules", swap)])
def test_faulty_draw_of_noise_is_noticed(kind, fault):
    assert_noticed(z_scores(template(kind), 2500, 2, sampler=faulty(Noise, after=fault)))
