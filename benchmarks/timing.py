"""Times alternatives in turn, so that ratios hold when the machine's speed drifts; and growth."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.records import Alternative, Growth, Point, Race, Target

FEWEST, MOST = 3, 25
OF_ARRAYS = "arrays of NumPy at the peak, data aside"

Run = Callable[[], object]
Prepare = Callable[[int], Callable[[], Run]]
"""From a size to data, to what is built from them, to the run that is timed."""


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Parameters
    ----------
    quick : bool, default False
        Smallest sizes and two repetitions: whether everything works, and no more.
    budget : float, default 8.0
        CPU seconds for the repetitions of a race; a point of a curve gets a quarter of it.
    """

    quick: bool = False
    budget: float = 8.0

    def pick[T](self, full: T, quick: T) -> T:
        """One of two, by how much is measured."""
        return quick if self.quick else full

    def repetitions(self, cost: float, budget: float) -> int:
        """As many as the budget allows, within bounds."""
        return 2 if self.quick else int(np.clip(budget / max(cost, 1e-9), FEWEST, MOST))


@dataclass(frozen=True)
class Entry:
    """An alternative of a race.

    Parameters
    ----------
    run : callable
    share : float, default 1.0
        Part of the reference's work that it does.
    less : callable, optional
        A shorter run, whose seconds are taken off.
    steps : int, default 1
        By how many steps it is shorter: the seconds are those of one.
    once : bool, default False
        Measure it once, and never before: for what takes minutes and compiles nothing.
    """

    run: Run
    share: float = 1.0
    less: Run | None = None
    steps: int = 1
    once: bool = False

    def seconds(self) -> float:
        """CPU seconds of one repetition, those of all threads together."""
        spent = cpu(self.run)
        if self.less is not None:
            spent -= cpu(self.less)
        return spent / self.steps


def cpu(run: Run) -> float:
    """CPU seconds of a run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def race(
    title: str,
    measured: str,
    entries: Mapping[str, Entry | Run],
    scale: Scale,
    *,
    reference: str,
    targets: Sequence[Target] = (),
    note: str = "",
) -> Race:
    """Run every alternative once uncounted, then all in turn, as often as the budget allows."""
    entered = {
        name: entry if isinstance(entry, Entry) else Entry(entry) for name, entry in entries.items()
    }
    seconds = {name: [entry.seconds()] if entry.once else [] for name, entry in entered.items()}
    often = {name: entry for name, entry in entered.items() if not entry.once}
    for entry in often.values():
        entry.run()  # compiles

    def turn() -> None:
        for name, entry in often.items():
            seconds[name].append(entry.seconds())

    for _ in range(scale.repetitions(cpu(turn), scale.budget) - 1):
        turn()
    alternatives = tuple(
        Alternative(name, tuple(seconds[name]), entry.share) for name, entry in entered.items()
    )
    return Race(title, measured, reference, alternatives, tuple(targets), note)


def grow(
    title: str,
    along: str,
    measured: str,
    sizes: Sequence[int],
    prepare: Prepare,
    scale: Scale,
    *,
    most_slope: float | None = None,
    note: str = "",
) -> Growth:
    """Time one run at every size, and look at the memory of another."""
    prepare(sizes[0])()()  # compiles, which takes memory too
    points = []
    for size in sizes:
        build = prepare(size)
        bytes_used = peak(build)
        run = build()
        run()
        seconds = [cpu(run)]
        while len(seconds) < scale.repetitions(seconds[0], scale.budget / 4):
            seconds.append(cpu(run))
        points.append(Point(size, tuple(seconds), bytes_used))
    return Growth(title, along, measured, tuple(points), OF_ARRAYS, most_slope, note)


def peak(build: Callable[[], Run]) -> int:
    """Bytes at the peak of building and running, beyond what was there before."""
    tracemalloc.start()
    try:
        build()()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
