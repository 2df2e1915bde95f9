"""The plot of a path: what is drawn is what the path holds."""

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc

NAMES = ("vi", "ari", "n_clusters", "entropy", "objective")


@pytest.fixture(params=["found", "missed"])
def path(request, rng):
    """A path of five gammas, made up; the least J is the limit's own or another's."""
    gammas = np.geomspace(0.1, 1e4, 5)
    middle = np.linspace(1, 2, 5)[:, None] + rng.random((5, 1))
    names = [*NAMES, "energy", "vi_best", "ari_best"]
    values = {name: (("gamma", "statistic"), middle + rng.random(3) * [0, -1, 1]) for name in names}
    values |= {name: ("gamma", rng.random(5)) for name in ("vi_within", "vi_between")}
    attrs = {"limit_objective": 1.0, "best_objective": 1.0 if request.param == "found" else 0.4}
    attrs |= {
        "limit_n_clusters": 3,
        "best_n_clusters": 4,
        "limit_entropy": 1.5,
        "best_entropy": 1.9,
    }
    coords = {"gamma": gammas, "statistic": ["mean", "lower", "upper"]}
    return xr.Dataset(values, coords, attrs | {"divergence": "euclidean"})


def heights(ax):
    return [
        line.get_ydata()[0]
        for line in ax.lines
        if len(set(np.asarray(line.get_ydata()).tolist())) == 1
    ]


def test_lines_are_means_and_bands_are_intervals(path):
    panels = bc.plots.limit_path(path)
    assert panels.shape == (6,)
    for ax, name in zip(panels, NAMES, strict=False):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), path[name].sel(statistic="mean"))
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), path["gamma"])
        band = ax.collections[0].get_paths()[0].vertices[:, 1]
        assert band.min() == path[name].sel(statistic="lower").min()
        assert band.max() == path[name].sel(statistic="upper").max()
        assert ax.get_xscale() == "log"
    np.testing.assert_array_equal(
        panels[4].lines[1].get_ydata(), path["energy"].sel(statistic="mean")
    )
    for line, name in zip(panels[5].lines, ("vi_within", "vi_between"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), path[name])


def test_a_better_partition_is_drawn_where_there_is_one(path):
    panels = bc.plots.limit_path(path)
    missed = path.attrs["best_objective"] < 1.0
    assert len(panels[0].lines) == (2 if missed else 1)
    assert heights(panels[2]) == ([3, 4] if missed else [3])
    assert heights(panels[3]) == ([1.5, 1.9] if missed else [1.5])
    assert heights(panels[4]) == ([1.0, 0.4] if missed else [1.0])
    words = [text.get_text() for text in panels[4].get_legend().get_texts()]
    assert ("the partition of least J found" in words) == missed
    assert panels[0].get_title(loc="left") == "Variation of information to " + (
        "..." if missed else "RDP-means"
    )
