"""Traces and ranks: every draw of every chain is in the picture."""

import numpy as np
import pytest
from scipy.stats import rankdata

import bayesclust as bc

TITLES = {
    "log_joint": "log joint density",
    "n_clusters": "number of clusters",
    "entropy": "entropy of the cluster sizes",
    "largest_cluster": "size of the largest cluster",
    "rand_to_reference": "Rand index to a reference",
    "concentration": "concentration",
}


def titles(axes):
    return [ax.get_title(loc="left") for ax in axes]


def test_default_panels_are_named_and_have_a_line_for_each_chain(posterior):
    for axes in (bc.plots.traces(posterior), bc.plots.ranks(posterior)):
        assert titles(axes) == list(TITLES.values())
        assert all(len({line.get_color() for line in ax.lines}) == 3 for ax in axes)
        legend, *_ = axes[0].figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2"]


def test_traces_are_the_draws_in_order(posterior):
    axes = bc.plots.traces(posterior, ["log_joint", "n_clusters", "q[1]"])
    draws = posterior["posterior"]
    expected = (posterior["sample_stats"]["log_joint"], draws["n_clusters"], draws["q"][..., 1])
    for ax, values in zip(axes, expected, strict=True):
        np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], values)
    assert all(tick == round(tick) for tick in axes[1].get_yticks())


def test_lines_are_shares_of_ranks_less_even_shares(posterior):
    (ax,) = bc.plots.ranks(posterior, "concentration")
    places = (rankdata(posterior["posterior"]["concentration"].values).reshape(3, 40) - 0.5) / 120
    for line, own in zip(ax.lines, places, strict=True):
        at = line.get_xdata()
        below = (own[:, None] <= at).mean(axis=0)
        # the ranks lie at the steps, where rounding may count one draw more or less
        np.testing.assert_allclose(line.get_ydata(), below - at, atol=1.001 / 40)


def test_chains_that_stay_apart_are_marked_and_equal_draws_are_not():
    z = np.random.default_rng(0).integers(0, 2, (4, 100, 8))
    assert not marked(bc.plots.ranks(z, "n_clusters")[0])
    z[0, :, :7] = 0
    assert marked(bc.plots.ranks(z, "largest_cluster")[0])


def marked(ax):
    """Points at which ArviZ says that chains differ."""
    return sum(
        np.isfinite(np.ma.filled(part.get_offsets(), np.nan)).all(axis=1).sum()
        for part in ax.collections
    )


def test_ranks_of_one_chain_are_refused(posterior):
    one = posterior.isel(chain=[0])
    with pytest.raises(ValueError, match="one chain, and ranks compare chains"):
        bc.plots.ranks(one)
