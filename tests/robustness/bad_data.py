"""Bad data, labels, draws and answers, made at random from good ones; every one of them is wrong for certain."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.sparse import csr_array

import bayesclust as bc


class Thing:
    """Something that nobody would pass."""

    def __repr__(self):
        return "a thing"


ANYWHERE = [
    Thing(),
    3.5 + 2j,
    {1, 2},
    {"a": 1},
    b"bytes",
    lambda: 0,
    np.datetime64("2020-01-01"),
    slice(3),
    range,
    ...,
]
"""What no argument that takes data may be."""


def at_random(array, value, rng, dtype=None):
    changed = np.array(
        array, dtype=dtype or np.result_type(np.asarray(array).dtype, np.asarray(value).dtype)
    )
    changed[tuple(rng.integers(length) for length in changed.shape)] = value
    return changed


def ragged(array):
    rows = np.asarray(array).tolist()
    return (
        [rows[0][:-1], *rows[1:]]
        if isinstance(rows[0], list) and len(rows[0]) > 1
        else [[1], [2, 3]]
    )


def of_items(good, rng, least=2):
    X = np.asarray(good, dtype=np.float64)
    yield from (at_random(X, value, rng) for value in (np.nan, np.inf, -np.inf, 1e200, -1e300))
    yield from (
        at_random(X, value, rng, object) for value in ("word", {}, None, [1, 2], 3j, Thing())
    )
    yield from (
        X[:, 0],
        X[None],
        X[:0],
        X[:, :0],
        X.astype(str),
        X.astype("S"),
        X + 1j,
        X.astype("M8[D]"),
        X.astype("m8[s]"),
    )
    yield from (
        csr_array(X),
        ragged(X),
        None,
        7.0,
        "data.csv",
        [],
        [[]],
        np.ma.masked_array(X, mask=X[1, 0] == X),
    )
    yield pd.DataFrame(X).astype({0: str})
    yield pd.DataFrame(X).assign(kind=pd.Categorical(["a"] * len(X)))
    yield pd.DataFrame(X, dtype="Float64").mask(X[-1, -1] == X)
    yield pd.DataFrame({"when": pd.date_range("2020-01-01", periods=len(X)), "x": X[:, 0]})
    yield np.zeros(len(X), dtype=[("a", float), ("b", int)])
    yield xr.Dataset({"X": (("item", "feature"), X)})
    if least == 2:
        yield X[:1]


def of_items_with_gaps(good, rng):
    """Data in which NaN is a gap."""
    yield from (value for value in of_items(good, rng) if not _has_gaps(value))


def _has_gaps(value):
    missing = getattr(value, "isna", None)
    if missing is not None:
        return bool(np.asarray(missing()).any())
    return (
        isinstance(value, np.ndarray)
        and not np.ma.isMaskedArray(value)
        and value.dtype.kind == "f"
        and bool(np.isnan(value).any())
    )


def of_labels(good, rng):
    """Labels may be words: what is wrong is their shape, their number, or that one is missing."""
    z = np.asarray(good)
    yield from (z[:0], z[None], np.stack([z, z], 1), at_random(z, np.nan, rng, float), 7, None)
    yield from (
        [[0], [1, 2]],
        at_random(z, None, rng, object),
        at_random(z, np.nan, rng, object),
        "abc",
    )
    yield pd.DataFrame({"z": z})


def of_integer_labels(good, rng):
    z = np.asarray(good)
    yield from of_labels(good, rng)
    yield from (
        z + 0.5,
        z.astype(float),
        z.astype(str),
        z + 1j,
        z.astype("M8[D]"),
        at_random(z, "x", rng, object),
    )
    yield at_random(z, np.inf, rng, float)


def of_draws(good, rng):
    """A posterior that may also come as an array of labels."""
    yield from (
        None,
        7,
        "vi",
        np.zeros(5, int),
        np.zeros((0, 5), int),
        np.zeros((2, 0), int),
        np.zeros((1, 1, 1, 2), int),
    )
    yield from (
        np.full((3, 4), np.nan),
        np.zeros((3, 4)),
        np.zeros((3, 4), str),
        [[0, 1], [0]],
        [],
        [Thing()],
    )
    yield from (
        np.zeros((3, 4), complex),
        np.full((3, 4), None),
        np.zeros((3, 4), "M8[D]"),
        pd.DataFrame({"z": [0]}),
    )
    yield from of_tree(good, rng)


def of_tree(good, rng):
    """A posterior that must be a tree, or have one."""
    yield from (
        xr.DataTree(),
        xr.Dataset(),
        bc.TVClust(),
        bc.RDPMeans,
        xr.DataTree.from_dict({"prior": xr.Dataset()}),
    )
    yield xr.DataTree.from_dict({"posterior": xr.Dataset()})
    yield xr.DataTree.from_dict({"posterior": xr.Dataset({"z": ("item", np.zeros(4, int))})})
    yield xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"z": (("chain", "draw", "item"), np.zeros((1, 2, 3)))})}
    )
    yield xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"z": (("a", "b", "c"), np.zeros((1, 2, 3), int))})}
    )
    yield xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"z": (("chain", "draw", "item"), np.zeros((0, 2, 3), int))})}
    )


def of_answered(good, rng):
    """A posterior that must hold answers."""
    yield from of_tree(good, rng)
    yield good.drop_nodes("constant_data")
    damaged = good.copy()
    damaged["constant_data"] = xr.DataTree(xr.Dataset({"links_items": ("row", np.zeros(3))}))
    yield damaged


def of_views(good, rng):
    other = bc.PairwiseConstraints([(0, 1)], [True], n_items=7)
    yield from (
        [(0, 1)],
        np.eye(12),
        "links",
        7,
        [None],
        [other],
        other,
        {"links": other},
        [[other]],
        pd.DataFrame([[0, 1]]),
    )
    yield from (
        bc.PairwiseConstraints,
        bc.LinkNoise(),
        {other},
        iter([1]),
        [bc.LabelConstraints([(0, 1)], 7)],
    )


def of_tuples(good, rng):
    """Rows of item indices."""
    rows = np.asarray(good)
    yield from (at_random(rows, value, rng) for value in (-1, 12, 10**12, -(2**60)))
    yield from (
        rows.astype(float),
        rows.astype(str),
        rows[:, :1],
        rows[0],
        rows[None],
        rows + 1j,
        rows.astype("M8[D]"),
    )
    yield from (
        ragged(rows),
        None,
        7,
        "0,1",
        np.repeat(rows[:, :1], rows.shape[1], 1),
        rows.astype(bool),
        [[None] * 2],
    )
    yield at_random(rows, "x", rng, object)
    yield {tuple(row) for row in rows.tolist()}


def of_answers(good, rng):
    given = np.asarray(good)
    yield from (
        given[:-1],
        np.r_[given, given[:1]],
        given[None],
        None,
        7,
        "yes",
        ["maybe"] * len(given),
        [None] * len(given),
    )
    yield from (
        np.full(len(given), value)
        for value in (-1, 9, 0.5, np.nan, 2**40, 1j, np.datetime64("2020-01-01"))
    )
    yield [[0], [1, 2]]
    yield {0, 1}


def of_sources(good, rng):
    given = np.asarray(good)
    yield from (
        given[:-1],
        given[None],
        7,
        "ann",
        given + 0.5,
        given + 1,
        given - 1,
        given.astype(str),
        [[0], [1, 2]],
    )
    yield at_random(given, 2**40, rng)


def of_points(good, rng):
    """Data to draw against, in two columns or more."""
    X = np.asarray(good)
    yield from (X[:-1], X[:, 0], X.astype(str), 7, "X", X + 1j, X[:0], ragged(X))


def of_stored(good, rng):
    """Views, also such as were stored."""
    yield from ("links", 7, [None], [(0, 1)], [good[0], good[0]], None, [Thing()])


def of_stored_dataset(good, rng):
    yield from (None, 7, "ds", {}, xr.DataTree())
    yield good.drop_vars(next(iter(good.data_vars)))


def of_label_tuples(good, rng):
    yield from (
        7,
        None,
        "z",
        [[0], [1, 2]],
        np.zeros((2, 4), int),
        np.zeros((2, 1), int),
        [],
        Thing(),
    )


def of_item_labels(good, rng):
    """Whole numbers (..., n)."""
    z = np.asarray(good)
    yield from (
        value
        for value in of_integer_labels(good, rng)
        if getattr(value, "shape", None) != z[None].shape
    )


def of_integer_array(good, rng):
    z = np.asarray(good)
    yield from (
        z + 0.5,
        z.astype(float),
        z.astype(str),
        z + 1j,
        7,
        None,
        "z",
        [[0], [1, 2]],
        at_random(z, "x", rng, object),
    )


def of_draws_array(good, rng):
    z = np.asarray(good)
    yield from (
        z[0],
        z[0, 0],
        z[:0],
        z[:, :, :0],
        z + 0.5,
        z.astype(str),
        z[None],
        None,
        7,
        "z",
        z.astype(float),
        [[[0], [1, 2]]],
    )


def of_label_rows(good, rng):
    z = np.asarray(good)
    yield from (
        z[:, :0],
        z + 0.5,
        z.astype(str),
        z[None],
        None,
        7,
        "z",
        [[0], [1, 2]],
        z[:, :-1],
        z.astype(float),
    )


def of_class_labels(good, rng):
    z = np.asarray(good)
    yield from (z + 7, z - 1, z + 0.5, z.astype(str), z[:-1], None, 7, "z", z[None])
