"""Every step of a pass against definitions: what an item chooses, and that J never rises."""

import numpy as np
import pytest

from bayesclust.inference.limits.rdp_means import means, new_slots, objective, visit
from tests.inference.limits.reference import KINDS, plain_options, plain_visit, random_case

ANSWERS = {"links": False, "links and triplets": True}


def random_labels(rng, n):
    return np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("name", KINDS)
def test_objective_is_its_definition(rng, name, answers):
    for _ in range(30):
        case = random_case(rng, name, int(rng.integers(4, 15)), ANSWERS[answers])
        labels, centers = means(case.problem.points, random_labels(rng, len(case.problem.points)))
        assert objective(case.problem, labels, centers, case.xi) == pytest.approx(
            case.at_means(labels), rel=1e-9, abs=1e-9
        )


def never_rises(case, rng):
    """Two passes, item by item, and the means after each."""
    points = case.problem.points
    labels, centers = means(points, random_labels(rng, len(points)))
    for _ in range(2):
        slots = new_slots(case.problem, labels, centers)
        where = dict(enumerate(centers))
        before = case.plain(labels.tolist(), where)
        for item in range(len(points)):
            filled = slots.size > 0
            slots, _ = visit(case.problem, slots, case.xi, 0.0, item, item + 1)
            if slots.z[item] >= len(filled) or not filled[slots.z[item]]:
                where[int(slots.z[item])] = points[item]
            after = case.plain(slots.z.tolist(), where)
            assert after <= before + 1e-9 * (1 + abs(before))
            before = after
        assert (np.bincount(slots.z, minlength=len(slots.size)) == slots.size).all()
        labels, centers = means(points, slots.z)
        after = case.plain(labels.tolist(), dict(enumerate(centers)))
        assert after <= before + 1e-9 * (1 + abs(before))


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("name", KINDS)
def test_no_single_step_raises_the_objective(rng, name, answers):
    for _ in range(50):
        never_rises(random_case(rng, name, int(rng.integers(4, 10)), ANSWERS[answers]), rng)


@pytest.mark.slow
@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("name", KINDS)
def test_no_single_step_raises_the_objective_in_a_thousand_problems(rng, name, answers):
    for _ in range(1000):
        never_rises(random_case(rng, name, int(rng.integers(4, 12)), ANSWERS[answers]), rng)


def test_links_alone_a_thousand_problems(rng):
    for _ in range(1000):
        never_rises(random_case(rng, "euclidean", int(rng.integers(4, 9))), rng)


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("name", KINDS)
def test_an_item_takes_the_cheapest_choice(rng, name, answers):
    for _ in range(30):
        case = random_case(rng, name, int(rng.integers(4, 10)), ANSWERS[answers])
        labels, centers = means(case.problem.points, random_labels(rng, len(case.problem.points)))
        item = int(rng.integers(len(labels)))
        options = plain_options(case, labels.tolist(), dict(enumerate(centers)), item)
        slots, _ = visit(
            case.problem, new_slots(case.problem, labels, centers), case.xi, 0.0, item, item + 1
        )
        taken = int(slots.z[item])
        taken = next(iter(options)) if taken == labels[item] else taken
        assert options[taken] == pytest.approx(min(options.values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("name", ["euclidean", "kl", "mahalanobis"])
def test_a_pass_is_its_plain_reference(rng, name, answers):
    """All items of one pass choose as they do by trying all choices, numbers of clusters apart; no two choices tie here."""
    for _ in range(30):
        case = random_case(rng, name, int(rng.integers(4, 10)), ANSWERS[answers])
        points = case.problem.points
        labels, centers = means(points, random_labels(rng, len(points)))
        slots, _ = visit(case.problem, new_slots(case.problem, labels, centers), case.xi, 0.0)
        z, where = labels.tolist(), dict(enumerate(centers))
        for item in range(len(points)):
            z = plain_visit(case, z, where, item)
        assert (np.equal.outer(slots.z, slots.z) == np.equal.outer(z, z)).all()
