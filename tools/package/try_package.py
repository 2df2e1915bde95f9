"""Build wheel and sdist, and try each in an empty environment, types and warnings as errors.

The oldest dependencies that pyproject.toml allows are tried on the oldest Python, and whatever is
newest on every Python that is found. Run by `make package`, which says with which sampler the
user's program fits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("user.py")
PYTHONS = ("3.12", "3.13")
BOUND = re.compile(r"^([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)$")
# what belongs into built files: texts of these kinds, and files of these names
KINDS = {
    ".css",
    ".csv",
    ".xz",
    ".html",
    ".ipynb",
    ".json",
    ".md",
    ".png",
    ".svg",
    ".py",
    ".pyi",
    ".rst",
    ".toml",
    ".txt",
}
NAMES = {
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "find-python",
    "make-venv",
    "py.typed",
}
# a user's settings must not lead back to this checkout
OUTSIDE = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))
}


def oldest(dependencies: Sequence[str]) -> list[str]:
    """The dependencies, each at its lower bound, as lines of a constraints file."""
    bounds = [BOUND.match(requirement) for requirement in dependencies]
    if not all(bounds):
        sys.exit("every dependency in pyproject.toml must be written as name>=version.")
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def faults(held: Sequence[str], sources: Sequence[str], others: Sequence[str] = ()) -> list[str]:
    """What is wrong with the files of a wheel or an sdist; `others` are folders beside it."""
    rooms = {"bayesclust", *others}
    strange = [
        name
        for name in held
        if (len((path := PurePosixPath(name)).parts) > 1 and path.parts[0] not in rooms)
        or (path.suffix not in KINDS and path.name not in NAMES)
        or "__pycache__" in path.parts
    ]
    lacking = [name for name in sources if held.count(name) != 1]
    return [f"has {name}" for name in strange] + [
        f"holds {name} not exactly once" for name in lacking
    ]


def build(folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist into a folder and check what they hold."""
    run([sys.executable, "-m", "hatchling", "build", "-d", folder], ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        about = re.compile(r"^bayesclust-[^/]+\.dist-info/")
        in_wheel = [name for name in archive.namelist() if not about.match(name)]
    with tarfile.open(sdist) as archive:
        in_sdist = [
            member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()
        ]
    sources = [
        path.relative_to(ROOT).as_posix()
        for kind in ("*.py", "*.pyi", "*.html")
        for path in (ROOT / "bayesclust").rglob(kind)
    ] + ["bayesclust/py.typed"]
    others = ("benchmarks", "docs", "experiments", "notebooks", "tests", "tools")
    found = faults(in_wheel, sources) + faults(
        in_sdist, [*sources, "README.md", "tests/test_architecture.py"], others
    )
    if found:
        sys.exit(f"a built file {'; '.join(found[:5])}: mend [tool.hatch.build] in pyproject.toml.")
    return wheel, sdist


def pythons() -> Iterator[tuple[str, str]]:
    """Versions and paths of the interpreters of `PYTHONS` that are found here."""
    for version in PYTHONS:
        finder = ["sh", ROOT / "tools/find-python", version]
        found = subprocess.run(finder, capture_output=True, text=True, check=False).stdout.strip()
        if found:
            yield version, found
        else:
            print(f"Python {version} is not here and was left out", flush=True)


def run(command: Sequence[Any], folder: Path) -> None:
    """Run a command, and stop with what it printed if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=OUTSIDE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(str(word) for word in command)}")


def attempt(
    name: str, python: str, file: Path, bounds: Sequence[str], sampler: str, folder: Path
) -> None:
    """Install a built file into an empty environment, run user.py there, and check its types."""
    home = folder / name.replace(" ", "-")
    run([python, "-m", "venv", home], folder)
    inside = home / "bin" / "python"
    constraints = home / "constraints.txt"
    constraints.write_text("\n".join(bounds) + "\n", encoding="utf-8")
    # what is not imported need not be compiled
    quick = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    run([inside, "-m", "pip", "install", *quick, "--constraint", constraints, file], home)
    program = shutil.copy(USER, home)
    run([inside, "-W", "error", program, sampler], home)
    run([home / "bin" / "bayesclust", "--help"], home)
    types = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        inside,
        "--cache-dir",
        home / "mypy",
        program,
    ]
    run([*types, "--follow-imports=silent"], home)
    print(f"{name}: installed, run and typed", flush=True)


def main(sampler: str = "collapsed") -> None:
    """Try every combination, and stop at the first that fails."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, sdist = build(folder / "dist")
        found = list(pythons())
        if not found:
            sys.exit(f"none of the Pythons {', '.join(PYTHONS)} is here: install one.")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        bounds = oldest(project["dependencies"])
        trials = [(f"Python {found[0][0]} oldest", found[0][1], wheel, bounds)]
        for (version, python), file in zip(found, (sdist, wheel), strict=False):
            trials.append((f"Python {version} newest", python, file, []))
        with ThreadPoolExecutor(min(len(trials), os.cpu_count() or 1)) as pool:
            for trial in [pool.submit(attempt, *trial, sampler, folder) for trial in trials]:
                trial.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
