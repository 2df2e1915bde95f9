"""Learned metrics: their optima against conditions, other routes, and finite differences."""

import numpy as np
import pytest

import bayesclust as bc
from experiments.baselines import k_means
from experiments.learned_metrics import (
    learn_scales,
    learn_sparse,
    mmc,
    project,
    sparse_lp,
)


def random_answers(rng, m=12, d=3):
    same = rng.random(m) < 0.5
    return rng.normal(size=(m, d)), same, np.where(same, 1.0, 5.0)


@pytest.mark.parametrize("slack", [0.3, 20.0])
def test_itml_ends_at_the_optimum_of_the_convex_problem(rng, slack):
    """Karush, Kuhn and Tucker: stationary, feasible, complementary."""
    gaps, same, asked = random_answers(rng)
    metric, bounds, dual = np.eye(3), asked.copy(), np.zeros(12)
    assert project(metric, gaps, same, bounds, dual, slack, 100_000, 1e-12) < 100_000
    sign = np.where(same, 1.0, -1.0)
    inverse = np.eye(3) + (gaps.T * (sign * dual)) @ gaps
    np.testing.assert_allclose(np.linalg.inv(metric), inverse, atol=1e-8)
    np.testing.assert_allclose(1 / bounds, 1 / asked - sign * dual / slack, atol=1e-8)
    excess = sign * (np.einsum("ca,ab,cb->c", gaps, metric, gaps) - bounds)
    assert dual.min() >= 0
    assert excess.max() < 1e-6
    assert np.abs(excess * dual).max() < 1e-6


def test_scales_of_mmc_meet_the_conditions_of_the_convex_optimum(rng):
    y = rng.integers(4, size=60)
    X = rng.normal(size=(60, 6)) * [1, 1, 3, 0.2, 1, 1]
    X[:, 0] += 4 * (y % 2)
    X[:, 1] += 5 * (y // 2)
    links = bc.PairwiseConstraints.sample(y, size=120, seed=0)
    a = learn_scales(X, links)
    squares = np.square(X[links.items[:, 0]] - X[links.items[:, 1]])
    near, far = squares[links.answers == 1].sum(axis=0), squares[links.answers == 0]
    lengths = np.sqrt(far @ a)
    slope = (near - (0.5 / lengths) @ far / lengths.sum()) / near
    np.testing.assert_allclose(slope[a > 1e-6], 0, atol=1e-3)
    assert a.min() >= 0
    assert (slope > -1e-3).all()
    # the objective is homogeneous up to a logarithm, which fixes the sum over the near pairs
    assert near @ a == pytest.approx(0.5, rel=1e-3)
    for pair in ([True], [False]):
        one = bc.PairwiseConstraints([(0, 1)], pair, n_items=60)
        assert (mmc(X, one, 3, 5) == k_means(X, None, 3, 5)).all()


def sparse_value(A, near, far, penalty):
    margin = np.einsum("ta,ab,tb->t", far, A, far) - np.einsum("ta,ab,tb->t", near, A, near)
    return np.maximum(1 - margin, 0).sum() + penalty * np.trace(A)


def test_no_other_dominant_metric_is_better_for_the_linear_program(rng):
    """The problem is convex: what no feasible direction lowers is its optimum."""
    near = rng.normal(size=(25, 3)) * [1.5, 1, 1]
    far = rng.normal(size=(25, 3)) @ [[1.2, 0, 0], [0, 1.5, 1.2], [0, 0, 1]]
    A = learn_sparse(near, far, penalty=0.5)
    least = sparse_value(A, near, far, 0.5)
    assert (2 * np.diag(A) >= np.abs(A).sum(axis=1) - 1e-9).all()
    assert least < sparse_value(np.zeros((3, 3)), near, far, 0.5) - 1.0
    for _ in range(500):
        other = np.triu(rng.normal(size=(3, 3)), 1) * (rng.random((3, 3)) < 0.5)
        other += other.T
        more = rng.exponential(size=3) * (rng.random(3) < 0.5)
        np.fill_diagonal(other, np.abs(other).sum(axis=1) + more)
        for step in (1e-3, 0.1, 1.0):
            mixed = (1 - step) * A + step * rng.exponential() * other
            assert sparse_value(mixed, near, far, 0.5) >= least - 1e-9


def test_where_no_column_is_worth_its_penalty_sparse_lp_is_k_means(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    triplets = bc.RelativeConstraints.sample(y, size=50, error_rate=0.0, seed=0)
    assert (sparse_lp(X, triplets, 2, 0, penalty=1e5) == k_means(X, None, 2, 0)).all()
