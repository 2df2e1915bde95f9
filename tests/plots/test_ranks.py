import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binom, rankdata

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


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


def test_nothing_overflows_and_axes_given_are_used(posterior):
    figure = bc.plots.ranks(posterior)[0].figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()
    plt.close(figure)
    figure, axes = plt.subplots(1, 2)
    assert (bc.plots.ranks(posterior, ["entropy", "n_clusters"], axes) == axes).all()
    assert plt.get_fignums() == [figure.number]


def test_what_is_not_followed_is_refused(posterior):
    with pytest.raises(
        ValueError,
        match=r"'speed' is no functional of these draws: choose from n_clusters, .*log_joint",
    ):
        bc.plots.ranks(posterior, "speed")
    with pytest.raises(ValueError, match="names is empty"):
        bc.plots.ranks(posterior, [])
    assert plt.get_fignums() == []
