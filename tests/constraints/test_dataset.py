"""Views stored in a data set and read back through a file."""

import json

import numpy as np
import pytest
import xarray as xr

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.stored import constraints_from_dataset, noise_names, to_dataset


@pytest.fixture
def views(rng):
    labels = rng.integers(3, size=12)
    return [
        PairwiseConstraints.sample(labels, size=20, error_rate=0.2, n_sources=2, seed=0),
        RelativeConstraints.sample(labels, size=15, seed=0),
        PairwiseConstraints([], [], 12, name="silent"),
    ]


def test_views_come_back(views, rng, tmp_path):
    to_dataset(views).to_netcdf(tmp_path / "views.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "views.nc", engine="h5netcdf") as read:
        stored = constraints_from_dataset(read.load())
    z = rng.integers(3, size=(4, 12))
    assert len(stored) == 3
    assert [view.parameters for view in stored] == noise_names(views)
    for view, again in zip(views, stored, strict=True):
        for name in ("items", "answers", "source", "truth"):
            assert getattr(again, name).dtype == getattr(view, name).dtype
            np.testing.assert_array_equal(getattr(again, name), getattr(view, name))
        for name in ("name", "kind", "vocabulary", "n_items", "n_sources", "n_answers"):
            assert getattr(again, name) == getattr(view, name)
        assert len(again) == len(view)
        np.testing.assert_array_equal(again.patterns(z), view.patterns(z))
        np.testing.assert_array_equal(again.truths(z), view.truths(z))


def test_the_schema(views):
    ds = to_dataset(views)
    assert ds["links_items"].dims == ("links_answer_id", "links_member")
    assert ds["triplets_items"].shape == (15, 3)
    assert (ds["links_items"].dtype, ds["links_answer"].dtype, ds["links_source"].dtype) == (
        np.int64,
        np.int8,
        np.int64,
    )
    assert json.loads(ds.attrs["constraints"]) == ["links", "triplets", "silent"]
    about = ds["triplets_items"].attrs
    assert (about["kind"], json.loads(about["vocabulary"]), json.loads(about["truth"])) == (
        "relative",
        ["yes", "no", "dnk"],
        [2, 0, 1, 2, 2],
    )


def test_other_variables_are_passed_over(views):
    ds = to_dataset(views[:1]).assign(weights=("item", np.ones(12)))
    assert [view.name for view in constraints_from_dataset(ds)] == ["links"]
    assert constraints_from_dataset(xr.Dataset({"x": 1})) == []
    assert constraints_from_dataset(to_dataset([])) == []
