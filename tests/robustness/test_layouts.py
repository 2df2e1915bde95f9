"""Good input in any type and layout gives what the plain array of 64-bit numbers gives, and is never changed."""

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.robustness.layouts import layouts, plain, standard
from tests.robustness.table import TABLE

CASES = [
    (name, argument)
    for name, entry in TABLE.items()
    for argument, (sort, _) in entry.arguments.items()
    if layouts(sort, entry.good()[argument])
]
LONG = tuple(
    name for name in TABLE if name.startswith(("models.tvclust", "models.dcrc", "write_report"))
)
"""Entries that take many seconds."""
FEW = 2
TIMES = {"time_", "fit_seconds", "seconds"}
"""What no two runs have in common."""


def without_times(result):
    if isinstance(result, dict):
        return {name: without_times(value) for name, value in result.items() if name not in TIMES}
    return [without_times(value) for value in result] if isinstance(result, list) else result


def called(entry, **changed):
    result = without_times(plain(entry.call(**{**entry.good(), **changed})))
    plt.close("all")
    return result


def check(name, argument, variants):
    entry = TABLE[name]
    sort, good = entry.arguments[argument].sort, entry.good()[argument]
    expected = called(entry, **{argument: standard(sort, good)})
    for what, value in variants:
        before = deepcopy(plain(value))
        found = called(entry, **{argument: value})
        np.testing.assert_equal(found, expected, err_msg=f"{name}({argument}={what})")
        np.testing.assert_equal(
            plain(value), before, err_msg=f"{name} changed its {argument}, {what}"
        )


@pytest.mark.parametrize(("name", "argument"), [case for case in CASES if case[0] not in LONG])
def test_layouts(name, argument):
    """All layouts where a call is quick; elsewhere some, other ones for each entry, and all of them in the slow suite."""
    entry = TABLE[name]
    variants = layouts(entry.arguments[argument].sort, entry.good()[argument])
    if entry.slow:
        first = CASES.index((name, argument)) * FEW
        variants = [variants[(first + at) % len(variants)] for at in range(FEW)]
    check(name, argument, variants)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "argument"), [case for case in CASES if TABLE[case[0]].slow])
def test_all_layouts_where_calls_are_slow(name, argument):
    entry = TABLE[name]
    variants = layouts(entry.arguments[argument].sort, entry.good()[argument])
    check(name, argument, variants[:: 8 if name in LONG else 1])


@pytest.mark.parametrize("name", [name for name, entry in TABLE.items() if not entry.slow])
def test_no_argument_is_changed(name):
    """Whatever the arguments are: constraints, draws, settings."""
    entry = TABLE[name]
    arguments = entry.good()
    before = deepcopy(plain(arguments))
    entry.call(**arguments)
    np.testing.assert_equal(plain(arguments), before)
