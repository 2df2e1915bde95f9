"""The spectral relaxation, against dense matrices, all partitions of a few items, tight cases."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.inference.limits.answers import cost_table, link_graph, pair_weights
from bayesclust.inference.limits.path_model import value
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.limits.spectral import relax, relaxed_objective, round_off, solve
from tests.exactness.exact import partitions
from tests.inference.limits.reference import SQUARED, random_case


def dense(points, links, xi):
    """XX' + L / 2 with every answer in both its cells; xi is (m, 2), of each answer."""
    matrix = points @ points.T
    xi = np.broadcast_to(xi, (len(links), 2))
    for (i, j), answer, (may, may_not) in zip(links.items, links.answers, xi, strict=True):
        for a, b in ((i, j), (j, i)):
            matrix[a, b] += (may if answer == 1 else -may_not) / 2
    return matrix


def by_trace(points, z, links, xi, penalty):
    """J~ as the trace of Eq. 21."""
    Z = np.eye(z.max() + 1)[z]
    Y = Z / np.sqrt(Z.sum(axis=0))
    inside = np.trace(Y.T @ dense(points, links, xi) @ Y)
    return np.trace(points @ points.T) - inside + penalty * Z.shape[1]


def projector(n):
    return np.eye(n) - 1 / n


def many_items(n, m, xi, penalty, seed=0, d=3):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) + 4.0 * rng.integers(3, size=(n, 1))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)]).reshape(-1, 2)
    links = PairwiseConstraints(pairs, rng.random(m) < 0.5, n_items=n)
    problem = Problem.of(points, SQUARED, link_graph([links], n), penalty)
    P = projector(n)
    return problem, np.linalg.eigh(P @ dense(points, links, xi) @ P)


def exact_bound(problem, values, xi):
    centred = problem.points - problem.points.mean(axis=0)
    weights = pair_weights(problem.graph, xi)[1]
    first = np.square(centred).sum() - weights.sum() / len(centred) + problem.penalty
    return first - np.maximum(values - problem.penalty, 0).sum()


