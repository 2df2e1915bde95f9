"""Escapes docstrings for reStructuredText: plain formulas, fitted attributes."""

import re

PROSE = {"", "Notes"}
"""Sections in which indented lines are formulas: what stands above all sections, and the notes."""
UNDERLINE = re.compile(r"^-{3,}$")
DEFINED = re.compile(r"^[\w, ]+_(?= :|$)")
SPECIAL = re.compile(r"(?<=\w)_(?=[\s,;:.)\]]|$)|\|")


def readable(lines: list[str]) -> list[str]:
    """Return lines of a docstring such that reStructuredText takes them as they are meant.

    Indented lines between paragraphs of prose become literal, so that formulas keep their lines.
    Elsewhere the underscore at the end of a fitted attribute's name, and the bars of a size, are
    escaped. Examples stay as they are.
    """
    section, kept, inside = "", [], False
    for at, line in enumerate(lines):
        if at + 1 < len(lines) and UNDERLINE.match(lines[at + 1]):
            section = line.strip()
        deep = section in PROSE and line.startswith("    ")
        opens = deep and bool(kept) and not kept[-1].strip() and not _list(kept)
        inside = opens or (inside and (deep or not line.strip()))
        if inside and deep and not kept[-1].strip() and not _literal_before(kept):
            kept += [".. code-block:: text", ""]
        kept.append(line if inside or section == "Examples" else _escaped(line))
    return kept


def _escaped(line: str) -> str:
    """Escape what is special outside of backquotes; numpydoc sees to names in sections."""
    name = found[0] if (found := DEFINED.match(line)) else ""
    pieces = re.split(r"(`[^`]*`)", line.removeprefix(name))
    return name + "".join(
        piece if "`" in piece else SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces
    )


def _last(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "")


def _list(lines: list[str]) -> bool:
    return _last(lines).lstrip().startswith(("- ", ".."))


def _literal_before(lines: list[str]) -> bool:
    """Whether the lines so far end in a literal block, or announce one."""
    return _last(lines).startswith("    ") or _last(lines).rstrip().endswith("::")
