"""The first fit of `TVClust` after an installation and after a start of Python, a second one, and the import.

Seconds by the clock, each in a process of its own, since other processes and threads compile and sample too.
``python -m benchmarks.first_fit`` fits in this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.records import Alternative, Race, Target
from benchmarks.timing import Scale

ITEMS, COLUMNS, CLUSTERS, SHARE, WRONG = 200, 4, 5, 0.01, 0.1
NOTHING, ALONE, BEFORE, AGAIN, IMPORT = (
    "nothing compiled", "the same, by this process alone", "compiled before", "a second fit", "import bayesclust",
)  # fmt: skip


def measure() -> dict[str, float]:
    """Seconds of the import, of all up to the end of a first fit with the defaults, and of a second one."""
    begun = time.perf_counter()
    import bayesclust as bc

    imported = time.perf_counter()
    data = bc.datasets.make_mixture(ITEMS, COLUMNS, CLUSTERS, seed=0)
    links = bc.PairwiseConstraints.sample(data.y, fraction=SHARE, flip=WRONG, seed=0)
    ends = []
    for _ in range(2):
        bc.TVClust(random_state=0, progress=False).fit(data.X, constraints=links)
        ends.append(time.perf_counter())
    return {"import": imported - begun, "first": ends[0] - begun, "second": ends[1] - ends[0]}


def in_a_process(cache: Path, **environment: str) -> dict[str, float]:
    """`measure` in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.first_fit"]
    settings = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment
    row = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=settings, cwd=Path(__file__).parents[1])
    return {name: float(value) for name, value in json.loads(row.stdout).items()}


def run(scale: Scale) -> Iterator[Race]:
    """All of them in turn."""
    from bayesclust._beside import VARIABLE  # here, for the import of the package is measured in this file

    cold, alone, warm = [], [], []
    for _ in range(1 if scale.quick else 3):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(in_a_process(Path(folder, "helped")))
            warm.append(in_a_process(Path(folder, "helped")))
            alone.append(in_a_process(Path(folder, "alone"), **{VARIABLE: "0"}))
    yield Race(
        f"First fit, {ITEMS} x {COLUMNS}, {SHARE:.0%} of the pairs answered, four chains, 6000 sweeps",
        "seconds by the clock, imports with them", NOTHING,
        (
            Alternative(NOTHING, tuple(row["first"] for row in cold)),
            Alternative(ALONE, tuple(row["first"] for row in alone)),
            Alternative(BEFORE, tuple(row["first"] for row in warm)),
            Alternative(AGAIN, tuple(row["second"] for row in warm)),
            Alternative(IMPORT, tuple(row["import"] for row in warm)),
        ),
        (Target(NOTHING, most=10, unit="s"), Target(BEFORE, most=2, unit="s"), Target(IMPORT, most=0.5, unit="s")),
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure()))
