from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import bayesclust as bc


def colours_by_place(ax):
    """What is drawn: the colour and marker at each place, and whether it is faint."""
    found = {}
    for collection in ax.collections:
        for place in np.asarray(collection.get_offsets()):
            colour = collection.get_facecolor()[0]
            shape = collection.get_paths()[0].vertices.round(6).tobytes()
            assert tuple(place) not in found
            found[tuple(place)] = (to_hex(colour), shape, round(float(colour[3]), 2))
    return found


def drawn_partition(ax, X):
    """Labels that are equal where colours and markers are, and which items are faint."""
    found = colours_by_place(ax)
    looks = [found[tuple(place)] for place in X]
    kinds = sorted({look[:2] for look in looks})
    return (
        np.array([kinds.index(look[:2]) for look in looks]),
        np.array([look[2] < 0.5 for look in looks]),
        looks,
    )


def agreement(a, b):
    """Most items on which two partitions agree under any matching of clusters, by trying all."""
    size = max(a.max(), b.max()) + 1
    return max((np.array(order)[a] == b).sum() for order in permutations(range(size)))


def equal(a, b):
    return bc.metrics.variation_of_information(a, b) < 1e-12


def test_panels_show_the_point_estimate_and_the_bounds(posterior):
    X = posterior["observed_data"]["X"].values
    axes = bc.plots.partitions(posterior)
    centre = bc.point_estimate(posterior)
    ball = bc.credible_ball(posterior, centre)
    shown, faint, looks = drawn_partition(axes[0], X)
    assert equal(shown, centre)
    assert not faint.any()
    for ax, name in zip(axes[1:], ("upper", "horizontal", "lower"), strict=True):
        bound = getattr(ball, name)[0]
        labels, faint, own = drawn_partition(ax, X)
        assert equal(labels, bound)
        same = np.array([look[:2] == other[:2] for look, other in zip(own, looks, strict=True)])
        np.testing.assert_array_equal(faint, same)
        assert same.sum() == agreement(bound, centre)
        title = ax.get_title(loc="left")
        assert f"{bound.max() + 1} cluster" in title
        assert f"{ball.distance(bound):.2f} bits away, {18 - same.sum()} item" in title
    assert f"radius {ball.radius:.2f} bits" in axes[0].figure.get_suptitle()


def test_legends_name_the_clusters_and_their_sizes(posterior):
    centre = bc.point_estimate(posterior)
    ax = bc.plots.partitions(posterior)[0]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"{k} ({size})" for k, size in enumerate(np.bincount(centre))]


def test_many_clusters_differ_and_the_legend_names_the_largest():
    z = np.repeat(np.arange(30), np.arange(1, 31))
    X = np.random.default_rng(0).normal(size=(len(z), 2))
    ax = bc.plots.partitions([z, z], X)[0]
    assert equal(drawn_partition(ax, X)[0], z)
    assert ax.get_legend().get_title().get_text().endswith("the largest of 30")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"{k} ({k + 1})" for k in range(20, 30)]


def test_more_columns_are_shown_by_their_principal_components(rng):
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) + 3
    X = np.c_[X, np.full(40, 7.0)]
    z = rng.integers(0, 2, size=(10, 40))
    ax = bc.plots.partitions(z, X)[0]
    shown = np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])
    scaled = (X[:, :5] - X[:, :5].mean(axis=0)) / X[:, :5].std(axis=0)
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    expected = np.abs(left[:, :2] * values[:2])
    np.testing.assert_allclose(np.sort(np.abs(shown), axis=0), np.sort(expected, axis=0), atol=1e-8)
    share = values**2 / (values**2).sum()
    assert ax.figure.axes[2].get_xlabel() == f"1st principal component ({share[0]:.0%})"
    assert ax.get_ylabel() == f"2nd principal component ({share[1]:.0%})"


def test_two_columns_are_shown_as_they_are_and_missing_cells_at_their_mean():
    X = np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 9.0]])
    ax = bc.plots.partitions([[0, 0, 0]], X)[0]
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), [[0, 5], [1, 7], [2, 9]])


def test_one_column_is_spread_over_the_height():
    ax = bc.plots.partitions([[0] * 50], np.arange(50.0)[:, None])[0]
    places = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_array_equal(places[:, 0], np.arange(50))
    assert np.abs(np.diff(places[:, 1])).min() > 0.3
    assert (places[:, 1].min(), places[:, 1].max()) == (
        pytest.approx(0, abs=0.05),
        pytest.approx(1, abs=0.05),
    )


def test_axes_given_are_used(posterior):
    figure, axes = plt.subplots(1, 4)
    assert (bc.plots.partitions(posterior, axes=axes) == axes).all()
    assert plt.get_fignums() == [figure.number]


def test_columns_have_their_names(posterior):
    from bayesclust.posterior.tree import with_names

    named = with_names(posterior, features=["length", "width"])
    axes = bc.plots.partitions(named)
    assert (axes[2].get_xlabel(), axes[2].get_ylabel()) == ("length", "width")


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_nothing_overflows(posterior, loss):
    figure = bc.plots.partitions(posterior, loss=loss)[0].figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


def test_what_does_not_fit_is_refused(posterior):
    with pytest.raises(ValueError, match="no data to place its items in the plane: pass X"):
        bc.plots.partitions([[0, 1]])
    with pytest.raises(ValueError, match="X has 3 rows, but the posterior has 2 items"):
        bc.plots.partitions([[0, 1]], [[0, 0], [1, 1], [2, 2]])
    with pytest.raises(ValueError, match="axes are 1, but the panels of a credible ball take 4"):
        bc.plots.partitions(posterior, axes=[None])
    with pytest.raises(ValueError, match="level"):
        bc.plots.partitions(posterior, level=1)
    assert plt.get_fignums() == []
