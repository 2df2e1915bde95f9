"""Anchors of split-merge proposals: pairs that a warming chain found worth trying again."""

import numpy as np

from bayesclust.inference.moves.anchors import NOTED, WORTH_NOTING
from bayesclust.inference.moves.propose import SplitMerge
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.inference.schedule import Moves, MoveSchedule
from tests.exactness.cases import problem
from tests.exactness.test_enumeration import compared
from tests.inference.states import chain, state_of

SPLITS = Moves(split_merge=4.0, link_blocks=False, single_site=False)


def test_a_quarter_of_the_pairs_are_noted_ones():
    state, move = state_of(n=40, seed=1), SplitMerge(MoveSchedule(SPLITS))
    move.note(np.array([[3, 17], [25, 8]]), np.full(2, 0.5))
    drawn = [move.anchors(state) for _ in range(8000)]
    share = np.mean([pair in ((3, 17), (25, 8)) for pair in drawn])
    assert 0.25 - 0.02 < share < 0.25 + 0.04
    assert all(first != second for first, second in drawn)


def test_only_likely_pairs_are_noted_and_the_latest_kept():
    move, pairs = SplitMerge(MoveSchedule(SPLITS)), np.array([[0, 1], [2, 3]])
    move.note(pairs, np.array([WORTH_NOTING / 2, 2 * WORTH_NOTING]))
    np.testing.assert_array_equal(move.noted, [[2, 3]])
    for first in range(NOTED):
        move.note(np.array([[first, first + 1]]), np.ones(1))
    np.testing.assert_array_equal(move.noted[[0, -1]], [[0, 1], [NOTED - 1, NOTED]])


def test_notes_are_taken_while_warming_up_and_kept_afterwards():
    one = chain(n=30, seed=1, moves=Moves(split_merge=2.0))
    (move,) = [move for move in one.moves if isinstance(move, SplitMerge)]
    for _ in range(30):
        one.sweep(adapt=True, freeze_noise=True)
    assert len(move.noted) == 0
    for _ in range(60):
        one.sweep(adapt=True)
    noted = move.noted.copy()
    assert len(noted) > 0
    for _ in range(30):
        one.sweep()
    np.testing.assert_array_equal(move.noted, noted)


def with_notes(case, z, rng, moves):
    """The collapsed sampler with pairs noted from the start, one of them more often than the other."""
    made = collapsed_chain(case, z, rng, moves)
    for move in made.moves:
        if isinstance(move, SplitMerge):
            move.noted = np.array([[0, 1], [0, 1], [4, 2]])
    return made


def test_posterior_is_exact_with_notes():
    result = compared(problem("gaussian", n=6, seed=4), SPLITS, 6000, 4, with_notes)
    assert result.agrees, result
