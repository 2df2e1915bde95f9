"""The graph of links against its views."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.links import link_graph


@pytest.fixture
def graph_and_views(rng):
    views = []
    for _ in range(2):
        pairs = np.array([rng.choice(9, 2, replace=False) for _ in range(20)])
        views.append(PairwiseConstraints(pairs, rng.random(20) < 0.5, n_items=9))
    return link_graph(views, 9), views


def rows(graph):
    return [
        sorted(zip(graph.neighbour[a:b].tolist(), graph.may[a:b].tolist(), strict=True))
        for a, b in zip(graph.start[:-1], graph.start[1:], strict=True)
    ]


def test_every_link_stands_in_both_rows(graph_and_views):
    graph, views = graph_and_views
    expected = [[] for _ in range(9)]
    for view in views:
        for (i, j), answer in zip(view.items.tolist(), view.answers.tolist(), strict=True):
            expected[i].append((j, answer == 1))
            expected[j].append((i, answer == 1))
    assert rows(graph) == [sorted(row) for row in expected]


def test_inside_and_between_count_each_link_once(graph_and_views, rng):
    graph, views = graph_and_views
    z = rng.integers(0, 3, 9)
    weight = {1: -2.0, 0: 5.0}
    table = np.zeros((3, 3))
    for view in views:
        for (i, j), answer in zip(view.items.tolist(), view.answers.tolist(), strict=True):
            table[z[i], z[j]] += weight[answer]
    assert graph.inside(z, (2.0, 5.0)) == pytest.approx(np.trace(table))
    between = graph.between(z, 3, (2.0, 5.0))
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(between[off], (table + table.T)[off])


def test_reordering_renames_items(graph_and_views, rng):
    graph, _ = graph_and_views
    order = rng.permutation(9)
    place = np.argsort(order)
    expected = [sorted((int(place[j]), may) for j, may in rows(graph)[old]) for old in order]
    assert rows(graph.reordered(order)) == expected
