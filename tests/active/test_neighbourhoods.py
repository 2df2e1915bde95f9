"""Neighbourhoods: what noisy answers make known, beside the closure of consistent answers."""

from itertools import combinations

import numpy as np
import pytest

from bayesclust.active.neighbourhoods import Neighbourhoods
from tests.active.test_published import state
from tests.exactness.exact import partitions


def known(*answers, n=6):
    return Neighbourhoods.of(state(np.zeros((n, 1)), *answers), np.random.default_rng(0))


EQUAL = np.zeros((4, 2))


def test_what_is_known_of_items_outside():
    """0 and 1 are together, 2 elsewhere; 3 is not with 0; 4 and 2 were skipped."""
    found = known([(0, 1), (1, 2), (0, 3)], [1, 0, 0], [(2, 4)])
    assert found.members == [[0, 1], [2]]
    assert found.inside.tolist() == [True, True, True, False, False, False]
    assert found.apart[3:].tolist() == [[True, False], [False, False], [False, False]]
    assert found.compared[3:].tolist() == [[True, False], [False, True], [False, False]]
    assert found.fresh[3:].tolist() == [[False, True], [True, False], [True, True]]
    assert found.begun == [3, 4]


def test_an_item_apart_from_all_begins_a_neighbourhood():
    assert known([(0, 1), (1, 2), (0, 2)], [1, 0, 0]).members == [[0, 1], [2]]
    assert known([(0, 1), (0, 2), (1, 2)], [0, 0, 0]).members == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("pairs", "same", "members"),
    [
        ([(0, 1), (0, 1), (0, 1)], [0, 1, 1], [[0, 1]]),
        ([(0, 1), (0, 1), (0, 1)], [1, 0, 0], [[0], [1]]),
        ([(0, 1), (0, 1)], [1, 0], [[0]]),
        # a triangle that cannot be: the one that came last is set aside,
        ([(0, 1), (1, 2), (0, 2)], [1, 1, 0], [[0, 1, 2]]),
        ([(0, 2), (0, 1), (1, 2)], [0, 1, 1], [[0, 1], [2]]),
        # but not if it came twice
        ([(0, 1), (1, 2), (0, 2), (0, 2)], [1, 1, 0, 0], [[0, 1], [2]]),
        # what is apart from 3 is apart from what is with 3
        ([(0, 3), (2, 3), (0, 2)], [0, 1, 1], [[3, 2], [0]]),
    ],
)
def test_contradictory_answers(pairs, same, members):
    assert known(pairs, same).members == members


def test_accepted_answers_are_the_closure_of_consistent_ones(rng):
    """The reference keeps the partitions that agree with all answers so far, if there are any."""
    n, kept_in_all = 8, 0
    for _ in range(30):
        pairs = list(combinations(range(n), 2))
        drawn = [pairs[k] for k in rng.choice(len(pairs), 14, replace=False)]
        same = rng.integers(2, size=len(drawn)).tolist()
        z = partitions(n)
        for (i, j), answer in zip(drawn, same, strict=True):
            agree = (z[:, i] == z[:, j]) == answer
            z = z[agree] if agree.any() else z
            kept_in_all += agree.any()
        found = known(drawn, same, n=n)
        together = {(i, j) for i, j in pairs if found.group[i] == found.group[j]}
        assert together == {(i, j) for i, j in pairs if (z[:, i] == z[:, j]).all()}
        apart = {(i, j) for i, j in pairs if (z[:, i] != z[:, j]).all()}
        for k, members in enumerate(found.members):
            assert {i for i in range(n) if found.apart[i, k]} == {
                i for i in range(n) if tuple(sorted((i, members[0]))) in apart
            }
            assert found.inside[members].all()
        heads = [members[0] for members in found.members]
        assert {tuple(sorted(pair)) for pair in combinations(heads, 2)} <= apart
        outside = [i for i in range(n) if not found.inside[i]]
        assert all((~found.apart[i]).any() for i in outside)
    assert 30 * 8 < kept_in_all < 30 * 14


def test_after_a_skip_the_item_meets_the_next_neighbourhood():
    """3 and 0 were skipped: 3 is compared with 2 and, when all else is asked, with 1."""
    pairs, same = [(0, 1), (1, 2)], [1, 0]
    assert [q.items for q in known(pairs, same, [(0, 3)], n=4).queries([], EQUAL, 9)] == [
        (2, 3),
        (1, 3),
    ]
    found = known([*pairs, (2, 3)], [*same, 0], [(0, 3)], n=4)
    assert found.begun == []
    assert not found.fresh.any()
    assert [q.items for q in found.queries([], EQUAL, 9)] == [(1, 3)]
    assert known([*pairs, (2, 3)], [*same, 0], [(0, 3), (1, 3)], n=4).queries([], EQUAL, 9) == []
    # and where the last answer settles it, it is in a neighbourhood of its own
    assert known([*pairs, (2, 3), (1, 3)], [*same, 0, 0], [(0, 3)], n=4).members == [
        [0, 1],
        [2],
        [3],
    ]


def test_nothing_asked_begins_with_a_random_item(rng):
    drawn = {Neighbourhoods.of(state(np.zeros((3, 1))), rng).members[0][0] for _ in range(60)}
    assert drawn == {0, 1, 2}
