"""Batches whose measurements are shifted, against sums over all partitions and a grid of shifts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.inference import shifts
from bayesclust.inference.batches import BatchProblem
from bayesclust.inference.chain import Moves
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.inference.shifts import Shifts
from bayesclust.partition_priors import HierarchicalDirichletProcess
from tests.exactness import exact
from tests.exactness import test_geweke as geweke
from tests.exactness.cases import faulty, problem
from tests.exactness.generative import (
    World,
    answers_given,
    assert_agree,
    assert_noticed,
    compare_means,
    data_given,
    put_data_under,
    standard_error,
)
from tests.exactness.test_batches import counts_of, log_marginal

FIXED = HierarchicalDirichletProcess("site", 1.2, 0.8, shifts=True, shift_precision=0.7)
EDGE, STEP = 5.2, 0.4
SHIFT = np.array([1.1, -0.8])


def shifted_case(name="gaussian", n=6, seed=3, alone=False):
    base = problem(name, n=n, seed=seed)
    batch = np.array([0, 1, 1, 0, 1, 0][:n])
    family = base.family.with_rows(base.family.X + SHIFT * (batch == 1)[:, None])
    given = () if alone else base.constraints
    return BatchProblem(family, given, FIXED, batch, ("a", "b"))


@cache
def shifts_and_values(name, alone):
    """A grid of shifts, and log p(z, shift, data, constraints) of each and each partition."""
    case = shifted_case(name, alone=alone)
    line = np.arange(-EDGE, EDGE + STEP, STEP)
    grid = np.array([(a, b) for a in line for b in line])
    states = exact.partitions(case.n_items)
    bits = 1 << np.arange(case.n_items)
    members = [[bits[z == k].sum() for k in range(z.max() + 1)] for z in states]
    weight = (np.arange(1, 1 << case.n_items)[None] >> np.arange(case.n_items)[:, None]) & 1
    hyper = case.family.initial_hyper()
    values = np.empty((len(grid), len(states)))
    for row, shift in enumerate(grid):
        X = case.family.X - shift * (case.batch == 1)[:, None]
        family = case.family.with_rows(X)
        statistics = family.statistics(np, family.rows(X), weight.astype(float))
        of_block = np.append(0.0, family.log_marginals(statistics, hyper))
        values[row] = [of_block[own].sum() for own in members]
        values[row] -= 0.5 * FIXED.shift_precision * (shift**2).sum()
    values += [log_marginal(counts_of(z, case.batch, 2), prior()) for z in states]
    values += exact.log_answers(case.constraints, states)
    return grid, values


@cache
def prior():
    return HierarchicalDirichletProcess("site", 1.2, 0.8)


def drawn(case, number, seed, sampler=collapsed_chain, moves=None):
    """Partitions and shifts of a chain."""
    z = np.zeros(case.n_items, np.int64)
    chain = sampler(case, z, np.random.default_rng(seed), moves or Moves())
    for _ in range(100):
        chain.sweep(adapt=True)
    found = np.empty((number, case.n_items), np.int64), np.empty((number, 2))
    for row in range(number):
        chain.sweep()
        found[0][row], found[1][row] = chain.labels, chain.state.shift[1]
    return found


def differences(name, alone, number, seed, sampler=collapsed_chain):
    """Partitions compared, and z-scores of the moments of the shift."""
    grid, values = shifts_and_values(name, alone)
    z, shift = drawn(shifted_case(name, alone=alone), number, seed, sampler)
    states = exact.partitions(z.shape[1])
    result = exact.compare(z, states, logsumexp(values, axis=0))
    share = np.exp(logsumexp(values, axis=1) - logsumexp(values))
    scores = {}
    for power in (1, 2):
        for j in range(2):
            expected = share @ grid[:, j] ** power
            own = shift[:, j] ** power
            scores[power, j] = (own.mean() - expected) / standard_error(own)
    return result, scores


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside links and triplets"])
@pytest.mark.parametrize("name", ["gaussian", "gaussian_diagonal"])
def test_partitions_and_shifts(name, alone):
    result, scores = differences(name, alone, 4000, 3)
    assert result.number >= 5
    assert result.agrees, result
    assert_agree(scores)


def test_single_precision_counts_items_by_their_power(rng):
    """The shift of one far cluster, against the formula for a mean of known precision."""
    rows, mean = rng.normal(size=(9, 2)) + 3.0, np.zeros((1, 2))
    labels = np.zeros(9, np.int64)
    draws = [
        shifts.draw_shift(rows, labels, mean, precision, 0.5, 0.4, rng)
        for precision in (4.0 * np.ones((1, 2)), 4.0 * np.eye(2)[None])
        for _ in range(4000)
    ]
    for found in np.split(np.array(draws), 2):
        total = 0.5 + 0.4 * 9 * 4.0
        assert found.mean(axis=0) == pytest.approx(
            0.4 * 4.0 * rows.sum(axis=0) / total, abs=5 * (total * 4000) ** -0.5
        )
        assert found.var(axis=0) == pytest.approx(1 / total, rel=5 * (2 / 4000) ** 0.5)


def no_prior(state):
    """Draw the shifts as if any were as likely."""
    state.kept = state.values
    state.values = state.values | {"shift_precision": 1e-6}


def as_before(state):
    state.values = state.kept


def test_shifts_without_their_prior_are_noticed():
    wrong = faulty(Shifts, collapsed_chain, before=no_prior, after=as_before)
    _, scores = differences("gaussian", True, 6000, 3, wrong)
    assert_noticed(scores)


# --- Geweke's joint test


def template():
    base = geweke.template("gaussian")
    prior = HierarchicalDirichletProcess(
        "site", (2.0, 1.0), (2.0, 0.5), shifts=True, shift_precision=(4.0, 3.0)
    )
    batch = np.array([0, 1, 1, 0, 2, 1, 0])
    return BatchProblem(base.family, base.constraints, prior, batch, ("a", "b", "c"), reference=1)


def shifted(family, batch, shift):
    return family.with_rows(family.X + shift[batch])


def functionals(problem, z, values, hyper, noise, shift):
    found = geweke.functionals(problem, z, values, hyper, noise)
    own = shift[[0, 2]]
    gap = problem.family.X[problem.batch == 0].mean(axis=0) - problem.family.X[1]
    return found | {
        "log tau": np.log(values["shift_precision"]),
        "shift": np.tanh(own[0, 0]),
        "shifts^2": np.tanh((own**2).sum()),
        "log tau shift": np.log(values["shift_precision"]) * np.tanh((own[1] ** 2).sum()),
        "gap": np.tanh(gap[0]) * np.tanh(own[0, 0]),
        "reference": np.abs(shift[1]).sum(),
    }


class ShiftedWorld(World):
    """A world whose data are shifted."""

    def __init__(self, template, rng):
        super().__init__(template, rng)
        self.shift = np.zeros((3, self.problem.family.X.shape[1]))
        spread = self.values["shift_precision"] ** -0.5
        self.shift[[0, 2]] = spread * rng.standard_normal(self.shift[[0, 2]].shape)
        family = shifted(self.problem.family, template.batch, self.shift)
        self.problem = replace(self.problem, family=family)


@cache
def independent():
    rng, rows = np.random.default_rng(0), []
    for _ in range(2500):
        one = ShiftedWorld(template(), rng)
        rows.append(functionals(one.problem, one.z, one.values, one.hyper, one.noise, one.shift))
    return rows


def scores(sampler=collapsed_chain):
    rng, rows = np.random.default_rng(1), []
    world = ShiftedWorld(template(), rng)
    chain = world.chain(sampler, rng, Moves())
    state = chain.state
    state.set_shift(world.shift)
    for _ in range(2500):
        chain.sweep()
        family = data_given(state.problem.family, state.assignment.z, state.hyper, rng)
        family = shifted(family, state.problem.batch, state.shift)
        views = answers_given(state.problem.constraints, state.labels, state.noise, rng)
        put_data_under(chain, replace(state.problem, family=family, constraints=views))
        at = state.labels, state.values, state.hyper, state.noise, state.shift
        rows.append(functionals(state.problem, *at))
    return compare_means(independent(), rows)


def test_joint_distribution():
    assert_agree(scores())


def test_a_sweep_on_unshifted_items_is_noticed():
    def no_shift(state):
        state.set_shift(np.zeros_like(state.shift))

    assert_noticed(scores(faulty(Shifts, collapsed_chain, before=no_shift)))
