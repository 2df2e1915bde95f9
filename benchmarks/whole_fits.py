"""How long a whole fit takes with default settings, by items, columns, clusters and answers.

Processor seconds of all threads together, everything compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import bayesclust as bc
from benchmarks.blocked_scale import WRONG
from benchmarks.data import answers, mixture
from benchmarks.records import Race
from benchmarks.timing import Entry, Scale, race

SIZES = (
    (150, 4, 3, 300),
    (600, 10, 5, 600),
    (600, 10, 5, 6000),
    (600, 30, 5, 600),
    (2000, 10, 5, 2000),
    (2000, 10, 20, 2000),
    (10_000, 10, 10, 10_000),
)
QUIET = {"progress": False, "random_state": 0}
METHODS = {
    "RDPMeans()": partial(bc.RDPMeans, random_state=0),
    'TVClust("variational")': partial(bc.TVClust, "variational", **QUIET),
    'TVClust(cluster_model="single")': partial(bc.TVClust, cluster_model="single", **QUIET),
    "TVClust()": partial(bc.TVClust, **QUIET),
}


def title(n: int, d: int, K: int, number: int) -> str:
    """A size in words."""
    return f"A whole fit of {n:,} items, d = {d}, K = {K}, {number:,} answers"


def run(scale: Scale) -> Iterator[Race]:
    """Fit every method once at each size, after a small fit of each, which compiles."""
    for size in scale.pick(((60, 3, 2, 60), *SIZES), ((60, 3, 2, 60),)):
        n, d, K, number = size
        X, z = mixture(n, d, K, np.random.default_rng(0))
        links = answers(z, number, WRONG, np.random.default_rng(1))

        def fit(name: str, X: Any = X, links: Any = links) -> None:
            METHODS[name]().fit(X, constraints=links)

        entries = {name: Entry(partial(fit, name), once=True) for name in METHODS}
        measured = "processor seconds of all threads"
        one = race(title(*size), measured, entries, scale, reference="RDPMeans()")
        if scale.quick or size in SIZES:
            yield one
