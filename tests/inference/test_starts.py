"""Where chains start and which pairs are proposed."""

from collections import Counter

import numpy as np
import pytest

from bayesclust.inference import starts
from bayesclust.inference.moves.anchors import NOBODY, Places
from bayesclust.inference.moves.propose import draw_anchors
from bayesclust.inference.schedule import Moves
from bayesclust.inference.starts import dispersed_number, seeded_partition
from tests.exactness.cases import links


@pytest.mark.parametrize(
    ("n", "expected"), [(2, [1] * 5), (10, [2, 2, 2, 2, 2]), (1000, [3, 6, 12, 24, 3])]
)
def test_numbers_of_clusters_are_dispersed(n, expected):
    assert [dispersed_number(chain, n) for chain in range(5)] == expected


def test_seeded_partition_is_nearest_seed(rng):
    centres = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    truth = np.arange(40) % 4
    labels = seeded_partition(centres[truth] + rng.normal(size=(40, 2)), 4, rng)
    assert len(np.unique(labels)) == 4
    assert all(len(np.unique(labels[truth == k])) == 1 for k in range(4))


def test_seeded_partition_has_no_gaps(rng):
    for number in (1, 3, 30):
        labels = seeded_partition(rng.normal(size=(30, 2)), number, rng)
        assert set(labels) == set(range(labels.max() + 1))
    assert labels.max() == 29
    assert seeded_partition(np.ones((5, 2)), 4, rng).tolist() == [0] * 5
    twins = np.repeat([[0.0], [1.0]], 4, axis=0)
    assert len(np.unique(seeded_partition(twins, 5, rng))) == 2


def test_many_items_are_seeded_from_a_subset(rng, monkeypatch):
    centres = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    truth = np.arange(2000) % 4
    X = centres[truth] + rng.normal(size=(2000, 2))
    monkeypatch.setattr(starts, "SEEDED_FROM", 100)
    monkeypatch.setattr(starts, "CHUNK", 300)
    labels = seeded_partition(X, 4, rng)
    assert set(zip(labels, truth, strict=True)) == {(labels[k], k) for k in range(4)}
    assert len(np.unique(labels)) == 4


def drawn(X, asked, number, rng):
    """Pairs of anchors, each in order."""
    pairs = np.full((number, 2), NOBODY)
    draw_anchors(pairs, Places(X, asked, np.zeros((0, 2), np.int64)), rng)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    return [tuple(sorted(pair)) for pair in pairs.tolist()]


def test_anchors_reach_every_pair(rng):
    X = rng.normal(size=(5, 2))
    for asked in (np.zeros((0, 2), np.int64), links(5, rng, size=4).items):
        pairs = Counter(drawn(X, asked, 3000, rng))
        assert set(pairs) == {(i, j) for i in range(5) for j in range(i + 1, 5)}


def test_a_third_of_the_anchors_stand_in_constraints(rng):
    items = links(200, rng, size=3).items
    asked = {tuple(sorted(pair)) for pair in items.tolist()}
    pairs = drawn(rng.normal(size=(200, 2)), items, 2000, rng)
    assert np.mean([pair in asked for pair in pairs]) == pytest.approx(1 / 3, abs=0.05)


def test_default_moves_cost_no_more_in_large_data():
    assert Moves.default(100).split_merge == 1.0
    assert Moves.default(100_000).split_merge < 0.01
