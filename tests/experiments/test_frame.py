"""The frame: what a kill or an interrupt leaves, what is refused, and the command line."""

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import experiments
from experiments import frame, tvclust
from experiments.__main__ import PAPERS, main

EXPERIMENT = frame.Experiment(tvclust)
TINY = ["tvclust", "--quick", "--data", "iris", "--no-progress"]
TINY += ["--methods", "kmeans", "rdp-means-released"]


class Halves:
    """A method that puts the first half of the items together, and remembers what it was given."""

    def __init__(self, stop=None):
        self.seen, self.stop = [], stop

    def __call__(self, X, constraints, n_clusters, seed):
        if self.stop is not None and len(self.seen) == self.stop:
            raise KeyboardInterrupt
        self.seen.append((X, constraints, n_clusters, seed))
        return np.arange(len(X)) >= len(X) // 2


@pytest.fixture
def halves(monkeypatch):
    """Two methods, the second of which is told k but uses no answers, in the place of all."""
    one, other = Halves(), Halves()
    known = {
        "one": tvclust.Method("One", one),
        "other": tvclust.Method("Other", other, told=True, uses_answers=False, raw=True),
    }
    for name in ("METHODS", "EVERY_METHOD"):
        monkeypatch.setattr(tvclust, name, known)
    return one, other


def small(**more):
    settings = {"tables": (1, 2), "figures": (), "trials": 2, "seed": 3}
    settings |= {"methods": ("one", "other"), "data": ("iris", "wine")}
    return tvclust.Plan(**(settings | {"fractions": (0.03,), "accuracies": (1.0, 0.8)} | more))


def without_seconds(folder):
    return frame.load(folder / "cells.csv", EXPERIMENT.kinds).drop(columns="seconds")


def test_methods_are_given_what_their_entry_says(halves, tmp_path):
    one, other = halves
    EXPERIMENT.reproduce(small(), tmp_path, progress=False)
    # two samplings, two sets, two p, two trials; without answers there are only sets and trials
    assert (len(one.seen), len(other.seen)) == (16, 4)
    for X, links, _, seed in one.seen:
        np.testing.assert_allclose(X.std(axis=0), 1.0)
        assert links.n_items == len(X)
        assert seed in (3, 4)
    for X, links, n_clusters, _ in other.seen:
        assert not np.allclose(X.std(axis=0), 1.0)
        assert (links, n_clusters) == (None, 3)


def test_a_kill_loses_at_most_the_cell_it_falls_in(halves, tmp_path):
    one, other = halves
    EXPERIMENT.reproduce(small(), tmp_path / "whole", progress=False)
    before = len(one.seen), len(other.seen)
    path = tmp_path / "cut" / "cells.csv"
    path.parent.mkdir()
    text = (tmp_path / "whole" / "cells.csv").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    path.write_text("".join(lines[:-3]) + lines[-3][:20], encoding="utf-8")
    assert len(frame.load(path, EXPERIMENT.kinds)) == 17
    for _ in range(2):
        EXPERIMENT.reproduce(small(), path.parent, progress=False)
        assert (len(one.seen), len(other.seen)) == (before[0], before[1] + 3)
    assert without_seconds(path.parent).equals(without_seconds(tmp_path / "whole"))


