"""Everything shown is run: the Python blocks of the Markdown files in order, and each notebook."""

import re
import warnings
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks_of(text):
    """Blocks padded so that a traceback names the line of the Markdown file."""
    return ["\n" * text[: block.start(1)].count("\n") + block[1] for block in BLOCK.finditer(text)]


@cache
def names_after(markdown):
    """Run the blocks of a Markdown file one after the other, and return the names they leave behind."""
    namespace = {"__name__": "__main__"}
    for block in blocks_of((ROOT / markdown).read_text(encoding="utf-8")):
        exec(compile(block, markdown, "exec"), namespace)
    return namespace


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_python_in_markdown_runs(name):
    assert names_after(name)


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_relative_links_lead_somewhere(name):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_example_of_the_readme_finds_what_it_promises():
    example, *_ = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 20
    names = names_after("README.md")
    assert names["bc"].metrics.pairwise_f(names["est"].labels_, names["iris"].y) > 0.95
    least = names["bc"].constraint_credibility(names["est"].posterior_)["credibility"].nsmallest(10).index
    assert names["links"].flipped[least].sum() >= 9


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_stripped_and_run(path, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "strip the outputs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client and its event loop; the kernel below has its own filters
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    words = [out.get("text", "") for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    # tqdm says so where ipywidgets, which draw its bars, are not installed
    assert not [word for word in words if "Warning" in word and "IProgress not found" not in word]
