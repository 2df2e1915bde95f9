"""Similarity matrices and tables of agreement: what is drawn, in which order."""

from itertools import permutations

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

import bayesclust as bc


def shown_matrix(ax):
    return np.asarray(ax.images[0].get_array())


def frames(ax):
    return [
        (patch.get_x(), patch.get_width()) for patch in ax.patches if isinstance(patch, Rectangle)
    ]


def test_matrix_shown_is_the_similarity_reordered(posterior):
    labels = np.arange(18) % 3
    shown = shown_matrix(bc.plots.similarity(posterior, labels=labels))
    matrix = bc.similarity_matrix(posterior)
    to_own = [matrix[i, labels == labels[i]].mean() for i in range(18)]
    rows = [sorted(range(k, 18, 3), key=lambda i: -round(to_own[i], 10)) for k in range(3)]
    fits = []
    for order in permutations(rows):
        items = np.concatenate(order)
        fits.append(np.array_equal(shown, matrix[np.ix_(items, items)]))
    assert sum(fits) == 1


def test_clusters_that_share_draws_are_neighbours():
    # clusters of 2, 2 and 5 items; the two small ones are one in half of the draws
    apart, joined = [0, 0, 1, 1, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 1, 0, 0]
    ax = bc.plots.similarity([apart, joined], labels=apart)
    texts = [label.get_text() for label in ax.get_yticklabels()]
    assert texts in (["1 (5)", "0 (2)", "2 (2)"], ["1 (5)", "2 (2)", "0 (2)"])
    assert frames(ax) == [(-0.5, 5), (4.5, 2), (6.5, 2)]
    np.testing.assert_array_equal(shown_matrix(ax)[5:7, 7:9], 0.5)


def test_strip_shows_entropies_in_the_order_of_the_matrix(posterior):
    ax = bc.plots.similarity(posterior)
    strip = ax.child_axes[0]
    heights, edges, _ = strip.patches[0].get_data()
    s = shown_matrix(ax)
    safe = np.clip(s, 1e-300, 1 - 1e-16)
    bits = np.where((s == 0) | (s == 1), 0, -safe * np.log2(safe) - (1 - safe) * np.log2(1 - safe))
    np.testing.assert_allclose(heights, bits.sum(axis=1) / 17, atol=1e-12)
    assert heights.max() > 0.1
    assert (edges[0], edges[-1]) == strip.get_xlim() == ax.get_xlim()
    assert strip.get_ylim() == (0, 1)


def test_neighbours_share_a_row_where_there_are_many(rng):
    n = 1500
    labels = rng.permutation(np.repeat(np.arange(6), [500, 400, 300, 200, 99, 1]))
    draws = np.tile(labels, (40, 1))
    moved = rng.random(draws.shape) < 0.1
    draws[moved] = rng.integers(0, 8, moved.sum())
    ax = bc.plots.similarity(draws, labels=labels)
    matrix = bc.similarity_matrix(draws)
    to_own = np.array([matrix[i, labels == labels[i]].mean() for i in range(n)])
    order = []
    for _, width in sorted(frames(ax)):
        (k,) = np.flatnonzero(np.bincount(labels) == width)
        members = np.flatnonzero(labels == k)
        order.extend(members[np.lexsort((members, -to_own[members].round(12)))])
    at = np.arange(n) * 600 // n
    onto = (at == np.arange(600)[:, None]) / np.bincount(at)[:, None]
    ordered = matrix[np.ix_(order, order)]
    np.testing.assert_allclose(shown_matrix(ax), onto @ ordered @ onto.T, atol=1e-6)


def test_items_in_the_order_of_the_dendrogram(posterior):
    ax = bc.plots.similarity(posterior, order="dendrogram")
    matrix = bc.similarity_matrix(posterior)
    merges = linkage(squareform(1 - matrix, checks=False), "average")
    expected = dendrogram(merges, no_plot=True)
    order = np.array(expected["leaves"])
    np.testing.assert_array_equal(shown_matrix(ax), matrix[np.ix_(order, order)])
    (tree,) = (child for child in ax.child_axes if child.get_xlabel() == "1 - similarity")
    drawn = sorted(np.round(part, 9).tolist() for part in tree.collections[0].get_segments())
    brackets = np.dstack([expected["dcoord"], expected["icoord"]])
    assert drawn == sorted(np.round(brackets, 9).tolist())
    (strip,) = (child for child in ax.child_axes if child.get_xlabel() == "clusters")
    colours = np.asarray(strip.images[0].get_array())[:, 0]
    shown = np.unique(colours, axis=0, return_inverse=True)[1]
    assert bc.metrics.adjusted_rand(shown, bc.point_estimate(posterior)[order]) == 1


def table(number, rng):
    names = [f"method {k}" for k in range(number)]
    values = rng.random((number, number))
    return pd.DataFrame((values + values.T) / 2, names, names)


def test_cells_have_their_numbers(rng):
    matrix = table(7, rng)
    matrix.iloc[2, 3] = np.nan
    ax = bc.plots.agreement(matrix.rename_axis(columns="distance (bits)"))
    np.testing.assert_array_equal(np.ma.filled(ax.images[0].get_array(), np.nan), matrix)
    assert len(ax.texts) == 48
    for text in ax.texts:
        column, row = text.get_position()
        assert text.get_text() == f"{matrix.iloc[row, column]:.2f}"
    assert [label.get_text() for label in ax.get_yticklabels()] == list(matrix.index)
    assert ax.get_title(loc="left") == "Distance"
    assert ax.child_axes[0].get_ylabel() == "bits"
