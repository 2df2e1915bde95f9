"""Everything shown is run: the Python blocks of the Markdown files in order."""

import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TERMS = (
    *("dirichlet process", "must-link", "cannot-link", "constrained clustering", "rdp-means"),
    *("semi-supervised", "active learning", "small-variance", "credible ball", "co-clustering"),
    *("annotators", "mcmc"),
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks_of(text):
    """Blocks padded so that a traceback names the line of the Markdown file."""
    return ["\n" * text[: block.start(1)].count("\n") + block[1] for block in BLOCK.finditer(text)]


@cache
def names_after(markdown):
    """Run the blocks of a Markdown file in order, and return the names they leave behind."""
    namespace = {"__name__": "__main__"}
    for block in blocks_of((ROOT / markdown).read_text(encoding="utf-8")):
        with redirect_stdout(StringIO()) as printed:
            exec(compile(block, markdown, "exec"), namespace)
        namespace.setdefault("printed", printed.getvalue())
    return namespace


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_python_in_markdown_runs(name):
    assert names_after(name)


def test_the_example_of_the_readme_finds_what_it_promises():
    example, *_ = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 20
    names = names_after("README.md")
    assert names["bc"].metrics.pairwise_f(names["est"].labels_, names["iris"].y) > 0.95
    table = names["table"]
    assert names["links"].flipped[table["credibility"].nsmallest(10).index].sum() >= 9


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_terms_of_the_field_are_found(page):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split()).lower()
    assert [term for term in TERMS if term not in text] == []


def test_the_readme_shows_what_its_example_prints():
    shown = re.search(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)[
        1
    ]
    printed = names_after("README.md")["printed"]
    starts = (
        "3 clusters; pairwise F ",
        "Trust this run: R-hat up to 1.0",
        "     i    j answer  cred",
    )
    assert [start for start in starts if start not in shown or start not in printed] == []
    assert len(printed.splitlines()) == 6
    numbers = [[float(x) for x in re.findall(r"\d+\.\d+", text)] for text in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.05)
