"""The page of equations, from ``equations.toml``."""

import re
import tomllib
from pathlib import Path

INTRODUCTION = """Equations
=========

Which equation of which paper is where in the code, and which tests hold it. Where a paper's
equation contains a slip, the corrected form is what the code has, and the entry says what was
mended. A test checks this page: every name exists, its docstring names the equation, and every test
exists.
"""


def page() -> str:
    """Return the page as reStructuredText."""
    sections = tomllib.loads(
        (Path(__file__).parents[1] / "equations.toml").read_text(encoding="utf-8")
    )["section"]
    return INTRODUCTION + "".join(_section(section) for section in sections)


def _section(section) -> str:
    title = section["title"]
    return f"\n{title}\n{'-' * len(title)}\n\n{section['source']}.\n" + "".join(
        map(_entry, section["entry"])
    )


def _entry(entry) -> str:
    title = f"{entry['equation']}: {entry['title'][0].lower()}{entry['title'][1:]}"
    lines = ["", title, "~" * len(title), "", f".. math:: {entry['paper']}", ""]
    if "mended" in entry:
        lines.append(":Mended: " + re.sub(r"\$(.+?)\$", r":math:`\1`", entry["mended"]))
    lines.append(":In code: " + ", ".join(f"`{name}`" for name in entry["code"]))
    lines += [":Tested by:", *(f"   | ``{test}``" for test in entry["tests"])]
    return "\n".join(lines) + "\n"
