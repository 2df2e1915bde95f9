"""Draws that condition on answers one by one against enumeration of partitions."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.families import FullGaussian
from bayesclust.inference import particles
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.particles import Particles, extends, systematic
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


def first(constraints, number):
    """Some answers, as a user would give them."""
    items, answers, source = constraints.items, constraints.answers, constraints.source
    options = constraints.n_items, source[:number], constraints.noise, constraints.name
    return type(constraints)(items[:number], answers[:number], *options)


def before_and_after(make):
    """Constraints before and after some answers, to the second of which one kind is new."""
    links, triplets, others = make(6, np.random.default_rng(5))
    before = first(links, 4), first(triplets, 1)
    return before, (first(links, 8), first(triplets, 2), first(others, 1))


def run(case, constraints, cls=Particles, number=300):
    """Draws of a problem after further answers."""
    rng = np.random.default_rng(0)
    chain = collapsed_chain(case, np.zeros(case.n_items, np.int64), rng, Moves())
    found = cls([chain], number, num_warmup=100, thinning=THINNING)
    found.update(constraints, rng)
    return found


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
    assert (found.n_resampled > 0) == (min_ess > 0)
    assert deviation(found, base, after) < LARGEST
    assert found.problem.constraints == after


class Unweighted(Particles):
    """Weighs draws as if there were no answers."""

    def _log_prob(self, constraints):
        return np.zeros(len(self.draws))


class Forgetful(Particles):
    """Moves draws under the answers of the beginning."""

    def resample(self, rng):
        now, self.problem = self.problem, replace(self.problem, constraints=())
        super().resample(rng)
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
    draws = Particles([chain], 40, num_warmup=0, thinning=0)  # all in one
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
