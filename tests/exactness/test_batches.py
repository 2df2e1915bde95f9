"""Items in batches, against all partitions with Antoniak's numbers, and in Geweke's test."""

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from bayesclust.inference import batches
from bayesclust.inference.batches import BatchProblem
from bayesclust.inference.chain import Moves, PartitionPriorParameters
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import HierarchicalDirichletProcess
from tests.exactness import exact
from tests.exactness import test_geweke as geweke
from tests.exactness.cases import faulty, partitions_drawn, problem
from tests.exactness.generative import assert_agree, assert_noticed

MOVES = {
    "default": Moves(),
    "single-site": Moves(split_merge=0.0, link_blocks=False),
    "link blocks": Moves(split_merge=0.0),
    "split-merge": Moves(split_merge=10.0, single_site=False),
}
FIXED = HierarchicalDirichletProcess("site", 1.2, 0.8)


@cache
def log_stirling(n):
    """log of unsigned Stirling numbers of the first kind s(n, m), m = 0..n."""
    row = np.array([1.0])
    for m in range(n):
        row = np.append(0.0, row) + m * np.append(row, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(row)


def log_convolved(first, second):
    """log of the convolution of two sequences given by logarithms."""
    found = np.full(len(first) + len(second) - 1, -np.inf)
    for a, value in enumerate(first):
        found[a : a + len(second)] = np.logaddexp(found[a : a + len(second)], value + second)
    return found


def log_franchise(counts, gamma, alpha):
    """log p(z) from counts (J, K): numbers of tables summed out (Teh et al. 2006, Sec. 4.1)."""
    total = np.zeros(1)  # of so many tables in all
    for column in counts.T:
        tables = np.zeros(1)  # of one cluster
        for n in column:
            tables = log_convolved(tables, log_stirling(n) + np.arange(n + 1) * np.log(alpha))
        m = np.arange(1, len(tables))
        tables = np.append(-np.inf, tables[1:] + gammaln(m) + np.log(gamma))
        total = log_convolved(total, tables)
    value = logsumexp(total + gammaln(gamma) - gammaln(gamma + np.arange(len(total))))
    return value + (gammaln(alpha) - gammaln(alpha + counts.sum(axis=1))).sum()


def log_marginal(counts, prior):
    """log p(z), concentrations integrated out on a grid."""
    return _log_marginal(tuple(sorted(map(tuple, counts.T.tolist()))), prior)


@cache
def _log_marginal(columns, prior):
    counts = np.array(columns).T
    lines = []
    for one in prior.parameters.values():
        t = np.linspace(-9, 6, 61) if one.fixed is None else np.array([one.to_line(one.fixed)])
        width = np.log(t[1] - t[0]) if len(t) > 1 else 0.0
        values = [one.from_line(each) for each in t]
        density = [one.log_on_line(each) if len(t) > 1 else 0.0 for each in t]
        lines.append((values, np.array(density) + width))
    (gammas, first), (alphas, second) = lines
    table = [[log_franchise(counts, g, a) for a in alphas] for g in gammas]
    return logsumexp(np.array(table) + first[:, None] + second)


def counts_of(z, batch, number):
    counts = np.zeros((number, int(z.max()) + 1), np.int64)
    np.add.at(counts, (batch, z), 1)
    return counts


def in_batches(prior, n=6, seed=3, name="gaussian", constraints=None):
    base = problem(name, n=n, seed=seed)
    given = base.constraints if constraints is None else constraints
    batch = np.array([0, 1, 1, 0, 2, 1, 0, 0][:n])
    return BatchProblem(base.family, given, prior, batch, ("a", "b", "c"))


def compared(case, moves, number, seed, sampler=collapsed_chain):
    states = exact.partitions(case.n_items)
    values = exact.log_data_marginal(case.family, states)
    values += [log_marginal(counts_of(z, case.batch, 3), case.partition_prior) for z in states]
    values += exact.log_answers(case.constraints, states)
    draws = partitions_drawn(case, moves, number, seed, sampler=sampler)
    result = exact.compare(draws, states, values)
    assert result.number >= 5, "hardly any partition was compared"
    return result


def test_probabilities_sum_to_one():
    batch = np.array([0, 1, 1, 0, 2])
    values = [log_franchise(counts_of(z, batch, 3), 0.7, 1.8) for z in exact.partitions(5)]
    assert logsumexp(values) == pytest.approx(0.0, abs=1e-10)


def test_mean_weights_are_ratios_of_probabilities(rng):
    batch, z = np.array([0, 1, 1, 0, 2, 0]), np.array([0, 0, 1, 1, 1, 0])
    counts, gamma, alpha = counts_of(z, batch, 3), 1.2, 0.8
    weights, values = np.full(3, 1 / 3), FIXED.initial()
    found = []
    for _ in range(20_000):
        weights, values = FIXED.update_given(counts, weights, values, rng)
        found.append((alpha * weights + np.append(counts[1], 0)) / (alpha + counts[1].sum()))
    more = [counts_of(np.append(z, k), np.append(batch, 1), 3) for k in range(3)]
    ratios = [log_franchise(one, gamma, alpha) for one in more]
    expected = np.exp(np.array(ratios) - log_franchise(counts, gamma, alpha))
    assert np.mean(found, axis=0) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside links and triplets"])
def test_every_move(moves, alone):
    case = in_batches(FIXED, constraints=() if alone else None)
    result = compared(case, MOVES[moves], 4000, 3)
    assert result.agrees, result


def test_learned_concentrations():
    prior = HierarchicalDirichletProcess("site", (2.0, 1.5), (2.0, 1.0))
    result = compared(in_batches(prior, n=5, constraints=()), MOVES["default"], 4000, 4)
    assert result.agrees, result


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian_diagonal", "poisson", "mixed"])
@pytest.mark.parametrize("moves", ["default", "split-merge"])
def test_every_move_at_length(moves, name):
    result = compared(in_batches(FIXED, n=7, seed=5, name=name), MOVES[moves], 15_000, 5)
    assert result.agrees, result


def weights_given_back_twice(state):
    """Take beta_u for twice as large as it is."""
    state.weights.rest[:] *= 2


def weights_given_back(state):
    """Undo `weights_given_back_twice`."""
    state.weights.rest[:] /= 2


def one_batch(state):
    """Count all items as of one batch."""
    state.kept = state.weights.batch
    state.weights = state.weights._replace(batch=np.zeros_like(state.kept))


def several_batches(state):
    """Undo `one_batch`."""
    state.set_weights(state.cluster_weights())


FAULTS = {
    "new clusters too often": {"before": weights_given_back_twice, "after": weights_given_back},
    "batches forgotten": {"before": one_batch, "after": several_batches},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_scan_is_noticed(fault):
    wrong = faulty(Scan, collapsed_chain, **FAULTS[fault])
    case = in_batches(FIXED, constraints=())
    assert not compared(case, MOVES["single-site"], 6000, 3, wrong).agrees


def test_split_that_forgets_its_proposal_is_noticed(monkeypatch):
    right = batches.BatchSplitMerge.attempt

    def wrong(self, state, target, *given):
        return right(self, state, target._replace(gamma=3 * target.gamma), *given)

    monkeypatch.setattr(batches.BatchSplitMerge, "attempt", wrong)
    case = in_batches(FIXED, constraints=())
    assert not compared(case, MOVES["split-merge"], 6000, 3).agrees


# --- Geweke's joint test


def template():
    base = geweke.template("gaussian")
    prior = HierarchicalDirichletProcess("site", (2.0, 1.0), (2.0, 0.5))
    batch = np.array([0, 1, 1, 0, 2, 1, 0])
    return BatchProblem(base.family, base.constraints, prior, batch, ("a", "b", "c"))


@cache
def independent():
    """Draws from the prior that right and faulty chains are compared with."""
    return geweke.marginal_conditional(template(), 2500, np.random.default_rng(0))


def scores(sampler=collapsed_chain):
    given = {"moves": Moves(), "sampler": sampler, "independent": independent()}
    return geweke.z_scores(template(), 2500, 1, **given)


def test_joint_distribution():
    assert_agree(scores())


def forget_a_batch(state):
    """Draw the concentrations as if all items were of one batch."""
    counts, weights = state._counts().sum(axis=0, keepdims=True), state.cluster_weights()
    given = counts, weights, state.values, state.rng
    own, state.values = state.problem.partition_prior.update_given(*given)
    state.set_weights(own)


def test_faulty_concentrations_are_noticed():
    assert_noticed(scores(faulty(PartitionPriorParameters, after=forget_a_batch)))
