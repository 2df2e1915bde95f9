"""Bad settings and bad things that are no data; every one of them is wrong for certain."""

import numpy as np
import xarray as xr

import bayesclust as bc
from bayesclust.active import Query
from tests.robustness.bad_data import ANYWHERE, Thing, at_random, ragged
from tests.robustness.world import TRUTH


def of_count(good, rng, least=1):
    yield from (
        least - 1,
        -5,
        2.5,
        "3",
        None,
        np.nan,
        [3],
        np.array([3, 4]),
        True,
        {},
        3j,
        b"3",
        np.float64(3.0),
        Thing(),
    )
    yield from (np.array("3"), np.datetime64("2020-01-01"), range(3))


def of_number(good, rng, interval="(0, inf)", whole=()):
    low, high = (float(part) for part in interval[1:-1].split(","))
    yield from (
        np.nan,
        "0.5",
        [0.5, 0.5, 0.5, 0.5],
        {},
        1j,
        True,
        b"1",
        np.datetime64("2020-01-01"),
        Thing(),
        -np.inf,
    )
    yield from ([low] if interval[0] == "(" else [])
    yield from ([high] if interval[-1] == ")" else [])
    yield from ([low - 1] if np.isfinite(low) else [])
    yield from ([high + 1] if np.isfinite(high) else [])


def of_choice(good, rng):
    yield from (
        "nonsense",
        "",
        7,
        2.5,
        [good],
        {"a": 1},
        b"word",
        np.nan,
        Thing(),
        {"a"},
        np.array([good, good]),
        1j,
    )


def of_seed(good, rng):
    yield from (-1, 1.5, "today", True, {}, [1.5], Thing(), np.nan, 1j, ["a"], -(2**70), [-1])


def of_loss(good, rng):
    yield from ("nonsense", 7, None, [good], bc.losses.VI, {}, b"vi", np.nan, "", Thing())


def of_name(good, rng):
    yield from ("my links", "", 7, 2.5, [good], b"name", "1a", Thing(), {})


def of_noise(good, rng):
    yield from (0.1, "noise", [good], bc.LinkNoise, {}, Thing(), np.eye(3))


def of_prior(good, rng):
    yield from (
        "often",
        (1,),
        (1, 2, 3),
        (0, 1),
        (-1, 2),
        (np.nan, 1),
        (np.inf, 1),
        [],
        {},
        True,
        np.nan,
        -0.1,
        1.5,
        Thing(),
        1j,
    )
    yield from (("a", "b"), ([1, 2], 3), np.eye(2))


def of_amount(good, rng):
    """A positive number or the two numbers of its prior."""
    yield from (
        value for value in of_prior(good, rng) if not (isinstance(value, float) and value == 1.5)
    )


def of_axes(good, rng):
    yield from ("ax", 7, [1, 2, 3], {}, Thing(), True)


def of_flags(good, rng):
    given = np.asarray(good)
    yield from (
        given[:-1],
        given[None],
        given + 2,
        7,
        "wrong",
        ["a"] * len(given),
        [None] * len(given),
        given + 0.5,
    )
    yield np.full(len(given), np.nan)


def of_path(good, rng):
    yield from (None, 7, 2.5, [good], {}, Thing(), "no/such/folder/file.ext", ".", "a\0b")


def of_file(good, rng):
    """The path of a file that is there: one that is not is a FileNotFoundError."""
    yield from (value for value in of_path(good, rng) if value != "no/such/folder/file.ext")


def of_indices(good, rng):
    yield from (
        [0, 99],
        [-1],
        [0, 0],
        [],
        [0.5],
        "items",
        7,
        [[0, 1]],
        None,
        [True, False],
        ["a"],
        [None],
        [1j],
        {0, 1},
    )


def of_estimator(good, rng):
    yield from (None, 7, "TVClust", bc.TVClust, Thing(), [good])


def of_family(good, rng):
    yield from (
        None,
        7,
        "normal",
        bc.families.FullGaussian,
        Thing(),
        ["gaussian"],
        b"gaussian",
        {},
        np.nan,
    )


def of_loss_object(good, rng):
    yield from ("nonsense", 7, None, {}, Thing(), bc.losses.VI)


def of_cluster_numbers(good, rng):
    yield from (0, -1, 2.5, "3", None, [2, 0], [1.5], {}, 3j, np.nan, Thing(), [[2], [3, 4]])


def of_methods(good, rng):
    yield from (
        None,
        7,
        "methods",
        {},
        {"a": 7},
        {"a": None},
        {"a": TRUTH, "b": TRUTH[:-1]},
        {"a": bc.RDPMeans()},
        [TRUTH],
    )
    yield from (
        {"a": TRUTH[None, None, None]},
        {"a": Thing()},
        {"a": TRUTH + 0.5 + 1j},
        {"a": "words", "b": TRUTH},
    )


def of_differences(good, rng):
    given = np.asarray(good)
    yield from (
        at_random(given, np.nan, rng),
        at_random(given, np.inf, rng),
        given[:0],
        given[None],
        given.astype(str),
    )
    yield from ("differences", given + 1j, [[1], [2, 3]], {}, Thing())


def of_table(good, rng):
    yield from (None, 7, "table", np.eye(2), {}, Thing(), good.iloc[:1], good.iloc[:0, :0])


def of_path_table(good, rng):
    yield from (
        None,
        7,
        "path",
        {},
        Thing(),
        xr.Dataset(),
        good.isel(gamma=slice(0, 0)),
        xr.DataTree(),
    )


def of_questions(good, rng):
    yield from (
        [(0, 99)],
        [(0, 0)],
        [(-1, 2)],
        [(0,)],
        [(0, 1, 2)],
        7,
        "questions",
        [None],
        [7],
        [("a", "b")],
        [(0.5, 1)],
        [],
    )


def of_question(good, rng):
    yield from (
        None,
        7,
        "question",
        (0, 1),
        Query("pair", (0, 99)),
        Query("pair", (0, 0)),
        Query("pair", (0,)),
    )
    yield from (
        Query("word", (0, 1)),
        Query("pair", "ab"),
        Query("pair", (0.5, 1)),
        Query("pair", None),
        Thing(),
    )


def of_query_strategy(good, rng):
    yield from ("nonsense", 7, {}, [good], b"random", np.nan, Thing())


def of_target(good, rng):
    yield from ("nonsense", -1, 2.5, None, [good], {}, Thing(), True, np.nan, bc.losses.VI)


def of_anything_else(good, rng):
    yield from (*ANYWHERE, 7)


def of_weights(good, rng):
    W = np.asarray(good)
    yield from (
        W[0],
        W[:, :-1],
        W.astype(str),
        W + 1j,
        None,
        7,
        "W",
        ragged(W),
        at_random(W, np.nan, rng),
    )


def of_matrix(good, rng):
    E = np.asarray(good)
    yield from (
        E[:-1],
        E[0],
        E[None],
        E + 0.25,
        E.astype(str),
        E + 1j,
        None,
        7,
        "E",
        ragged(E),
        np.where(E > 0, -1.0, E),
    )
    yield from (np.where(np.eye(len(E)) > 0, 0.0, E), np.where(E == 1, np.inf, E))


def of_rows(good, rng):
    yield from (
        None,
        7,
        "rows",
        [7],
        [(0,)],
        [("a", "b")],
        [(99, 0)],
        [(-1, 0)],
        [None],
        [{}],
        [(0.5, 0)],
        [((), ())],
    )
    yield from ([(True, 1)], [(0, 1, 2, 3, 4)], np.zeros((2, 9)))
