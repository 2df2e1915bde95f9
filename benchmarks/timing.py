"""Times alternatives in turn, so that their ratio holds when the machine's speed drifts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Timing:
    """CPU seconds of one alternative over the repetitions."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median CPU seconds."""
        return float(np.median(self.seconds))


def race(alternatives: dict[str, Callable[[], object]], repetitions: int = 5) -> dict[str, Timing]:
    """Run every alternative once uncounted, then `repetitions` times in turn."""
    for run in alternatives.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in alternatives}
    for _ in range(repetitions):
        for name, run in alternatives.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    return {name: Timing(name, tuple(values)) for name, values in seconds.items()}


def table(timings: dict[str, Timing], against: str) -> list[str]:
    """One line per alternative: median, spread, and the ratio to one of them with its spread."""
    reference = np.array(timings[against].seconds)
    lines = [f"  {'':34}{'median ms':>11}{'min':>10}{'max':>10}{'ratio to ' + against:>34}"]
    for timing in timings.values():
        values = np.array(timing.seconds)
        ratios = values / reference
        spread = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
        median, least, most = 1000 * np.median(values), 1000 * values.min(), 1000 * values.max()
        lines.append(f"  {timing.name:34}{median:11.2f}{least:10.2f}{most:10.2f}{spread:>34}")
    return lines
