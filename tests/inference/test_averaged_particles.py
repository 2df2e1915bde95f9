"""Draws of several models against enumeration of models and partitions together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from bayesclust.inference.averaged_particles import AveragedParticles, leave_one_out
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.particles import Particles
from bayesclust.inference.schedule import Moves
from bayesclust.inference.two_level.chain import TwoLevelChain, TwoLevelProblem
from bayesclust.models.families import FullGaussian
from tests.inference.test_particles import CLUMPS, LARGEST, all_views, first, known_views, quantities
from tests.judges import exact
from tests.judges.cases import problem
from tests.judges.test_two_level import exact_posterior

NUMBER = 600
APART = [0, 0, 1, 1, 1]
"""Two groups, of the data and of the answers, on which models disagree about what answers to expect."""
N = len(APART)


def models(seed=4):
    """The plain model, the same with items of little weight, and clusters of several components."""
    base = problem("gaussian coarsened", n=N, seed=seed)
    X = np.random.default_rng(seed).normal(size=(N, 2)) + 4.0 * np.array(APART)[:, None]
    plain = replace(base, family=FullGaussian(scale=0.01, strength=10.0).bind(X), views=())
    light = replace(plain, family=plain.family.coarsened(0.1))
    nested = TwoLevelProblem(plain.family, (), plain.concentration)
    return (plain, CollapsedChain), (light, CollapsedChain), (nested, TwoLevelChain)


def heard(cls=AveragedParticles, views=()):
    rng, parts = np.random.default_rng(0), []
    for case, chain_type in models():
        chain = chain_type(case, np.zeros(N, np.int64), rng, Moves())
        parts.append(Particles([chain], NUMBER // 3, num_warmup=100, thinning=2))
    found = cls(parts)
    found.hear(views, rng)
    return found


def enumerated(case, views):
    """Evidence of answers under a model, and the posterior means of the quantities."""
    if isinstance(case, TwoLevelProblem):
        states, without = exact_posterior(case)
        _, values = exact_posterior(replace(case, views=views))
        states = states[:, case.n_items :]
    else:
        states, without = exact.log_posterior(case.family, (), case.concentration)
        _, values = exact.log_posterior(case.family, views, case.concentration)
    return logsumexp(values) - logsumexp(without), softmax(values) @ quantities(states)


def deviations(found, views):
    """Of the models' shares and of the weighted means, in standard errors of the effective size."""
    evidence, means = zip(*(enumerated(case, views) for case, _ in models()), strict=True)
    shares = softmax(evidence)
    truth = np.r_[shares, shares @ np.stack(means)]
    seen = np.r_[found.shares, found.weights @ quantities(found.draws)]
    error = np.sqrt(truth * (1 - truth) * CLUMPS / found.effective_size)
    return (np.abs(seen - truth) / np.maximum(error, 1e-9))[error > 1e-6]


def views_of(make):
    links, triplets, others = make(N, np.random.default_rng(5))
    truth = links.with_answers(links.truths(APART))
    return first(truth, 8), first(triplets, 3), others


@pytest.mark.parametrize("make", [all_views, known_views], ids=["learned noise", "known noise"])
def test_models_and_partitions_come_from_their_exact_joint_posterior(make):
    views = views_of(make)
    found = heard(views=views)
    assert found.renewals > 0
    assert len(found.draws) == len(found.weights) == NUMBER
    assert found.problem.views == views
    assert deviations(found, views).max() < LARGEST


class Even(AveragedParticles):
    """Weighs all models alike, whatever they predicted."""

    @property
    def shares(self):
        return np.full(len(self.parts), 1 / len(self.parts))


def test_a_fault_is_noticed():
    views = views_of(known_views)
    assert deviations(heard(Even, views), views).max() > LARGEST


def test_draws_go_to_models_as_they_are_believed_and_none_is_left_without():
    found = heard(views=views_of(known_views))
    found._before = np.array([0.0, -50.0, -1.0])
    numbers = found._numbers()
    assert sum(numbers) == NUMBER
    assert numbers[1] == 8
    assert numbers[0] > numbers[2] > numbers[1]


@pytest.mark.parametrize("make", [all_views, known_views], ids=["learned noise", "known noise"])
def test_what_the_others_say_of_an_answer_is_the_ratio_of_evidences(make):
    links = first(make(N, np.random.default_rng(5))[0], 6)
    case = models()[0][0]
    states, values = exact.log_posterior(case.family, (links,), case.concentration)
    found = leave_one_out(links, states, softmax(values))
    for left in range(6):
        rows = [row for row in range(6) if row != left]
        others = type(links)(links.items[rows], links.answers[rows], N, links.source[rows], links.noise, links.name)
        _, without = exact.log_posterior(case.family, (others,), case.concentration)
        assert found[left] == pytest.approx(logsumexp(values) - logsumexp(without))


def test_answers_of_the_beginning_count():
    rng, views = np.random.default_rng(0), views_of(known_views)
    case, chain_type = models()[0]
    chain = chain_type(replace(case, views=views), np.zeros(N, np.int64), rng, Moves())
    part = Particles([chain], 50, num_warmup=20)
    found = AveragedParticles([part])
    assert found._before[0] == pytest.approx(sum(leave_one_out(view, part.draws, part.weights).sum() for view in views))