def refused(capsys, *arguments):
    assert main(arguments) == 1
    out, error = capsys.readouterr()
    assert out == ""
    return error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("tvclust --tables 7", r"tables has 7: choose from 1, 2, 3, 4\."),
        ("tvclust --methods k-menas", r"methods has 'k-menas': choose from kmeans, .*, collapsed"),
        ("tvclust --fractions 3", r"fractions has 3\.0: choose shares in \(0, 1\]"),
        ("tvclust --trials 0", "trials has 0: 1 is the least"),
        ("tvclust --seed -1", "seed has -1: 0 is the least"),
        ("dcrc --data stonefly9", "data has 'stonefly9': choose from balance, .*, or a CSV file"),
        ("mpck --figures 14", "figures has 14: choose from 2, 3, 4, 5, 6, 7, 8"),
        ("mpck --data roses", "data has 'roses': choose from balance"),
        ("tvclust --data roses", "data has 'roses': choose from balance"),
        ("iac --methods iac-7-7", "methods has 'iac-7-7': choose from iac-0-10"),
        ("iac --query-strategies oracle", "query_strategies has 'oracle': choose from"),
        ("iac --folders nowhere", "folders has 'nowhere'"),
        ("active --data roses", "data has 'roses': choose from balance"),
        ("defaults --methods 3", r"methods has '3': choose from kmeans, "),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(arguments, sentence, capsys, tmp_path):
    error = refused(capsys, *arguments.split(), "--out", str(tmp_path / "out"))
    assert re.match(f"experiments: {sentence}", error)
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_explains_itself_and_lists_its_methods(paper, capsys):
    with pytest.raises(SystemExit) as end:
        main([paper, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m experiments {paper} ")
    assert main([paper, "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert len(listed) == len(set(listed)) > 3


def test_a_small_run_from_start_to_files(capsys, tmp_path):
    arguments = [*TINY, "--tables", "1", "3", "--figures", "3", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    out, error = capsys.readouterr()
    assert "cell/s" not in error
    cells = frame.load(tmp_path / "out" / "cells.csv", EXPERIMENT.kinds)
    # k-means: k + 1, k, k - 1; the released settings: two samplings and two p, and two deviations
    assert cells.groupby("method").size().to_dict() == {"kmeans": 3, "rdp-means-released": 6}
    mine = cells[(cells.method == "rdp-means-released") & (cells.deviation == 0)]
    ordered = mine[(mine.accuracy == 1) & (mine.sampling == "ordered")].f.item()
    row = rf"^\| RDP-means, released settings \[k\] \| {ordered:.3f} "
    assert re.search(row, out.partition("r = 0.03:")[2], re.M)
    assert (tmp_path / "out" / "figure3.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out" / "figure3.svg").read_text(encoding="utf-8")
    assert not (tmp_path / "out" / "figure2.png").exists()
    written = (tmp_path / "out" / "cells.csv").read_bytes()
    assert main(arguments) == 0
    assert capsys.readouterr().out == out
    assert (tmp_path / "out" / "cells.csv").read_bytes() == written


@pytest.mark.parametrize(
    ("paper", "chosen", "row"),
    [
        ("mpck", "--methods kmeans pck --numbers 20", "| PCK-Means |"),
        (
            "tvclust",
            "--methods kmeans mpck-means --accuracies 1 --fractions 0.05",
            "| MPCK-Means [k]",
        ),
        ("dcrc", "--methods kmeans dcrc-yn --figures 4 --fractions 0.3", "| blobs | 0.3 n |"),
    ],
)
def test_files_of_ones_own_are_data_too(paper, chosen, row, blobs, capsys, tmp_path):
    words = [paper, "--data", str(blobs), *chosen.split(), "--trials", "2", "--no-progress"]
    words += ["--tables", "1", "--samplings", "ordered"] if paper == "tvclust" else []
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    cells = frame.load(
        tmp_path / "out" / "cells.csv",
        frame.Experiment(import_module(f"experiments.{paper}")).kinds,
    )
    assert set(cells.data) == {str(blobs)}
    assert row in text
    mine = cells[cells.method == "kmeans"]
    assert f"{mine.f.mean():.3f}" in text
    if paper == "tvclust":  # the paper prints nothing beside it, and the mean is of one set
        f, rand = (f"{mine[score].mean():.3f}" for score in ("f", "rand"))
        assert f"| k-means [k] | {f} | {f} | {rand} |" in text


def test_experiments_use_public_modules_alone():
    public = {"", ".typing", ".report", ".active", ".active.expected_gain"}
    for path in Path(experiments.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            ours = {name for name in names if name.split(".")[0] == "bayesclust"}
            assert {name.removeprefix("bayesclust") for name in ours} <= public, path.name
