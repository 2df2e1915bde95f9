"""The command line of the experiments: what it refuses, and small runs from start to files."""

import re

import pytest

from experiments import command
from experiments.reproduce import tvclust as experiments
from experiments.reproduce.cells import load
from experiments.reproduce.dcrc import cells as dcrc_cells
from experiments.reproduce.tvclust.cells import KINDS

TINY = [
    "tvclust",
    "--quick",
    "--methods",
    "kmeans",
    "rdp-means-released",
    "--data",
    "iris",
    "--no-progress",
]


def refused(capsys, *arguments):
    assert command.main([*arguments]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    return error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--tables", "7"], r"tables has 7: choose from 1, 2, 3, 4\."),
        (["--figures", "1"], r"figures has 1: choose from 2, 3, 4\."),
        (["--methods", "k-menas"], r"methods has 'k-menas': choose from kmeans, .*, collapsed"),
        (
            ["--data", "pima"],
            r"data has 'pima': choose from iris, wine, ecoli, glass, balance, glass_with_id\.",
        ),
        (["--fractions", "3"], r"fractions .* 3"),
        (["--trials", "0"], r"trials .* 0"),
        (["--seed", "-1"], r"seed .* -1"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(arguments, sentence, capsys, tmp_path):
    error = refused(capsys, "tvclust", "--output", str(tmp_path / "out"), *arguments)
    assert re.match(f"experiments: {sentence}", error)
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_refused(capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    error = refused(capsys, *TINY, "--tables", "1", "--output", str(tmp_path / "file"))
    assert str(tmp_path / "file") in error


def test_an_interrupt_has_its_own_code(monkeypatch, capsys, tmp_path):
    def interrupted(*arguments, **settings):
        error = KeyboardInterrupt()
        error.add_note("5 of 20 cells are done.")
        raise error

    monkeypatch.setattr(experiments, "reproduce", interrupted)
    assert command.main([*TINY, "--output", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "\nexperiments: interrupted.\n  5 of 20 cells are done.\n"


def test_the_list_names_every_method_and_what_it_is_told(capsys):
    assert command.main(["tvclust", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(experiments.METHODS)
    by_name = {line.split()[0]: line for line in lines}
    assert "not told k" in by_name["rdp-means"]
    assert ": told k, heeds no answers" in by_name["kmeans"]


def test_a_small_run_from_start_to_files(capsys, tmp_path):
    arguments = [
        *TINY,
        "--tables",
        "1",
        "3",
        "--figures",
        "3",
        "--seed",
        "5",
        "--output",
        str(tmp_path / "out"),
    ]
    assert command.main(arguments) == 0
    out, error = capsys.readouterr()
    assert "cell/s" not in error
    frame = load(tmp_path / "out" / "cells.csv", KINDS)
    # k-means: k + 1, k, k - 1; the released settings: two samplings and two p, and two more
    # deviations
    assert frame.groupby("method").size().to_dict() == {"kmeans": 3, "rdp-means-released": 6}
    clean = frame[
        (frame.method == "rdp-means-released") & (frame.accuracy == 1) & (frame.deviation == 0)
    ]
    ordered = clean[clean.sampling == "ordered"].f.item()
    assert re.search(
        rf"^\| RDP-means, released settings \[k\] \| {ordered:.3f} ",
        out.partition("r = 0.03:")[2],
        re.M,
    )
    for name in ("table1", "table3", "figure3"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "out" / f"{name}.svg").read_text(encoding="utf-8")
    assert not (tmp_path / "out" / "figure2.png").exists()
    assert str(tmp_path / "out" / "figure3.svg") in error
    written = (tmp_path / "out" / "cells.csv").read_bytes()
    assert command.main(arguments) == 0
    assert capsys.readouterr().out == out
    assert (tmp_path / "out" / "cells.csv").read_bytes() == written


def test_a_small_run_of_the_other_paper(capsys, tmp_path):
    arguments = [
        "dcrc",
        "--quick",
        "--figures",
        "2",
        "4",
        "--methods",
        "kmeans",
        "dcrc",
        "--no-progress",
    ]
    arguments += ["--data", "iris", "--fractions", "0.2", "--seed", "3", "--output", str(tmp_path)]
    assert command.main(arguments) == 0
    out, _ = capsys.readouterr()
    frame = load(tmp_path / "cells.csv", dcrc_cells.KINDS)
    assert frame[["method", "number", "seed"]].values.tolist() == [
        ["kmeans", 0, 3],
        ["dcrc", 30, 3],
    ]
    f = frame.set_index("method").f
    assert re.search(rf"^\| iris \| 0.2 n \| {f.kmeans:.3f} \| {f.dcrc:.3f} \|$", out, re.M)
    for name in ("figure2", "figure4"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "figure7.png").exists()
    written = (tmp_path / "cells.csv").read_bytes()
    assert command.main(arguments) == 0
    assert capsys.readouterr().out == out
    assert (tmp_path / "cells.csv").read_bytes() == written


def test_progress_goes_to_standard_error_and_can_be_switched_off(capsys, tmp_path):
    arguments = [*TINY, "--tables", "1", "--output", str(tmp_path)]
    arguments.remove("--no-progress")
    assert command.main(arguments) == 0
    out, error = capsys.readouterr()
    assert "5/5" in error
    assert "5/5" not in out
