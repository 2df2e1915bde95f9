"""Fits at the largest sizes that are asked for: seconds by the clock, and memory at the peak.

Each runs in a process of its own, after a small one of its kind that compiles.
``python -m benchmarks.scale NAME ITEMS NUMBER`` runs one, of so many links or draws.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import bayesclust as bc
from benchmarks.blocked_scale import CLUSTERS, COLUMNS, WRONG, peak
from benchmarks.data import answers, mixture, noisy_draws
from benchmarks.records import Alternative, Race, Target
from benchmarks.timing import Run, Scale

SHORT = {"num_chains": 1, "num_warmup": 2, "num_samples": 3}
SMALL, FEW = 2000, 1000
"""Of what is run first; and all that is run of the smallest sizes."""
MOST_BYTES = 2e9
"""Asked of the limit on a million items."""


def linked(n: int, m: int) -> tuple[NDArray[np.float64], bc.PairwiseConstraints]:
    """Items in overlapping clusters, and links, one in ten of them wrong."""
    rng = np.random.default_rng(0)
    X, z = mixture(n, COLUMNS, CLUSTERS, rng)
    return X, answers(z, m, WRONG, rng)


def fit_of(make: Callable[[], Any]) -> Callable[[int, int], Run]:
    """From sizes to the fit of an estimator."""

    def prepare(n: int, m: int) -> Run:
        X, links = linked(n, m)
        given = {"constraints": links} if m else {}
        return lambda: make().fit(X, **given)

    return prepare


def containers(n: int, m: int) -> Run:
    """The constraints, checked, of arrays of pairs and answers."""
    rng = np.random.default_rng(0)
    links = answers(rng.integers(CLUSTERS, size=n), m, WRONG, rng)
    pairs, same = links.items.copy(), links.answers == 1
    del links
    return lambda: bc.PairwiseConstraints(pairs, same, n)


def estimate(n: int, draws: int) -> Run:
    """The point estimate of draws."""
    z = noisy_draws(n, draws)
    return lambda: bc.point_estimate(z)


def chains(sampler: str) -> Callable[[], Any]:
    """TVClust with one chain of five sweeps."""
    return lambda: bc.TVClust(
        sampler, cluster_model="single", progress=False, random_state=0, **SHORT
    )


class Case(NamedTuple):
    """A run, the size it is asked for, and the most seconds that are asked, if any are."""

    prepare: Callable[[int, int], Run]
    items: int
    number: int
    most: float | None = None


def limit() -> Any:
    """RDP-means with its defaults."""
    return bc.RDPMeans(random_state=0)


CASES = {
    "PairwiseConstraints": Case(containers, 1_000_000, 10_000_000, 10.0),
    "RDPMeans": Case(fit_of(limit), 1_000_000, 100_000, 20.0),
    "RDPMeans, many links": Case(fit_of(limit), 1_000_000, 10_000_000, 60.0),
    "RDPMeans, links by the item": Case(fit_of(limit), 100_000, 1_000_000, 60.0),
    "SpectralRDPMeans": Case(fit_of(lambda: bc.SpectralRDPMeans(random_state=0)), 100_000, 10_000),
    "DPMeans": Case(fit_of(lambda: bc.DPMeans()), 1_000_000, 0),
    "blocked": Case(fit_of(chains("blocked")), 1_000_000, 100_000),
    "blocked, many links": Case(fit_of(chains("blocked")), 1_000_000, 10_000_000),
    "collapsed": Case(fit_of(chains("collapsed")), 100_000, 100_000),
    "point_estimate": Case(estimate, 20_000, 1000),
    "MPCKMeans": Case(
        fit_of(lambda: bc.MPCKMeans(n_clusters=CLUSTERS, random_state=0)), 100_000, 10_000
    ),
}


def title_of(name: str, n: int, number: int) -> str:
    """A case and its size."""
    return f"{name} ({n:,}; {number:,})"


def measure(name: str, n: int, number: int) -> dict[str, float]:
    """Run one case in this process."""
    prepare = CASES[name].prepare
    prepare(SMALL, min(FEW, number))()
    run = prepare(n, number)
    before = peak()
    start = time.perf_counter()
    run()
    return {"wall": time.perf_counter() - start, "bytes": peak(), "before": before}


def run(scale: Scale) -> Iterator[Race]:
    """Run all, one after the other; a run that is refused or fails is left out and named."""
    done, failed = [], []
    for name, case in CASES.items():
        sizes = scale.pick((case.items, case.number), (SMALL, min(FEW, case.number)))
        title = title_of(name, *sizes)
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scale", name, *map(str, sizes)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if ended.returncode:
            failed.append(title)
            continue
        row = json.loads(ended.stdout.splitlines()[-1])
        done.append(Alternative(title, (row["wall"],), bytes=row["bytes"]))
    most = {each.name: CASES[each.name.split(" (")[0]].most for each in done}
    targets = [Target(name, most=bound, unit="s") for name, bound in most.items() if bound]
    note = "Asked of RDPMeans: 2 GB."
    if failed:
        note += f" Refused or failed: {', '.join(failed)}."
    yield Race(
        f"Largest sizes (items; links or draws), d = {COLUMNS}, {CLUSTERS} clusters",
        "seconds by the clock; of samplers, one chain of five sweeps with all that comes before",
        done[0].name,
        tuple(done),
        tuple(targets),
        note,
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
