"""`bayesclust ask`, with answers piped in."""

import io
import re
import sys

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust import cli
from bayesclust.active import QUERY_STRATEGIES


@pytest.fixture
def told(monkeypatch, capsys):
    """Run the command with some lines as its input; returns (code, output, error)."""

    def run(lines, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        code = cli.main(["ask", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_a_session_is_begun_and_resumed(told, tmp_path):
    kept, labels = tmp_path / "s.npz", tmp_path / "labels.csv"
    begin = ("iris", "--session", kept, "--n-clusters", 3, "--seed", 5)
    code, out, error = told(["y", "n", "q"], *begin)
    assert (code, error) == (0, "")
    assert out.count("in one cluster?") == 3
    assert "quality" in out
    code, out, error = told(["n"] * 5, "iris", "--session", kept, "--queries", 2, "--out", labels)
    assert code == 0
    assert error == "resumed: 150 items in 3 clusters after 2 answers\n"
    session = bc.InteractiveSession.load(kept, bc.datasets.load("iris").X)
    assert session.constraints[0].answers.tolist() == [1, 0, 0, 0]
    assert np.loadtxt(labels, dtype=int).tolist() == session.labels.tolist()
    assert out.splitlines()[-1].split()[:2] == ["4", "4"]


def test_a_resumed_session_keeps_what_it_began_with(told, tmp_path):
    kept = tmp_path / "s.npz"
    begin = ("iris", "--session", kept, "--query-strategy", "npu", "--seed", 0)
    assert told([], *begin)[0] == 0
    assert told([], *begin[:3], "--query-strategy", "random", "--seed", 0)[2].endswith(
        "\nthe session keeps its own --query-strategy, --seed\n"
    )
    X = bc.datasets.load("iris").X
    assert bc.InteractiveSession.load(kept, X).query_strategy == "npu"


def test_a_single_cluster_can_be_parted_and_contradictions_say_how_to_go_on(told, tmp_path):
    path, kept, every = tmp_path / "data.csv", tmp_path / "s.npz", [*"nnn"]
    path.write_text("id,a\nx,0\ny,1\nz,2\n")
    (tmp_path / "one.csv").write_text("0\n0\n0\n")
    begin = (path, "--session", kept, "--partition", tmp_path / "one.csv")
    out = told(every, *begin)[1]
    assert "3 clusters after 3 answers" in out
    kept.unlink()
    out = told(every, *begin, "--new-clusters", 0)[1]
    assert out.count("allow new_clusters") == 3
    assert out.count("u takes the last answer back") == 3


@pytest.mark.parametrize("names", [True, False])
def test_tables_and_labels_are_read(told, tmp_path, names):
    X = np.arange(12.0).reshape(6, 2)
    path = tmp_path / "data.csv"
    rows = [f"{name},{a},{b}" for name, (a, b) in zip("uvwxyz", X, strict=True)]
    text = "\n".join(["id,a,b", *rows]) + "\n"
    path.write_text(text if names else re.sub("^[^,]*,", "", text, flags=re.M))
    (tmp_path / "labels").write_text("0\n0\n0\n1\n1\n1\n")
    kept = tmp_path / "s.npz"
    asked = ["--partition", tmp_path / "labels", "--query-strategy", "random-triplets"]
    code, out, _ = told(["?"], path, "--session", kept, *asked)
    assert code == 0
    i, j, k = re.search(r"is item (\w) more similar to (\w) than to (\w)\?", out).groups()
    own = "uvwxyz" if names else "012345"
    for name in (i, j, k):
        a, b = X[own.index(name)]
        assert re.search(f"^ +{name} in cluster [01]: a {a:.0f}, b {b:.0f}$", out, re.M)
    session = bc.InteractiveSession.load(kept, pd.DataFrame(X, index=list(own)))
    (asked,) = session.constraints[0].to_frame()[list("ijk")].astype(str).to_numpy().tolist()
    assert asked == [i, j, k]
    assert session.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert session.constraints[0].answers.tolist() == [2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["iriss"], "there is no file iriss, nor a data set of that name: name a file, or one of"),
        (["iris", "--n-clusters", "0"], "n_clusters must be an integer from 1 to 150; got 0."),
        (["iris", "--n-clusters", "3", "--query-strategy", "oracle"], "query_strategy must be"),
        (["iris", "--queries", "-1"], "queries must be an integer of at least 0; got -1."),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(told, tmp_path, arguments, sentence):
    code, _, error = told(["y"], *arguments, "--session", tmp_path / "s.npz")
    assert code == 1
    assert error.startswith("bayesclust: ")
    assert sentence in error
    assert len(error.splitlines()) == 1


def test_the_partition_may_be_a_table(told, tmp_path):
    (tmp_path / "data.csv").write_text("id,x\na,0\nb,1\nc,9\n")
    labels, kept = tmp_path / "labels.csv", tmp_path / "s.npz"
    asked = [tmp_path / "data.csv", "--session", kept, "--partition", labels]
    labels.write_text("id,cluster,confidence\nb,0,0.9\na,0,1\n")
    assert "labels.csv names other items" in told([], *asked)[2]
    labels.write_text("id,cluster\nb,red\na,0\nc,1\n")
    assert "labels.csv has labels that are not whole numbers" in told([], *asked)[2]
    labels.write_text("id,cluster,confidence\nc,1,0.8\nb,0,0.9\na,0,1\n")
    assert told([], *asked)[0] == 0
    assert bc.InteractiveSession.load(kept, [[0.0], [1.0], [9.0]]).labels.tolist() == [0, 0, 1]


def test_it_is_refused_before_any_question(told, tmp_path, monkeypatch, capsys):
    asked = ["iris", "--session", tmp_path / "s.npz", "--out", tmp_path / "none" / "l.csv"]
    code, out, error = told(["y"], *asked)
    assert (code, out) == (1, "")
    assert "there is no folder" in error
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["ask", *map(str, asked[:3])]) == 1
    assert "standard input is closed" in capsys.readouterr().err
    (tmp_path / "w.csv").write_text("id,x\na,red\n")
    error = told([], tmp_path / "w.csv", *asked[1:3])[2]
    assert "--drop x" in error
    assert "--family" not in error


def test_the_help_names_the_query_strategies_and_columns(capsys):
    with pytest.raises(SystemExit):
        cli.main(["ask", "--help"])
    told = capsys.readouterr().out
    shown = " ".join(told.split())
    columns = " ".join(bc.InteractiveSession([[0.0], [1.0]], [0, 1], y=[0, 1]).history)
    explained = re.findall(r"^  (\w+)  ", told.partition("columns of")[2], re.M)
    assert " ".join(explained) == columns
    assert ", ".join(QUERY_STRATEGIES).replace(", posterior-t", " or posterior-t") in shown
