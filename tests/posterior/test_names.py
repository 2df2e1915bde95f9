import numpy as np
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust.posterior.names import feature_names, item_names, source_names, with_names
from bayesclust.posterior.tree import to_datatree


@pytest.fixture
def tree():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3, source=[0, 1])
    draws = {
        "z": np.zeros((2, 4, 3), int),
        "p": np.full((2, 4, 2), 0.9),
        "q": np.full((2, 4, 2), 0.8),
    }
    return to_datatree(
        draws,
        X=np.ones((3, 2)),
        constraints=[links],
        dims={"p": ("links_source",), "q": ("links_source",)},
    )


def test_names_are_numbers_until_there_are_others(tree):
    assert item_names(tree) == ["0", "1", "2"]
    assert feature_names(tree) == ["0", "1"]
    assert source_names(tree, "links", 2) == ["0", "1"]
    assert source_names(tree, "triplets", 1) == ["0"]


def test_names_survive_a_file_and_change_nothing_else(tree, tmp_path):
    named = with_names(
        tree, items=["a", "<b>", "ü"], features=["x", "y"], sources={"links": ["ann", "bob"]}
    )
    named.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as read:
        assert item_names(read) == ["a", "<b>", "ü"]
        assert feature_names(read) == ["x", "y"]
        assert source_names(read, "links", 2) == ["ann", "bob"]
        np.testing.assert_array_equal(read["posterior"]["z"], tree["posterior"]["z"])
        assert bc.constraint_credibility(read).equals(bc.constraint_credibility(tree))
        assert bc.source_reliability(read).equals(bc.source_reliability(tree))
    assert "item" not in tree["posterior"].coords


def test_names_that_do_not_fit_are_refused(tree):
    with pytest.raises(ValueError, match="there are 2 names for 3 items"):
        with_names(tree, items=["a", "b"])
    with pytest.raises(ValueError, match="two items are called 'a'"):
        with_names(tree, items=["a", "b", "a"])
    with pytest.raises(ValueError, match="there are 1 names for 2 links_sources"):
        with_names(tree, sources={"links": ["ann"]})
