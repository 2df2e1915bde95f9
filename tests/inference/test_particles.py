"""Draws that hear answers one by one against the exact posterior given all of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.constraints import LinkNoise, PairwiseConstraints, RelativeConstraints
from bayesclust.inference import particles as module
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.particles import Particles, extends, systematic
from bayesclust.inference.schedule import Moves
from bayesclust.inference.two_level.chain import TwoLevelChain, TwoLevelProblem
from tests.judges import exact
from tests.judges.cases import all_views, known_views, problem
from tests.judges.test_two_level import exact_posterior

N = 6
NUMBER = 1500
"""Draws that are compared."""


def cut(view, number):
    """The first answers of a view."""
    cls = PairwiseConstraints if view.items.shape[1] == 2 else RelativeConstraints
    rows = (view.items[:number], view.answers[:number], view.n_items, view.source[:number], view.noise, view.name)
    return cls(*rows)


def marginal(case):
    """Partitions of the items and their exact posterior probabilities."""
    if isinstance(case, TwoLevelProblem):
        states, values = exact_posterior(case)
        keys = exact.codes(states[:, case.n_items :])
    else:
        states, values = exact.log_posterior(case.family, case.views, case.concentration)
        keys = exact.codes(states)
    shares = np.exp(values - logsumexp(values))
    return {key: shares[keys == key].sum() for key in np.unique(keys)}


def run(case, views, chain_type=CollapsedChain, least=0.5, seed=0, number=NUMBER):
    """Draws of a problem after they heard further views."""
    rng = np.random.default_rng(seed)
    chain = chain_type(case, np.zeros(case.n_items, np.int64), rng, Moves())
    found = Particles([chain], number, num_warmup=100, thinning=2, least=least)
    found.hear(views, rng)
    return found


def deviation(found, case):
    """Largest deviation of a partition's weight from its probability, in standard errors.

    A weighted mean of an indicator with mean p has variance sum w^2 (1 - p)^2 p-ish, at most p (1 - p) over the effective
    size; draws of one chain, and copies of one draw, are worth less still, which the factor stands for.
    """
    exact_shares = marginal(case)
    keys = exact.codes(found.draws.astype(np.int64))
    assert set(keys) <= set(exact_shares)
    size = found.effective_size / CLUMPS
    scores = [
        abs(found.weights[keys == key].sum() - share) / np.sqrt(share * (1 - share) / size)
        for key, share in exact_shares.items()
        if share * size > 10
    ]
    assert len(scores) > 4, "hardly any partition was compared"
    return max(scores)


CLUMPS = 3.0
LARGEST = 4.0


@pytest.mark.parametrize("least", [0.0, 0.5, 1.1], ids=["weights alone", "renewed when uneven", "renewed every time"])
@pytest.mark.parametrize("noise", [all_views, known_views], ids=["learned noise", "known noise"])
def test_agrees_with_enumeration_after_further_answers(noise, least):
    base = problem("gaussian", n=N, seed=3)
    links, triplets, others = noise(N, np.random.default_rng(5))
    heard = (cut(links, 4), cut(triplets, 1))
    views = (cut(links, 7), cut(triplets, 3), others)
    found = run(replace(base, views=heard), views, least=least)
    after = replace(base, views=views)
    print("DEV", deviation(found, after), deviation(found, replace(base, views=heard)), found.effective_size, found.renewals)
