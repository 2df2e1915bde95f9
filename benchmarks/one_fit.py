"""Seconds of two fits in this process, as JSON: ``python -m benchmarks.one_fit``.

Nothing of the package is imported before the clock is started.
"""

from __future__ import annotations

import json
import time

ITEMS, COLUMNS, CLUSTERS, SHARE, WRONG = 200, 4, 5, 0.01, 0.1


def measure() -> dict[str, float]:
    """Seconds of the import, of all to the end of a first fit, of its call, and of a second."""
    begun = time.perf_counter()
    import bayesclust as bc

    imported = time.perf_counter()
    data = bc.datasets.make_mixture(ITEMS, COLUMNS, CLUSTERS, seed=0)
    links = bc.PairwiseConstraints.sample(data.y, fraction=SHARE, error_rate=WRONG, seed=0)
    calls, ends = [], []
    for _ in range(2):
        est = bc.TVClust(cluster_model="single", random_state=0, progress=False)
        calls.append(time.perf_counter())
        est.fit(data.X, constraints=links)
        ends.append(time.perf_counter())
    call, second = (end - call for call, end in zip(calls, ends, strict=True))
    return {"import": imported - begun, "first": ends[0] - begun, "call": call, "second": second}


if __name__ == "__main__":
    print(json.dumps(measure()))
