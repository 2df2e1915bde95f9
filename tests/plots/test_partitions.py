"""Partitions and numbers of clusters: what is drawn is what the posterior holds."""

from itertools import permutations

import numpy as np
import pytest
from matplotlib.colors import to_hex

import bayesclust as bc
from bayesclust.partition_priors import DirichletProcess, KnownK, Nested
from tests.exactness.exact import partitions


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


def test_bars_are_shares_of_all_draws_and_marks_those_of_chains(posterior):
    ax = bc.plots.n_clusters(posterior)
    numbers = posterior["posterior"]["n_clusters"].values
    values = np.arange(numbers.min(), numbers.max() + 1)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    np.testing.assert_allclose(middles, values)
    np.testing.assert_allclose(
        [bar.get_height() for bar in ax.patches], [(numbers == k).mean() for k in values]
    )
    marks = {line.get_label(): line for line in ax.lines}
    for chain, own in enumerate(numbers):
        line = marks[f"chain {chain}"]
        np.testing.assert_allclose(line.get_ydata(), [(own == k).mean() for k in values])
        np.testing.assert_array_equal(np.round(line.get_xdata()), values)
    estimate = bc.point_estimate(posterior).max() + 1
    assert marks[f"point estimate: {estimate}"].get_xdata()[0] == estimate


def test_prior_sizes_are_those_of_the_prior():
    fixed = DirichletProcess(1.3)
    left, right = bc.plots.prior_sizes({"a": fixed, "b": Nested(KnownK(2))}, 7, num_draws=4000)
    probability, sizes = np.zeros(8), np.zeros(7)
    for z in partitions(7):
        own = np.bincount(z)
        weight = np.exp(fixed.log_prob(own, fixed.initial()))
        probability[len(own)] += weight
        sizes[: len(own)] += weight * -np.sort(-own)
    drawn = np.zeros(8)
    drawn[left.lines[0].get_xdata()] = left.lines[0].get_ydata()
    np.testing.assert_allclose(drawn, probability, atol=0.03)
    np.testing.assert_allclose(right.lines[0].get_ydata(), sizes, atol=0.12)
    assert left.lines[1].get_xdata().tolist() == [1, 2]
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    mean = float(labels[0].removeprefix("a: ").split(" ")[0])
    assert abs(mean - probability @ np.arange(8)) < 0.1
    assert bc.plots.prior_sizes(None, 20, num_draws=50)[0].get_title(loc="left")


def test_too_many_priors_are_refused():
    for number in (0, 8):
        with pytest.raises(ValueError, match=f"priors are {number}"):
            bc.plots.prior_sizes(dict.fromkeys(range(number)), 5)
    with pytest.raises(TypeError, match="priors"):
        bc.plots.prior_sizes({"a": 0.5}, 5)
