"""Colours follow the style in use: dark ink on a light ground, and light ink on a dark one."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

import bayesclust as bc
from bayesclust.plots import _style as style
from tests.plots.test_layout import overflow

DRAWN = {
    "alluvial": lambda p: bc.plots.alluvial({"a": [0, 0, 1, 1, 2], "b": [0, 1, 1, 1, 1]}),
    "credibility": bc.plots.credibility,
    "ranking": bc.plots.credibility_ranking,
    "calibration": bc.plots.calibration,
    "graph": lambda p: bc.plots.constraint_graph(p, below=0.1),
    "reliability": bc.plots.reliability,
    "ranks": bc.plots.ranks,
}


def test_greys_of_a_light_style():
    assert [to_hex(style.shade(x)) for x in (0, 0.06, 1)] == ["#ffffff", "#f0f0f0", "#000000"]
    assert to_hex(style.grey()) == "#555555"
    assert len(style.palette()) == style.NUMBER == len(style.MARKERS)
    with plt.style.context({"axes.facecolor": "none", "figure.facecolor": "none"}):
        assert to_hex(style.shade(0)) == "#ffffff"


@pytest.mark.parametrize("name", DRAWN)
def test_dark_styles_have_no_light_blocks_and_no_dark_texts(name, posterior):
    with plt.style.context("dark_background"):
        assert all(max(to_rgb(colour)) > 0.5 for colour in style.palette())
        (figure,) = {ax.figure for ax in np.ravel(DRAWN[name](posterior))}
        figure.canvas.draw()
    for text in figure.findobj(Text):
        assert np.mean(to_rgb(text.get_color())) > 0.5
    for ax in figure.axes:
        for patch in ax.patches:
            assert np.mean(patch.get_facecolor()[:3]) < 0.5


def test_ranks_explain_points_where_chains_differ(posterior):
    figure = bc.plots.ranks(posterior, "entropy")[0].figure
    chains, marks = figure.legends
    assert [text.get_text() for text in chains.get_texts()] == ["0", "1", "2"]
    assert [text.get_text() for text in marks.get_texts()] == ["differs more than by chance"]
    assert overflow(figure) <= 0
