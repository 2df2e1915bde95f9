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
    "an answer is wrong",
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
        assert len(right.patches) == 3
        for patch, chain in zip(right.patches, values, strict=True):
            shares, edges, _ = patch.get_data()
            np.testing.assert_allclose(shares * chain.size, np.histogram(chain, edges)[0])
            assert shares.sum() == pytest.approx(1)
            if values.dtype.kind == "i":
                np.testing.assert_array_equal(
                    edges, np.arange(values.min(), values.max() + 2) - 0.5
                )
        assert left.get_ylim() == right.get_ylim()


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
