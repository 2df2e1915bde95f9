import json

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust.posterior.tree import (
    as_labels,
    canonical,
    chain_partitions,
    feature_names,
    group,
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


def test_arviz_reads_the_tree(tree):
    import arviz as az

    summary = az.summary(tree, var_names=["concentration"], round_to="none")
    mean = float(tree["posterior"]["concentration"].mean())
    assert summary.loc["concentration", "mean"] == pytest.approx(mean)


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
        assert bc.constraint_credibility(read).equals(bc.constraint_credibility(tree))
        assert bc.source_reliability(read).equals(bc.source_reliability(tree))
    assert "item" not in tree["posterior"].coords


def without_z(tree):
    other = tree.copy()
    other["posterior"] = tree["posterior"].to_dataset().drop_vars("z")
    return other


Z = {"z": np.zeros((2, 3, 4), int)}


REFUSED = [
    (lambda _: canonical([0.0, 1.0]), TypeError, "labels must be integers; got dtype float"),
    (lambda _: canonical(["a", "b"]), TypeError, "labels must be integers; got dtype <U1"),
    (lambda _: canonical(3), ValueError, "labels must have shape (..., n); got a single"),
    (
        lambda _: as_labels([0, 1], "init", 3),
        ValueError,
        "init has 2 items, but the posterior has 3",
    ),
    (
        lambda _: to_datatree({"p": np.zeros((1, 2))}),
        ValueError,
        "the draws hold no partitions z, only ['p']: pass z (chain, draw, item).",
    ),
    (
        lambda _: to_datatree({"z": np.zeros((3, 4), int)}),
        ValueError,
        "z must have shape (chain, draw, item), all at least 1; got (3, 4): add the missing",
    ),
    (
        lambda _: to_datatree({**Z, "p": np.zeros((2, 4))}),
        ValueError,
        "p has shape (2, 4), but z has 2 chains of 3 draws: every variable needs",
    ),
    (
        lambda _: to_datatree(Z, X=np.zeros((5, 2))),
        ValueError,
        "X has shape (5, 2), but z has 4 items: pass the data that was clustered.",
    ),
    (
        lambda tree: stacked_partitions(without_z(tree)),
        ValueError,
        "the group posterior has no variable z (chain, draw, item): pass the posterior_ of",
    ),
    (lambda _: stacked_partitions(3.0), TypeError, "a posterior is an xarray.DataTree or a fitted"),
    (
        lambda _: stacked_partitions([0, 1]),
        ValueError,
        "draws must have shape (draws, n), both at least 1; got (2,): pass one row of labels",
    ),
    (
        lambda _: stacked_partitions([[0, 1], [0]]),
        ValueError,
        "draws has rows of different lengths",
    ),
    (
        lambda tree: group(tree, "prior"),
        ValueError,
        "this posterior has no group 'prior', only 'posterior', 'sample_stats', 'observed",
    ),
    (
        lambda _: stored_constraints(to_datatree(Z)),
        ValueError,
        "this posterior has no group 'constant_data', only 'posterior', 'sample_stats': "
        "pass the posterior_ of a fit with constraints.",
    ),
    (lambda tree: with_names(tree, items=["a"]), ValueError, "there are 1 names for 5 items"),
    (lambda tree: with_names(tree, items=list("abade")), ValueError, "two items are called 'a'"),
    (
        lambda tree: with_names(tree, sources={"links": ["ann"]}),
        ValueError,
        "there are 1 names for 2 links_sources",
    ),
]


@pytest.mark.parametrize(("call", "error", "sentence"), REFUSED)
def test_bad_input_is_refused(tree, call, error, sentence):
    with pytest.raises(error) as caught:
        call(tree)
    assert str(caught.value).startswith(sentence)
