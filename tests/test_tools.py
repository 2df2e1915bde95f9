"""Set-up by make: an interpreter is found by running it; .venv is made when it is needed."""

import os
import shutil
import subprocess
import sys
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


def test_path_comes_first_and_broken_folders_are_skipped(tmp_path):
    executable(tmp_path / "first/python3.12", "#!/bin/sh\nexit 1\n")
    works = executable(tmp_path / "second/python3.12")
    executable(tmp_path / "home/.pyenv/versions/3.12.1/bin/python3.12")
    found = find_python(HOME=str(tmp_path / "home"), PATH=f"{tmp_path}/first:{tmp_path}/second")
    assert found.stdout.strip() == str(works)


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

    def make_venv(folder=folder, *extra):
        log.write_text("")
        environment = {**os.environ, "LOG": str(log), "PYTHON": str(fake)}
        subprocess.run(
            ["sh", folder / "tools/make-venv", *extra],
            env=environment,
            check=True,
            capture_output=True,
        )
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


def test_docs_requirements_are_installed_on_request(clone, tmp_path):
    folder, make_venv = clone
    assert make_venv() == ["venv", "install"]
    assert (tmp_path / "log.said").read_text().endswith("--editable .[dev,solver]\n")
    assert make_venv(folder, "docs") == ["install"]
    assert (tmp_path / "log.said").read_text().endswith("--editable .[dev,solver,docs]\n")
    assert make_venv(folder, "docs") == make_venv() == []


def test_an_install_that_fails_is_tried_again(clone, tmp_path):
    folder, make_venv = clone
    failing = FAKE.replace("echo install >>", "exit 1; echo >>")
    executable(tmp_path / "python", failing)
    with pytest.raises(subprocess.CalledProcessError):
        make_venv()
    executable(tmp_path / "python")
    executable(folder / ".venv/bin/python")
    assert make_venv() == ["install"]


def test_one_version_can_be_asked_for():
    running = "{}.{}".format(*sys.version_info)
    found = [
        subprocess.run(
            ["sh", ROOT / "tools/find-python", version], capture_output=True, text=True, check=False
        )
        for version in (running, "3.11")
    ]
    assert [f.returncode for f in found] == [0, 1]
    command = [
        found[0].stdout.strip(),
        "-c",
        "import sys; print('{}.{}'.format(*sys.version_info))",
    ]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        == running
    )


def test_lower_bounds_are_read_and_other_requirements_refused():
    assert try_package.oldest(["numpy>=2.0", "arviz-base[h5netcdf]>=1.3"]) == [
        "numpy==2.0",
        "arviz-base==1.3",
    ]
    with pytest.raises(SystemExit, match="written as name>=version"):
        try_package.oldest(["numpy>=2.0", "scipy"])


@pytest.mark.parametrize(
    ("held", "fault"),
    [
        (["bayesclust/a.py", "bayesclust/py.typed"], None),
        (["bayesclust/a.py", "bayesclust/py.typed", "models/a.py"], "has models/a.py"),
        (["bayesclust/a.py", "bayesclust/py.typed", "bayesclust/a.csv"], "has bayesclust/a.csv"),
        (["bayesclust/a.py", "bayesclust/py.typed", "tests/test_a.py"], "has tests/test_a.py"),
        (
            ["bayesclust/a.py", "bayesclust/py.typed", "bayesclust/__pycache__/a.py"],
            "has bayesclust/__pycache__/a.py",
        ),
        (["bayesclust/a.py"], "holds bayesclust/py.typed not exactly once"),
        (
            ["bayesclust/a.py", "bayesclust/a.py", "bayesclust/py.typed"],
            "holds bayesclust/a.py not exactly once",
        ),
    ],
)
def test_built_files_hold_the_package_once_and_nothing_else(held, fault):
    assert try_package.faults(held, ["bayesclust/a.py", "bayesclust/py.typed"]) == (
        [] if fault is None else [fault]
    )


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
