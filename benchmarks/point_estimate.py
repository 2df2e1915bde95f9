"""The search for a point estimate by VI against a plain version of the same search, one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bayesclust.posterior import point_estimate
from benchmarks.timing import race, table

SIZES = (1000, 2000, 5000)
DRAWS, RUNS = 1000, 16
SALSO_SECONDS = {1000: 0.28, 2000: 1.1, 5000: 4.6}
"""R's salso with the same numbers of draws and runs on one core, measured on another machine: an orientation only."""


def noisy_draws(n: int, K: int = 8, seed: int = 0) -> NDArray[np.int64]:
    """Draws around one partition: a quarter of the items uncertain, small clusters coming and going."""
    rng = np.random.default_rng(seed)
    truth, second = rng.integers(K, size=(2, n))
    doubt = np.where(rng.random(n) < 0.25, rng.uniform(0.05, 0.5, n), 0.005)
    moved = rng.random((DRAWS, n)) < doubt
    z = np.where(moved, second, truth)
    return np.where(rng.random((DRAWS, n)) < 0.002, K + rng.integers(3, size=(DRAWS, n)), z)


@njit(cache=True)
def plain_run(draws: NDArray[np.int64], order: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """One run: allocation in turn, then scans until nothing moves, every price from counts and logarithms."""
    B, n = draws.shape
    width = draws.max() + 1
    labels, size, used = np.full(n, -1), np.zeros(limit, np.int64), 0
    counts = np.zeros((limit, B, width), np.int64)
    moved = True
    while moved:
        moved = False
        for i in order:
            old = labels[i]
            if old >= 0:
                size[old] -= 1
                for b in range(B):
                    counts[old, b, draws[b, i]] -= 1
            best, least = -1, np.inf
            for k in range(min(used + 1, limit)):
                m = size[k]
                price = B * ((m + 1) * np.log2(m + 1.0) - (m * np.log2(m) if m else 0.0))
                for b in range(B):
                    c = counts[k, b, draws[b, i]]
                    price -= 2.0 * ((c + 1) * np.log2(c + 1.0) - (c * np.log2(c) if c else 0.0))
                if price < least - 1e-9 or (k == old and price < least + 1e-9):
                    best, least = k, price
            moved = moved or best != old
            used = max(used, best + 1)
            labels[i] = best
            size[best] += 1
            for b in range(B):
                counts[best, b, draws[b, i]] += 1
    return labels


def run() -> list[dict[str, Any]]:
    """Race the sizes; returns rows for the record."""
    rows = []
    for n in SIZES:
        draws = noisy_draws(n)
        order, limit = np.random.default_rng(1).permutation(n), int(draws.max()) + 1
        alternatives = {f"search, {RUNS} runs": lambda d=draws: point_estimate(d, n_runs=RUNS, n_jobs=1)}
        if n == SIZES[0]:
            alternatives["plain version, 1 run"] = lambda d=draws, o=order, m=limit: plain_run(d, o, m)
        timings = race(alternatives, repetitions=3)
        print(f"\nPoint estimate by VI, n = {n}, {DRAWS} draws; salso elsewhere: {SALSO_SECONDS[n]} s")
        print("\n".join(table(timings, f"search, {RUNS} runs")))
        rows += [{"n": n, "what": t.name, "seconds": t.seconds} for t in timings.values()]
    return rows
