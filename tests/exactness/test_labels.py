"""Class labels as evidence, against enumeration of partitions and classes, and in Geweke's test."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from bayesclust.constraints import LabelConstraints, LinkNoise, UniformNoise
from bayesclust.constraints.labels import LabelNoise
from bayesclust.inference.chain import Moves, Noise, TVClustProblem, TwoLevelProblem
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact, test_two_level
from tests.exactness.cases import bound_case, faulty, fixed, links, partitions_drawn, triplets
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_geweke import z_scores

MOVES = {
    "default": Moves(),
    "single-site": Moves(split_merge=0.0, link_blocks=False),
    "split-merge": Moves(split_merge=4.0, link_blocks=False, single_site=False),
    "link blocks": Moves(split_merge=0.0),
}
NOISE = LabelNoise(accuracy=(5.0, 1.0), alike=6.0, none=0.2)
ROWS = [(0, "a"), (0, "a"), (1, "a"), (2, "b"), (2, "a"), (3, "b"), (3, "b")]
SOURCE = [0, 1, 1, 0, 1, 0, 1]


def labels(n=6, noise=NOISE):
    return LabelConstraints(ROWS, n, noise=noise, source=SOURCE)


def log_marginal(view, z):
    """log p(labels | z), classes, accuracies and confusions integrated out, from the definition."""
    L, noise = len(view.classes), view.noise
    grid = np.linspace(0.01, 0.99, 50)
    prior = grid ** (noise.accuracy[0] - 1) * (1 - grid) ** (noise.accuracy[1] - 1)
    weights = np.ones((50, L + 1, L))
    for a, accuracy in enumerate(grid):
        weights[a, :L] = noise.alike * (1 - accuracy) / (L - 1)
        weights[a, range(L), range(L)] = noise.alike * accuracy
    own = z[view.items[:, 0]]
    clusters = np.unique(own)
    values = []
    for classes in product(range(L + 1), repeat=len(clusters)):
        known = dict(zip(clusters.tolist(), classes, strict=True))
        none = np.array(classes) == L
        value = np.log(np.where(none, noise.none, (1 - noise.none) / L)).sum()
        for s in range(view.n_sources):
            counts = np.zeros((L + 1, L))
            for k, source, answer in zip(own, view.source, view.answers, strict=True):
                counts[known[k], answer] += source == s
            after = weights + counts
            gain = (gammaln(after) - gammaln(weights)).sum((1, 2))
            gain -= (gammaln(after.sum(2)) - gammaln(weights.sum(2))).sum(1)
            value += logsumexp(gain, b=prior / prior.sum())
        values.append(value)
    return logsumexp(values)


@cache
def problem(beside=False, n=6):
    rng = np.random.default_rng(3)
    bound = bound_case("gaussian", n, 2, rng, fixed)
    others = (links(n, rng), triplets(n, rng, UniformNoise(eps=(2.0, 3.0)))) if beside else ()
    return TVClustProblem(
        bound, (*others[:1], labels(n), *others[1:]), DirichletProcess((2.0, 1.0))
    )


def with_labels(case, states, values, clusters):
    """Log posterior values with the evidence of labels in them."""
    (view,) = case.labels
    known = {
        code: log_marginal(view, z) for code, z in zip(exact.codes(states), states, strict=True)
    }
    return values + np.array([known[code] for code in exact.codes(clusters)])


def compared(case, moves, number, seed, sampler=collapsed_chain):
    rest = replace(case, constraints=tuple(case.by_pattern))
    states, values = exact.log_posterior(rest.family, rest.constraints, rest.partition_prior)
    values = with_labels(case, states, values, states)
    draws = partitions_drawn(case, moves, number, seed, sampler=sampler)
    return exact.compare(draws, states, values)


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside links and triplets"])
def test_labels_are_exact(beside, sampler):
    result = compared(problem(beside), Moves(), 4000, 1, sampler)
    assert result.agrees, result


@pytest.mark.parametrize("moves", MOVES)
def test_every_move(moves):
    result = compared(problem(True), MOVES[moves], 4000, 2)
    assert result.agrees, result
    assert result.number >= 5


@pytest.mark.parametrize("moves", ["default", "split-merge"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside links and triplets"])
def test_mixtures_are_exact(beside, moves, monkeypatch):
    one = problem(beside, n=5)
    case = TwoLevelProblem(
        one.family, one.constraints, one.partition_prior, DirichletProcess((2.0, 2.0))
    )
    of_rest = test_two_level.exact_posterior

    def exact_posterior(case):
        both, values = of_rest(replace(case, constraints=tuple(case.by_pattern)))
        clusters = both[:, case.n_items :] - test_two_level.ABOVE
        return both, with_labels(case, exact.partitions(case.n_items), values, clusters)

    monkeypatch.setattr(test_two_level, "exact_posterior", exact_posterior)
    result = test_two_level.compared(case, test_two_level.MOVES[moves], 4000, 3)
    assert result.agrees, result


def test_labels_counted_twice_are_noticed(monkeypatch):
    right = LabelConstraints.sites

    def twice(self, params):
        own = right(self, params)
        return own._replace(evidence=2 * own.evidence)

    monkeypatch.setattr(LabelConstraints, "sites", twice)
    assert not compared(problem(), Moves(), 4000, 1).agrees


def test_classes_that_are_not_redrawn_are_noticed(monkeypatch):
    right = LabelConstraints.draw_counts

    def first(self, z, params, rng):
        return right(self, z, params, _Least())

    monkeypatch.setattr(LabelConstraints, "draw_counts", first)
    assert not compared(problem(), Moves(), 8000, 1).agrees


class _Least:
    """A generator of zeros: every cluster has the first class."""

    def random(self, shape):
        return np.zeros(shape)


def template():
    rng = np.random.default_rng(11)
    bound = bound_case("gaussian", 6, 2, rng)
    noise = LabelNoise(accuracy=(3.0, 1.0), alike=4.0, none=0.3)
    views = (links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0)), size=5), labels(6, noise))
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


def test_joint_distribution():
    assert_agree(z_scores(template(), 2500, 1))


def forget_none(state):
    """Draw confusions as if every cluster had a class, and the first sources' at that."""
    _, own = state.noise
    weights = state.problem.constraints[1].noise.weights(0.8)
    drawn = state.rng.dirichlet(weights[0] + 1.0, size=own["confusion"].shape[:1])
    own["confusion"][:, 0] = drawn
    state.noise = state.noise


def test_faulty_draw_of_confusions_is_noticed():
    assert_noticed(z_scores(template(), 2500, 2, sampler=faulty(Noise, after=forget_none)))
