"""Chains of links among candidates against the exact posterior, by enumeration of all links."""

from copy import deepcopy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bayesclust.constraints import LabelConstraints, PairwiseConstraints
from bayesclust.constraints.base import check_constraints
from bayesclust.families import Bernoulli
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.moves import candidate_links
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import CandidateLinks
from tests.exactness import exact
from tests.exactness.cases import partitions_drawn, problem

# a cycle between two tails; a pair that is given twice counts once
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4)]
N = 6
NUMBER = 5000
OPTIONS = [{i} | {j for pair in PAIRS if i in pair for j in pair} for i in range(N)]


def parts(links):
    """Labels by merging, one link after another."""
    z = list(range(N))
    for i, j in enumerate(links):
        z = [z[i] if label == z[j] else label for label in z]
    return z


def log_prior(concentration, options=OPTIONS):
    """log p(partition) of each partition that links make, by its code, from the definition."""
    if isinstance(concentration, tuple):  # a Gamma prior, by the midpoints of many small steps
        a, b = concentration
        nodes = (np.arange(4000) + 0.5) / 100
        weights = nodes ** (a - 1) * np.exp(-b * nodes)
        weights /= weights.sum()
    else:
        nodes, weights = np.array([concentration]), np.ones(1)
    found = {}
    for links in product(*options):
        alone = sum(i == j for i, j in enumerate(links))
        value = nodes**alone / np.prod([nodes + len(own) - 1 for own in options], axis=0)
        code = int(exact.codes(np.array([parts(links)]))[0])
        found[code] = found.get(code, 0.0) + float(weights @ value)
    assert sum(found.values()) == pytest.approx(1)
    return found


def log_search(z):
    """log p(pairs within clusters that are no candidates | partition)."""
    within = [(i, j) for i in range(N) for j in range(i) if z[i] == z[j]]
    return np.log(1 - 0.3) * sum(j not in OPTIONS[i] for i, j in within)


def compared(case, seed=1, known=None):
    states = exact.partitions(N)
    prior = log_prior(case.partition_prior.concentration) if known is None else known
    values = exact.log_data_marginal(case.family, states)
    values = values + exact.log_answers(case.constraints, states)
    values += [log_search(z) for z in states]
    values += np.log([prior.get(int(code), 1e-300) for code in exact.codes(states)])
    return exact.compare(partitions_drawn(case, Moves(), NUMBER, seed), states, values)


@pytest.mark.parametrize("name", ["gaussian", "poisson"])
def test_families_with_answers_about_pairs_and_triplets(name):
    prior = CandidateLinks(PAIRS, N)
    result = compared(replace(problem(name, n=N, seed=1), partition_prior=prior))
    assert result.agrees, result
    assert result.number >= 5


@pytest.mark.parametrize("concentration", [0.3, (3.0, 2.0)])
def test_labels_and_concentrations(concentration):
    case = problem("gaussian_diagonal", n=N, seed=6)
    labels = LabelConstraints([(0, 1), (2, 0), (3, 1), (5, 2)], N)
    given = tuple(check_constraints(labels, N, needs="evidence"))
    prior = CandidateLinks(PAIRS, N, concentration)
    result = compared(replace(case, constraints=given, partition_prior=prior))
    assert result.agrees, result


def scored():
    scores = [0.97, 0.6, 0.4, 0.85, 0.7, 0.2, 0.3]
    family = Bernoulli(strength=1.0).bind(np.full((N, 1), np.nan))
    given = PairwiseConstraints.from_scores(PAIRS, scores, N)
    return TVClustProblem(family, (given,), CandidateLinks(PAIRS, N))


def test_scores_alone_without_data():
    result = compared(scored())
    assert result.agrees, result
    assert result.number >= 15


def test_search_that_misses_nothing_is_noticed(monkeypatch):
    monkeypatch.setitem(globals(), "log_search", lambda z: 0.0)
    prior = CandidateLinks(PAIRS, N, recall=0.9)
    assert not compared(replace(scored(), partition_prior=prior)).agrees


def test_prior_with_one_candidate_less_is_noticed():
    fewer = [own - {3} if i == 1 else own for i, own in enumerate(OPTIONS)]
    assert not compared(scored(), known=log_prior((1.0, 1.0), fewer)).agrees


@pytest.mark.parametrize("concentration", [0.7, (3.0, 2.0)])
def test_simulated_partitions_follow_the_prior(concentration):
    """With the pairs that the search missed, alone and by parameters that are drawn first."""
    states, known = exact.partitions(N), log_prior(concentration)
    before = np.log([known.get(int(code), 1e-300) for code in exact.codes(states)])
    values = before + [log_search(z) for z in states]
    prior, rng = CandidateLinks(PAIRS, N, concentration), np.random.default_rng(0)
    simulated = prior.simulate(N, 8000)
    assert exact.compare(simulated, states, values).agrees
    assert not exact.compare(simulated, states, before).agrees
    drawn = np.stack([prior.sample(N, prior.sample_prior(rng), rng) for _ in range(3000)])
    assert exact.compare(drawn, states, values).agrees
    told = CandidateLinks(PAIRS, N, concentration, recall=0.0).simulate(N, 8000)
    assert exact.compare(told, states, before).agrees


def test_starts_are_linked_where_candidates_connect_them():
    near = CandidateLinks(PAIRS, N).candidates
    possible = log_prior(1.0)
    for z, code in zip(exact.partitions(N), exact.codes(exact.partitions(N)), strict=True):
        links = np.full(N, -1)
        connected = candidate_links.link_up(near, z, links) == z.max() + 1
        assert connected == (int(code) in possible)
        if connected:
            assert exact.codes(np.array([parts(links)]))[0] == code
    with pytest.raises(ValueError, match="no candidates connect"):
        collapsed_chain(scored(), np.array([0, 1, 1, 1, 1, 0]), np.random.default_rng(0), Moves())


def test_resumes_bitwise_from_a_snapshot():
    chain = collapsed_chain(scored(), np.arange(N), np.random.default_rng(3), Moves())
    for _ in range(5):
        chain.sweep()
    kept = deepcopy(chain.snapshot())
    other = collapsed_chain(scored(), np.arange(N), np.random.default_rng(4), Moves())
    other.restore(kept)
    for _ in range(5):
        chain.sweep()
        other.sweep()
    np.testing.assert_array_equal(chain.state.links, other.state.links)
    assert chain.state.log_joint() == other.state.log_joint()


def test_log_joint_is_the_definition(rng):
    chain = collapsed_chain(scored(), np.arange(N), rng, Moves())
    for _ in range(3):
        chain.sweep()
    state = chain.state
    alpha = state.values["concentration"]
    alone = (state.links == np.arange(N)).sum()
    expected = alone * np.log(alpha) - sum(np.log(alpha + len(own) - 1) for own in OPTIONS) - alpha
    z = state.labels
    expected += log_search(z)
    (given,) = state.problem.constraints
    expected += given.log_prob(z, state.noise[0]) + given.noise.log_prior(state.noise[0])
    assert state.log_joint() == pytest.approx(expected)
