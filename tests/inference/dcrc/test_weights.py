"""The M-step's objective and gradient, against the paper's by plain loops."""

import numpy as np
import pytest
from scipy.special import softmax

import bayesclust as bc
from bayesclust.inference.dcrc.weights import (
    WeightObjective,
    log_classes,
    log_moderated_classes,
    weight_roots,
)
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


def test_precision_of_the_weights_is_the_curvature_at_the_mode(rng):
    X, q = rng.normal(size=(12, 2)), softmax(rng.normal(size=(12, 3)), axis=1)
    objective = WeightObjective(np.column_stack([X, np.ones(12)]), 12, 0.8 / 2, 0.0, 0.0)
    W = objective.climb(np.zeros((3, 3)), q, 200)[0]
    for k, root in enumerate(weight_roots(W, X, 0.8)):

        def gradient(own, k=k):
            at = W.copy()
            at[k] = own
            return -objective.value_and_gradient(at, q)[1][k]

        steps = 1e-6 * np.eye(3)
        curvature = [(gradient(W[k] + h) - gradient(W[k] - h)) / 2e-6 for h in steps]
        expected = curvature + np.diag([0, 0, 0.8])  # the intercept has the same prior here
        np.testing.assert_allclose(root @ root.T, expected, rtol=1e-6, atol=1e-8)


def test_moderated_classes_by_plain_loops(rng):
    W, X = rng.normal(size=(3, 3)), rng.normal(size=(5, 2))
    roots = weight_roots(W, rng.normal(size=(4, 2)), 2.0)
    logits = np.empty((5, 3))
    for i, x in enumerate(np.column_stack([X, np.ones(5)])):
        for k in range(3):
            variance = x @ np.linalg.inv(roots[k] @ roots[k].T) @ x
            logits[i, k] = (W[k] - W.mean(axis=0)) @ x / np.sqrt(1 + np.pi * variance / 8)
    found = log_moderated_classes(W, roots, X)
    np.testing.assert_allclose(np.exp(found), softmax(logits, axis=1))
    surely = weight_roots(W, np.repeat(X, 10**6, axis=0), 2.0)
    np.testing.assert_allclose(log_moderated_classes(W, surely, X), log_classes(W, X), atol=1e-3)
    # scores of weights that are drawn are those that are moderated, about
    drawn = W + np.stack(
        [np.linalg.solve(root.T, rng.normal(size=(3, 4000))).T for root in roots], axis=1
    )
    mean = np.mean([np.exp(log_classes(own, X)) for own in drawn], axis=0)
    assert np.abs(np.exp(found) - mean).max() < 0.05
    assert np.abs(np.exp(log_classes(W, X)) - mean).max() > 0.1
