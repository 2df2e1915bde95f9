"""The compiled passes of RDP-means over the items, for every divergence and every kind of graph of answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import FAST, device, generic, kernel

MOVED, RESTLESS = 0, 1


@generic
def add_costs(graph: Any, xi: Any, z: Any, i: int, cost: Any) -> None:
    """Add to cost[k] what putting item i in cluster k adds to the answers' share of J, relative to a cluster of its own.

    Each kind of graph registers its compiled version, and has rows `start` of the answers about
    each item.
    """


@device(fastmath=FAST, no_refcount=True)
def squared_costs(x: Any, centers: Any, link: Any, shut: Any, used: int, cost: Any) -> float:
    """Write |x - m_k|^2 plus what answers and closed slots cost for the centres k < used; returns the least."""
    least, fours = np.inf, used - used % 4
    for k in range(0, fours, 4):
        # four sums side by side hide one another's additions across lanes
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(len(x)):
            one += (x[j] - centers[k, j]) ** 2
            two += (x[j] - centers[k + 1, j]) ** 2
            three += (x[j] - centers[k + 2, j]) ** 2
            four += (x[j] - centers[k + 3, j]) ** 2
        one += link[k] + shut[k]
        two += link[k + 1] + shut[k + 1]
        three += link[k + 2] + shut[k + 2]
        four += link[k + 3] + shut[k + 3]
        cost[k], cost[k + 1], cost[k + 2], cost[k + 3] = one, two, three, four
        least = min(least, min(min(one, two), min(three, four)))
    for k in range(fours, used):
        total = 0.0
        for j in range(len(x)):
            total += (x[j] - centers[k, j]) ** 2
        cost[k] = total + (link[k] + shut[k])
        least = min(least, cost[k])
    return least


@device(fastmath=FAST, no_refcount=True)
def general_costs(
    x: Any, phi: float, natural: Any, offset: Any, link: Any, shut: Any, used: int, cost: Any
) -> float:
    """Write D(x, m_k) plus what answers and closed slots cost for the centres k < used; returns the least."""
    least, fours = np.inf, used - used % 4
    for k in range(0, fours, 4):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(len(x)):
            one += x[j] * natural[k, j]
            two += x[j] * natural[k + 1, j]
            three += x[j] * natural[k + 2, j]
            four += x[j] * natural[k + 3, j]
        cost[k], cost[k + 1], cost[k + 2], cost[k + 3] = one, two, three, four
    for k in range(fours, used):
        total = 0.0
        for j in range(len(x)):
            total += x[j] * natural[k, j]
        cost[k] = total
    for k in range(used):
        cost[k] = max(phi + offset[k] - cost[k], 0.0) + (link[k] + shut[k])
        least = min(least, cost[k])
    return least


@device(no_refcount=True)
def item_costs(
    points: Any,
    phi: Any,
    squared: bool,
    i: int,
    natural: Any,
    offset: Any,
    link: Any,
    shut: Any,
    used: int,
    cost: Any,
) -> float:
    """Write what item i costs at each of the centres k < used; returns the least."""
    if squared:
        return float(squared_costs(points[i], natural, link, shut, used, cost))
    return float(general_costs(points[i], phi[i], natural, offset, link, shut, used, cost))


@device(no_refcount=True)
def lowest(cost: Any, used: int) -> float:
    """Least of the costs at the centres k < used."""
    least = np.inf
    for k in range(used):
        least = min(least, cost[k])
    return least


@device(fastmath={"reassoc", "nnan", "nsz"}, no_refcount=True)
def take_lowest(link: Any, used: int) -> float:
    """Least of what answers cost, at most 0 (a cluster of its own); sets them back to 0."""
    lowest = 0.0
    for k in range(used):
        lowest = min(lowest, link[k])
        link[k] = 0.0
    return lowest


@device(no_refcount=True)
def first_at(cost: Any, least: float) -> int:
    """Return the first position of a value that is there."""
    k = 0
    while cost[k] != least:
        k += 1
    return k


@device(no_refcount=True)
def _move_items(
    points: Any,
    phi: Any,
    squared: bool,
    penalty: float,
    graph: Any,
    xi: Any,
    slack: float,
    first: int,
    last: int,
    used: int,
    slots: Any,
    tally: Any,
    work: Any,
) -> int:
    """`scan`, with work space."""
    (z, size, natural, offset), (cost, link, shut) = slots, work
    for i in range(first, last):
        answered = graph.start[i] < graph.start[i + 1]
        if answered:
            add_costs(graph, xi, z, i, link)
        least = item_costs(points, phi, squared, i, natural, offset, link, shut, used, cost)
        now = z[i]
        best, choice = cost[now], now
        if size[now] == 1:
            # alone, an item pays the penalty where it stays, and its centre will be itself
            best, cost[now] = penalty, np.inf
            least = lowest(cost, used)
        if least < best:
            best, choice = least, first_at(cost, least)
        opens = penalty < best
        here = 0.0 if opens else link[choice]
        if answered and take_lowest(link, used) < here - slack:
            tally[RESTLESS] += 1
        if opens:
            return i
        if choice != now:
            tally[MOVED] += 1
            z[i] = choice
            size[now] -= 1
            size[choice] += 1
            if size[now] == 0:
                shut[now] = np.inf
    return last


@kernel
def scan(
    points: Any,
    phi: Any,
    squared: bool,
    penalty: float,
    graph: Any,
    xi: Any,
    slack: float,
    first: int,
    last: int,
    used: int,
    slots: Any,
    tally: Any,
) -> int:
    """Move items first to last - 1 to their best clusters, one by one, until one wants a cluster of its own.

    Item i compares D(x_i, m_k) plus what its answers cost in k over all clusters k with the
    penalty. Ties stay where they are. `tally` counts the items moved, and the restless ones: those
    whose answers would be served better elsewhere, by more than `slack`. Returns the item that
    opens a cluster (it is not moved yet), or `last`.
    """
    size = slots[1]
    shut = np.zeros(len(size))
    for k in range(used):
        if size[k] == 0:
            shut[k] = np.inf
    cost, link = np.empty(len(size)), np.zeros(len(size))
    work = cost, link, shut
    end: int = _move_items(
        points, phi, squared, penalty, graph, xi, slack, first, last, used, slots, tally, work
    )
    return end


@kernel
def answer_costs(graph: Any, xi: Any, z: Any, i: int, n_clusters: int) -> Any:
    """What answers cost item i in each cluster, relative to a cluster of its own, shape (K,)."""
    cost = np.zeros(n_clusters)
    add_costs(graph, xi, z, i, cost)
    return cost


@kernel
def sum_by_cluster(points: Any, z: Any, n_clusters: int) -> Any:
    """Sum of the points of each cluster, shape (K, d), and the sizes."""
    sums, sizes = np.zeros((n_clusters, points.shape[1])), np.zeros(n_clusters, np.int64)
    for i in range(len(points)):
        sizes[z[i]] += 1
        for j in range(points.shape[1]):
            sums[z[i], j] += points[i, j]
    return sums, sizes


@kernel(fastmath={"reassoc", "contract"})
def divergence_to_own(
    points: Any, phi: Any, squared: bool, z: Any, natural: Any, offset: Any
) -> float:
    """Sum of D(x_i, m_{z_i})."""
    total = 0.0
    for i in range(len(points)):
        k = z[i]
        own = 0.0
        if squared:
            for j in range(points.shape[1]):
                gap = points[i, j] - natural[k, j]
                own += gap * gap
        else:
            for j in range(points.shape[1]):
                own += points[i, j] * natural[k, j]
            own = max(phi[i] + offset[k] - own, 0.0)
        total += own
    return total