def test_sources_weigh_by_their_own_confidence():
    """Two sources: each link has the weight of its own, and no partition is below the bound."""
    rng = np.random.default_rng(4)
    points, source = rng.normal(size=(7, 2)), np.arange(12) % 2
    pairs = np.array([rng.choice(7, 2, replace=False) for _ in range(12)])
    links = PairwiseConstraints(pairs, rng.random(12) < 0.5, n_items=7, source=source)
    xis = np.array([(0.4, 0.1), (1.5, 2.0)])
    table = cost_table([links], {"links": xis})
    problem = Problem.of(points, SQUARED, compile_sites([links], 7), 0.6)
    every = partitions(7)
    J = [relaxed_objective(problem, z, table) for z in every]
    expected = [by_trace(points, z, links, xis[source], 0.6) for z in every]
    np.testing.assert_allclose(J, expected)
    found = relax(problem, table, most=7)
    assert found.bound <= min(J)
    end = solve(problem, found, table).objective
    assert end >= min(value(problem, z, table) for z in every) - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_no_partition_is_below_the_bound(seed):
    """The centred bound is the better one, wherever the origin is."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    case = random_case(rng, "euclidean", n)
    problem, links, xi = case.problem, case.constraints[0], case.xi
    least = min(by_trace(problem.points, z, links, xi, problem.penalty) for z in partitions(n))
    bound = relax(problem, xi, most=n).bound
    assert bound <= least + 1e-9 * abs(least)
    for shift in (0.0, 1.0):
        points = problem.points + shift
        moved = Problem.of(points, SQUARED, problem.graph, problem.penalty)
        assert relax(moved, xi, most=n).bound == pytest.approx(bound)
        values = np.linalg.eigvalsh(dense(points, links, xi))
        uncentred = np.square(points).sum() - np.maximum(values - problem.penalty, 0).sum()
        assert uncentred <= bound + 1e-9 * abs(bound)


def test_the_bound_is_tight_where_clusters_are_points():
    """Items repeat, and every cluster is a clique of may-links with none outside."""
    rng = np.random.default_rng(1)
    z = np.repeat([0, 1, 2], 4)
    points = (10.0 * rng.normal(size=(3, 2)))[z]
    pairs = [(i, j) for i in range(12) for j in range(i) if z[i] == z[j]]
    links = PairwiseConstraints(pairs, np.ones(18, bool), n_items=12)
    problem = Problem.of(points, SQUARED, link_graph([links], 12), 2.0)
    found = relax(problem, (1.0, 1.0), most=12)
    assert len(found.eigenvalues) == 2
    assert found.bound == pytest.approx(3 * 2.0 - 18 / 4)
    assert relaxed_objective(problem, z, (1.0, 1.0)) == pytest.approx(found.bound)
    assert (solve(problem, found, (1.0, 1.0)).labels == z).all()


@pytest.mark.parametrize("m", [0, 900])
def test_the_iterative_solver_finds_what_the_dense_one_does(m):
    problem, (values, vectors) = many_items(600, m, (6.0, 3.0), penalty=5.0)
    found = relax(problem, (6.0, 3.0), most=599)
    above = values > 5.0
    assert above.sum() > (30 if m else 2)
    np.testing.assert_allclose(found.eigenvalues, values[above][::-1], rtol=1e-6)
    assert found.bound == pytest.approx(exact_bound(problem, values, (6.0, 3.0)), rel=1e-6)
    span = vectors[:, above]
    np.testing.assert_allclose(span @ (span.T @ found.vectors), found.vectors, atol=1e-3)


def test_with_some_eigenvalues_only_no_bound_is_known():
    problem, _ = many_items(600, 900, (6.0, 3.0), penalty=5.0)
    some = relax(problem, (6.0, 3.0), 8)
    assert (some.bound, len(some.eigenvalues)) == (-np.inf, 8)
    few, _ = many_items(40, 60, (6.0, 3.0), penalty=2.0)
    cut = relax(few, (6.0, 3.0), 3)
    assert cut.bound == relax(few, (6.0, 3.0), 39).bound
    assert cut.vectors.shape == (40, 3)


def test_a_matrix_of_nothing_and_one_of_rank_one():
    alike = Problem.of(np.ones((600, 2)), SQUARED, link_graph([], 600), 1.0)
    found = relax(alike, (0.0, 0.0), most=10)
    assert (len(found.eigenvalues), found.bound) == (0, 1.0)
    assert round_off(found).tolist() == [0] * 600
    line, (values, _) = many_items(600, 0, (0.0, 0.0), penalty=8.0, d=1)
    found = relax(line, (0.0, 0.0), most=10)
    np.testing.assert_allclose(found.eigenvalues, values[-1:])


def test_rounding_needs_no_restarts(rng):
    """Far clusters of any sizes are found."""
    z = np.repeat(np.arange(6), [3, 60, 10, 100, 30, 5])
    centers = 30.0 * np.eye(6)[:, :5]
    problem = Problem.of(
        centers[z] + rng.normal(size=(208, 5)), SQUARED, link_graph([], 208), 300.0
    )
    found = relax(problem, (0.0, 0.0), most=20)
    labels = round_off(found)
    assert len(found.eigenvalues) == 5
    assert len(set(zip(labels.tolist(), z.tolist(), strict=True))) == 6


@pytest.mark.parametrize("seed", range(6))
def test_merges_lower_the_objective_that_is_reported(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, "euclidean", 30)
    found = relax(case.problem, case.xi, most=20)
    end = solve(case.problem, found, case.xi)
    assert end.objective == pytest.approx(case.J(end.labels))
    assert end.objective <= case.J(round_off(found)) + 1e-9
    assert (np.diff(np.unique(end.labels, return_index=True)[1]) > 0).all()
    for k, center in enumerate(end.centers):
        np.testing.assert_allclose(case.problem.points[end.labels == k].mean(axis=0), center)
