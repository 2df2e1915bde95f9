"""Bad values for each sort of argument, made at random from a good one."""

import numpy as np
import pandas as pd
import xarray as xr

import bayesclust as bc
from bayesclust.active import Query
from tests.robustness.world import TRUTH


class Thing:
    """Something that nobody would pass."""

    def __repr__(self):
        return "a thing"


DATE = np.datetime64("2020-01-01")
OBJECTS = [None, 7, "word", {}, Thing()]
"""Wrong for most arguments that are neither number nor word."""
NO_NUMBERS = [{}, 3j, b"3", True, np.nan, DATE, Thing()]
"""Wrong for all numbers."""


def at_random(array, value, rng, dtype=None):
    """An array with one entry replaced."""
    dtype = dtype or np.result_type(np.asarray(array).dtype, np.asarray(value).dtype)
    changed = np.array(array, dtype=dtype)
    changed[tuple(rng.integers(length) for length in changed.shape)] = value
    return changed


def ragged(array):
    rows = np.asarray(array).tolist()
    uneven = isinstance(rows[0], list) and len(rows[0]) > 1
    return [rows[0][:-1], *rows[1:]] if uneven else [[1], [2, 3]]


def items(good, rng, least=2):
    X = np.asarray(good, dtype=np.float64)
    yield from (at_random(X, value, rng) for value in (np.nan, np.inf, -np.inf, 1e200, -1e300))
    cells = ("word", {}, None, [1, 2], 3j, Thing())
    yield from (at_random(X, value, rng, object) for value in cells)
    yield from (X[:, 0], X[None], X[:0], X[:, :0], X.astype(str), X.astype("S"), X + 1j)
    yield from (X.astype("M8[D]"), X.astype("m8[s]"), ragged(X), [], [[]])
    yield from (None, 7.0, "data.csv", np.ma.masked_array(X, mask=X[1, 0] == X))
    yield pd.DataFrame(X).astype({0: str})
    yield pd.DataFrame(X).assign(kind=pd.Categorical(["a"] * len(X)))
    yield pd.DataFrame(X, dtype="Float64").mask(X[-1, -1] == X)
    yield pd.DataFrame({"when": pd.date_range("2020-01-01", periods=len(X)), "x": X[:, 0]})
    yield np.zeros(len(X), dtype=[("a", float), ("b", int)])
    yield xr.Dataset({"X": (("item", "feature"), X)})
    if least == 2:
        yield X[:1]


def items_with_gaps(good, rng):
    """Data in which NaN is a gap and words of a frame are codes."""

    def has_gaps(value):
        if hasattr(value, "isna"):
            return bool(np.asarray(value.isna()).any())
        plain = isinstance(value, np.ndarray) and not np.ma.isMaskedArray(value)
        return plain and value.dtype.kind == "f" and bool(np.isnan(value).any())

    def has_words(value):
        return isinstance(value, pd.DataFrame) and "category" in map(str, value.dtypes)

    return [value for value in items(good, rng) if not has_gaps(value) and not has_words(value)]


def labels(good, rng):
    """Labels may be words: what is wrong is their shape, their number, or that one is missing."""
    z = np.asarray(good)
    yield from (z[:0], z[None], np.stack([z, z], 1), 7, None, "abc", [[0], [1, 2]])
    yield from (at_random(z, np.nan, rng, float), at_random(z, np.nan, rng, object))
    yield from (at_random(z, None, rng, object), pd.DataFrame({"z": z}))


def no_integers(z, rng):
    yield from (z + 0.5, z.astype(float), z.astype(str), z + 1j, at_random(z, "x", rng, object))


def integer_labels(good, rng):
    z = np.asarray(good)
    yield from (*labels(good, rng), *no_integers(z, rng), z.astype("M8[D]"))
    yield at_random(z, np.inf, rng, float)


def item_labels(good, rng):
    """Whole numbers (..., n)."""
    stacked = np.asarray(good)[None].shape
    return [z for z in integer_labels(good, rng) if getattr(z, "shape", None) != stacked]


def draws_array(good, rng):
    z = np.asarray(good)
    yield from (z[0], z[0, 0], z[:0], z[:, :, :0], z + 0.5, z.astype(str), z.astype(float))
    yield from (z[None], None, 7, "z", [[[0], [1, 2]]])


def label_rows(good, rng):
    z = np.asarray(good)
    yield from (z[:, :0], z + 0.5, z.astype(str), z.astype(float), z[None], z[:, :-1])
    yield from (None, 7, "z", [[0], [1, 2]])


def draws(good, rng):
    """A posterior that may also come as an array of labels."""
    yield from (None, 7, "vi", [], [Thing()], [[0, 1], [0]], pd.DataFrame({"z": [0]}))
    shapes = [(5,), (0, 5), (2, 0), (1, 1, 1, 2)]
    yield from (np.zeros(shape, int) for shape in shapes)
    kinds = [float, str, complex, "M8[D]"]
    yield from (np.zeros((3, 4), kind) for kind in kinds)
    yield from (np.full((3, 4), np.nan), np.full((3, 4), None), *tree(good, rng))


