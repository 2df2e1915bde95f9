"""The same good input in other types and layouts, and results as plain values to compare."""

import dataclasses

import jax
import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

import bayesclust as bc

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = [*INTEGERS, "float16", "float32", "longdouble", "object", ">f8", ">i4"]


def spread(array, axis):
    """The same values with others between them in memory."""
    wide = np.repeat(array, 2, axis=axis)
    between = -77 if array.dtype.kind in "if" else wide.flat[0]
    wide[(slice(None),) * axis + (slice(1, None, 2),)] = between
    return wide[(slice(None),) * axis + (slice(None, None, 2),)]


def read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


ORDERS = {
    "fortran": np.asfortranarray,
    "rows apart": lambda array: spread(array, 0),
    "last axis apart": lambda array: spread(array, array.ndim - 1),
    "backwards": lambda array: np.ascontiguousarray(array[::-1])[::-1],
    "backwards in the last axis": lambda array: np.ascontiguousarray(array[..., ::-1])[..., ::-1],
    "a transpose": lambda array: np.ascontiguousarray(array.T).T,
    "read only": read_only,
    "read only, fortran": lambda array: read_only(np.asfortranarray(array)),
    "part of a larger one": lambda array: np.pad(array, 2)[(slice(2, -2),) * array.ndim],
}
ODD = [7, 7, -1, 3, 0, "x", None, 2.5, 8, 9, 10, 11]
"""An index whose entries repeat and are of several kinds."""


def odd_index(n):
    return pd.Index([ODD[at % len(ODD)] for at in range(n)], dtype=object)


def of_items(X):
    X = np.asarray(X, dtype=np.float64)
    yield from ((dtype, X.astype(dtype)) for dtype in NUMBERS)
    yield from ((name, arranged(X)) for name, arranged in ORDERS.items())
    yield "frame", pd.DataFrame(X)
    yield "frame with an odd index", pd.DataFrame(X, index=odd_index(len(X)))
    yield "frame of nullable columns", pd.DataFrame(X).astype("Float64")
    yield "frame of small nullable integers", pd.DataFrame(X).astype("Int16")
    mixed = {at: X[:, at].astype(("float32", "int16")[at % 2]) for at in range(X.shape[1])}
    yield "frame of mixed columns", pd.DataFrame(mixed)
    yield "frame of objects", pd.DataFrame(X, dtype=object)
    yield "frame with one name for all columns", pd.DataFrame(X, columns=[0] * X.shape[1])
    yield "lists", X.tolist()
    yield "tuples", tuple(map(tuple, X.tolist()))
    yield "a mask of nothing", np.ma.masked_array(X, mask=False)
    yield "a labelled array", xr.DataArray(X, dims=("item", "feature"))


def of_labels(z):
    z = np.asarray(z)
    yield from ((dtype, z.astype(dtype)) for dtype in [*INTEGERS, ">i4"])
    yield from ((name, arranged(z)) for name, arranged in ORDERS.items())
    yield "list", z.tolist()
    yield "tuple", tuple(z.tolist())
    if z.ndim == 1:
        yield "series with an odd index", pd.Series(z, index=odd_index(len(z)))
        yield "nullable series", pd.Series(z, dtype="Int8")


def of_any_labels(z):
    yield from of_labels(z)
    words = np.array(list("abcdef"))[np.asarray(z)]
    yield from (("words", words), ("categories", pd.Categorical(words)))


def of_draws(tree):
    """The draws of a tree as arrays, of which the partition is all."""
    z = tree["posterior"]["z"].values
    yield from of_labels(z.reshape(-1, z.shape[-1]))


def of_tuples(rows):
    rows = np.asarray(rows)
    yield from of_labels(rows)
    yield "frame", pd.DataFrame(rows, index=odd_index(len(rows)))


def of_items_with_gaps(X):
    return [(what, value) for what, value in of_items(X) if "one name" not in what]


INTEGER_SORTS = ["integer labels", "item labels", "draws array", "label rows"]
LAYOUTS = {
    **dict.fromkeys(("items", "new items", "points"), of_items),
    **dict.fromkeys((*INTEGER_SORTS, "answers", "sources", "flags", "indices"), of_labels),
    "items with gaps": of_items_with_gaps,
    "labels": of_any_labels,
    "draws": of_draws,
    "tuples": of_tuples,
}


def layouts(sort, good):
    """Names and values of the other layouts of a good value; none where the sort has no layout."""
    make = LAYOUTS.get(sort.removeprefix("optional "))
    return [] if make is None or good is None else list(make(good))


def standard(tree):
    """The plain array that other layouts of draws stand for."""
    return tree["posterior"]["z"].values.reshape(-1, tree["posterior"].sizes["item"])


FITTED = ("labels_", "posterior_", "cluster_centers_", "coef_", "cost_")


def plain(value):
    """A value as nested lists, mappings, arrays and numbers."""
    for known, read in READERS:
        if known(value):
            return read(value)
    return value


def of_type(*kinds):
    return lambda value: isinstance(value, kinds)


def cells_of(frame):
    frame = frame.drop(columns="seconds", errors="ignore")
    cells = frame.astype(object).where(frame.notna(), None).to_numpy()
    return [list(frame.columns), list(frame.index), cells.tolist()]


def attributes(*names):
    return lambda value: {n: plain(getattr(value, n)) for n in names if hasattr(value, n)}


def is_objects(value):
    return isinstance(value, np.ndarray) and value.dtype == object


READERS = [
    (
        of_type(xr.DataTree),
        lambda tree: {path: plain(node.to_dataset()) for path, node in tree.subtree_with_keys},
    ),
    (of_type(xr.Dataset), lambda data: {str(n): v.values for n, v in data.variables.items()}),
    (of_type(xr.DataArray), lambda array: array.values),
    (of_type(jax.Array), np.asarray),
    (of_type(pd.DataFrame), cells_of),
    (of_type(pd.Series), lambda series: [list(series.index), series.tolist()]),
    (of_type(pd.Categorical), lambda words: words.tolist()),
    (sparse.issparse, lambda matrix: matrix.toarray()),
    (
        of_type(bc.constraints.Constraints, bc.constraints.Rules),
        attributes("items", "answers", "source", "rows", "n_items", "name"),
    ),
    (lambda value: hasattr(value, "get_params"), attributes(*FITTED)),
    (lambda value: hasattr(value, "get_children"), lambda axes: len(axes.get_children())),
    (of_type(bc.losses.Loss), repr),
    (
        dataclasses.is_dataclass,
        lambda value: attributes(*(field.name for field in dataclasses.fields(value)))(value),
    ),
    (of_type(dict), lambda value: {str(name): plain(own) for name, own in value.items()}),
    (of_type(list, tuple), lambda value: [plain(own) for own in value]),
    (is_objects, lambda array: [plain(own) for own in array.ravel().tolist()]),
]
"""How things are read whose equality says little: which things, and what is compared of them."""
