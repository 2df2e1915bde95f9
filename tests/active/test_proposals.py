"""Candidates: one pair for each two atoms, or queries on which draws disagree."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from bayesclust.active.candidates import atoms, propose
from bayesclust.active.protocol import ordered


def test_atoms_are_the_items_that_no_draw_parts(rng):
    draws = rng.integers(2, size=(3, 30))
    group = atoms(draws)
    for i, j in combinations(range(30), 2):
        assert (group[i] == group[j]) == (draws[:, i] == draws[:, j]).all()
    assert np.unique(group).tolist() == list(range(group.max() + 1))


def test_one_pair_for_each_two_atoms_and_another_where_it_was_asked(rng):
    draws = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1]])  # atoms {0, 1, 2}, {3, 4}, {5}
    even = np.array([0.5, 0.5])
    asked = {(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (3, 5), (4, 5)}
    for _ in range(20):
        rows = propose("pair", draws, even, asked, 100, rng)
        assert not set(map(tuple, rows.tolist())) & asked
        of_atoms = sorted(tuple(sorted(atoms(draws)[row])) for row in rows)
        assert of_atoms in ([(0, 1), (0, 2)], [(0, 2)])
    assert len(propose("pair", draws, even, set(), 100, rng)) == 3


def test_all_triplets_where_they_are_few(rng):
    rows = propose("triplet", rng.integers(2, size=(4, 5)), np.full(4, 0.25), {(0, 1, 2)}, 30, rng)
    assert len({ordered("triplet", row) for row in rows.tolist()}) == len(rows) == 29


def test_pairs_come_by_how_much_the_draws_disagree(rng):
    draws = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 1, 2]])
    weights = np.array([0.5, 0.3, 0.2])
    pairs = list(combinations(range(5), 2))
    pi = np.array([weights @ (draws[:, i] == draws[:, j]) for i, j in pairs])
    counts = dict.fromkeys(pairs, 0)
    for _ in range(1500):
        for row in propose("pair", draws, weights, set(), 1, rng).tolist():
            counts[tuple(row)] += 1
    seen, share = np.array(list(counts.values())), pi * (1 - pi)
    assert (seen[share == 0] == 0).all()
    assert chisquare(seen[share > 0], share[share > 0] / share.sum() * seen.sum()).pvalue > 1e-3


@pytest.mark.parametrize("kind", ["pair", "triplet"])
def test_draws_that_agree_leave_nothing_to_ask(kind, rng):
    same = np.repeat(np.arange(20)[None] % 10, 3, axis=0)
    assert propose(kind, same, np.full(3, 1 / 3), set(), 5, rng).shape == (
        0,
        2 if kind == "pair" else 3,
    )
