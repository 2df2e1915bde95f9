"""Traces and ranks: every draw of every chain is in the picture."""

import numpy as np
import pytest
from scipy.stats import binom, rankdata

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

TITLES = [
    "log joint density",
    "number of clusters",
    "concentration",
    'p: a pair from one cluster is answered "same", source 0',
    'p: a pair from one cluster is answered "same", source 1',
    'q: a pair from two clusters is answered "different", source 0',
    'q: a pair from two clusters is answered "different", source 1',
    "noise: an answer is wrong",
]


def titles(axes):
    return [left.get_title(loc="left") for left in axes[:, 0]]


def values_of(posterior):
    draws, stats = posterior["posterior"], posterior["sample_stats"]
    scalars = [stats["log_joint"].values, draws["n_clusters"].values, draws["concentration"].values]
    return scalars + [
        draws[name].values[..., s]
        for name, s in [("p", 0), ("p", 1), ("q", 0), ("q", 1), ("noise", 0)]
    ]


def test_default_rows_and_their_draws(posterior):
    axes = bc.plots.traces(posterior)
    assert axes.shape == (8, 2)
    assert titles(axes) == TITLES
    for left, values in zip(axes[:, 0], values_of(posterior), strict=True):
        assert [line.get_label() for line in left.lines] == ["chain 0", "chain 1", "chain 2"]
        np.testing.assert_array_equal([line.get_ydata() for line in left.lines], values)
        assert len({line.get_color() for line in left.lines}) == 3


def test_distributions_hold_all_draws(posterior):
    axes = bc.plots.traces(posterior)
    for (left, right), values in zip(axes, values_of(posterior), strict=True):
        if values.dtype.kind == "i":
            continue
        assert len(right.patches) == 3
        for patch, chain in zip(right.patches, values, strict=True):
            shares, edges, _ = patch.get_data()
            np.testing.assert_allclose(shares * chain.size, np.histogram(chain, edges)[0])
            assert shares.sum() == pytest.approx(1)
        assert left.get_ylim() == right.get_ylim()


def test_whole_numbers_have_a_bar_for_each_chain_and_number(posterior):
    right = bc.plots.traces(posterior, "n_clusters")[0, 1]
    values = posterior["posterior"]["n_clusters"].values
    numbers = np.unique(values)
    bars = [bar for chain in right.containers for bar in chain.patches]
    shown = [(round(bar.get_y() + bar.get_height() / 2), bar.get_width()) for bar in bars]
    expected = [(number, (chain == number).mean()) for chain in values for number in numbers]
    assert len(right.containers) == 3
    np.testing.assert_allclose(shown, expected)


def test_probabilities_stay_within_their_limits(posterior):
    axes = bc.plots.traces(posterior, ["p", "q", "noise"])
    for left in axes[:, 0]:
        low, high = left.get_ylim()
        drawn = np.concatenate([line.get_ydata() for line in left.lines])
        assert -0.01 <= low < drawn.min() <= drawn.max() < high <= 1.01
        assert high - low >= 0.1
    edges = axes[0, 1].patches[0].get_data().edges
    assert 0 <= edges[0] < edges[-1] <= 1


def test_draws_that_are_not_finite_are_left_out_of_distributions():
    log_joint = np.array([[-np.inf, -5.0, -6.0, -7.0]])
    axes = bc.plots.traces(
        to_datatree({"z": np.zeros((1, 4, 2), int)}, {"log_joint": log_joint}), "log_joint"
    )
    assert axes[0, 1].patches[0].get_data()[0].sum() == pytest.approx(0.75)
    assert np.isfinite(axes[0, 0].get_ylim()).all()


def test_variables_by_name_with_all_their_components(posterior, rng):
    assert titles(bc.plots.traces(posterior, "moved")) == ["moved"]
    draws = {
        "z": np.zeros((1, 4, 3), int),
        "centre": rng.normal(size=(1, 4, 2)),
        "p_night": rng.random((1, 4, 2)),
    }
    tree = to_datatree(draws, dims={"p_night": ("night_source",)})
    assert titles(bc.plots.traces(tree, ["centre"])) == ["centre[0]", "centre[1]"]
    assert titles(bc.plots.traces(tree)) == [
        "number of clusters",
        'p: a pair from one cluster is answered "same", night, source 0',
        'p: a pair from one cluster is answered "same", night, source 1',
    ]


def test_confusion_is_shown_by_its_diagonal_unless_asked_for(rng):
    confusion = rng.dirichlet([1, 1, 1], (2, 5, 1, 3))
    draws = {"z": np.zeros((2, 5, 3), int), "confusion": confusion}
    tree = to_datatree(draws, dims={"confusion": ("triplets_source", "truth", "answer")})
    axes = bc.plots.traces(tree)
    assert titles(axes)[1:] == [
        f'confusion: "{w}" in truth is answered "{w}"' for w in ("yes", "no", "dnk")
    ]
    np.testing.assert_array_equal(axes[3, 0].lines[1].get_ydata(), confusion[1, :, 0, 2, 2])
    assert len(bc.plots.traces(tree, "confusion")) == 9


def test_heights_are_shares_of_ranks(posterior):
    axes = bc.plots.ranks(posterior, ["log_joint", "concentration"])
    followed = (posterior["sample_stats"]["log_joint"], posterior["posterior"]["concentration"])
    for ax, values in zip(axes, followed, strict=True):
        places = (rankdata(values.values).reshape(3, 40) - 0.5) / 120
        assert [patch.get_label() for patch in ax.patches[1:]] == ["chain 0", "chain 1", "chain 2"]
        for patch, own in zip(ax.patches[1:], places, strict=True):
            heights, edges, _ = patch.get_data()
            np.testing.assert_allclose(heights, np.histogram(own, edges)[0] * 5 / 40)
            np.testing.assert_allclose(edges, np.linspace(0, 1, 6))


def test_the_band_holds_heights_of_independent_draws(posterior):
    band = bc.plots.ranks(posterior, "entropy")[0].patches[0]
    low, high = (round(edge * 40 / 5) for edge in (band.get_y(), band.get_y() + band.get_height()))
    inside = binom.cdf(high, 40, 0.2) - binom.cdf(low - 1, 40, 0.2)
    assert inside >= 0.99
    assert binom.cdf(high - 1, 40, 0.2) - binom.cdf(low, 40, 0.2) < 0.99


def test_ties_are_spread_evenly():
    z = np.zeros((2, 400, 4), int)
    ax = bc.plots.ranks(to_datatree({"z": z}), "n_clusters")[0]
    for patch in ax.patches[1:]:
        assert np.abs(patch.get_data()[0] - 1).max() < 0.6


def test_a_chain_apart_stands_out(rng):
    z = rng.integers(0, 3, (3, 100, 8))
    log_joint = rng.normal(size=(3, 100)) + np.array([0, 0, 50])[:, None]
    ax = bc.plots.ranks(to_datatree({"z": z}, {"log_joint": log_joint}), "log_joint")[0]
    assert ax.patches[3].get_data()[0][-3:].min() > 2.9
    assert ax.patches[1].get_data()[0][-3:].max() == 0
    assert ax.get_ylim()[1] > 3


def test_the_default_is_what_there_is(posterior):
    titles = [ax.get_title(loc="left") for ax in bc.plots.ranks(posterior)]
    assert titles == [
        "log joint density",
        "number of clusters",
        "entropy of the cluster sizes",
        "size of the largest cluster",
        "Rand index to a reference",
        "concentration",
    ]
    assert len(bc.plots.ranks(to_datatree({"z": np.zeros((1, 9, 3), int)}))) == 4
