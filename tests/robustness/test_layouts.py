"""Good input in any layout gives the result of the plain 64-bit array, and is never changed."""

from copy import deepcopy
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.robustness.entries import TABLE, matches
from tests.robustness.layouts import layouts, plain, standard

LONG = ["models.tvclust*", "models.dcrc", "write_report"]
"""Entries that take many seconds."""
FEW = 1
TIMES = {"time_", "fit_seconds", "seconds"}
"""What no two runs have in common."""
CASES = [
    (name, argument)
    for name, entry in TABLE.items()
    for argument, (sort, _) in entry.arguments.items()
    if layouts(sort, entry.good()[argument])
]


def without_times(result):
    if isinstance(result, dict):
        return {name: without_times(value) for name, value in result.items() if name not in TIMES}
    return [without_times(value) for value in result] if isinstance(result, list) else result


def called(entry, **changed):
    result = without_times(plain(entry.call(**{**entry.good(), **changed})))
    plt.close("all")
    return result


@cache
def expected_of(name):
    return called(TABLE[name])


def check(name, argument, every=1, most=None, first=0):
    """Compare the results of some of the layouts with that of the plain array."""
    entry = TABLE[name]
    sort, good = entry.arguments[argument].sort, entry.good()[argument]
    variants = layouts(sort, good)
    variants = [variants[(first + at) % len(variants)] for at in range(0, len(variants), every)]
    own = sort == "draws"  # of arrays, which hold less than a tree
    expected = called(entry, **{argument: standard(good)}) if own else expected_of(name)
    for what, value in variants[:most]:
        before = deepcopy(plain(value))
        found = called(entry, **{argument: value})
        np.testing.assert_equal(found, expected, err_msg=f"{name}({argument}={what})")
        np.testing.assert_equal(plain(value), before, err_msg=f"{name} changed {argument}, {what}")


@pytest.mark.parametrize(
    ("name", "argument"), [case for case in CASES if not matches(case[0], LONG)]
)
def test_results_do_not_depend_on_the_layout(name, argument):
    """All layouts where a call is quick; elsewhere one, another one for each entry."""
    slow = TABLE[name].slow
    first = CASES.index((name, argument)) * FEW if slow else 0
    check(name, argument, most=FEW if slow else None, first=first)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "argument"), [case for case in CASES if TABLE[case[0]].slow])
def test_results_of_slow_entries_do_not_depend_on_the_layout(name, argument):
    check(name, argument, every=8 if matches(name, LONG) else 3)
