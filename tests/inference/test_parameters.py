"""Learning the base measure: consistent states, adapted steps, and quadrature's posterior."""

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import PROPOSED, TOTAL, walk_clusters
from bayesclust.inference.chain import BaseMeasure, HyperSampler
from tests.inference.states import chain, check_assignment, state_of


def plain_total(state, hyper):
    family, z = state.problem.family, state.assignment.z
    return sum(family.log_marginal(family.X[z == k], hyper) for k in np.unique(z))


def update(state, move=None, *, adapt=True):
    (move or BaseMeasure(state.problem.family))(state, adapt=adapt, freeze_noise=False)


@pytest.mark.parametrize("name", FAMILIES)
def test_totals_are_those_of_a_plain_reference(name):
    state = state_of(name, n=25, seed=1)
    move = BaseMeasure(state.problem.family)
    for _ in range(15):
        update(state, move)
        expected = plain_total(state, state.hyper)
        for task in (TOTAL, PROPOSED):
            found = walk_clusters(state.clusters, state.assignment, task)
            assert found == pytest.approx(expected, rel=1e-8)
        check_assignment(state)


def test_scales_adapt_in_the_warm_up_alone():
    one = chain(n=40, seed=4)
    (steps,) = [move for move in one.moves if isinstance(move, BaseMeasure)]
    for _ in range(200):
        one.sweep(adapt=True)
    scales, root = steps.log_step.copy(), steps._root().copy()
    assert (scales != HyperSampler(one.problem.family).log_step).all()
    for _ in range(50):
        one.sweep()
    np.testing.assert_array_equal(steps.log_step, scales)
    np.testing.assert_array_equal(steps._root(), root)


def test_impossible_proposals_are_refused():
    state = state_of(n=12, seed=5)
    family = state.problem.family
    lowest = np.array([prior.lower for prior in family.hyper_priors])
    state.hyper = lowest * 1.0001
    state.assign(np.zeros(12, int))
    move = BaseMeasure(family)
    for _ in range(100):
        update(state, move, adapt=False)
        assert (state.hyper >= lowest).all()
        assert np.isfinite(family.log_hyper_prior(state.hyper))
