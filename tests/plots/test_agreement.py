import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import bayesclust as bc


def table(number, rng):
    names = [f"method {k}" for k in range(number)]
    values = rng.random((number, number))
    return pd.DataFrame((values + values.T) / 2, names, names)


def luminance(rgb):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_cells_have_their_numbers_in_a_colour_that_can_be_read(rng):
    matrix = table(7, rng)
    matrix.iloc[2, 3] = np.nan
    ax = bc.plots.agreement(matrix, "ARI")
    np.testing.assert_array_equal(np.ma.filled(ax.images[0].get_array(), np.nan), matrix)
    assert len(ax.texts) == 48
    for text in ax.texts:
        column, row = text.get_position()
        value = matrix.iloc[row, column]
        assert text.get_text() == f"{value:.2f}"
        cell = luminance(ax.images[0].cmap(ax.images[0].norm(value))[:3])
        ink = luminance(to_rgb(text.get_color()))
        assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) > 3
    assert [label.get_text() for label in ax.get_yticklabels()] == list(matrix.index)
    assert ax.get_title(loc="left") == "ARI"


def test_many_partitions_have_no_numbers(rng):
    ax = bc.plots.agreement(table(30, rng))
    assert not ax.texts
    assert len(ax.get_xticklabels()) == 30


def test_scale_holds_all_values_and_starts_at_zero():
    names = ["a", "b"]
    far = bc.plots.agreement(pd.DataFrame([[0.0, 3.5], [3.5, 0.0]], names, names), unit="bits")
    assert far.images[0].get_clim() == (0, 3.5)
    assert far.child_axes[0].get_ylabel() == "bits"
    measured = bc.plots.agreement(bc.agreement({"a": [0, 0, 1], "b": [0, 1, 1]}))
    assert (measured.get_title(loc="left"), measured.child_axes[0].get_ylabel()) == (
        "Variation of information",
        "bits",
    )
    below = bc.plots.agreement(pd.DataFrame([[1.0, -0.2], [-0.2, 1.0]], names, names))
    assert below.images[0].get_clim() == (-0.2, 1)


@pytest.mark.parametrize("number", [1, 2, 16, 30])
def test_nothing_overflows(number, rng):
    figure = bc.plots.agreement(
        table(number, rng)
        .rename(lambda name: f"quite a long {name}", axis=0)
        .rename(lambda name: f"quite a long {name}", axis=1)
    ).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


def test_what_is_no_table_is_refused(rng):
    with pytest.raises(TypeError, match="matrix is a ndarray"):
        bc.plots.agreement(np.eye(2))
    with pytest.raises(ValueError, match=r"rows \['method 0'\] and columns \['other'\]"):
        bc.plots.agreement(table(1, rng).rename(columns=lambda _: "other"))
    with pytest.raises(TypeError, match="no numbers"):
        bc.plots.agreement(pd.DataFrame([["x"]], ["a"], ["a"]))
    assert plt.get_fignums() == []
