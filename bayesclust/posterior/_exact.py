"""Every partition of a few items, in turn."""

from __future__ import annotations

import numpy as np

from bayesclust._jit import kernel
from bayesclust.posterior._tables import Problem
from bayesclust.typing import IntArray


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
def best_of_all(problem: Problem) -> IntArray:
    """Return the labels of least objective among all partitions into at most problem.limit clusters."""
    n, n_draws = problem.rows.shape
    z, best = np.zeros(n, np.int64), np.zeros(n, np.int64)
    counts = np.zeros((min(n, problem.limit), problem.n_rows), np.int64)
    sizes = np.zeros(counts.shape[0], np.int64)
    least = np.iinfo(np.int64).max
    while True:
        sizes[:] = 0
        total = 0
        for i in range(n):
            sizes[z[i]] += 1
            for b in range(n_draws):
                counts[z[i], problem.rows[i, b]] += 1
        for k in range(sizes.size):
            total += problem.size_potential[sizes[k]]
        for i in range(n):
            for b in range(n_draws):
                count = counts[z[i], problem.rows[i, b]]
                total -= 2 * problem.potential[count]
                counts[z[i], problem.rows[i, b]] = 0
        if total < least:
            least = total
            best[:] = z
        if not next_partition(z, problem.limit):
            return best
