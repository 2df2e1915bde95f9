"""The command line: what it says, where it says it, and what it returns."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import bayesclust as bc
from bayesclust import cli
from bayesclust.cli import summary
from bayesclust.inference.runner import LostProcessError

ROOT = Path(__file__).resolve().parents[2]


def test_version_and_help_teach(capsys):
    for option, expected in (
        ("--version", f"^bayesclust {re.escape(version('bayesclust'))}$"),
        ("--help", "exit codes: 0 done"),
    ):
        with pytest.raises(SystemExit) as end:
            cli.main([option])
        assert end.value.code == 0
        assert re.search(expected, capsys.readouterr().out, re.M)


@pytest.mark.parametrize("command", ["fit", "summary", "report", "compare", "ask"])
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([*command.split(), "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: bayesclust {command} ")
    assert re.search("--out FILE|--clusters FILE", out)


def test_no_command_shows_the_help_and_fails(capsys):
    assert cli.main([]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "compare" in error


@pytest.mark.parametrize("arguments", [["nonsense"], ["compare", "--nonsense"]])
def test_what_is_not_understood_is_misuse(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert "usage: bayesclust" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [TypeError, MemoryError, KeyError, LostProcessError])
def test_no_error_ends_in_a_traceback(kind, capsys, monkeypatch):
    def fail(settings):
        raise kind("no such thing.")

    monkeypatch.setattr(summary, "run_summary", fail)
    assert cli.main(["summary", "run.nc"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("bayesclust: ")
    assert "no such thing." in lines[0]


def shell(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_the_same_from_a_shell():
    assert shell("-m", "bayesclust", "--version").stdout == f"bayesclust {bc.__version__}\n"
    assert shell("-m", "bayesclust", "summary", "no such file").returncode == 1


def test_the_help_is_quick_to_come():
    code = "import sys; from bayesclust import cli; cli.main([]); print(*sys.modules)"
    loaded = shell("-c", code).stdout
    assert not {"jax", "arviz", "numba", "pandas", "matplotlib", "sklearn"} & set(loaded.split())
