"""No public name is left out of the table of entries: a new one is in it, or says why it takes no data."""

import inspect

import pytest

import bayesclust as bc
from tests.robustness.corruptions import SORTS
from tests.robustness.further_entries import WITHOUT_DATA
from tests.robustness.table import TABLE

INSIDE = {"posterior.to_datatree"}
"""Entries whose arguments are parts of one: the draws of `to_datatree` are in a mapping."""


def public_names():
    """What is reached from the front door, each thing by its shortest name."""
    names = [(name, getattr(bc, name)) for name in bc.__all__ if name != "__version__"]
    rooms = [(name, value) for name, value in names if inspect.ismodule(value)]
    names += [
        (f"{room}.{name}", getattr(value, name))
        for room, value in rooms
        for name in getattr(value, "__all__", ())
    ]
    shortest = {}
    for name, value in sorted(names, key=lambda pair: (pair[0].count("."), pair[0])):
        if not inspect.ismodule(value):
            shortest.setdefault(id(value), name)
    return list(shortest.values())


def known(name):
    return (
        name in TABLE
        or name in WITHOUT_DATA
        or any(other.endswith(".*") and name.startswith(other[:-1]) for other in WITHOUT_DATA)
    )


def test_every_public_name_is_in_the_table_or_says_why_not():
    assert [name for name in sorted(public_names(), key=str.lower) if not known(name)] == []


def test_the_table_names_what_there_is():
    reached = set(public_names())
    assert [name for name in WITHOUT_DATA if not name.endswith(".*") and name not in reached] == []
    for name in TABLE:
        value = bc
        for part in name.split("."):
            value = getattr(value, part)
        assert callable(value), name


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_called_what_the_entry_calls_them(name):
    value = bc
    for part in name.split("."):
        value = getattr(value, part)
    assert name in INSIDE or set(TABLE[name].arguments) <= set(inspect.signature(value).parameters)
    for argument in TABLE[name].arguments.values():
        sort = argument.sort.removeprefix("optional ")
        assert sort in SORTS or sort[0] in "(["
