"""The reference: a page for each subpackage, and one for each public name, from its docstring."""

import argparse
import importlib
import inspect
import os
import sys
from types import ModuleType

from readable import readable

import bayesclust

TITLES = {
    "estimators": "Estimators",
    "constraints": "Side information",
    "families": "Families",
    "posterior": "Posteriors",
    "profiles": "Describing clusters",
    "comparison": "Comparing fits",
    "report": "Reports",
    "losses": "Losses between partitions",
    "plots": "Plots",
    "inference": "Settings and parts of samplers",
    "models": "Models as NumPyro programs",
    "datasets": "Data sets",
    "metrics": "Agreement between partitions",
    "information": "Information in an answer",
}
"""Titles of subpackages, in the order of their pages; others come last, by their names."""


def public_names() -> dict[str, object]:
    """Return all public names: each object once, by its shortest name."""
    found: dict[str, object] = {}
    doors = [("bayesclust", bayesclust), ("bayesclust.information", bayesclust.information)]
    for door, module in doors:
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                doors.append((f"{door}.{name}", value))
            elif not name.startswith("__") and not any(value is other for other in found.values()):
                found[f"{door}.{name}"] = value
    return found


def room_of(name: str, value: object) -> str:
    """Return the subpackage that a name is reached by or, of `bc.name`, the one that holds it."""
    return (
        name.split(".")[1]
        if name.count(".") > 1
        else str(getattr(value, "__module__", "")).split(".")[1]
    )


def pages() -> dict[str, str]:
    """Return the text of each room's page, by the room's name."""
    names = public_names()
    rooms = {room_of(name, value) for name, value in names.items()}
    ordered = [room for room in TITLES if room in rooms] + sorted(rooms - set(TITLES))
    return {
        room: _page(room, [name for name in names if room_of(name, names[name]) == room])
        for room in ordered
    }


def _page(room: str, names: list[str]) -> str:
    title = TITLES.get(room, room.capitalize())
    module = getattr(bayesclust, room, None) or importlib.import_module(f"bayesclust.{room}")
    explained = "\n".join(readable((inspect.getdoc(module) or "").splitlines()))
    listed = "\n".join(
        f"   {name.removeprefix('bayesclust.')}" for name in sorted(names, key=str.lower)
    )
    return (
        f"{title}\n{'=' * len(title)}\n\n.. module:: bayesclust.{room}\n\n{explained}\n\n"
        f".. currentmodule:: bayesclust\n\n.. autosummary::\n   :toctree: generated\n"
        f"   :nosignatures:\n\n{listed}\n"
    )


def command_line() -> str:
    """Return the page of the command line: what ``--help`` says, of all commands."""
    from bayesclust.cli import parser

    os.environ["COLUMNS"] = "100"
    return "Command line\n============\n\n" + "\n".join(_helps(parser()))


def _helps(parser):
    yield f".. rubric:: {parser.prog}\n\n.. code-block:: text\n"
    yield "\n".join(f"   {line}".rstrip() for line in parser.format_help().splitlines()) + "\n"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _helps(command)


def all_pages() -> dict[str, str]:
    """Return the texts of all pages and of the list of them, by name."""
    texts = pages() | {"command_line": command_line()}
    index = "Reference\n=========\n\nEverything public, by subpackage.\n\n.. toctree::\n\n"
    return texts | {"index": index + "".join(f"   {room}\n" for room in texts)}


def make_rooms_importable() -> None:
    """Let autodoc import modules from the place at which `bc` shows them."""
    for room in TITLES:
        if (module := getattr(bayesclust, room, None)) is not None:
            sys.modules.setdefault(f"bayesclust.{room}", module)
