"""Build the wheel and the sdist, and try each as a user would: in an empty environment, with types and warnings as errors.

The oldest dependencies that pyproject.toml allows are tried on the oldest Python, and whatever is newest on every Python
that is found. Run by `make package`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("user.py")
PYTHONS = ("3.12", "3.13")
NEEDED = ("bayesclust/__init__.py", "bayesclust/py.typed")
BOUND = re.compile(r"^([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)$")


def oldest() -> list[str]:
    """The dependencies, each at its lower bound, as lines of a constraints file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [BOUND.match(requirement) for requirement in project["dependencies"]]
    if not all(bounds):
        sys.exit("every dependency in pyproject.toml must be written as name>=version.")
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def build(folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist into a folder and check what they hold."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    with tarfile.open(sdist) as archive:
        packed = [name.partition("/")[2] for name in archive.getnames()]
    for file, held in ((wheel, names), (sdist, packed)):
        lacking = [name for name in NEEDED if held.count(name) != 1]
        strange = [name for name in held if "__pycache__" in name or name.startswith(("models/", "inference/"))]
        if lacking or strange:
            sys.exit(f"{file.name} lacks {lacking} and has {strange[:3]}: mend [tool.hatch.build] in pyproject.toml.")
    return wheel, sdist


def pythons() -> Iterator[tuple[str, str]]:
    """Versions and paths of the interpreters of `PYTHONS` that are found here."""
    for version in PYTHONS:
        found = subprocess.run(
            ["sh", ROOT / "tools/find-python", version], capture_output=True, text=True, check=False
        ).stdout.strip()
        if found:
            yield version, found
        else:
            print(f"Python {version} is not here and was left out")


def attempt(name: str, python: str, file: Path, bounds: list[str], folder: Path) -> None:
    """Install a built file into an empty environment, run the user's program there, and check its types."""
    home = folder / name.replace(" ", "-")
    subprocess.run([python, "-m", "venv", home], check=True)
    inside = home / "bin" / "python"
    constraints = home / "constraints.txt"
    constraints.write_text("\n".join(bounds) + "\n", encoding="utf-8")
    pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", constraints, file]
    subprocess.run(pip, check=True)
    program = shutil.copy(USER, home)
    subprocess.run([inside, "-W", "error", program], cwd=home, check=True)
    subprocess.run([home / "bin" / "bayesclust", "--help"], cwd=home, check=True, capture_output=True)
    types = [sys.executable, "-m", "mypy", "--strict", "--python-executable", inside, "--cache-dir", home / "mypy", program]
    subprocess.run([*types, "--follow-imports=silent"], cwd=home, check=True)
    print(f"{name}: installed, run and typed")


def main() -> None:
    """Try every combination, and stop at the first that fails."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, sdist = build(folder / "dist")
        found = list(pythons())
        if not found:
            sys.exit(f"none of the Pythons {', '.join(PYTHONS)} is here: install one.")
        attempt(f"Python {found[0][0]} oldest", found[0][1], wheel, oldest(), folder)
        for (version, python), file in zip(found, (sdist, wheel), strict=False):
            attempt(f"Python {version} newest", python, file, [], folder)


if __name__ == "__main__":
    main()
