"""What the benchmarks ran on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("bayesclust", "numpy", "scipy", "numba", "jax", "scikit-learn")
HARDWARE = ("processor", "cores", "memory", "system")
"""These distinguish two machines."""


def machine() -> dict[str, str]:
    """The machine and the software, in words."""
    words = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            words[name] = version(name)
        except PackageNotFoundError:
            words[name] = "in the working tree" if name == "bayesclust" else "not installed"
    commit = _commit()
    return {**words, "threads": "one, unless said", **({"commit": commit} if commit else {})}


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, OSError, ValueError):
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _commit() -> str:
    """The commit of the working tree, and whether files differ from it; empty without git."""
    here = Path(__file__).parent
    try:
        words = [
            ["rev-parse", "--short=12", "HEAD"],
            ["status", "--porcelain", "--untracked-files=no"],
        ]
        commit, changed = (
            subprocess.run(
                ["git", *each], cwd=here, capture_output=True, text=True, check=True
            ).stdout
            for each in words
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return commit.strip() + (", with changes" if changed.strip() else "")
