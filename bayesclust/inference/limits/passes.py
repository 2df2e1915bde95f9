"""The compiled passes of RDP-means over the items, for every divergence and graph of answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import FAST, device, kernel
from bayesclust.inference.limits.answers import Graph, Xi, add_costs
from bayesclust.typing import FloatArray

MOVED, RESTLESS = 0, 1
NEW = -1


class Pass(NamedTuple):
    """What a pass over the items reads, and does not change."""

    points: FloatArray  # (n, d)
    phi: FloatArray  # (n,)
    squared: bool  # whether D is squared distance
    several: bool  # whether a cluster may have several centres
    penalty: float  # of a centre
    per_cluster: float  # of a cluster besides its centres
    graph: Graph
    xi: Xi
    slack: float  # how much less answers must cost elsewhere for an item to count as restless


@device(fastmath=FAST, no_refcount=True)
def squared_costs(x: Any, centers: Any, link: Any, shut: Any, used: int, cost: Any) -> float:
    """Write |x - m_k|^2 plus what answers and closed slots cost for k < used; returns the least."""
    least = np.inf
    fours = used - used % 4
    for k in range(0, fours, 4):
        # four sums side by side hide one another's additions across lanes
        one = 0.0
        two = 0.0
        three = 0.0
        four = 0.0
        for j in range(len(x)):
            one += (x[j] - centers[k, j]) ** 2
            two += (x[j] - centers[k + 1, j]) ** 2
            three += (x[j] - centers[k + 2, j]) ** 2
            four += (x[j] - centers[k + 3, j]) ** 2
        one += link[k] + shut[k]
        two += link[k + 1] + shut[k + 1]
        three += link[k + 2] + shut[k + 2]
        four += link[k + 3] + shut[k + 3]
        cost[k] = one
        cost[k + 1] = two
        cost[k + 2] = three
        cost[k + 3] = four
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
    """Write D(x, m_k) plus what answers and closed slots cost for k < used; returns the least."""
    least = np.inf
    fours = used - used % 4
    for k in range(0, fours, 4):
        one = 0.0
        two = 0.0
        three = 0.0
        four = 0.0
        for j in range(len(x)):
            one += x[j] * natural[k, j]
            two += x[j] * natural[k + 1, j]
            three += x[j] * natural[k + 2, j]
            four += x[j] * natural[k + 3, j]
        cost[k] = one
        cost[k + 1] = two
        cost[k + 2] = three
        cost[k + 3] = four
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
def lowest(cost: Any, used: int) -> float:
    """Least of the costs at the centres k < used."""
    least = np.inf
    for k in range(used):
        least = min(least, cost[k])
    return least


@device(fastmath={"reassoc", "nnan", "nsz"}, no_refcount=True)
def take_lowest(answers: Any, used: int) -> float:
    """Least of what answers cost, at most 0 (a cluster of its own); sets them back to 0."""
    lowest = 0.0
    for k in range(used):
        lowest = min(lowest, answers[k])
        answers[k] = 0.0
    return lowest


@device(no_refcount=True)
def first_at(cost: Any, least: float) -> int:
    """The first position of a value that is there."""
    k = 0
    while cost[k] != least:
        k += 1
    return k


@device(no_refcount=True)
def cheapest_cluster(answers: Any, load: Any, here: int, per_cluster: float) -> Any:
    """Cluster for a new centre of an item in cluster `here`, or `NEW`, and its cost; ties stay."""
    into = here
    least = answers[here]
    if load[here] == 1:
        into = NEW
        least = per_cluster
    for g in range(len(load)):
        if g != here and load[g] > 0 and answers[g] < least:
            into = g
            least = answers[g]
    if per_cluster < least:
        into = NEW
        least = per_cluster
    return into, least


@device(no_refcount=True)
def item_costs(task: Any, state: Any, i: int, link: Any, shut: Any, used: int, cost: Any) -> Any:
    """Write what item i costs at each of the centres k < used; returns the least."""
    x = task.points[i]
    if task.squared:
        return squared_costs(x, state.natural, link, shut, used, cost)
    phi = task.phi[i]
    return general_costs(x, phi, state.natural, state.offset, link, shut, used, cost)


@device(no_refcount=True)
def use_answers(task: Any, state: Any, i: int, used: int, answers: Any, link: Any) -> None:
    """Set what the answers about item i cost in each cluster, and in that of each centre."""
    add_costs(task.graph, task.xi, state.cluster, i, answers)
    if task.several:
        for k in range(used):
            link[k] = answers[state.owner[k]]


@device(no_refcount=True)
def drop_answers(task: Any, served: float, used: int, answers: Any, link: Any) -> int:
    """Set both back to 0; 1 if the answers would be served better elsewhere, by the slack."""
    if task.several:
        for k in range(used):
            link[k] = 0.0
    lowest_answers = take_lowest(answers, len(answers) if task.several else used)
    return 1 if lowest_answers < served - task.slack else 0


@device(no_refcount=True)
def put(task: Any, state: Any, i: int, choice: int, shut: Any) -> None:
    """Move item i to another centre, and close the one that it leaves empty."""
    now = state.z[i]
    here = state.cluster[i]
    state.z[i] = choice
    state.size[now] -= 1
    state.size[choice] += 1
    if task.several:
        there = state.owner[choice]
        state.cluster[i] = there
        state.load[here] -= 1
        state.load[there] += 1
    if state.size[now] == 0:
        shut[now] = np.inf


@device(no_refcount=True)
def _move_items(
    task: Any, first: int, last: int, used: int, state: Any, tally: Any, work: Any
) -> Any:
    """`scan`, with work space: `link` and `answers` are one where every centre is a cluster."""
    cost, link, answers, shut = work
    into = NEW
    opening = task.per_cluster
    for i in range(first, last):
        now = state.z[i]
        here = state.cluster[i]
        answered = task.graph.start[i] < task.graph.start[i + 1]
        if answered:
            use_answers(task, state, i, used, answers, link)
        least = item_costs(task, state, i, link, shut, used, cost)
        if task.several:
            into, opening = cheapest_cluster(answers, state.load, here, task.per_cluster)
        best = cost[now]
        choice = now
        if state.size[now] == 1:
            # alone, an item pays for its centre where it stays, and its centre will be itself
            best = task.penalty
            best += task.per_cluster if state.load[here] == 1 else answers[here]
            cost[now] = np.inf
            least = lowest(cost, used)
        if least < best:
            best = least
            choice = first_at(cost, least)
        opens = task.penalty + opening < best
        if answered:
            served = link[choice]
            if opens:
                served = 0.0 if into == NEW else opening
            tally[RESTLESS] += drop_answers(task, served, used, answers, link)
        if opens:
            return i, into
        if choice != now:
            tally[MOVED] += 1
            put(task, state, i, choice, shut)
    return last, NEW


@kernel
def scan(task: Any, first: int, last: int, used: int, state: Any, tally: Any) -> Any:
    """Let items choose (TVClust Eq. 19) until one opens a centre; it and its cluster, or `last`."""
    # Item i compares D(x_i, m_k) plus its answers' cost in the cluster of k with `penalty` plus
    # their cost in one that takes a new centre, or plus `per_cluster`. The opener is not moved.
    capacity = len(state.size)
    shut = np.zeros(capacity)
    for k in range(used):
        if state.size[k] == 0:
            shut[k] = np.inf
    answers = np.zeros(capacity)
    link = np.zeros(capacity) if task.several else answers
    work = np.empty(capacity), link, answers, shut
    return _move_items(task, first, last, used, state, tally, work)


@kernel
def sum_by_cluster(points: Any, z: Any, n_clusters: int) -> Any:
    """Sum of the points of each cluster, (K, d), and the sizes."""
    sums = np.zeros((n_clusters, points.shape[1]))
    sizes = np.zeros(n_clusters, np.int64)
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
