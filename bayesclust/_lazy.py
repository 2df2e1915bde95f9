"""Names of a package that are loaded when first asked for, from one table.

Type checkers read ``__init__.pyi``, which `tools/write_stubs.py` writes from the table.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # that of typing, which is not imported here: it takes longer than the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def attach(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of names by the module that holds them."""
    home = {name: module for module, held in names.items() for name in held.split()}
    submodules = modules.split()

    def load(name: str) -> object:
        if name in submodules:
            return import_module(f"{package}.{name}")
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    every = sorted([*home, *submodules])
    return load, lambda: every, every
