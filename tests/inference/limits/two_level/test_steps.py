"""Every step on two levels against definitions: what an item chooses, and that J never rises."""

import numpy as np
import pytest

from bayesclust.inference.limits.rdp_means import Schedule, Solution, means
from bayesclust.inference.limits.two_level.components import options, pose_components
from bayesclust.inference.limits.two_level.descent import (
    descend,
    lower,
    new_state,
    regroup,
    value,
    visit,
)
from bayesclust.inference.limits.two_level.moves import free_components, join, merge_within, refine
from tests.inference.limits.reference import KINDS, random_case
from tests.inference.limits.two_level.states import J, random_price, random_state, same

answers = pytest.mark.parametrize("triplets", [False, True], ids=["links", "links and triplets"])
each = pytest.mark.parametrize("name", ["euclidean", "kl", "poisson", "categorical with holes"])
TINY = 1e-9


def posed(rng, name, triplets, most=10):
    case = random_case(rng, name, int(rng.integers(4, most)), triplets)
    labels, owner = random_state(rng, len(case.problem.points))
    return case, random_price(rng, case), labels, owner


def at(case, labels, owner):
    """The state as a solution."""
    labels, centers = means(case.problem.points, labels)
    return Solution(labels, centers, np.nan, np.empty(0), case.xi, True, owner)


@answers
@pytest.mark.parametrize("name", KINDS)
def test_objective_is_its_definition(rng, name, triplets):
    for _ in range(20):
        case, price, labels, owner = posed(rng, name, triplets)
        found = value(case.problem, price, *means(case.problem.points, labels), owner, case.xi)
        assert found == pytest.approx(J(case, price, labels, owner[labels]), rel=1e-9, abs=1e-9)


def never_rises(case, price, labels, owner):
    """Two passes, item by item, each the cheapest of all choices; the means and the components after each pass."""
    points = case.problem.points
    labels, centers = means(points, labels)
    for _ in range(2):
        state = new_state(case.problem, labels, centers, owner)
        where = dict(enumerate(centers))
        before = J(case, price, labels, owner[labels], where)
        for item in range(len(points)):
            choices, there = plain_options(case, price, state, where, item), state.slots.size > 0
            state, _ = visit(case.problem, price, state, case.xi, 0.0, item, item + 1)
            c, z = state.slots.z.tolist(), state.above.z.tolist()
            if c[item] >= len(there) or not there[c[item]]:
                where[c[item]] = points[item]
            after = J(case, price, c, z, where)
            assert after <= before + TINY * (1 + abs(before))
            before = after
            own = {c[item]: points[item]} if c.count(c[item]) == 1 else {}
            assert J(case, price, c, z, {**where, **own}) == pytest.approx(
                min(choices), rel=1e-9, abs=1e-9
            )
        assert (np.bincount(z, minlength=len(state.above.load)) == state.above.load).all()
        assert (state.above.owner[state.slots.z] == state.above.z).all()
        labels, owner = means(points, np.array(c))[0], np.unique(z, return_inverse=True)[1]
        owner = np.array([owner[labels == k][0] for k in range(labels.max() + 1)])
        labels, centers = means(points, labels)
        after = value(case.problem, price, labels, centers, owner, case.xi)
        assert after <= before + TINY * (1 + abs(before))


def plain_options(case, price, state, where, item):
    """J for every choice of one item, by trying all: its component, the others, one of its own in each cluster or alone.

    An item that is alone is its own centre where it stays.
    """
    c, z = state.slots.z.tolist(), state.above.z.tolist()
    new = max(max(c), max(z)) + 1
    where = {**where, new: case.problem.points[item]}

    def put(k, g):
        return J(case, price, [*c[:item], k, *c[item + 1 :]], [*z[:item], g, *z[item + 1 :]], where)

    others = {(k, g) for i, (k, g) in enumerate(zip(c, z, strict=True)) if i != item}
    return [
        put(k, g) for k, g in {*others, (new, z[item]), *((new, g) for _, g in others), (new, new)}
    ]


@answers
@pytest.mark.parametrize("name", KINDS)
def test_no_single_step_raises_the_objective(rng, name, triplets):
    for _ in range(15):
        never_rises(*posed(rng, name, triplets, most=9))


@pytest.mark.slow
@answers
@pytest.mark.parametrize("name", KINDS)
def test_no_single_step_raises_the_objective_in_many_problems(rng, name, triplets):
    for _ in range(300):
        never_rises(*posed(rng, name, triplets, most=12))


