"""The plot of a path: what is drawn is what the path holds."""

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc

NAMES = ("vi", "ari", "n_clusters", "entropy", "objective")


@pytest.fixture
def path(rng):
    """A path of five gammas, made up."""
    gammas = np.geomspace(0.1, 1e4, 5)
    middle = np.linspace(1, 2, 5)[:, None] + rng.random((5, 1))
    names = [*NAMES, "energy"]
    values = {name: (("gamma", "statistic"), middle + rng.random(3) * [0, -1, 1]) for name in names}
    values |= {name: ("gamma", rng.random(5)) for name in ("vi_within", "vi_between")}
    attrs = {"limit_objective": 1.0, "limit_n_clusters": 3, "limit_entropy": 1.5}
    coords = {"gamma": gammas, "statistic": ["mean", "lower", "upper"]}
    return xr.Dataset(values, coords, attrs | {"divergence": "euclidean", "limit": "RDP-means"})


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
        panels[4].lines[2].get_ydata(), path["energy"].sel(statistic="mean")
    )
    for line, name in zip(panels[5].lines, ("vi_within", "vi_between"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), path[name])


def test_levels_are_those_of_the_limit(path):
    panels = bc.plots.limit_path(path)
    assert [heights(panels[at]) for at in (2, 3, 4)] == [[3], [1.5], [1.0]]
    assert [len(panels[at].lines) for at in (0, 1)] == [1, 1]