def tree(good, rng):
    """A posterior that must be a tree, or have one."""
    yield from (xr.DataTree(), xr.Dataset(), bc.TVClust(), bc.RDPMeans)
    yield xr.DataTree.from_dict({"prior": xr.Dataset()})
    yield xr.DataTree.from_dict({"posterior": xr.Dataset()})
    named = ("chain", "draw", "item")
    for dims, z in [
        (("item",), np.zeros(4, int)),
        (named, np.zeros((1, 2, 3))),
        (("a", "b", "c"), np.zeros((1, 2, 3), int)),
        (named, np.zeros((0, 2, 3), int)),
    ]:
        yield xr.DataTree.from_dict({"posterior": xr.Dataset({"z": (dims, z)})})


def answered(good, rng):
    """A posterior that must hold constraints."""
    damaged = good.copy()
    damaged["constant_data"] = xr.DataTree(xr.Dataset({"links_items": ("row", np.zeros(3))}))
    yield from (*tree(good, rng), good.drop_nodes("constant_data"), damaged)


def constraints(good, rng):
    other = bc.PairwiseConstraints([(0, 1)], [True], n_items=7)
    yield from ([(0, 1)], np.eye(12), "links", 7, [None], other, [other], [[other]], {other})
    yield from ({"links": other}, pd.DataFrame([[0, 1]]), bc.PairwiseConstraints, bc.LinkNoise())
    yield from (iter([1]), [bc.LabelConstraints([(0, 1)], 7)])


def tuples(good, rng):
    """Rows of item indices."""
    rows = np.asarray(good)
    yield from (at_random(rows, value, rng) for value in (-1, 12, 10**12, -(2**60)))
    yield from (rows.astype(kind) for kind in (float, str, complex, bool, "M8[D]"))
    yield from (rows[:, :1], rows[0], rows[None], np.repeat(rows[:, :1], rows.shape[1], 1))
    yield from (ragged(rows), None, 7, "0,1", [[None] * 2], at_random(rows, "x", rng, object))
    yield {tuple(row) for row in rows.tolist()}


def answers(good, rng):
    given = np.asarray(good)
    yield from (given[:-1], np.r_[given, given[:1]], given[None], None, 7, "yes", {0, 1})
    yield from ([[0], [1, 2]], ["maybe"] * len(given), [None] * len(given))
    yield from (np.full(len(given), value) for value in (-2, 9, 0.5, np.nan, 2**40, 1j, DATE))


def scores(good, rng):
    given = np.asarray(good)
    yield from (given[:-1], given[None], given + 2, -given, given.astype(str), given + 1j)
    yield from (at_random(given, np.nan, rng), None, 7, "scores")


def sources(good, rng):
    given = np.asarray(good)
    yield from (given[:-1], given[None], 7, "ann", given + 0.5, given + 1, given - 1)
    yield from ([[0], [1, 2]], at_random(given, 2**40, rng))


def count(good, rng, least=1):
    yield from (*NO_NUMBERS, least - 1, -5, 2.5, "3", None, [3], np.array([3, 4]))
    yield from (np.float64(3.0), np.array("3"), range(3))


def number(good, rng, interval="(0, inf)"):
    low, high = (float(part) for part in interval[1:-1].split(","))
    yield from (*NO_NUMBERS, "0.5", [0.5] * 4, -np.inf, -(10**400))
    yield from ([low] if interval[0] == "(" else []) + ([high] if interval[-1] == ")" else [])
    yield from ([low - 1] if np.isfinite(low) else []) + ([high + 1] if np.isfinite(high) else [])


def choice(good, rng):
    yield from ("nonsense", "", 7, 2.5, [good], {"a": 1}, b"word", np.nan, Thing(), {"a"}, 1j)
    yield np.array([good, good])


def prior(good, rng):
    yield from ("often", (1,), (1, 2, 3), (0, 1), (-1, 2), (np.nan, 1), (np.inf, 1), [], {})
    yield from (True, np.nan, -0.1, 1.5, 1j, Thing(), ("a", "b"), ([1, 2], 3), np.eye(2))


def indices(good, rng):
    yield from ([0, 99], [-1], [0, 0], [], [0.5], "items", 7, [[0, 1]], None, [True, False])
    yield from (["a"], [None], [1j], {0, 1})


def path(good, rng):
    yield from (None, 7, 2.5, [good], {}, Thing(), "no/such/folder/file.ext", ".", "a\0b")


def file(good, rng):
    """The path of a file that is there: one that is not is a FileNotFoundError."""
    return [value for value in path(good, rng) if value != "no/such/folder/file.ext"]


def flags(good, rng):
    given = np.asarray(good)
    yield from (given[:-1], given[None], given + 2, given + 0.5, 7, "wrong", ["a"] * len(given))
    yield from ([None] * len(given), np.full(len(given), np.nan))