@answers
def test_answers_about_components_are_those_about_items(rng, triplets):
    for _ in range(60):
        case, price, labels, owner = posed(rng, "euclidean", triplets)
        count = len(owner)
        above, costs = pose_components(case.problem.graph, case.xi, labels, count, price)
        others = np.unique(rng.integers(0, count, count), return_inverse=True)[1]
        change = above.graph.inside(others, costs) - above.graph.inside(owner, costs)
        assert change == pytest.approx(
            float(case.answers(others[labels]) - case.answers(owner[labels])), abs=1e-9
        )
        assert above.penalty == price
        pairs = above.graph.member[above.graph.member[:, 2] < 0, :2]
        assert len(np.unique(pairs, axis=0)) == len(pairs)


@answers
def test_options_of_components_are_differences_of_the_objective(rng, triplets):
    for _ in range(30):
        case, price, labels, owner = posed(rng, "euclidean", triplets, most=8)
        found = options(
            *pose_components(case.problem.graph, case.xi, labels, len(owner), price), owner
        )
        for component in range(len(owner)):
            values = []
            for g in range(found.shape[1]):
                moved = owner.copy()
                moved[component] = g
                values.append(J(case, price, labels, moved[labels]))
            np.testing.assert_allclose(
                np.array(values) - values[0], found[component] - found[component, 0], atol=1e-9
            )


MOVES = {
    "regroup": lambda p, price, s, xi: (s.labels, regroup(p, price, s.labels, s.owner, xi)),
    "merge within": lambda p, price, s, xi: merge_within(p, s, xi),
    "join": join,
    "refine": refine,
    "free components": lambda p, price, s, xi: (s.labels, free_components(p, price, s, xi)),
}


@answers
@each
@pytest.mark.parametrize("move", MOVES)
def test_no_move_raises_the_objective(rng, name, triplets, move):
    lowered = 0
    for _ in range(25):
        case, price, labels, owner = posed(rng, name, triplets)
        solution = at(case, labels, owner)
        if move == "free components":  # they are free where nothing else is to be gained
            solution = lower(case.problem, price, labels, owner, Schedule(case.xi))
        before = J(case, price, solution.labels, solution.clusters)
        c, own = MOVES[move](case.problem, price, solution, case.xi)
        after = J(case, price, c, own[c])
        assert after <= before + TINY * (1 + abs(before))
        lowered += after < before - TINY
    assert lowered > (3 if move != "free components" else -1)


@answers
def test_joining_is_the_best_of_all(rng, triplets):
    for _ in range(40):
        case, price, labels, owner = posed(rng, "kl", triplets, most=8)
        z, values = owner[labels], {}
        for a in range(len(owner)):
            for b in range(len(owner)):
                if a != b:
                    c = np.where(labels == a, b, labels)
                    values[a, b] = J(case, price, c, np.where(labels == a, owner[b], z))
        before = J(case, price, labels, z)
        c, own = join(case.problem, price, at(case, labels, owner), case.xi)
        assert J(case, price, c, own[c]) == pytest.approx(
            min([before, *values.values()]), rel=1e-9, abs=1e-9
        )


@answers
def test_refining_leaves_no_move_of_one_item_that_lowers_the_objective(rng, triplets):
    for _ in range(15):
        case, price, labels, owner = posed(rng, "euclidean", triplets, most=8)
        c, own = refine(case.problem, price, at(case, labels, owner), case.xi)
        z, least = own[c], J(case, price, c, own[c])
        for item in range(len(c)):
            rest = np.delete(np.arange(len(c)), item)
            new = 1 + max(c.max(), z.max())
            choices = {
                *zip(c[rest].tolist(), z[rest].tolist(), strict=True),
                *((new, int(g)) for g in z[rest]),
                (new, new),
            }
            for k, g in choices:
                moved, where = c.copy(), z.copy()
                moved[item], where[item] = k, g
                assert J(case, price, moved, where) >= least - 1e-8 * (1 + case.problem.penalty)


@answers
def test_descents_never_rise_and_end_where_nothing_moves(rng, triplets):
    for _ in range(20):
        case, price, _, _ = posed(rng, "euclidean", triplets, most=30)
        end = descend(
            price,
            case.problem,
            np.zeros(len(case.problem.points), dtype=np.int64),
            Schedule(case.xi),
        )
        assert end.converged
        assert (np.diff(end.path) <= TINY * (1 + np.abs(end.path[:-1]))).all()
        assert end.objective == pytest.approx(
            J(case, price, end.labels, end.clusters), rel=1e-9, abs=1e-9
        )
        state, tally = visit(
            case.problem,
            price,
            new_state(case.problem, end.labels, end.centers, end.owner),
            case.xi,
            0.0,
        )
        assert tally[0] == 0
        assert same((state.slots.z, state.above.z), (end.labels, end.clusters))
