"""Draws that hear answers one by one against the exact posterior given all of them."""

from dataclasses import replace
from itertools import combinations
from time import process_time

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.families import FullGaussian
from bayesclust.inference.answers_in_turn import extends
from bayesclust.inference.particles import Particles, systematic
from bayesclust.inference.problem import TVClustProblem, TwoLevelProblem
from bayesclust.inference.samplers import collapsed_chain, mixture_chain
from bayesclust.inference.schedule import Moves
from tests.exactness import exact
from tests.exactness.cases import all_views, known_views, problem
from tests.exactness.test_two_level import exact_posterior

NUMBER = 300
CLUMPS = 2.0
"""Draws of a chain, `THINNING` sweeps from one another, and copies of one draw that have gone on are worth half as many
independent ones. (Of two sweeps apart, the rare kinds come in longer clumps: one run in thirty deviated by four errors.)"""
THINNING = 8
LARGEST = 4.0
"""Standard errors; twenty quantities deviate more once in a thousand runs."""


def taken(view, rows):
    """Some answers of a view, as a user would give them."""
    return type(view)(
        view.items[rows], view.answers[rows], view.n_items, view.source[rows], view.noise, view.name
    )


def first(view, number):
    return taken(view, slice(number))


def heard_and_more(make, n=6):
    """Views before and after some answers, to the second of which one kind is new."""
    links, triplets, others = make(n, np.random.default_rng(5))
    return (first(links, 4), first(triplets, 1)), (
        first(links, 8),
        first(triplets, 2),
        first(others, 1),
    )


def run(case, views, least=0.5, cls=Particles, sampler=collapsed_chain, number=NUMBER):
    """Draws of a problem after they heard further views."""
    rng = np.random.default_rng(0)
    chain = sampler(case, np.zeros(case.n_items, np.int64), rng, Moves())
    found = cls([chain], number, num_warmup=100, thinning=THINNING, least=least)
    found.hear(views, rng)
    return found


def quantities(z):
    """Which pairs are together, and whether there are one, two, three clusters, (..., quantities)."""
    pairs = np.array(list(combinations(range(z.shape[1]), 2)))
    numbers = np.array([[len(np.unique(row)) == k for k in (1, 2, 3)] for row in z])
    return np.concatenate([z[:, pairs[:, 0]] == z[:, pairs[:, 1]], numbers], axis=1)


def deviation(found, case):
    """Largest deviation of a weighted mean from its exact value, in standard errors of the effective size."""
    if isinstance(case, TwoLevelProblem):
        states, values = exact_posterior(case)
        states = states[:, case.n_items :]
    else:
        states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    truth = softmax(values) @ quantities(states)
    error = np.sqrt(truth * (1 - truth) * CLUMPS / found.effective_size)
    return float((np.abs(found.weights @ quantities(found.draws) - truth) / error)[error > 0].max())


@pytest.mark.parametrize("least", [0.0, 0.7], ids=["weights alone", "renewed when uneven"])
@pytest.mark.parametrize("make", [all_views, known_views], ids=["learned noise", "known noise"])
def test_draws_that_heard_answers_are_from_the_exact_posterior(make, least):
    before, after = heard_and_more(make)
    base = problem("gaussian", n=6, seed=3)
    found = run(replace(base, constraints=before), after, least)
    assert (found.renewals > 0) == (least > 0)
    assert deviation(found, replace(base, constraints=after)) < LARGEST
    assert found.problem.constraints == after


class Deaf(Particles):
    """Weighs draws as if nothing had been answered."""

    def _log_prob(self, views):
        return np.zeros(len(self.draws))


class Forgetful(Particles):
    """Moves draws on under the answers of the beginning."""

    def renew(self, rng):
        now, self.problem = self.problem, replace(self.problem, constraints=())
        super().renew(rng)
        self.problem = now
        self._log_answers = self._log_prob(now.constraints)


