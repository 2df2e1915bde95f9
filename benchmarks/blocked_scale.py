"""The blocked sampler from 10^4 to 10^6 items: seconds per sweep, and memory in bytes per item.

``python -m benchmarks blocked_scale`` runs one process per size, since memory is measured by its peak. On a machine with a
GPU the same command runs on the GPU. ``python -m benchmarks.blocked_scale 100000`` runs one size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.collapsed import TVClustProblem
from bayesclust.models.families import FullGaussian

SIZES = (10_000, 100_000, 1_000_000)
CLUSTERS, COLUMNS, LINKS, WRONG = 20, 16, 100_000, 0.1
SWEEPS = 5


def data(n: int, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Overlapping clusters with covariances of their own, and their labels."""
    z = np.r_[np.arange(CLUSTERS), rng.integers(CLUSTERS, size=n - CLUSTERS)]
    X = rng.normal(size=(n, COLUMNS))
    centres, roots = rng.normal(size=(CLUSTERS, COLUMNS)), rng.normal(size=(CLUSTERS, COLUMNS, COLUMNS))
    for k in range(CLUSTERS):
        X[z == k] = centres[k] + X[z == k] @ roots[k] / np.sqrt(COLUMNS)
    return X, z


def answers(z: NDArray[np.int64], rng: Generator) -> PairwiseConstraints:
    """Links between random items, a tenth of them wrong."""
    pairs = rng.integers(len(z), size=(LINKS + LINKS // 100, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:LINKS]
    same = (z[pairs[:, 0]] == z[pairs[:, 1]]) ^ (rng.random(len(pairs)) < WRONG)
    return PairwiseConstraints(pairs, same, len(z))


def peak() -> int:
    """Most memory that the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(n: int) -> dict[str, Any]:
    """Run one chain on n items in this process."""
    import jax

    from bayesclust.inference.blocked import BlockedChains

    rng = np.random.default_rng(0)
    empty = peak()
    X, z = data(n, rng)
    problem = TVClustProblem(FullGaussian().bind(X), (answers(z, rng),))
    bound = peak()
    chain = BlockedChains(problem, z[None], [rng])
    for _ in range(2):
        chain.sweep(adapt=True)
    wall, cpu, slots = [], [], chain.slots
    while len(wall) < SWEEPS:
        start, busy = time.perf_counter(), time.process_time()
        chain.sweep()
        end = time.perf_counter(), time.process_time()
        if chain.slots == slots:  # otherwise the step was compiled anew
            wall.append(end[0] - start)
            cpu.append(end[1] - busy)
        slots = chain.slots
    return {
        "n": n,
        "device": f"{jax.devices()[0].device_kind}, {len(jax.devices())}",
        "slots": slots,
        "seconds": min(wall),
        "cpu_seconds": min(cpu),
        "bytes": peak() - empty,
        "bytes_before_chain": bound - empty,
    }


def slope(rows: list[dict[str, Any]], what: str) -> float:
    """Of the logarithm of a measurement on that of n, by least squares."""
    return float(np.polyfit(np.log([row["n"] for row in rows]), np.log([row[what] for row in rows]), 1)[0])


def run() -> list[dict[str, Any]]:
    """Measure all sizes, each in a process of its own; returns rows for the record."""
    rows = []
    print(f"\nBlocked sampler, d = {COLUMNS}, {CLUSTERS} clusters, {LINKS} links, one chain; best of {SWEEPS} sweeps")
    for n in SIZES:
        command = [sys.executable, "-m", "benchmarks.blocked_scale", str(n)]
        rows.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        row = rows[-1]
        print(
            f"  n = {n:8d}: {row['seconds']:8.3f} s ({row['cpu_seconds']:.3f} s of processors) a sweep, "
            f"{row['slots']} slots, {row['bytes'] / n:.0f} bytes per item at the peak "
            f"({row['bytes_before_chain'] / n:.0f} before the chain)",
            flush=True,
        )
    extra = (rows[-1]["bytes"] - rows[0]["bytes"]) / (rows[-1]["n"] - rows[0]["n"])
    print(
        f"  time grows as n^{slope(rows, 'seconds'):.2f} (processors: n^{slope(rows, 'cpu_seconds'):.2f}); "
        f"every further item takes {extra:.0f} bytes"
    )
    return rows


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
