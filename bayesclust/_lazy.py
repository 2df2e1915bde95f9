"""Names of a package that are loaded when first asked for, from one table.

Type checkers read ``__init__.pyi``, which `tools/write_stubs.py` writes from the table.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False  # that of typing, which is not imported here: it takes longer than the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def attach(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of names by the module that holds them."""
    home = {name: module for module, held in names.items() for name in held.split()}
    every = sorted([*home, *modules.split()])

    def load(name: str) -> object:
        if name not in home:
            whole = f"{package}.{name}"
            if name.startswith("_") or find_spec(whole) is None:
                raise unknown(package, name, every)
            return import_module(whole)  # also of those that are not listed
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: every, every


def unknown(package: str, name: str, known: Sequence[str]) -> AttributeError:
    """The error for a name that a package lacks: it tells the nearest one, or else all."""
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"it has {', '.join(known)}."
    return AttributeError(f"module {package!r} has no attribute {name!r}: {hint}")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The word most like this one, in letters of either case, if any is much like it."""
    from difflib import get_close_matches

    words = {one.lower(): one for one in known}
    return next((words[one] for one in get_close_matches(word.lower(), words, 1)), None)
