"""The similarity matrix of many items, in the order of a dendrogram, and partitions beside it."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

import bayesclust as bc


def names_of(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def strips(ax):
    return {
        child.get_label(): np.asarray(child.images[0].get_array())[:, 0]
        for child in ax.child_axes
        if child.images
    }


def drawn_labels(colours):
    return np.unique(colours, axis=0, return_inverse=True)[1]


def test_neighbours_share_a_row_where_there_are_many_items(rng):
    n = 1500
    truth = np.repeat(np.arange(6), [500, 400, 300, 200, 99, 1])
    labels = rng.permutation(truth)
    draws = np.tile(labels, (40, 1))
    moved = rng.random(draws.shape) < 0.1
    draws[moved] = rng.integers(0, 8, moved.sum())
    ax = bc.plots.similarity(draws, labels=labels)
    shown = np.asarray(ax.images[0].get_array())
    assert shown.shape == (600, 600)
    matrix = bc.similarity_matrix(draws)
    sizes = np.bincount(labels)
    texts = [label.get_text() for label in ax.get_yticklabels()]
    order, at = [], np.arange(n) * 600 // n
    to_own = np.array([matrix[i, labels == labels[i]].mean() for i in range(n)])
    starts = sorted((patch.get_x() + 0.5, patch.get_width()) for patch in ax.patches)
    for _, width in starts:
        (k,) = np.flatnonzero(sizes == width)
        members = np.flatnonzero(labels == k)
        order.extend(members[np.lexsort((members, -to_own[members].round(12)))])
    ordered = matrix[np.ix_(order, order)]
    onto = (at == np.arange(600)[:, None]) / np.bincount(at)[:, None]
    np.testing.assert_allclose(shown, onto @ ordered @ onto.T, atol=1e-6)
    assert len(texts) >= 4


def test_items_in_the_order_of_the_dendrogram(posterior):
    ax = bc.plots.similarity(posterior, order="dendrogram")
    matrix = bc.similarity_matrix(posterior)
    merges = linkage(squareform(1 - matrix, checks=False), "average")
    expected = dendrogram(merges, no_plot=True)
    order = np.array(expected["leaves"])
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix[np.ix_(order, order)])
    (tree,) = (child for child in ax.child_axes if child.get_xlabel() == "1 - similarity")
    drawn = sorted(np.round(part, 9).tolist() for part in tree.collections[0].get_segments())
    brackets = zip(
        np.array(expected["dcoord"]), (np.array(expected["icoord"]) - 5) / 10, strict=True
    )
    assert drawn == sorted(
        np.round(np.c_[heights, places], 9).tolist() for heights, places in brackets
    )
    assert list(strips(ax)) == ["point estimate"]


def test_a_deep_dendrogram_is_drawn():
    # a chain of 1500 merges, one item after the other
    draws = (np.arange(1500) < np.arange(1, 1500, 5)[:, None]).astype(int)
    ax = bc.plots.similarity(draws, order="dendrogram")
    (tree,) = (child for child in ax.child_axes if child.get_xlabel() == "1 - similarity")
    assert len(tree.collections[0].get_segments()) == 1499


def test_partitions_beside_the_matrix_have_the_colours_of_their_clusters(posterior, rng):
    labels = bc.point_estimate(posterior)
    other = np.where(labels == 0, 7, labels)
    other[rng.integers(0, 18, 2)] = 9
    ax = bc.plots.similarity(
        posterior, labels=labels, partitions={"same": labels + 5, "other": other}
    )
    shown = np.asarray(ax.images[0].get_array())
    matrix = bc.similarity_matrix(posterior)
    found = strips(ax)
    assert list(found) == ["same", "other"]
    # the order of the items, from their similarities in the matrix
    drawn = drawn_labels(found["same"])
    sizes = [patch.get_width() for patch in sorted(ax.patches, key=lambda patch: patch.get_x())]
    np.testing.assert_array_equal(np.flatnonzero(np.diff(drawn)) + 1, np.cumsum(sizes)[:-1])
    assert (found["same"] == found["other"]).all(axis=1).sum() == (other != 9).sum()
    assert sorted(np.bincount(drawn_labels(found["other"]))) == sorted(
        np.unique(other, return_counts=True)[1]
    )
    assert shown.sum() == pytest.approx(matrix.sum())


def test_strips_are_named_and_stand_before_the_colour_bar(posterior):
    ax = bc.plots.similarity(posterior, order="dendrogram", partitions={"truth": np.arange(18) % 2})
    beside = [child for child in ax.child_axes if child.images]
    assert [names_of(child) for child in beside] == [["point estimate"], ["truth"]]
    ax.figure.canvas.draw()
    edges = [child.get_position().x0 for child in [*beside, ax.child_axes[-1]]]
    assert edges == sorted(edges)
    assert ax.child_axes[-1].get_ylabel() == "posterior probability of sharing a cluster"


def test_what_does_not_fit_is_refused(posterior):
    with pytest.raises(
        ValueError, match=r"partitions\['other'\] has 2 items, but the posterior has 18"
    ):
        bc.plots.similarity(posterior, partitions={"other": [0, 1]})
    with pytest.raises(ValueError, match='order must be "clusters" or "dendrogram"; got'):
        bc.plots.similarity(posterior, order="size")
    with pytest.raises(ValueError, match="at most 5,000 items; got 5,001"):
        bc.plots.similarity(np.zeros((1, 5001), int), np.zeros(5001, int), order="dendrogram")
