"""One step of NPU among 2000 items: with a forest learned anew, and where only answers came in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, count

import numpy as np
from sklearn.cluster import KMeans

from bayesclust.active import NPU, QueryState
from bayesclust.constraints import PairwiseConstraints
from bayesclust.datasets import make_mixture
from benchmarks.records import Race, Target
from benchmarks.timing import Scale, race

N, FEATURES, CLUSTERS, ANSWERS = 2000, 10, 10, 300
PUBLISHED = "Measured elsewhere: the published code, which compares all pairs of items, 9.4 s."


def run(scale: Scale) -> Iterator[Race]:
    """Race the two."""
    n, known = scale.pick((N, ANSWERS), (200, 30))
    data = make_mixture(n, FEATURES, CLUSTERS, seed=0)
    labels = KMeans(CLUSTERS, n_init=1, random_state=0).fit_predict(data.X)
    # one item of each class is known, and others were compared with it
    first = np.unique(data.y, return_index=True)[1]
    others = np.setdiff1d(np.arange(n), first)[:known]
    pairs = [*combinations(first, 2), *zip(first[data.y[others]], others, strict=True)]
    links = PairwiseConstraints(pairs, [data.y[i] == data.y[j] for i, j in pairs], n_items=n)
    situation, rng = QueryState(data.X, labels, [links], []), np.random.default_rng(0)
    kept, number = NPU(), count()
    yield race(
        f"NPU, n = {n}, {known} items known",
        "CPU time of one step",
        {
            "forest learned anew": lambda: NPU(seed=next(number))(situation, 1, rng),
            "answers alone changed": lambda: kept(situation, 1, rng),
        },
        scale,
        reference="forest learned anew",
        targets=[Target("forest learned anew", most=0.3, unit="s")] if n == N else [],
        note=PUBLISHED,
    )
