"""Write the stubs that tell type checkers the lazily loaded names: python tools/write_stubs.py."""

from __future__ import annotations

import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bayesclust", "bayesclust.estimators")


def stub(package: str) -> str:
    """The text of a package's stub, from its table of names."""
    module = importlib.import_module(package)
    lines = [
        f"from . import {name} as {name}" for name in sorted(getattr(module, "MODULES", "").split())
    ]
    for home, names in sorted(module.NAMES.items()):
        lines += [f"from .{home} import {name} as {name}" for name in sorted(names.split())]
    if hasattr(module, "__version__"):
        lines += ["", "__version__: str"]
    return "\n".join(lines) + "\n"


def path(package: str) -> Path:
    """The file of a package's stub."""
    return ROOT.joinpath(*package.split("."), "__init__.pyi")


if __name__ == "__main__":
    for package in PACKAGES:
        path(package).write_text(stub(package))
