"""Whether dispersed chains agree, and what the moves bring: wine and ecoli with noisy links.

Run as ``python -m experiments.mixing``. One answer in ten is wrong, columns are standardized, four
chains start dispersed. Of each run are shown the largest R-hat of what `bayesclust.diagnose`
follows, and effective draws per processor second, beside those of single-item moves alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from experiments import frame, sources

DATA, FRACTIONS, ERROR_RATE = ("wine", "ecoli"), (0.01, 0.03, 0.05), 0.1
PLAIN = bc.Moves(link_blocks=False, split_merge=0.0)
FOLLOWED = ("entropy", "n_clusters", "rand_to_reference")


class Run(NamedTuple):
    """How well one fit mixed."""

    seconds: float
    processor: float
    max_rhat: float
    """Infinite if each chain keeps its own value of something."""
    worst: str
    rate: float
    """Effective draws per processor second of the slowest of `FOLLOWED`."""


def run(
    data: str, fraction: float, seed: int, num_samples: int, moves: bc.Moves | None = None
) -> Run:
    """Fit one setting, with 500 sweeps of warm-up."""
    items = sources.load(data)
    links = bc.PairwiseConstraints.sample(
        items.y, fraction=fraction, error_rate=ERROR_RATE, seed=seed
    )
    same: Any = {"cluster_model": "single", "random_state": seed, "progress": False}
    est = bc.TVClust(num_samples=num_samples, moves=moves, **same)
    wall, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        # the question is how chains mix, not which clusters fit ecoli
        warnings.simplefilter("ignore", bc.families.TiedColumnsWarning)
        est.fit(sources.standardized(items.X), constraints=links)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    followed = bc.diagnose(est, seed=seed).table
    rhat = followed[followed["state"] != "constant"]["rhat"].fillna(np.inf)
    slowest = float(followed.loc[list(FOLLOWED), "ess"].fillna(0.0).min())
    return Run(wall, processor, float(rhat.max()), str(rhat.idxmax()), slowest / processor)


def rows(seeds: Sequence[int], num_samples: int) -> Iterator[list[str]]:
    """A row for every setting."""
    for data, fraction, seed in product(DATA, FRACTIONS, seeds):
        default, plain = (run(data, fraction, seed, num_samples, moves) for moves in (None, PLAIN))
        ratio = default.rate / plain.rate if plain.rate else np.inf
        times = f"{default.seconds:.0f}", f"{default.processor:.0f}"
        rates = f"{default.rate:.2f}", f"{plain.rate:.2f}", f"{ratio:.1f}"
        setting = data, f"{fraction:.0%}", f"{seed}"
        yield [*setting, *times, f"{default.max_rhat:.3f}", default.worst, *rates]


def main() -> None:
    """Print the table, line by line."""
    # kernels are compiled before the clock starts
    run("wine", 0.01, 0, num_samples=10)
    head = ["data", "pairs", "seed", "seconds", "processor s", "largest R-hat", "of"]
    head += ["draws / s", "of single items", "ratio"]
    for line in frame.in_markdown(head, rows((0, 1, 2), 6000)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
