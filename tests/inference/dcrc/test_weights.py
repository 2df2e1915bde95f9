"""The M-step's objective and gradient, against the paper's by plain loops."""

import numpy as np
import pytest
from scipy.special import softmax

import bayesclust as bc
from bayesclust.inference.dcrc.weights import WeightObjective
from tests.inference.dcrc.problems import ascent, paper_objective, slope


@pytest.mark.parametrize(("n", "balance"), [(7, True), (3, False)], ids=["Eq. 9", "Eq. 8"])
def test_bound_and_gradient_are_the_papers(rng, balance, n):
    X, W = rng.normal(size=(n, 2)), rng.normal(size=(3, 3))
    items = [(0, 2, 1), (2, 1, 0)] if n == 3 else [(0, 2, 4), (2, 4, 1)]
    view = bc.RelativeConstraints(items, ["yes", "dnk"], n_items=n, noise=bc.UniformNoise(0.1))
    settings = {"tau": 0.7, "penalty": 0.05, "balance": balance}
    state = ascent(X, [view], W, **settings)
    state.q = softmax(rng.normal(size=state.q.shape), axis=1)
    Q = np.zeros((n, 3))
    Q[state.answers.items] = state.q

    def bound(W):
        return paper_objective(W, X, view, **settings, Q=Q)

    assert state.bound / 2 == pytest.approx(bound(W))
    _, gradient = state.objective.value_and_gradient(W, state.q)
    np.testing.assert_allclose(gradient / 2, slope(bound, W), atol=1e-8)


def test_gradient_with_learned_sizes_by_finite_differences(rng):
    features = np.column_stack([rng.normal(size=(9, 2)), np.ones(9)])
    objective = WeightObjective(features, 4, 0.3, 2.0, 1.5, np.array([0.2, 0.5, 0.3]))
    W, q = rng.normal(size=(3, 3)), softmax(rng.normal(size=(4, 3)), axis=1)
    _, gradient = objective.value_and_gradient(W, q)
    expected = slope(lambda at: objective.value_and_gradient(at, q)[0], W)
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_climbing_never_descends(rng):
    features = np.column_stack([rng.normal(size=(30, 2)), np.ones(30)])
    objective = WeightObjective(features, 10, ridge=0.1, separation=10.0, balance=10.0)
    q = softmax(3 * rng.normal(size=(10, 3)), axis=1)
    W, values = rng.normal(size=(3, 3)), []
    for _ in range(20):
        values.append(objective.value_and_gradient(W, q)[0])
        W, raised = objective.climb(W, q, 2)
        assert raised == pytest.approx(objective.value_and_gradient(W, q)[0] - values[-1], abs=1e-9)
    assert (np.diff(values) >= 0).all()
    gradient = objective.value_and_gradient(objective.climb(W, q, 1000)[0], q)[1]
    assert np.abs(gradient).max() < 0.01
