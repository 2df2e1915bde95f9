"""The search for a point estimate by VI against a plain version of the same search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bayesclust.posterior import point_estimate
from benchmarks.data import noisy_draws
from benchmarks.records import Record, Target
from benchmarks.timing import Entry, Run, Scale, grow, race

SIZES = (1000, 2000, 5000)
DRAWS, RUNS = 1000, 16
SALSO_SECONDS = {1000: 0.28, 2000: 1.1, 5000: 4.6}
"""R's salso with as many draws and runs on one core of another machine: for orientation."""


@njit(cache=True)
def plain_run(draws: NDArray[np.int64], order: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """One run: allocation in turn, then scans until nothing moves."""
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


def search(n: int, draws: int) -> Callable[[], Run]:
    """The search with 16 runs, for its growth."""
    z = noisy_draws(n, draws)
    return lambda: lambda: point_estimate(z, n_runs=RUNS, n_jobs=1)


def run(scale: Scale) -> Iterator[Record]:
    """Race the sizes, the plain version on the smallest alone; then let items and draws grow."""
    sizes, draws = scale.pick((SIZES, DRAWS), ((100,), 50))
    ours = f"search, {RUNS} runs"
    for n in sizes:
        z = noisy_draws(n, draws)
        order, limit = np.random.default_rng(1).permutation(n), int(z.max()) + 1
        entries: dict[str, Entry | Run] = {ours: partial(point_estimate, z, n_runs=RUNS, n_jobs=1)}
        if n == sizes[0]:
            entries["plain version"] = Entry(partial(plain_run, z, order, limit), 1 / RUNS)
        elsewhere, targets, note = SALSO_SECONDS.get(n), [], ""
        if elsewhere is not None:
            targets = [Target(ours, most=2 * elsewhere, unit="s")]
            note = f"Measured elsewhere: R's salso with as many draws and runs, {elsewhere} s."
        title, measured = f"Point estimate by VI, n = {n}, {draws} draws", "CPU time of the search"
        yield race(title, measured, entries, scale, reference=ours, targets=targets, note=note)
    title, measured = "Point estimate by VI along", f"CPU time of the search, {RUNS} runs"
    items, fixed = scale.pick(((500, 1000, 2000, 5000, 10_000), 200), ((100, 200), 20))
    yield grow(
        f"{title} n, {fixed} draws", "items", measured, items, lambda n: search(n, fixed), scale
    )
    number, fixed_items = scale.pick(((100, 300, 1000, 3000), 1000), ((20, 40), 100))
    along = f"{title} draws, n = {fixed_items}"
    yield grow(along, "draws", measured, number, lambda draws: search(fixed_items, draws), scale)
