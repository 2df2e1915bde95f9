import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Rectangle

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
    orders = {}
    for k in range(3):
        members = np.flatnonzero(labels == k)
        orders[k] = sorted(members, key=lambda i: -round(to_own[i], 10))
    clusters = [
        [int(k) for k in order]
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    ]
    fits = []
    for order in clusters:
        items = np.concatenate([orders[k] for k in order])
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


def test_larger_end_comes_first():
    ax = bc.plots.similarity([[0, 1, 1]], labels=[0, 1, 1])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1 (2)", "0 (1)"]


def test_names_are_the_labels_given():
    ax = bc.plots.similarity([[0, 0, 0, 1]], labels=[-7, -7, -7, 40])
    texts = {label.get_text() for label in ax.get_yticklabels()}
    assert texts == {"-7 (3)", "40 (1)"}
    assert "4 items, in 2 clusters" in ax.get_title(loc="left")


def test_names_of_small_clusters_do_not_overlap():
    z = np.r_[np.zeros(100, int), np.arange(1, 101)]
    ax = bc.plots.similarity([z, z])
    heights = np.sort(ax.get_yticks())
    assert len(frames(ax)) == 101
    assert np.diff(heights).min() >= 0.04 * 200
    assert "0 (100)" in [label.get_text() for label in ax.get_yticklabels()]


def test_point_estimate_is_the_default(posterior):
    given = bc.plots.similarity(posterior, labels=bc.point_estimate(posterior))
    default = bc.plots.similarity(posterior)
    np.testing.assert_array_equal(shown_matrix(given), shown_matrix(default))
    assert frames(given) == frames(default)


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


def test_entropy_of_an_item_that_is_alone():
    np.testing.assert_array_equal(bc.posterior.item_entropy([[0]]), [0])


def test_axes_given_are_used_and_no_figure_is_made(posterior):
    figure, (first, second) = plt.subplots(1, 2)
    plt.sca(second)
    assert bc.plots.similarity(posterior, ax=first) is first
    assert plt.get_fignums() == [figure.number]
    assert plt.gca() is second
    assert not second.images
    figure.canvas.draw()


def test_one_figure_is_made_and_nothing_overflows(posterior):
    ax = bc.plots.similarity(posterior)
    figure = ax.figure
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


@pytest.mark.parametrize("draws", [[[0]], [[0, 1]], [[0, 0, 0]]])
def test_few_items_and_constant_draws(draws):
    ax = bc.plots.similarity(draws)
    ax.figure.canvas.draw()
    assert shown_matrix(ax).shape == (len(draws[0]),) * 2


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ([0, 1], ValueError, "labels has 2 items, but the posterior has 18"),
        ([0.5] * 18, TypeError, "integers"),
        ([[0] * 18], ValueError, "labels must have shape"),
    ],
)
def test_labels_that_do_not_fit_are_refused(posterior, labels, error, words):
    with pytest.raises(error, match=words):
        bc.plots.similarity(posterior, labels=labels)
    assert plt.get_fignums() == []
