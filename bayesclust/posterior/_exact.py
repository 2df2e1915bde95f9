"""Every partition of a few items, in turn."""

from __future__ import annotations

import numpy as np

from bayesclust._numba import kernel
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.losses import Loss, expected_losses
from bayesclust.typing import IntArray

TIED = 1e-11
"""Expected losses that differ by no more than this are equal: they are sums of rounded numbers."""


@kernel
def next_partition(z: IntArray, limit: int) -> bool:
    """Advance canonical labels to the next partition into at most `limit` clusters; False after the last."""
    for i in range(z.size - 1, 0, -1):
        highest = -1
        for j in range(i):
            highest = max(highest, z[j])
        if z[i] <= highest and z[i] + 1 < limit:
            z[i] += 1
            z[i + 1 :] = 0
            return True
    return False


@kernel
def every_partition(n: int, limit: int) -> IntArray:
    """Return the partitions of n items into at most `limit` clusters, as rows of canonical labels."""
    z, count = np.zeros(n, np.int64), 1
    while next_partition(z, limit):
        count += 1
    out = np.zeros((count, n), np.int64)
    for row in range(1, count):
        out[row] = out[row - 1]
        next_partition(out[row], limit)
    return out


def best_of_all(draws: Labels, loss: Loss, limit: int) -> IntArray:
    """Return the first partition of least expected loss among all into at most `limit` clusters."""
    every = every_partition(draws.shape[1], limit)
    values = expected_losses(loss, every, draws)
    best: IntArray = every[np.argmax(values <= values.min() + TIED)]
    return best
