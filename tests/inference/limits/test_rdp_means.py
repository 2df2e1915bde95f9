"""Passes and descents of RDP-means, one centre a cluster or several, against definitions."""

import numpy as np
import pytest

from bayesclust.inference.limits.rdp_means import (
    MOVED,
    Problem,
    Schedule,
    descend,
    means,
    new_state,
    objective,
    visit,
)
from bayesclust.inference.limits.search import begin
from tests.inference.limits.reference import (
    KINDS,
    SQUARED,
    kinds,
    levels,
    plain_choices,
    random_case,
    random_state,
    same,
    with_choice,
)

every = pytest.mark.parametrize("name", KINDS)
TINY = 1e-9


def posed(rng, name, triplets, several, most=10):
    case = random_case(rng, name, int(rng.integers(4, most)), triplets, several=several)
    return case, *random_state(rng, case)


@levels
@kinds
@every
def test_objective_is_its_definition(rng, name, triplets, several):
    for _ in range(10):
        case, labels, owner = posed(rng, name, triplets, several)
        found = objective(case.problem, *means(case.problem.points, labels), case.xi, owner)
        assert found == pytest.approx(case.J(labels, owner[labels]), rel=1e-9, abs=1e-9)


def plain_options(case, state, where, item):
    """J for every choice of one item, by trying all; an item that is alone is its own centre."""
    c, z = state.z.tolist(), state.cluster.tolist()
    choices = plain_choices(case, c, z, item)
    where = {**where, max(max(c), max(z)) + 1: case.problem.points[item]}
    return {one: case.J(*with_choice(c, z, item, one), where) for one in choices}


def never_rises(case, labels, owner):
    """Two passes, item by item, each the cheapest of all choices; the means after each pass."""
    points = case.problem.points
    labels, centers = means(points, labels)
    for _ in range(2):
        state = new_state(case.problem, labels, centers, owner)
        where = dict(enumerate(centers))
        before = case.J(labels, owner[labels], where)
        for item in range(len(points)):
            costs = plain_options(case, state, where, item)
            there = state.size > 0
            state, _ = visit(case.problem, state, case.xi, 0.0, item, item + 1)
            c, z = state.z.tolist(), state.cluster.tolist()
            if c[item] >= len(there) or not there[c[item]]:
                where[c[item]] = points[item]
            after = case.J(c, z, where)
            assert after <= before + TINY * (1 + abs(before))
            before = after
            own = {c[item]: points[item]} if c.count(c[item]) == 1 else {}
            least = min(costs.values())
            assert case.J(c, z, {**where, **own}) == pytest.approx(least, rel=TINY, abs=TINY)
        assert (np.bincount(c, minlength=len(state.size)) == state.size).all()
        assert (np.bincount(z, minlength=len(state.load)) == state.load).all()
        assert (state.owner[state.z] == state.cluster).all()
        labels, centers = means(points, state.z)
        owner = np.unique(state.owner[np.flatnonzero(state.size)], return_inverse=True)[1]
        after = case.J(labels, owner[labels], dict(enumerate(centers)))
        assert after <= before + TINY * (1 + abs(before))


@levels
@kinds
@every
def test_every_choice_is_the_cheapest_and_never_raises_j(rng, name, triplets, several):
    for _ in range(5):
        never_rises(*posed(rng, name, triplets, several, most=9))


@levels
@kinds
def test_descents_never_rise_and_end_where_nothing_moves(rng, triplets, several):
    for _ in range(25):
        case = random_case(rng, "euclidean", 25, triplets, several=several)
        end = begin(case.problem, np.zeros(25, dtype=np.int64), Schedule(case.xi))
        assert end.converged
        assert (np.diff(end.path) <= TINY * (1 + np.abs(end.path[:-1]))).all()
        assert end.path[-1] == end.objective == pytest.approx(case.J(end.labels, end.clusters))
        start = new_state(case.problem, end.labels, end.centers, end.owner)
        state, tally = visit(case.problem, start, case.xi, 0.0)
        assert tally[MOVED] == 0
        assert same((state.z, state.cluster), (end.labels, end.clusters))


def test_growing_xi_ends_where_more_of_it_changes_nothing(rng):
    for scale in (1.0, 1e6):
        for _ in range(50):
            problem = random_case(rng, "euclidean", 12).problem
            points, penalty = scale * problem.points, scale**2 * problem.penalty
            problem = Problem.of(points, SQUARED, problem.graph, penalty)
            end = descend(problem, np.zeros(12, dtype=np.int64), Schedule((1e-3, 1e-3), 2.0))
            assert end.converged
            for factor in (2.0, 1e3, 1e6):
                xi = (factor * end.xi[0], factor * end.xi[1])
                _, tally = visit(problem, new_state(problem, end.labels, end.centers), xi, 0.0)
                assert tally[MOVED] == 0


def test_growth_ends_at_most(rng):
    problem = random_case(rng, "euclidean", 12).problem
    end = descend(problem, np.zeros(12, dtype=np.int64), Schedule((1e-3, 2e-3), 2.0, most=0.1))
    assert max(end.xi) <= 0.1 * (1 + 1e-12)
    assert end.xi[1] == pytest.approx(2 * end.xi[0])


def test_the_last_pass_is_reported_when_passes_run_out(rng):
    case = random_case(rng, "euclidean", 30)
    problem = case.problem._replace(penalty=1.0)
    end = descend(problem, np.zeros(30, dtype=np.int64), Schedule(case.xi), max_iter=1)
    assert len(end.path) == 1
    assert not end.converged
