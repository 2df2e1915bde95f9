"""The first fit of `TVClust` with nothing compiled and in a new process, a second one, the import.

Seconds by the clock, each in a process of its own, since other processes and threads compile and
sample too. ``python -m benchmarks.one_fit`` is what they do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.one_fit import COLUMNS, ITEMS, SHARE
from benchmarks.records import Alternative, Race, Target
from benchmarks.timing import Scale

NOTHING, BEFORE, CALL, AGAIN, IMPORT = (
    "nothing compiled",
    "compiled before",
    "its call of fit alone",
    "a second fit",
    "import bayesclust",
)


def in_a_process(cache: Path) -> dict[str, float]:
    """What `benchmarks.one_fit` measures, in a fresh process that may keep Python's bytecode."""
    command = [sys.executable, "-m", "benchmarks.one_fit"]
    settings = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    row = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=settings,
        cwd=Path(__file__).parents[1],
    )
    return {name: float(value) for name, value in json.loads(row.stdout).items()}


def run(scale: Scale) -> Iterator[Race]:
    """All of them in turn."""
    cold, warm = [], []
    if not scale.quick:
        with tempfile.TemporaryDirectory() as folder:  # for the bytecode
            in_a_process(Path(folder))
    for _ in range(1 if scale.quick else 3):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(in_a_process(Path(folder)))
            warm.append(in_a_process(Path(folder)))
    yield Race(
        f"First fit, {ITEMS} x {COLUMNS}, {SHARE:.0%} of the pairs answered, four chains, "
        "6000 sweeps",
        "seconds by the clock, imports with them",
        NOTHING,
        (
            Alternative(NOTHING, tuple(row["first"] for row in cold)),
            Alternative(BEFORE, tuple(row["first"] for row in warm)),
            Alternative(CALL, tuple(row["call"] for row in warm)),
            Alternative(AGAIN, tuple(row["second"] for row in warm)),
            Alternative(IMPORT, tuple(row["import"] for row in warm)),
        ),
        (
            Target(NOTHING, most=10, unit="s"),
            Target(BEFORE, most=2, unit="s"),
            Target(IMPORT, most=0.5, unit="s"),
        ),
    )
