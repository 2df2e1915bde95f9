"""The colouring of the constraint graph: proper, of few colours, and quick."""

import time
from itertools import pairwise

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.factor_graph import greedy_coloring, item_graph
from tests.exactness.cases import links, triplets


def random_views(n, rng):
    return [links(n, rng, size=2 * n), triplets(n, rng, size=n)]


def neighbours(views, n):
    """Sets of neighbours, from the definition."""
    adjacent = [set() for _ in range(n)]
    for view in views:
        for row in view.items.tolist():
            for i in row:
                adjacent[i] |= set(row) - {i}
    return adjacent


@pytest.mark.parametrize("seed", range(5))
def test_items_that_share_an_answer_differ_in_colour(seed):
    n, rng = 40, np.random.default_rng(seed)
    views = random_views(n, rng)
    start, neighbour = item_graph([one.items for one in views], n)
    assert [neighbour[a:b].tolist() for a, b in pairwise(start)] == [
        sorted(adjacent) for adjacent in neighbours(views, n)
    ]
    colors, adjacent = greedy_coloring(views, n), neighbours(views, n)
    assert all(colors[i] not in {colors[j] for j in adjacent[i]} for i in range(n))
    assert sorted(set(colors.tolist())) == list(range(colors.max() + 1))
    assert colors.max() <= max(map(len, adjacent))
    # greedy: every lower colour is taken by some neighbour
    assert all(set(range(colors[i])) <= {colors[j] for j in adjacent[i]} for i in range(n))


def test_as_many_colours_are_used_as_are_needed():
    triplet = RelativeConstraints([(4, 0, 2)], ["dnk"], 5)
    assert sorted(greedy_coloring([triplet], 5)[[0, 2, 4]]) == [0, 1, 2]
    star = PairwiseConstraints([(7, leaf) for leaf in range(7)], [True] * 7, 8)
    np.testing.assert_array_equal(greedy_coloring([star], 8), [1] * 7 + [0])
    assert not greedy_coloring([], 5).any()
    assert not greedy_coloring([PairwiseConstraints([], [], 5)], 5).any()


def test_a_hundred_thousand_links_take_less_than_a_second(rng):
    links = PairwiseConstraints.sample(rng.integers(10, size=5000), size=100_000, seed=0)
    start = time.process_time()
    colors = greedy_coloring([links], 5000)
    assert time.process_time() - start < 1
    assert (colors[links.items[:, 0]] != colors[links.items[:, 1]]).all()
