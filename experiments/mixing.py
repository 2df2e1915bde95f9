"""Whether dispersed chains agree within two minutes, and what the moves bring: wine and ecoli with noisy links.

Run as ``python -m experiments.mixing``. Some of the unordered pairs are answered, one
answer in ten is wrong, columns are standardised, four chains start dispersed. Of each run are shown
the largest R-hat over the log joint, the number of clusters, the entropy of their sizes, indicators
of 20 pairs and the rest that `bayesclust.diagnose` follows, and effective draws per processor
second, beside those of the same sampler that moves single items alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

import bayesclust as bc
from experiments.reproduce.sources import standardised

__all__ = ["Run", "main", "run", "table"]

DATA, FRACTIONS, FLIP = ("wine", "ecoli"), (0.01, 0.03, 0.05), 0.1
PLAIN = bc.Moves(link_blocks=False, split_merge=0.0)
FOLLOWED = ("entropy", "n_clusters", "rand_to_reference")


class Run(NamedTuple):
    """How well one fit mixed.

    Parameters
    ----------
    seconds : float
        Of the wall clock.
    processor : float
        Seconds of all processors.
    max_rhat : float
        Infinite if each chain keeps its own value of something.
    worst : str
        What has it.
    rate : float
        Effective draws per processor second of the slowest of entropy, number of clusters and Rand
        index to the best draw.
    """

    seconds: float
    processor: float
    max_rhat: float
    worst: str
    rate: float


def run(
    data: str, fraction: float, seed: int, num_samples: int, moves: bc.Moves | None = None
) -> Run:
    """Fit one setting.

    Parameters
    ----------
    data : str
    fraction : float
        Share of the unordered pairs that are answered.
    seed : int
        Of answers and chains.
    num_samples : int
        Draws of each chain, after 500 sweeps of warm-up.
    moves : Moves, optional
        The sampler's default.

    Returns
    -------
    Run
    """
    items = bc.datasets.load(data)
    links = bc.PairwiseConstraints.sample(items.y, fraction=fraction, error_rate=FLIP, seed=seed)
    est = bc.TVClust(num_samples=num_samples, moves=moves, random_state=seed, progress=False)
    wall, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", bc.families.TiedColumnsWarning
        )  # how chains mix is asked, not which clusters fit ecoli
        est.fit(standardised(items.X), constraints=links)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    followed = bc.diagnose(est, seed=seed).table
    moving = followed[followed["state"] != "constant"]
    rhat = moving["rhat"].fillna(np.inf)
    slowest = float(followed.loc[list(FOLLOWED), "ess"].fillna(0.0).min())
    return Run(wall, processor, float(rhat.max()), str(rhat.idxmax()), slowest / processor)


def table(seeds: Sequence[int], num_samples: int) -> Iterator[str]:
    """Every setting, in a Markdown table.

    Parameters
    ----------
    seeds : sequence of int
    num_samples : int

    Yields
    ------
    str
        Lines.
    """
    yield "| data | pairs | seed | seconds | processor s | largest R-hat | of | draws / s | of single items | ratio |"
    yield "|---" * 10 + "|"
    for data, fraction, seed in product(DATA, FRACTIONS, seeds):
        default, plain = (run(data, fraction, seed, num_samples, moves) for moves in (None, PLAIN))
        ratio = default.rate / plain.rate if plain.rate else np.inf
        yield (
            f"| {data} | {fraction:.0%} | {seed} | {default.seconds:.0f} | {default.processor:.0f} | {default.max_rhat:.3f} "
            f"| {default.worst} | {default.rate:.2f} | {plain.rate:.2f} | {ratio:.1f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, line by line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line where None.
    """
    parser = argparse.ArgumentParser(prog="python -m experiments.mixing", description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--num-samples", type=int, default=6000, help="draws of each chain")
    settings = parser.parse_args(arguments)
    # kernels are compiled before the clock starts
    run("wine", 0.01, 0, num_samples=10)
    for line in table(settings.seeds, settings.num_samples):
        print(line, flush=True)


if __name__ == "__main__":
    main()
