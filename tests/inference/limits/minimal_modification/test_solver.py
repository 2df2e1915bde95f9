"""Large problems: what the solver proves, says when time is short, and if it is missing."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import bayesclust as bc
from bayesclust.constraints.statements import Apart, Statement, Together
from bayesclust.inference.limits.minimal_modification import program
from bayesclust.inference.limits.minimal_modification.program import (
    OutOfTime,
    Problem,
    Unsatisfiable,
    enforce,
    solve,
)


def ring(length, n_clusters, rng):
    """Neighbours on a ring are apart, all of them in one cluster at first."""
    costs = rng.uniform(1, 2, size=(length, n_clusters))
    costs[:, 0] = 0
    return Problem(
        costs, [Apart(i, (i + 1) % length) for i in range(length)], np.full(length, np.inf)
    )


def ring_by_dynamic_programming(costs):
    """The least cost of a proper colouring of a ring, item after item."""
    K, best = costs.shape[1], np.inf
    for first in range(K):
        total = np.where(np.arange(K) == first, costs[0], np.inf)
        for row in costs[1:]:
            total = row + np.array([np.delete(total, c).min() for c in range(K)])
        best = min(best, np.delete(total, first).min())
    return best


def test_long_ring_is_solved(rng):
    problem = ring(41, 3, rng)
    found = solve(problem, np.inf)
    assert found.optimal
    assert found.objective == pytest.approx(ring_by_dynamic_programming(problem.costs), rel=1e-7)
    assert problem.held(found.values).all()


@pytest.mark.parametrize("far", [1e6, 1e12, 1e18])
def test_one_large_cost_leaves_the_others_as_they_are(rng, far):
    """The least cost of all others is known; integers of the far one's size would be too coarse."""
    problem = ring(9, 3, rng)
    costs = np.vstack([problem.costs, [0, far, far], [far, 0, 2]])
    found = solve(problem._replace(costs=costs, statements=[*problem.statements, Apart(9, 10)],
                                   weights=np.full(10, np.inf)), np.inf)  # fmt: skip
    assert found.optimal
    assert found.objective == pytest.approx(ring_by_dynamic_programming(problem.costs), rel=1e-7)


def test_what_is_found_is_kept_when_time_is_up_for_finer_costs(monkeypatch):
    costs = np.array([[0, 1e9], [0, 1], [0, 2]], dtype=float)
    problem = Problem(costs, [Apart(1, 2), Apart(0, 1)], np.full(2, 1e12))
    times = iter([0.0, 1e9])
    monkeypatch.setattr(program.time, "monotonic", lambda: next(times))
    found = solve(problem, 1e6)
    assert found.objective == 1.0
    assert not found.optimal


def test_a_large_weight_leaves_the_costs_as_they_are(rng):
    problem = ring(9, 3, rng)
    found = solve(problem._replace(weights=np.full(9, 1e15)), np.inf)
    assert problem.held(found.values).all()
    assert found.objective == pytest.approx(ring_by_dynamic_programming(problem.costs), rel=1e-7)


def test_spare_statements_are_shared_between_parts(rng):
    """Two clusters: rings of odd length must each violate one link."""
    short, long = ring(3, 2, rng), ring(61, 2, rng)
    shifted = [Apart(s.i + 3, s.j + 3) for s in long.statements]
    problem = Problem(
        np.vstack([short.costs, long.costs]), [*short.statements, *shifted], np.full(64, np.inf)
    )
    with pytest.raises(Unsatisfiable):
        solve(problem._replace(spare=1), np.inf)
    found = solve(problem._replace(spare=2), np.inf)
    assert (~problem.held(found.values)).sum() == 2
    assert found.objective == pytest.approx(
        path_cost(short.costs) + path_cost(long.costs), rel=1e-7
    )


def path_cost(costs):
    """A ring of odd length in two clusters that gives up one link alternates along the rest."""
    n, best = len(costs), np.inf
    for cut in range(n):
        along = (cut + 1 + np.arange(n)) % n
        best = min(best, *(costs[along, (np.arange(n) + first) % 2].sum() for first in range(2)))
    return best


def test_missing_solver_is_named_with_its_extra(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(ModuleNotFoundError, match=r"install bayesclust with its extra 'solver'\.$"):
        solve(ring(6, 3, rng), np.inf)


def hard_case(rng, n=220, K=5):
    X = rng.normal(size=(n, 2))
    links = bc.PairwiseConstraints.sample(rng.integers(K, size=n), size=2 * n, seed=1)
    return X, rng.integers(K, size=n), links


def test_when_time_is_up_the_gap_is_told(rng):
    X, seen, links = hard_case(rng)
    est, credibility = bc.MinimalModification(1.0, 1.0, time_limit=1e-6), np.full(len(links), 0.8)
    with pytest.warns(ConvergenceWarning, match=r"^time is up: the objective is .*; allow a"):
        est.fit(X, partition=seen, constraints=links, credibility=credibility)
    # with no time at all the partition stays, and what it gives up is its price
    broken = (links.truths(seen) != links.answers).sum()
    assert est.labels_.tolist() == seen.tolist()
    assert est.objective_ == pytest.approx(broken * np.log(4) / est.precision_)
    assert (est.bound_, est.gap_) == (0.0, est.objective_)


def test_cheapest_values_are_taken_without_time(rng):
    problem = ring(400, 3, rng)  # all 400 statements are violated where it is cheapest
    found = solve(problem._replace(spare=400), 0.0)
    assert found.values.tolist() == [0] * 400
    assert (found.optimal, found.objective, found.bound) == (True, 0.0, 0.0)
    with pytest.raises(OutOfTime):
        solve(problem._replace(spare=399), 0.0)


def test_nothing_found_in_time_is_told(rng):
    X, seen, links = hard_case(rng)
    with pytest.raises(TimeoutError, match=r"^no partition .* was found within time_limit=1e-06"):
        bc.MinimalModification(1.0, 1.0, time_limit=1e-6).fit(X, partition=seen, constraints=links)


def test_a_kind_of_statement_of_ones_own_is_solved():

    class First(Statement):
        """Item 0 is in cluster 2."""

        items = (0,)

        def holds(self, labels):
            return labels[0] == 2

        def renamed(self, names):
            return self

        def __str__(self):
            return "item 0 in cluster 2"

    @enforce.register(First)
    def _first(statement, encoding, given):
        encoding.clause([encoding.choice(0, 2)], given)

    problem = Problem(
        np.array([[0.0, 1.0, 5.0], [0.0, 1.0, 1.0]]),
        [First(), Together(0, 1)],
        np.array([np.inf, 2.0]),
    )
    assert solve(problem, np.inf).values.tolist() == [2, 2]
