"""Everything shown is run: the Python blocks of the Markdown files in order, and each notebook."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks_of(text):
    """Blocks padded so that a traceback names the line of the Markdown file."""
    return ["\n" * text[: block.start(1)].count("\n") + block[1] for block in BLOCK.finditer(text)]


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md") if BLOCK.search(path.read_text())))
def test_python_in_markdown_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in blocks_of((ROOT / name).read_text(encoding="utf-8")):
        exec(compile(block, name, "exec"), namespace)


def test_the_example_of_the_readme_finds_what_it_promises(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 20
    namespace = {}
    exec(compile(example, "README.md", "exec"), namespace)
    est, wine = namespace["est"], namespace["wine"]
    assert est.n_clusters_ == 3
    assert namespace["bc"].metrics.pairwise_f(est.labels_, wine.y) > 0.9
    assert capsys.readouterr().out


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
        NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    words = [out.get("text", "") for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    assert not [word for word in words if "Warning" in word]
