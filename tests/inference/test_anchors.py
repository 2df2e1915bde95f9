"""Anchors of split-merge proposals: shares of each kind, and pairs that a warming chain found worth trying again."""

import numpy as np
import pytest

from bayesclust.inference import collapsed
from bayesclust.inference.moves.anchors import NOTED, WORTH_NOTING, AnchorProposal
from bayesclust.inference.schedule import Moves
from tests.inference.states import chain
from tests.judges.cases import all_views, problem
from tests.judges.test_enumeration import compared

SPLITS = Moves(split_merge=4.0, link_blocks=False, single_site=False)


def proposal(rng, n=40):
    return AnchorProposal(rng.normal(size=(n, 2)), all_views(n, rng))


def test_a_quarter_of_the_pairs_are_noted_ones(rng):
    anchors, likely = proposal(rng), np.full(2, 0.5)
    anchors.noting = True
    anchors.note(np.array([[3, 17], [25, 8]]), likely)
    drawn = [anchors.draw(rng) for _ in range(8000)]
    share = np.mean([pair in ((3, 17), (25, 8)) for pair in drawn])
    # beside uniform pairs, neighbours and answers, that now and then are these
    assert 0.25 - 0.02 < share < 0.25 + 0.04
    assert all(first != second for first, second in drawn)


def test_only_what_had_a_chance_is_noted_and_only_while_noting(rng):
    anchors, pairs = proposal(rng), np.array([[0, 1], [2, 3]])
    anchors.note(pairs, np.ones(2))
    assert len(anchors.noted) == 0
    anchors.noting = True
    anchors.note(pairs, np.array([WORTH_NOTING / 2, 2 * WORTH_NOTING]))
    np.testing.assert_array_equal(anchors.noted, [[2, 3]])
    for first in range(NOTED):
        anchors.note(np.array([[first, first + 1]]), np.ones(1))
    assert len(anchors.noted) == NOTED
    np.testing.assert_array_equal(anchors.noted[[0, -1]], [[0, 1], [NOTED - 1, NOTED]])


def test_notes_are_taken_while_warming_up_and_kept_afterwards():
    sampler = chain(n=30, seed=1, moves=Moves(split_merge=2.0))
    for _ in range(30):
        sampler.sweep(adapt=True, freeze_noise=True)
    assert len(sampler.anchors.noted) == 0
    for _ in range(60):
        sampler.sweep(adapt=True)
    noted = sampler.anchors.noted.copy()
    assert len(noted) > 0
    for _ in range(30):
        sampler.sweep()
    np.testing.assert_array_equal(sampler.anchors.noted, noted)


class WithNotes(AnchorProposal):
    """Some pairs are noted from the start, one of them more often than the other."""

    def __init__(self, X, views):
        super().__init__(X, views)
        self.noted = np.array([[0, 1], [0, 1], [4, 2]])


@pytest.mark.parametrize("family", ["gaussian", "gaussian_tied"])
def test_exact_posterior_with_notes(family, monkeypatch):
    monkeypatch.setattr(collapsed, "AnchorProposal", WithNotes)
    result = compared(problem(family, n=6, seed=4), SPLITS, 6000, 4)
    assert result.agrees, result


class NotesThatLook(WithNotes):
    """A noted pair is proposed only where it sits apart: the choice depends on the partition."""

    chain = None

    def draw(self, rng):
        first, second = super().draw(rng)
        z = NotesThatLook.chain.state.assignment.z
        while z[first] == z[second] and rng.random() < 0.8:
            first, second = super().draw(rng)
        return first, second

    def pairs(self, number, rng):
        return np.array([self.draw(rng) for _ in range(number)]).reshape(-1, 2)


def test_a_choice_that_looks_at_the_partition_is_noticed(monkeypatch):
    monkeypatch.setattr(collapsed, "AnchorProposal", NotesThatLook)
    seat = collapsed.collapsed_chain._seat

    def remembered(self, z):
        NotesThatLook.chain = self
        seat(self, z)

    monkeypatch.setattr(collapsed.collapsed_chain, "_seat", remembered)
    assert not compared(problem("gaussian", n=6, seed=4), SPLITS, 6000, 4).agrees