@pytest.mark.parametrize(("fault", "least"), [(Deaf, 0.0), (Forgetful, 1.1)])
def test_a_fault_is_noticed(fault, least):
    before, after = heard_and_more(known_views)
    base = problem("gaussian", n=6, seed=3)
    # draws that are moved on forget much of a fault
    found = run(replace(base, constraints=before), after, least, cls=fault, number=4 * NUMBER)
    assert deviation(found, replace(base, constraints=after)) > LARGEST


def test_mixtures_hear_answers_too():
    before, after = heard_and_more(known_views, n=5)
    base = problem("gaussian coarsened", n=5, seed=4)
    case = TwoLevelProblem(base.family, before, base.partition_prior)
    found = run(case, after, least=0.9, sampler=mixture_chain)
    assert found.renewals > 0
    assert deviation(found, replace(case, constraints=after)) < LARGEST


@pytest.mark.parametrize(("stirred", "found"), [(0.0, False), (0.5, True)])
def test_what_no_draw_looks_like_is_found_by_moving_even_while_weights_are_even(stirred, found):
    rng, truth = np.random.default_rng(2), np.repeat([0, 1], 12)
    X = np.c_[rng.normal(size=24) + 2.5 * truth, rng.normal(size=24)]
    chain = collapsed_chain(
        TVClustProblem(FullGaussian().bind(X)), np.zeros(24, np.int64), rng, Moves()
    )
    particles = Particles(
        [chain], 40, num_warmup=0, thinning=0, stirred=stirred
    )  # all in one cluster, every draw
    noise = LinkNoise(p=(18.0, 2.0), q=(18.0, 2.0))
    pairs = [tuple(rng.choice(24, 2, replace=False).tolist()) for _ in range(60)]
    for number in range(1, 61):
        said = [bool(truth[i] == truth[j]) for i, j in pairs[:number]]
        particles.hear([PairwiseConstraints(pairs[:number], said, 24, noise=noise)], rng)
    assert (particles.weights @ (particles.draws[:, 0] != particles.draws[:, 23]) > 0.9) == found


def test_answers_that_were_heard_cannot_be_missing():
    before, after = heard_and_more(known_views)
    case = replace(problem("gaussian", n=6, seed=3), constraints=after)
    chain = collapsed_chain(case, np.zeros(6, np.int64), np.random.default_rng(0), Moves())
    with pytest.raises(
        ValueError, match=r"^answers that were heard are missing from views: start anew"
    ):
        Particles([chain], 2, num_warmup=0).hear(before, np.random.default_rng(0))
    assert not extends(after, after[:1])
    assert not extends(after, (after[0].with_answers(1 - after[0].answers), *after[1:]))


def test_systematic_resampling_comes_within_one_of_the_share(rng):
    weights = rng.dirichlet(np.ones(7))
    counts = np.array([np.bincount(systematic(weights, rng), minlength=7) for _ in range(2000)])
    assert (np.abs(counts - 7 * weights) < 1).all()
    error = np.sqrt(np.maximum(counts.var(axis=0), 1e-9) / 2000)
    assert (np.abs(counts.mean(axis=0) - 7 * weights) < 4.5 * error + 1e-3).all()


@pytest.mark.slow
def test_an_answer_about_two_thousand_items_is_heard_within_a_second(rng):
    y = rng.integers(10, size=2000)
    X = rng.normal(scale=1.2, size=(10, 10))[y] + rng.normal(size=(2000, 10))
    case = TVClustProblem(FullGaussian().bind(X))
    found = Particles(
        [collapsed_chain(case, y, rng, Moves.default(2000))],
        100,
        num_warmup=5,
        thinning=1,
        least=1.1,
    )
    for pairs in ([(0, 1)], [(0, 1), (2, 3)]):  # the first one may compile
        start = process_time()
        found.hear([PairwiseConstraints(pairs, [True] * len(pairs), n_items=2000)], rng)
        seconds = process_time() - start
    assert found.renewals == 2
    assert seconds < 1.0, f"{seconds:.2f} s"
