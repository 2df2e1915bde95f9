"""Pages that are not kept but written before each build, and links to them."""

import re
import shutil
from pathlib import Path

import equations
import reference


def write(path: Path, text: str) -> None:
    """Write a file where its text changes, so that Sphinx reads no more than it must."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_pages(app, config) -> None:
    """Write reference and equations, and put the notebooks where Sphinx looks for pages."""
    source = Path(app.srcdir)
    for name, text in {**reference.all_pages(), "equations": equations.page()}.items():
        write(source / "reference" / f"{name}.rst", text)
    shutil.rmtree(source / "tutorial", ignore_errors=True)
    shutil.copytree(
        source.parent / "notebooks",
        source / "tutorial",
        ignore=shutil.ignore_patterns("__pycache__", ".*"),
    )


WRITTEN = {
    "../notebooks/": "tutorial/",
    "../bayesclust/__init__.py": "reference/index.rst",
    "../bayesclust/cli/__init__.py": "reference/command_line.rst",
    "equations.toml": "reference/equations.rst",
}
"""Files of the repository, from `docs`, and the pages written from them."""
LISTS = ("tutorial", "howto/index")
"""Pages whose list of links is a part of the table of contents."""


def link_to_pages(app, docname, source) -> None:
    """Have links lead to the pages of what they lead to in the repository."""
    up = "../" * docname.count("/")
    text = source[0]
    for file, page in WRITTEN.items():
        text = text.replace(f"]({up}{file}", f"]({up}{page}")
    if docname in LISTS:
        listed = re.findall(r"^- \[.*?\]\((.+?)\.\w+\)", text, re.M)
        text += "\n".join(["\n```{toctree}", ":hidden:", "", *listed, "```", ""])
    source[0] = text


def look_again(app) -> None:
    """Find pages that an earlier build does not know, before autosummary reads the lists."""
    app.env.find_files(app.config, app.builder)


def setup(app):
    """Write before Sphinx looks which files there are."""
    reference.make_rooms_importable()
    app.connect("config-inited", write_pages)
    app.connect("source-read", link_to_pages)
    app.connect("builder-inited", look_again, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
