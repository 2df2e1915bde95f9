"""Methods that hear comparisons, and MMC: their optima against conditions, other routes, and finite differences."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import bayesclust as bc
from experiments.baselines import RELATIVE_BASELINES, k_means, mmc
from experiments.baselines.comparisons import comparisons, gaps
from experiments.baselines.diagonal_metric import learn_scales
from experiments.baselines.sparse_metric import learn_sparse
from experiments.baselines.squared_residuals import learn_factor, objective
from experiments.baselines.variant_weights import Problem, closed_form, descend


@pytest.fixture
def hidden(rng):
    """Two clusters that one narrow column of four tells apart, and right answers about triplets."""
    y = np.repeat([0, 1], 50)
    X = rng.normal(scale=[5.0, 1.0, 4.0, 3.0], size=(100, 4))
    X[:, 1] += 5.0 * y
    return X, y, bc.RelativeConstraints.sample(y, size=200, error_rate=0.0, seed=0)


@pytest.mark.parametrize("name", RELATIVE_BASELINES)
def test_one_call_for_all_and_answers_help(name, hidden):
    X, y, triplets = hidden
    method = RELATIVE_BASELINES[name]
    settings = {"weight": 100.0} if name == "lsml" else {}
    for answers in (triplets, [triplets, triplets]):
        labels = method(X, answers, 2, 7, **settings)
        assert sorted(set(labels.tolist())) == [0, 1]
        assert labels[0] == 0
        assert (labels == method(X, answers, 2, 7, **settings)).all()
        assert bc.metrics.adjusted_rand(labels, y) > 0.9
    assert bc.metrics.adjusted_rand(k_means(X, None, 2, 7), y) < 0.3


@pytest.mark.parametrize("name", RELATIVE_BASELINES)
def test_dnk_is_not_heard(name, hidden):
    X, _, triplets = hidden
    told = triplets.answers < 2
    assert 0 < told.sum() < len(told)
    fewer = bc.RelativeConstraints(triplets.items[told], triplets.answers[told], n_items=100)
    method = RELATIVE_BASELINES[name]
    assert (method(X, triplets, 3, 0) == method(X, fewer, 3, 0)).all()
    nothing = bc.RelativeConstraints(triplets.items[~told], triplets.answers[~told], n_items=100)
    assert (method(X, nothing, 3, 0) == method(X, None, 3, 0)).all()


@pytest.mark.parametrize("name", RELATIVE_BASELINES)
def test_pairs_are_refused(name):
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=4)
    with pytest.raises(TypeError, match="only relative constraints can be used here"):
        RELATIVE_BASELINES[name](np.eye(4), links, 2, 0)
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 4 items"):
        RELATIVE_BASELINES[name](np.eye(4), None, 5, 0)


def test_xings_scales_meet_the_conditions_of_the_convex_optimum(rng):
    y = rng.integers(4, size=60)
    X = rng.normal(size=(60, 6)) * [1, 1, 3, 0.2, 1, 1]
    X[:, 0] += 4 * (y % 2)
    X[:, 1] += 5 * (y // 2)
    links = bc.PairwiseConstraints.sample(y, size=120, seed=0)
    a = learn_scales(X, [links])
    squares = np.square(X[links.items[:, 0]] - X[links.items[:, 1]])
    near, far = squares[links.answers == 1], squares[links.answers == 0]
    lengths = np.sqrt(far @ a)
    slope = near.sum(axis=0) - (0.5 / lengths) @ far / lengths.sum()
    assert a.min() >= 0
    assert (a > 1e-6).sum() >= 2
    scale = near.sum(axis=0)
    np.testing.assert_allclose(slope[a > 1e-6] / scale[a > 1e-6], 0, atol=1e-3)
    assert (slope / scale > -1e-3).all()
    # the objective is homogeneous up to a logarithm, which fixes the sum over the pairs that should
    # be near
    assert near.sum(axis=0) @ a == pytest.approx(0.5, rel=1e-3)


def test_of_one_far_pair_xings_scales_take_the_best_column():
    """Then it is a ratio of linear functions, whose optimum lies at a corner: the column of the largest far / near."""
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 1.0], [3.0, 4.0, 1.0]])
    links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1)], cannot_link=[(0, 2)], n_items=3)
    a = learn_scales(X, [links])
    np.testing.assert_allclose(a, [0.5, 0.0, 0.0], atol=1e-4)


def test_without_both_kinds_of_pairs_xings_method_is_k_means(rng):
    X = rng.normal(size=(40, 3))
    for links in (
        None,
        bc.PairwiseConstraints([(0, 1)], [True], n_items=40),
        bc.PairwiseConstraints([(0, 1)], [False], 40),
    ):
        assert (mmc(X, links, 3, 5) == k_means(X, None, 3, 5)).all()


def lsml_problem(rng, m=15, d=4):
    return rng.normal(size=(m, d)) * 1.5, rng.normal(size=(m, d))


def test_the_gradient_of_lsml_against_finite_differences(rng):
    near, far = lsml_problem(rng)
    lower = np.tril_indices(4)
    L = np.tril(rng.normal(size=(4, 4))) + 3 * np.eye(4)

    def value(entries):
        trial = np.zeros((4, 4))
        trial[lower] = entries
        return objective(trial, near, far, 7.0)[0]

    numerical = approx_fprime(L[lower], value, 1e-7)
    np.testing.assert_allclose(
        objective(L, near, far, 7.0)[1][lower], numerical, rtol=1e-4, atol=1e-4
    )


def test_the_objective_of_lsml_is_its_formula(rng):
    near, far = lsml_problem(rng)
    L = np.tril(rng.normal(size=(4, 4))) + 3 * np.eye(4)
    M = L @ L.T
    expected = np.trace(M) - np.linalg.slogdet(M)[1]
    for v, w in zip(near, far, strict=True):
        expected += 7.0 / len(near) * max(0.0, np.sqrt(v @ M @ v) - np.sqrt(w @ M @ w)) ** 2
    assert objective(L, near, far, 7.0)[0] == pytest.approx(expected, rel=1e-12)


def test_lsml_rests_where_its_gradient_is_none(rng):
    near, far = lsml_problem(rng)
    L = learn_factor(near, far, weight=30.0)
    value, slope = objective(L, near, far, 30.0)
    assert value < objective(np.eye(4), near, far, 30.0)[0] - 1.0
    assert np.abs(slope).max() < 1e-2
    assert learn_factor(np.empty((0, 3)), np.empty((0, 3))).tolist() == np.eye(3).tolist()


def sparse_value(A, near, far, penalty):
    margin = np.einsum("ta,ab,tb->t", far, A, far) - np.einsum("ta,ab,tb->t", near, A, near)
    return np.maximum(1 - margin, 0).sum() + penalty * np.trace(A)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 5.0])
def test_in_one_column_the_linear_program_has_its_optimum_at_a_kink(rng, penalty):
    near, far = rng.normal(size=(9, 1)), 1.5 * rng.normal(size=(9, 1))
    kinks = 1 / (far**2 - near**2)
    best = min(sparse_value(np.array([[a]]), near, far, penalty) for a in [0.0, *kinks[kinks > 0]])
    A = learn_sparse(near, far, penalty=penalty)
    assert sparse_value(A, near, far, penalty) == pytest.approx(best, rel=1e-9)


def test_no_other_dominant_metric_is_better_for_the_linear_program(rng):
    """The problem is convex: what no feasible direction lowers is its optimum."""
    near, far = (
        rng.normal(size=(25, 3)) * [1.5, 1, 1],
        rng.normal(size=(25, 3)) @ [[1.2, 0, 0], [0, 1.5, 1.2], [0, 0, 1]],
    )
    A = learn_sparse(near, far, penalty=0.5)
    least = sparse_value(A, near, far, 0.5)
    assert (2 * np.diag(A) >= np.abs(A).sum(axis=1) - 1e-9).all()
    assert np.abs(A - np.diag(np.diag(A))).max() > 0.01
    assert least < sparse_value(np.zeros((3, 3)), near, far, 0.5) - 1.0
    for _ in range(500):
        other = np.triu(rng.normal(size=(3, 3)), 1) * (rng.random((3, 3)) < 0.5)
        other += other.T
        np.fill_diagonal(
            other, np.abs(other).sum(axis=1) + rng.exponential(size=3) * (rng.random(3) < 0.5)
        )
        for step in (1e-3, 0.1, 1.0):
            assert (
                sparse_value((1 - step) * A + step * rng.exponential() * other, near, far, 0.5)
                >= least - 1e-9
            )


def test_where_nothing_is_worth_its_price_sparse_lp_is_k_means(hidden):
    X, _, triplets = hidden
    assert (
        RELATIVE_BASELINES["sparse-lp"](X, triplets, 2, 0, penalty=1e5) == k_means(X, None, 2, 0)
    ).all()


def test_weights_of_columns_have_their_least_sum(rng):
    spread = rng.uniform(0.5, 3.0, size=4)
    for beta in (1.5, 2.0, 4.0):
        w = closed_form(spread, beta)
        assert w.sum() == pytest.approx(1.0)
        for _ in range(50):
            other = rng.dirichlet(np.ones(4))
            assert (w**beta) @ spread <= (other**beta) @ spread + 1e-12


def plain_objective(problem, labels, centers, weights, beta):
    total = 0.0
    for i, x in enumerate(problem.points):
        w = weights[labels[i]] ** beta
        total += w @ (np.square(x - centers[labels[i]]) + problem.spread)
        for t in np.flatnonzero(problem.item == i):
            total += problem.weight * max(0.0, w @ problem.excess[t])
    return total


def test_costs_are_the_objective_and_it_never_rises(rng):
    X = rng.normal(size=(80, 5))
    triplets = bc.RelativeConstraints.sample(
        rng.integers(3, size=80), size=150, error_rate=0.0, seed=0
    )
    compared = comparisons([triplets])
    near, far = gaps(X, compared)
    problem = Problem(X, compared[:, 0], np.square(near) - np.square(far), 2.0, np.full(5, 0.01))
    centers, weights = X[:4], rng.dirichlet(np.ones(5), size=4)
    costs = problem.costs(centers, weights**2)
    labels = rng.integers(4, size=80)
    expected = plain_objective(problem, labels, centers, weights, 2.0)
    assert costs[np.arange(80), labels].sum() == pytest.approx(expected, rel=1e-10)
    for start in range(6):
        _, path = descend(problem, X[10 * start : 10 * start + 4], 2.0, 100)
        assert len(path) > 3
        assert (np.diff(path) <= 1e-9).all()
        assert path[-1] < path[0]
