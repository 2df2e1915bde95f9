"""Draws of several models against enumeration of models and partitions together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from bayesclust.families import FullGaussian
from bayesclust.inference.averaged_particles import AveragedParticles, leave_one_out
from bayesclust.inference.particles import Particles
from bayesclust.inference.problem import TwoLevelProblem
from bayesclust.inference.samplers import collapsed_chain, mixture_chain
from bayesclust.inference.schedule import Moves
from tests.exactness import exact
from tests.exactness.cases import problem
from tests.exactness.test_two_level import exact_posterior
from tests.inference.test_particles import (
    CLUMPS,
    LARGEST,
    THINNING,
    Deaf,
    all_views,
    first,
    known_views,
    quantities,
    taken,
)

NUMBER = 600
APART = [0, 0, 1, 1, 1]
"""Two groups, of the data and of the answers, on which models disagree about what answers to expect."""
N = len(APART)


def models(seed=4):
    """The plain model, the same with items of little weight, and clusters of several components."""
    base = problem("gaussian coarsened", n=N, seed=seed)
    X = np.random.default_rng(seed).normal(size=(N, 2)) + 4.0 * np.array(APART)[:, None]
    plain = replace(base, family=FullGaussian(scale=0.01, strength=10.0).bind(X), constraints=())
    light = replace(plain, family=plain.family.coarsened(0.1))
    nested = TwoLevelProblem(plain.family, (), plain.partition_prior)
    return (plain, collapsed_chain), (light, collapsed_chain), (nested, mixture_chain)


def heard(cls=AveragedParticles, views=(), part=Particles, before=(), number=NUMBER):
    rng, parts = np.random.default_rng(0), []
    for case, chain_type in models():
        chain = chain_type(replace(case, constraints=before), np.zeros(N, np.int64), rng, Moves())
        parts.append(part([chain], number // 3, num_warmup=100, thinning=THINNING))
    found = cls(parts)
    found.hear(views, rng)
    return found


def enumerated(case, views):
    """All states of a model as partitions, and their posterior probabilities."""
    if isinstance(case, TwoLevelProblem):
        states, values = exact_posterior(replace(case, constraints=views))
        return states[:, case.n_items :], softmax(values)
    states, values = exact.log_posterior(case.family, views, case.partition_prior)
    return states, softmax(values)


def without(view, left):
    return taken(view, np.delete(np.arange(len(view)), left))


def inverses(views, states):
    """1 / p(answer | z, all other answers) of each answer, each counted by itself, (states, answers)."""
    rows = []
    for view in views:
        whole = view.noise.log_marginal(view.counts(states))
        for left in range(len(view)):
            others = without(view, left)
            rows.append(np.exp(others.noise.log_marginal(others.counts(states)) - whole))
    return np.stack(rows, axis=1)


def deviations(found, views):
    """Of the models' scores and of the weighted means under each, in standard errors of the effective size."""
    apart = []
    for part, score, (case, _) in zip(found.parts, found.scores, models(), strict=True):
        states, weights = enumerated(case, views)
        inverse = inverses(views, states)
        expected, values = weights @ inverse, quantities(states)
        truth = np.r_[weights @ values, -np.log(expected).sum()]
        influence = (inverse / expected).sum(axis=1)
        variance = np.r_[
            truth[:-1] * (1 - truth[:-1]), weights @ (influence - weights @ influence) ** 2
        ]
        error = np.sqrt(variance * CLUMPS / part.effective_size)
        seen = np.r_[part.weights @ quantities(part.draws), score]
        apart.append(np.abs(seen - truth)[error > 1e-6] / error[error > 1e-6])
    return np.concatenate(apart)


def views_of(make):
    links, triplets, others = make(N, np.random.default_rng(5))
    truth = links.with_answers(links.truths(APART))
    return first(truth, 8), first(triplets, 3), others


@pytest.mark.parametrize("make", [all_views, known_views], ids=["learned noise", "known noise"])
def test_scores_of_models_and_draws_under_each_are_those_of_the_exact_posteriors(make):
    views = views_of(make)
    found = heard(views=views)
    assert found.renewals > 0
    assert len(found.draws) == len(found.weights) == NUMBER
    assert found.problem.constraints == views
    assert deviations(found, views).max() < LARGEST


class Proud(AveragedParticles):
    """Lets each model foretell the answers by draws that have heard them."""

    @property
    def scores(self):
        return np.array([np.log(part.weights @ np.exp(part._log_answers)) for part in self.parts])


class Stiff(Deaf):
    """Neither hears answers nor moves."""

    def renew(self, rng, number=None):
        """Not at all."""

    stir = renew


def test_a_fault_is_noticed():
    views = views_of(known_views)
    assert deviations(heard(Proud, views), views).max() > LARGEST
    assert deviations(heard(views=views, part=Stiff), views).max() > LARGEST


def test_draws_count_as_their_model_is_believed():
    found = heard(views=views_of(known_views))
    apart = np.diff(np.log(found.shares))
    assert apart == pytest.approx(np.diff(found.scores))
    first = len(found.parts[0].draws)
    assert found.weights[:first].sum() == pytest.approx(found.shares[0])
    assert found.weights.sum() == pytest.approx(1)


class Given(AveragedParticles):
    scores = np.array([0.0, -50.0, -1.0])


def test_draws_go_to_models_as_they_are_believed_and_none_is_left_without():
    numbers = heard(Given)._numbers()
    assert sum(numbers) == NUMBER
    assert numbers[1] == 8
    assert numbers[0] > numbers[2] > numbers[1]


def test_a_model_is_not_held_to_what_its_draws_said_before_they_found_their_place():
    views = views_of(known_views)
    # of so many draws the difference of two scores has a standard deviation of about .065
    found, at_once = (
        heard(views=views, number=3 * NUMBER),
        heard(views=views, before=views, number=3 * NUMBER),
    )
    assert at_once.renewals == 0
    assert deviations(at_once, views).max() < LARGEST
    assert at_once.scores[0] == pytest.approx(found.scores[0], abs=0.3)


@pytest.mark.parametrize("make", [all_views, known_views], ids=["learned noise", "known noise"])
def test_what_the_others_say_of_an_answer_is_the_ratio_of_evidences(make):
    links = first(make(N, np.random.default_rng(5))[0], 6)
    case = models()[0][0]
    states, values = exact.log_posterior(case.family, (links,), case.partition_prior)
    found = leave_one_out(links, states, softmax(values))
    for left in range(6):
        _, fewer = exact.log_posterior(case.family, (without(links, left),), case.partition_prior)
        assert found[left] == pytest.approx(logsumexp(values) - logsumexp(fewer))
