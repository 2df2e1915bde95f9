"""Draws that condition on answers one by one against enumeration of partitions, and of models."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.families import FullGaussian
from bayesclust.inference import particles
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.particles import (
    AveragedParticles,
    Particles,
    extends,
    leave_one_out,
    systematic,
)
from bayesclust.inference.samplers import collapsed_chain
from tests.exactness import exact
from tests.exactness.cases import all_views, known_views, problem
from tests.exactness.test_two_level import exact_posterior

CLUMPS = 2.0
"""Draws of a chain, `THINNING` sweeps from one another, and moved copies of one draw are worth half
as many independent ones."""
THINNING = 8
LARGEST = 4.0
"""Standard errors; twenty quantities deviate more once in a thousand runs."""
NOISE = pytest.mark.parametrize("make", [all_views, known_views], ids=["learned", "known"])


def taken(constraints, rows):
    """Some answers, as a user would give them."""
    items, answers, source = constraints.items, constraints.answers, constraints.source
    options = constraints.n_items, source[rows], constraints.noise, constraints.name
    return type(constraints)(items[rows], answers[rows], *options)


def first(constraints, number):
    return taken(constraints, slice(number))


def without(constraints, left):
    return taken(constraints, np.delete(np.arange(len(constraints)), left))


def before_and_after(make):
    """Constraints before and after some answers, to the second of which one kind is new."""
    links, triplets, others = make(6, np.random.default_rng(5))
    before = first(links, 4), first(triplets, 1)
    return before, (first(links, 8), first(triplets, 2), first(others, 1))


def run(case, constraints, cls=Particles, number=300):
    """Draws of a problem after further answers."""
    rng = np.random.default_rng(0)
    chain = collapsed_chain(case, np.zeros(case.n_items, np.int64), rng, Moves())
    found = AveragedParticles([cls([chain], number, num_warmup=100, thinning=THINNING)])
    found.update(constraints, rng)
    return found


def n_resampled(found):
    """How often draws of some model were resampled and moved."""
    return sum(part.n_resampled for part in found.parts)


def quantities(z):
    """Which pairs are together, and whether there are 1, 2, 3 clusters: (..., quantities)."""
    pairs = np.array(list(combinations(range(z.shape[1]), 2)))
    numbers = np.array([[len(np.unique(row)) == k for k in (1, 2, 3)] for row in z])
    return np.concatenate([z[:, pairs[:, 0]] == z[:, pairs[:, 1]], numbers], axis=1)


def enumerated(case, constraints):
    """All states of a model as partitions, and their posterior probabilities."""
    if isinstance(case, TwoLevelProblem):
        states, values = exact_posterior(replace(case, constraints=constraints))
        return states[:, case.n_items :], softmax(values)
    states, values = exact.log_posterior(case.family, constraints, case.partition_prior)
    return states, softmax(values)


def deviation(found, case, constraints):
    """Largest deviation of a weighted mean, in standard errors of the effective size."""
    states, weights = enumerated(case, constraints)
    truth = weights @ quantities(states)
    error = np.sqrt(truth * (1 - truth) * CLUMPS / found.effective_size)
    return float((np.abs(found.weights @ quantities(found.draws) - truth) / error)[error > 0].max())


@pytest.mark.parametrize(("make", "min_ess"), [(all_views, 0.0), (known_views, 0.7)])
def test_draws_are_from_the_posterior_given_all_answers(make, min_ess, monkeypatch):
    monkeypatch.setattr(particles, "MIN_ESS", min_ess)
    before, after = before_and_after(make)
    base = problem("gaussian", n=6, seed=3)
    found = run(replace(base, constraints=before), after)
    assert (n_resampled(found) > 0) == (min_ess > 0)
    assert deviation(found, base, after) < LARGEST
    assert found.problem.constraints == after


class Unweighted(Particles):
    """Weighs draws as if there were no answers."""

    def _log_prob(self, constraints):
        return np.zeros(len(self.draws))


class Forgetful(Particles):
    """Moves draws under the answers of the beginning."""

    def resample(self, rng, number):
        now, self.problem = self.problem, replace(self.problem, constraints=())
        super().resample(rng, number)
        self.problem = now
        self._log_answers = self._log_prob(now.constraints)


@pytest.mark.parametrize(("fault", "min_ess"), [(Unweighted, 0.0), (Forgetful, 1.1)])
def test_a_fault_is_noticed(fault, min_ess, monkeypatch):
    monkeypatch.setattr(particles, "MIN_ESS", min_ess)
    before, after = before_and_after(known_views)
    base = problem("gaussian", n=6, seed=3)
    # draws that are moved on forget much of a fault
    found = run(replace(base, constraints=before), after, cls=fault, number=1200)
    assert deviation(found, base, after) > LARGEST


@pytest.mark.parametrize(("moved", "found"), [(0.0, False), (0.5, True)])
def test_moving_finds_partitions_while_weights_are_even(moved, found, monkeypatch):
    monkeypatch.setattr(particles, "MOVED", moved)
    rng, truth = np.random.default_rng(2), np.repeat([0, 1], 12)
    X = np.c_[rng.normal(size=24) + 2.5 * truth, rng.normal(size=24)]
    case = TVClustProblem(FullGaussian().bind(X))
    chain = collapsed_chain(case, np.zeros(24, np.int64), rng, Moves())
    draws = AveragedParticles([Particles([chain], 40, num_warmup=0, thinning=0)])  # all in one
    noise = LinkNoise(p=(18.0, 2.0), q=(18.0, 2.0))
    pairs = np.array([rng.choice(24, 2, replace=False) for _ in range(60)])
    answers = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    links = PairwiseConstraints(pairs, answers, 24, noise=noise)
    draws.update([links], rng)
    apart = draws.draws[:, 0] != draws.draws[:, 23]
    assert (draws.weights @ apart > 0.9) == found


def test_missing_answers_are_noticed():
    before, after = before_and_after(known_views)
    assert extends(before, after)
    assert not extends(after, before)
    assert not extends(after, after[:1])
    assert not extends(after, (after[0].with_answers(1 - after[0].answers), *after[1:]))


def test_systematic_resampling_is_within_one_of_the_share(rng):
    weights = rng.dirichlet(np.ones(7))
    counts = np.array([np.bincount(systematic(weights, rng), minlength=7) for _ in range(2000)])
    assert (np.abs(counts - 7 * weights) < 1).all()
    error = np.sqrt(np.maximum(counts.var(axis=0), 1e-9) / 2000)
    assert (np.abs(counts.mean(axis=0) - 7 * weights) < 4.5 * error + 1e-3).all()


# --- several models

NUMBER = 600
GROUPS = [0, 0, 1, 1, 1]
"""Two groups, of the data and of the answers, under which models expect other answers."""
N = len(GROUPS)


def models(seed=4):
    """The single model, the same with items of little weight, and the mixture."""
    base = problem("gaussian coarsened", n=N, seed=seed)
    X = np.random.default_rng(seed).normal(size=(N, 2)) + 4.0 * np.array(GROUPS)[:, None]
    single = replace(base, family=FullGaussian(scale=0.01, strength=10.0).bind(X), constraints=())
    light = replace(single, family=single.family.coarsened(0.1))
    return single, light, TwoLevelProblem(single.family, (), single.partition_prior)


def averaged(constraints, cls=AveragedParticles, before=()):
    rng, parts = np.random.default_rng(0), []
    for case in models():
        start = replace(case, constraints=before)
        chain = collapsed_chain(start, np.zeros(N, np.int64), rng, Moves())
        parts.append(Particles([chain], NUMBER // 3, num_warmup=100, thinning=THINNING))
    found = cls(parts)
    found.update(constraints, rng)
    return found


def answers_of(make):
    links, triplets, others = make(N, np.random.default_rng(5))
    truth = links.with_answers(links.truths(GROUPS))
    return first(truth, 8), first(triplets, 3), others


@pytest.fixture(scope="module")
def known():
    """Draws of three models after answers with known noise."""
    return averaged(answers_of(known_views))


def inverses(constraints, states):
    """1 / p(answer | z, all other answers), each answer by itself: (states, answers)."""
    rows = []
    for each in constraints:
        whole = each.noise.log_marginal(each.counts(states))
        for left in range(len(each)):
            others = without(each, left)
            rows.append(np.exp(others.noise.log_marginal(others.counts(states)) - whole))
    return np.stack(rows, axis=1)


def deviations(found, constraints):
    """Deviations of scores and weighted means, in standard errors of the effective size."""
    apart = []
    for part, score, case in zip(found.parts, found.scores, models(), strict=True):
        states, weights = enumerated(case, constraints)
        inverse = inverses(constraints, states)
        expected, values = weights @ inverse, quantities(states)
        truth = np.r_[weights @ values, -np.log(expected).sum()]
        influence = (inverse / expected).sum(axis=1)
        spread = weights @ (influence - weights @ influence) ** 2
        variance = np.r_[truth[:-1] * (1 - truth[:-1]), spread]
        error = np.sqrt(variance * CLUMPS / part.effective_size)
        seen = np.r_[part.weights @ quantities(part.draws), score]
        apart.append(np.abs(seen - truth)[error > 1e-6] / error[error > 1e-6])
    return np.concatenate(apart)


@NOISE
def test_scores_and_draws_of_each_model_are_exact(make, known):
    found = known if make is known_views else averaged(answers_of(make))
    constraints = found.problem.constraints
    assert [len(each) for each in constraints] == [8, 3, len(constraints[2])]
    assert n_resampled(found) > 0
    assert len(found.draws) == len(found.weights) == NUMBER
    assert deviations(found, constraints).max() < LARGEST


class Optimistic(AveragedParticles):
    """Lets each model predict the answers by draws that are conditioned on them."""

    @property
    def scores(self):
        return np.array([np.log(part.weights @ np.exp(part._log_answers)) for part in self.parts])


def test_a_fault_in_several_models_is_noticed():
    constraints = answers_of(known_views)
    assert deviations(averaged(constraints, cls=Optimistic), constraints).max() > LARGEST


def test_draws_count_by_the_weight_of_their_model(known):
    assert np.diff(np.log(known.shares)) == pytest.approx(np.diff(known.scores))
    first_model = len(known.parts[0].draws)
    assert known.weights[:first_model].sum() == pytest.approx(known.shares[0])
    assert known.weights.sum() == pytest.approx(1)


def test_every_model_keeps_draws(monkeypatch, known):
    monkeypatch.setattr(AveragedParticles, "scores", np.array([0.0, -50.0, -1.0]))
    numbers = known._numbers()
    assert sum(numbers) == NUMBER
    assert numbers[1] == 8
    assert numbers[0] > numbers[2] > numbers[1]


def test_answers_of_the_beginning_give_the_same_scores():
    constraints = answers_of(known_views)
    at_once = averaged(constraints, before=constraints)
    assert n_resampled(at_once) == 0
    assert deviations(at_once, constraints).max() < LARGEST


@NOISE
def test_leave_one_out_is_the_ratio_of_evidences(make):
    links = first(make(N, np.random.default_rng(5))[0], 6)
    case = models()[0]
    states, values = exact.log_posterior(case.family, (links,), case.partition_prior)
    found = leave_one_out(links, states, softmax(values))
    for left in range(6):
        _, fewer = exact.log_posterior(case.family, (without(links, left),), case.partition_prior)
        assert found[left] == pytest.approx(logsumexp(values) - logsumexp(fewer))