def methods(good, rng):
    yield from (None, 7, "methods", {}, {"a": 7}, {"a": None}, {"a": bc.RDPMeans()}, [TRUTH])
    yield from ({"a": TRUTH, "b": TRUTH[:-1]}, {"a": TRUTH[None, None, None]}, {"a": Thing()})
    yield from ({"a": TRUTH + 0.5 + 1j}, {"a": "words", "b": TRUTH})


def differences(good, rng):
    given = np.asarray(good)
    yield from (at_random(given, np.nan, rng), at_random(given, np.inf, rng), given[:0])
    yield from (given[None], given.astype(str), given + 1j, "word", [[1], [2, 3]], {}, Thing())


def matrix(good, rng):
    E = np.asarray(good)
    yield from (E[:-1], E[0], E[None], E + 0.25, E.astype(str), E + 1j, ragged(E), None, 7, "E")
    yield from (np.where(E > 0, -1.0, E), np.where(np.eye(len(E)) > 0, 0.0, E))
    yield np.where(E == 1, np.inf, E)


def weights(good, rng):
    W = np.asarray(good)
    yield from (W[0], W[:, :-1], W.astype(str), W + 1j, ragged(W), at_random(W, np.nan, rng))
    yield from (None, 7, "W")


def points(good, rng):
    """Data to draw against, in two columns or more."""
    X = np.asarray(good)
    yield from (X[:-1], X[:, 0], X.astype(str), X + 1j, X[:0], ragged(X), 7, "X")


def rows(good, rng):
    """Rows of a kind of constraints."""
    yield from (None, 7, "rows", [7], [(0,)], [("a", "b")], [(99, 0)], [(-1, 0)], [None], [{}])
    yield from ([(0.5, 0)], [((), ())], [(True, 1)], [(0, 1, 2, 3, 4)], np.zeros((2, 9)))


def query(good, rng):
    places = [(0, 99), (0, 0), (0,), "ab", (0.5, 1), None]
    yield from (Query("pair", place) for place in places)
    yield from (None, 7, "query", (0, 1), Query("word", (0, 1)), Thing())


def cluster_numbers(good, rng):
    yield from (0, -1, 2.5, "3", None, [2, 0], [1.5], {}, 3j, np.nan, Thing(), [[2], [3, 4]])


def fixed(*values):
    """Bad values that do not depend on the good one."""
    return lambda good, rng: list(values)


NAMED = [items, items_with_gaps, labels, integer_labels, item_labels, draws_array, label_rows]
NAMED += [draws, tree, answered, constraints, tuples, answers, sources, matrix, rows, weights]
NAMED += [points, indices, flags, count, cluster_numbers, choice, prior, path, file, methods]
NAMED += [differences, query, scores]
SORTS = {
    **{bad.__name__.replace("_", " "): bad for bad in NAMED},
    "new items": lambda good, rng: items(good, rng, least=1),
    "natural": lambda good, rng: count(good, rng, least=0),
    "seed": fixed(*NO_NUMBERS, -1, 1.5, "today", [1.5], ["a"], -(2**70), [-1]),
    "loss": fixed(*OBJECTS, ["vi"], bc.losses.VI, b"vi", np.nan, ""),
    "name": fixed("my links", "", 7, 2.5, ["links"], b"name", "1a", Thing(), {}),
    "noise": fixed(0.1, "noise", [None], bc.LinkNoise, {}, Thing(), np.eye(3)),
    "axes": fixed("ax", 7, [1, 2, 3], {}, Thing(), True),
    "estimator": lambda good, rng: [None, 7, "TVClust", bc.TVClust, Thing(), [good]],
    "family": fixed(*OBJECTS, bc.families.FullGaussian, ["gaussian"], b"gaussian", np.nan),
    "table": lambda good, rng: [*OBJECTS, np.eye(2), good.iloc[:1], good.iloc[:0, :0]],
    "path table": lambda good, rng: [
        *OBJECTS,
        [good],
        xr.Dataset(),
        xr.DataTree(),
        good.isel(gamma=slice(0, 0)),
    ],
    "query strategy": fixed("nonsense", 7, {}, ["random"], b"random", np.nan, Thing()),
    "target": fixed("nonsense", -1, 2.5, None, ["vi"], {}, Thing(), True, np.nan, bc.losses.VI),
    "object": fixed(7, Thing(), 3j, {1, 2}, {"a": 1}, b"bytes", lambda: 0, DATE, slice(3), ...),
}
"""What can be wrong; intervals such as "(0, 1]" are sorts too, and "optional ..." may be None."""


def bad_values(sort, good, rng):
    """All bad values of a sort, in a fixed order."""
    optional = sort.startswith("optional ")
    sort = sort.removeprefix("optional ")
    found = number(good, rng, sort) if sort[0] in "([" else SORTS[sort](good, rng)
    return [value for value in found if not (optional and value is None)]
