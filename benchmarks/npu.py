"""One step of NPU among 2000 items: with a forest learned anew, and where only answers came in; one thread."""

from __future__ import annotations

from itertools import combinations, count
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from bayesclust.constraints import PairwiseConstraints
from bayesclust.datasets import make_mixture
from bayesclust.selection import NPU, Situation
from benchmarks.timing import race, table

N, FEATURES, CLUSTERS, ANSWERS = 2000, 10, 10, 300
PUBLISHED_SECONDS = 9.4
"""The published code, which compares all pairs of items, measured on another machine: an orientation only."""


def run() -> list[dict[str, Any]]:
    """Race the two; returns rows for the record."""
    data = make_mixture(N, FEATURES, CLUSTERS, seed=0)
    labels = KMeans(CLUSTERS, n_init=1, random_state=0).fit_predict(data.X)
    # one item of each class is known, and others were compared with it
    first = np.unique(data.y, return_index=True)[1]
    others = np.setdiff1d(np.arange(N), first)[:ANSWERS]
    pairs = [*combinations(first, 2), *zip(first[data.y[others]], others, strict=True)]
    links = PairwiseConstraints(pairs, [data.y[i] == data.y[j] for i, j in pairs], n_items=N)
    situation, rng = Situation(data.X, labels, [links], []), np.random.default_rng(0)
    kept, number = NPU(), count()
    alternatives = {
        "forest learned anew": lambda: NPU(seed=next(number))(situation, 1, rng),
        "answers alone changed": lambda: kept(situation, 1, rng),
    }
    timings = race(alternatives)
    print(f"\nOne step of NPU, n = {N}, {ANSWERS} items known; published code elsewhere: {PUBLISHED_SECONDS} s")
    print("\n".join(table(timings, "forest learned anew")))
    return [{"n": N, "what": t.name, "seconds": t.seconds} for t in timings.values()]
