"""The blocked sampler from 10^4 to 10^6 items: time of a sweep, and memory.

Each size runs in a process of its own, since memory is measured by its peak. On a machine with a
GPU the same command runs on the GPU. ``python -m benchmarks.blocked_scale 100000`` runs one size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust.families import FullGaussian
from bayesclust.inference.chain import TVClustProblem
from benchmarks.data import answers, mixture
from benchmarks.records import Growth, Point
from benchmarks.timing import Scale

SIZES = (10_000, 100_000, 1_000_000)
OF_PROCESS = "peak of a process of its own, beyond what imports took"
CLUSTERS, COLUMNS, LINKS, WRONG = 20, 16, 100_000, 0.1
SWEEPS = 5


def peak() -> int:
    """Most memory that the process has held, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        # where there is no such file; on Linux it would start from what the parent held
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1024
        )


def measure(n: int) -> dict[str, Any]:
    """Run one chain on n items in this process."""
    import jax

    from bayesclust.inference.blocked.chains import BlockedChains

    rng = np.random.default_rng(0)
    empty = peak()
    X, z = mixture(n, COLUMNS, CLUSTERS, rng)
    number = LINKS if n >= SIZES[0] else n
    problem = TVClustProblem(FullGaussian().bind(X), (answers(z, number, WRONG, rng),))
    chain = BlockedChains(problem, z[None], [rng])
    for _ in range(2):
        chain.sweep(adapt=True)
    wall: list[float] = []
    cpu: list[float] = []
    slots = chain.slots
    while len(wall) < SWEEPS:
        start, busy = time.perf_counter(), time.process_time()
        chain.sweep()
        end = time.perf_counter(), time.process_time()
        if chain.slots == slots:  # otherwise the step was compiled anew
            wall.append(end[0] - start)
            cpu.append(end[1] - busy)
        slots = chain.slots
    device = f"{jax.devices()[0].device_kind}, {len(jax.devices())}"
    return {"device": device, "slots": slots, "wall": wall, "cpu": cpu, "bytes": peak() - empty}


def run(scale: Scale) -> Iterator[Growth]:
    """Measure all sizes, each in a process of its own."""
    points, walls = [], []
    for n in scale.pick(SIZES, (2000, 5000)):
        command = [sys.executable, "-m", "benchmarks.blocked_scale", str(n)]
        row = json.loads(
            subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        )
        points.append(Point(n, tuple(row["cpu"]), row["bytes"]))
        walls.append(f"{min(row['wall']):.3f} s at n = {n:,} ({row['slots']} slots)")
    title = f"Blocked sampler along n, d = {COLUMNS}, {CLUSTERS} clusters, {LINKS} links, one chain"
    note = f"By the wall clock, least of {SWEEPS} sweeps, on {row['device']}: {', '.join(walls)}."
    yield Growth(
        title,
        "items",
        "CPU time of a sweep, all threads together",
        tuple(points),
        OF_PROCESS,
        1.1,
        note,
    )


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
