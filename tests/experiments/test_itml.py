"""ITML: a plain twin of its projections, the optimality conditions of its convex problem, and what it is for."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import bayesclust as bc
from experiments.baselines import itml, k_means
from experiments.baselines.learned_metric import _thresholds, learn_metric, project


def random_answers(rng, m=12, d=3):
    gaps, same = rng.normal(size=(m, d)), rng.random(m) < 0.5
    return gaps, same, np.where(same, 1.0, 5.0)


def plain_sweeps(gaps, same, bounds, slack, sweeps):
    """Algorithm 1 of Davis et al. with the step of their program, written for the inverse of the metric."""
    precision, bounds, dual = np.eye(gaps.shape[1]), bounds.copy(), np.zeros(len(gaps))
    for _ in range(sweeps):
        for c, v in enumerate(gaps):
            delta = 1 if same[c] else -1
            p = v @ np.linalg.inv(precision) @ v
            alpha = min(dual[c], delta * slack / (slack + 1) * (1 / p - 1 / bounds[c]))
            precision -= delta * alpha * np.outer(v, v)
            bounds[c] = slack * bounds[c] / (slack + delta * alpha * bounds[c])
            dual[c] -= alpha
    return np.linalg.inv(precision), bounds, dual


@pytest.mark.parametrize("slack", [0.3, 1.0, 20.0])
def test_projections_are_those_of_the_plain_twin(rng, slack):
    gaps, same, bounds = random_answers(rng)
    expected, expected_bounds, expected_dual = plain_sweeps(gaps, same, bounds, slack, 5)
    metric, dual = np.eye(3), np.zeros(12)
    assert project(metric, gaps, same, bounds, dual, slack, 5, 1e-300) == 5
    np.testing.assert_allclose(metric, expected, rtol=1e-9)
    np.testing.assert_allclose(bounds, expected_bounds, rtol=1e-9)
    np.testing.assert_allclose(dual, expected_dual, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("slack", [0.3, 1.0, 20.0])
def test_the_end_is_the_optimum_of_the_convex_problem(rng, slack):
    """Karush, Kuhn and Tucker: stationary in the metric and in the thresholds, feasible, and slack or paid for."""
    gaps, same, asked = random_answers(rng)
    metric, bounds, dual = np.eye(3), asked.copy(), np.zeros(12)
    assert project(metric, gaps, same, bounds, dual, slack, 100_000, 1e-12) < 100_000
    sign = np.where(same, 1.0, -1.0)
    np.testing.assert_allclose(
        np.linalg.inv(metric), np.eye(3) + (gaps.T * (sign * dual)) @ gaps, atol=1e-8
    )
    np.testing.assert_allclose(1 / bounds, 1 / asked - sign * dual / slack, atol=1e-8)
    assert dual.min() >= 0
    excess = sign * (np.einsum("ca,ab,cb->c", gaps, metric, gaps) - bounds)
    assert excess.max() < 1e-6
    assert np.abs(excess * dual).max() < 1e-6
    assert (dual > 1e-3).sum() > 2


def test_hard_thresholds_are_met_where_they_can_be(rng):
    """Classes apart along one axis, noise along the other: with little slack every answer ends on its side."""
    y = np.repeat([0, 1], 20)
    X = np.column_stack([rng.normal(scale=3.0, size=40), 6.0 * y + rng.normal(scale=0.05, size=40)])
    links = bc.PairwiseConstraints.sample(y, size=150, seed=0)
    near, far = np.percentile(pdist(X, "sqeuclidean"), [5, 95])
    metric = learn_metric(X, [links], seed=0, slack=1e6, max_sweeps=20_000, tol=1e-10)
    gaps = X[links.items[:, 0]] - X[links.items[:, 1]]
    distance = np.einsum("ca,ab,cb->c", gaps, metric, gaps)
    same = links.answers == 1
    assert distance[same].max() < 1.01 * near
    assert distance[~same].min() > 0.99 * far
    assert np.square(gaps[same]).sum(axis=1).max() > 4 * near
    assert metric[1, 1] > 10 * metric[0, 0]


def test_without_answers_it_is_k_means(rng):
    X = rng.normal(size=(60, 3))
    assert (itml(X, None, 4, 3) == k_means(X, None, 4, 3)).all()


def test_equal_items_and_contradictions_are_lived_with():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [5.0, 1.0]])
    links = bc.PairwiseConstraints(
        [(0, 1), (0, 1), (0, 2), (0, 2), (2, 3)], [True, False, True, False, False], n_items=4
    )
    metric = learn_metric(X, [links], seed=0)
    assert np.linalg.eigvalsh(metric).min() > 0
    alike = np.ones((4, 2))
    assert learn_metric(alike, [links], seed=0).tolist() == np.eye(2).tolist()
    assert itml(alike, links, 2, 0).tolist() == [0] * 4


def test_thresholds_of_many_items_come_from_a_sample(rng):
    X = rng.normal(size=(3000, 2))
    # squared distances are 2 chi-squared of two degrees: exponential of mean 4
    np.testing.assert_allclose(_thresholds(X, rng), -4 * np.log([0.95, 0.05]), rtol=0.05)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"slack": 0.0}, "slack must lie in (0, inf); got 0.0."),
        ({"tol": 1.0}, "tol must lie in (0, 1); got 1.0."),
        ({"max_sweeps": 0}, "max_sweeps must be an integer of at least 1; got 0."),
    ],
)
def test_bad_settings_are_named(wrong, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        itml([[0.0], [1.0]], None, 2, 0, **wrong)
    assert str(error.value) == sentence
