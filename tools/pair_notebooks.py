"""Keep the notebooks and the percent scripts beside them equal.

    python tools/pair_notebooks.py                     # notebooks from their scripts
    python tools/pair_notebooks.py --from-notebooks    # scripts from edited notebooks

A script is plain Python, in which ``# %%`` opens a cell of code and ``# %% [markdown]`` one of
text, every line of which is a comment; editors and Jupytext know it as the percent format. Changes
can be read there, and outputs are in neither.
"""

import argparse
import json
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
MARK = re.compile(r"^# %%(?P<text> \[markdown\])?$")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Cell(NamedTuple):
    """One cell: whether it is text or code, and what is in it."""

    kind: str
    source: str


def read_script(text: str) -> list[Cell]:
    """Return the cells of a percent script."""
    opened: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if mark := MARK.match(line):
            opened.append(("markdown" if mark["text"] else "code", []))
        elif opened:
            opened[-1][1].append(line)
        elif line.strip():
            raise ValueError(
                f"the script begins with {line!r}: begin with '# %%' or '# %% [markdown]'."
            )
    return [
        Cell(kind, "\n".join(map(_plain, lines) if kind == "markdown" else lines).strip("\n"))
        for kind, lines in opened
    ]


def _plain(line: str) -> str:
    if line and line != "#" and not line.startswith("# "):
        raise ValueError(f"a cell of text holds {line!r}: begin each of its lines with '# '.")
    return line[2:]


def write_script(cells: list[Cell]) -> str:
    """Return the percent script of some cells."""
    pieces = []
    for kind, source in cells:
        if kind == "markdown":
            source = "\n".join(f"# {line}".rstrip() for line in source.splitlines())
        pieces.append(f"# %%{' [markdown]' if kind == 'markdown' else ''}\n{source}\n")
    return "\n".join(pieces)


def read_notebook(text: str) -> list[Cell]:
    """Return the cells of a notebook, without what they put out."""
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]


def write_notebook(cells: list[Cell]) -> str:
    """Return the notebook of some cells, without outputs, the same text for the same cells."""
    listed = []
    for number, (kind, source) in enumerate(cells):
        cell = {
            "cell_type": kind,
            "id": f"cell-{number:02}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        listed.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    notebook = {"cells": listed, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> None:
    """Write one side of each pair from the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--from-notebooks", action="store_true", help="write the scripts from the notebooks"
    )
    backwards = parser.parse_args().from_notebooks
    for path in sorted(FOLDER.glob("[0-9]*.ipynb" if backwards else "[0-9]*.py")):
        text = path.read_text(encoding="utf-8")
        cells = read_notebook(text) if backwards else read_script(text)
        path.with_suffix(".py").write_text(write_script(cells), encoding="utf-8")
        path.with_suffix(".ipynb").write_text(write_notebook(cells), encoding="utf-8")


if __name__ == "__main__":
    main()
