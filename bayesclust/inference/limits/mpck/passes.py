"""The compiled passes of MPCK-Means over the items; metrics have been turned into distances and costs of links before."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import device, kernel

UNPLACED = -1


@device
def add_link_costs(links: Any, cost: Any, z: Any, i: int, total: Any) -> None:
    """Add to total[k] what the links of item i cost if it is put in cluster k; those to items without a place are left out.

    cost[e, h] is, under the metric h of one of the clusters or the only one, half of what breaking
    must-link e costs, or all that breaking cannot-link e does.
    """
    single, shared = cost.shape[1] == 1, 0.0
    for entry in range(links.start[i], links.start[i + 1]):
        there, e = z[links.neighbour[entry]], links.edge[entry]
        if there == UNPLACED:
            continue
        if not links.may[e]:
            total[there] += cost[e, 0 if single else there]
        elif single:
            shared += 2.0 * cost[e, 0]
            total[there] -= 2.0 * cost[e, 0]
        else:
            for k in range(len(total)):
                if k != there:
                    total[k] += cost[e, k] + cost[e, there]
    for k in range(len(total)):
        total[k] += shared


@kernel
def assign(order: Any, distance: Any, links: Any, cost: Any, z: Any, size: Any) -> int:
    """Let items choose their clusters in the order given (section 3.2); returns how many moved. Ties stay where they are."""
    moved, n_clusters = 0, distance.shape[1]
    total = np.empty(n_clusters)
    for at in range(len(order)):
        i = order[at]
        for k in range(n_clusters):
            total[k] = distance[i, k]
        add_link_costs(links, cost, z, i, total)
        now = z[i]
        choice = 0 if now == UNPLACED else now
        for k in range(n_clusters):
            if total[k] < total[choice]:
                choice = k
        if choice != now:
            moved += 1
            if now != UNPLACED:
                size[now] -= 1
            size[choice] += 1
            z[i] = choice
    return moved


@kernel
def best_alone(
    distance: Any, alone: float, links: Any, cost: Any, z: Any, size: Any, empty: int
) -> Any:
    """Return the item whose being the centre of an empty cluster lowers the objective most, and by how much.

    Its distance is `alone` there.
    """
    best, gain = -1, 0.0
    for i in range(len(distance)):
        if size[z[i]] > 1:
            total = distance[i].copy()
            total[empty] = alone
            add_link_costs(links, cost, z, i, total)
            if total[z[i]] - total[empty] > gain:
                best, gain = i, total[z[i]] - total[empty]
    return best, gain


@kernel
def objective(distance: Any, links: Any, cost: Any, z: Any) -> float:
    """Sum of the distances of the items from their own centres and of the costs of the links broken."""
    total, single = 0.0, cost.shape[1] == 1
    for i in range(len(z)):
        total += distance[i, z[i]]
    for e in range(len(links.may)):
        a, b = z[links.pairs[e, 0]], z[links.pairs[e, 1]]
        if links.may[e] and a != b:
            total += cost[e, 0 if single else a] + cost[e, 0 if single else b]
        elif not links.may[e] and a == b:
            total += cost[e, 0 if single else a]
    return total
