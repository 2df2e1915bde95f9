"""Set-up by make: an interpreter is found by running it; .venv is made when it is needed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.package import try_package

ROOT = Path(__file__).resolve().parents[1]
FAKE = """#!/bin/sh
# Stands in for a Python: answers the probes, makes a .venv that holds itself, and writes down what
# it was asked.
case "$1 $2" in
    "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo venv >>"$LOG" ;;
    "-m pip") echo install >>"$LOG"; echo "$*" >"$LOG.said" ;;
    "-c "*) echo "$0" ;;
esac
"""


def executable(path, text=FAKE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def find_python(**environment):
    return subprocess.run(
        ["/bin/sh", ROOT / "tools/find-python"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "place",
    [
        "{home}/.pyenv/versions/3.12.9/bin/python3.12",
        "{home}/.local/share/uv/python/cpython-3.12.9-linux-x86_64-gnu/bin/python3.12",
        "{home}/.local/share/mise/installs/python/3.12.9/bin/python3.12",
        "{home}/.asdf/installs/python/3.12.9/bin/python3.12",
    ],
)
def test_a_version_manager_is_found_behind_a_broken_shim(tmp_path, place):
    executable(tmp_path / "shims/python3.12", "#!/bin/sh\nexit 127\n")
    kept = executable(Path(place.format(home=tmp_path / "a home")))
    found = find_python(HOME=str(tmp_path / "a home"), PATH=str(tmp_path / "shims"))
    assert (found.returncode, found.stdout.strip()) == (0, str(kept))


def test_the_choice_of_the_user_is_kept_or_refused_in_a_sentence(tmp_path):
    mine = executable(tmp_path / "mine")
    assert find_python(PYTHON=str(mine), PATH="").stdout.strip() == str(mine)
    old = executable(tmp_path / "old", "#!/bin/sh\nexit 1\n")
    refused = find_python(PYTHON=str(old), PATH="")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"bayesclust needs Python 3.12 or newer, and PYTHON={old} is not one that works: "
        "point PYTHON at another.\n"
    )


@pytest.fixture
def clone(tmp_path):
    """A folder with what set-up reads, and a function that runs it and tells what was asked."""
    folder, log = tmp_path / "clone", tmp_path / "log"
    shutil.copytree(ROOT / "tools", folder / "tools")
    shutil.copy(ROOT / "pyproject.toml", folder)
    fake = executable(tmp_path / "python")

    def make_venv(folder=folder):
        log.write_text("")
        environment = {**os.environ, "LOG": str(log), "PYTHON": str(fake)}
        command = ["sh", folder / "tools/make-venv"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return log.read_text().split()

    return folder, make_venv


def test_set_up_does_only_what_is_needed(clone):
    folder, make_venv = clone
    assert make_venv() == ["venv", "install"]
    assert make_venv() == []
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n# another dependency\n")
    assert make_venv() == ["install"]
    executable(folder / ".venv/bin/python", "#!/bin/sh\nexit 127\n")
    assert make_venv() == ["venv", "install"]
    moved = folder.rename(folder.with_name("moved here"))
    assert make_venv(moved) == ["install"]
    assert make_venv(moved) == []


def test_lower_bounds_are_read_and_other_requirements_refused():
    assert try_package.oldest(["numpy>=2.0", "arviz-base[h5netcdf]>=1.3"]) == [
        "numpy==2.0",
        "arviz-base==1.3",
    ]
    with pytest.raises(SystemExit, match="written as name>=version"):
        try_package.oldest(["numpy>=2.0", "scipy"])


def test_built_files_hold_the_package_once_and_nothing_else():
    wanted = ["bayesclust/a.py", "bayesclust/py.typed"]
    assert try_package.faults(wanted, wanted) == []
    for extra in ("models/a.py", "bayesclust/a.nc", "bayesclust/__pycache__/a.py"):
        assert try_package.faults([*wanted, extra], wanted) == [f"has {extra}"]
    for held in (wanted[:1], [*wanted, wanted[1]]):
        fault = "holds bayesclust/py.typed not exactly once"
        assert try_package.faults(held, wanted) == [fault]


def test_a_missing_python_is_skipped_and_none_at_all_fails(tmp_path, monkeypatch, capsys):
    fake = executable(tmp_path / "bin/python3.13", FAKE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(try_package, "PYTHONS", ("3.99", "3.13"))
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    assert list(try_package.pythons()) == [("3.13", str(fake))]
    assert capsys.readouterr().out == "Python 3.99 is not here and was left out\n"
    monkeypatch.setattr(try_package, "PYTHONS", ("3.99",))
    monkeypatch.setattr(try_package, "build", lambda folder: (folder, folder))
    with pytest.raises(SystemExit, match=r"^none of the Pythons 3\.99 is here: install one\.$"):
        try_package.main()
