import json

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust.posterior.tree import (
    canonical,
    chain_partitions,
    feature_names,
    item_names,
    log_joints,
    source_names,
    stacked_partitions,
    stored_constraints,
    to_datatree,
    with_names,
)


@pytest.mark.parametrize(("low", "high"), [(0, 4), (-3, 3), (10**9, 10**9 + 5), (-(2**62), 2**62)])
def test_canonical_labels_number_clusters_as_they_appear(rng, low, high):
    z = rng.integers(low, high, size=(3, 5, 20))
    result = canonical(z)
    assert result.dtype == np.int16
    for row, found in zip(z.reshape(-1, 20), result.reshape(-1, 20), strict=True):
        numbers = {label: k for k, label in enumerate(dict.fromkeys(row.tolist()))}
        assert found.tolist() == [numbers[label] for label in row.tolist()]
    wide = canonical(np.arange(40_000)[::-1])
    assert wide.dtype == np.int32
    np.testing.assert_array_equal(wide, np.arange(40_000))


@pytest.fixture
def views():
    links = bc.PairwiseConstraints([(0, 1), (1, 4)], [True, False], n_items=5, source=[0, 1])
    triplets = bc.RelativeConstraints([(0, 1, 2), (2, 3, 4)], ["yes", "dnk"], n_items=5)
    return [links, triplets]


@pytest.fixture
def tree(rng, views):
    return to_datatree(
        {
            "z": rng.integers(3, size=(2, 7, 5)),
            "concentration": rng.gamma(2.0, size=(2, 7)),
            "p": rng.random((2, 7, 2)),
            "q": rng.random((2, 7, 2)),
            "noise": rng.random((2, 7, 1)),
            "odd": rng.random((2, 7, 4)),
            "flag": rng.random((2, 7)) < 0.5,
        },
        {"log_joint": rng.normal(size=(2, 7))},
        X=rng.normal(size=(5, 2)),
        constraints=views,
        dims={"p": ("links_source",), "q": ("links_source",), "noise": ("triplets_source",)},
        attrs={
            "seed": 3,
            "large": 2**70,
            "settings": {"family": "gaussian", "b": True},
            "none": None,
            "n": np.int64(4),
        },
    )


def test_trees_have_groups_dimensions_and_kinds(tree):
    assert set(tree.children) == {"posterior", "sample_stats", "observed_data", "constant_data"}
    posterior = tree["posterior"]
    assert posterior["z"].dims == ("chain", "draw", "item")
    assert posterior["z"].dtype == np.int16
    assert posterior["p"].dims == ("chain", "draw", "links_source")
    assert posterior["odd"].dims == ("chain", "draw", "odd_dim_0")
    assert posterior["flag"].dtype == np.int8
    assert tree["observed_data"]["X"].dims == ("item", "feature")
    expected = [[len(set(row)) for row in chain] for chain in posterior["z"].values.tolist()]
    assert posterior["n_clusters"].values.tolist() == expected


def test_trees_survive_netcdf(tree, views, tmp_path):
    tree.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as back:
        back.load()
        for name in tree.children:
            xr.testing.assert_identical(back[name].to_dataset(), tree[name].to_dataset())
            assert all(back[name][v].dtype == tree[name][v].dtype for v in tree[name].data_vars)
        assert dict(back.attrs) == dict(tree.attrs)
        assert (back.attrs["seed"], back.attrs["n"]) == (3, 4)
        assert json.loads(back.attrs["large"]) == 2**70
        assert json.loads(back.attrs["settings"]) == {"family": "gaussian", "b": True}
        for stored, view in zip(stored_constraints(back), views, strict=True):
            for name in ("name", "kind", "vocabulary"):
                assert getattr(stored, name) == getattr(view, name)
            for name in ("items", "answers", "source", "truth"):
                np.testing.assert_array_equal(getattr(stored, name), getattr(view, name))


def test_draws_come_out_of_everything_that_holds_them(tree):
    z = tree["posterior"]["z"].values
    stacked = z.reshape(14, 5)

    class Fitted:
        posterior_ = tree

    swapped = tree.copy()
    swapped["posterior"] = tree["posterior"].to_dataset().transpose("item", "draw", "chain", ...)
    for holder in (tree, Fitted(), swapped, z, stacked, stacked.tolist()):
        np.testing.assert_array_equal(stacked_partitions(holder), stacked)
    for holder in (tree, Fitted(), swapped):
        np.testing.assert_array_equal(chain_partitions(holder), z)
        np.testing.assert_array_equal(log_joints(holder), tree["sample_stats"]["log_joint"].values)
    assert log_joints(to_datatree({"z": z})) is None


def test_names_survive_a_file_and_change_nothing_else(tree, tmp_path):
    assert item_names(tree) == ["0", "1", "2", "3", "4"]
    assert feature_names(tree) == source_names(tree, "links", 2) == ["0", "1"]
    items, features, sources = ["a", "<b>", "ü", "d", "e"], ["x", "y"], ["ann", "bob"]
    named = with_names(tree, items=items, features=features, sources={"links": sources})
    named.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as read:
        assert item_names(read) == items
        assert feature_names(read) == features
        assert source_names(read, "links", 2) == sources
        np.testing.assert_array_equal(read["posterior"]["z"], tree["posterior"]["z"])
        table = bc.constraint_credibility(read)
        assert set(table["source"][table["view"] == "links"]) <= set(sources)
        for summary in (bc.constraint_credibility, bc.source_reliability):
            found = [summary(one).drop(columns="source") for one in (read, tree)]
            for member in {"i", "j", "k"} & set(found[0]):
                numbers = found[1].pop(member)
                assert found[0].pop(member).dropna().tolist() == [
                    items[int(at)] for at in numbers.dropna()
                ]
            assert found[0].equals(found[1])
    np.testing.assert_array_equal(tree["posterior"].coords["item"], np.arange(5))
