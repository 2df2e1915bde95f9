"""Traces and ranks: every draw of every chain is in the picture."""

import numpy as np
import pytest
from scipy.stats import binom, rankdata

import bayesclust as bc

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
