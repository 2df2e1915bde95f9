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
    per_cluster: float  # of a cluster beside its centres
    graph: Graph
    xi: Xi
    slack: float  # by how much answers must be better served elsewhere to count as restless


@device(fastmath={"reassoc", "nnan", "nsz"}, no_refcount=True)
def take_lowest(answers: Any, used: int) -> float:
    """Least of what answers cost, at most 0 (a cluster of its own); sets them back to 0."""
    lowest = 0.0
    for k in range(used):
        lowest = min(lowest, answers[k])
        answers[k] = 0.0
    return lowest


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


@device(fastmath=FAST, no_refcount=True)
def item_costs(task: Any, state: Any, i: int, link: Any, shut: Any, used: int, cost: Any) -> None:
    """Write D(x_i, m_k) plus what answers and closed slots cost for k < used."""
    x = task.points[i]
    natural = state.natural
    for k in range(used):
        total = 0.0
        if task.squared:
            for j in range(len(x)):
                total += (x[j] - natural[k, j]) ** 2
        else:
            for j in range(len(x)):
                total += x[j] * natural[k, j]
            total = max(task.phi[i] + state.offset[k] - total, 0.0)
        cost[k] = total + (link[k] + shut[k])


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
        item_costs(task, state, i, link, shut, used, cost)
        if task.several:
            into, opening = cheapest_cluster(answers, state.load, here, task.per_cluster)
        best = cost[now]
        choice = now
        if state.size[now] == 1:
            # alone, an item pays for its centre where it stays, and its centre will be itself
            best = task.penalty
            best += task.per_cluster if state.load[here] == 1 else answers[here]
            cost[now] = np.inf
        for k in range(used):
            if cost[k] < best:
                best = cost[k]
                choice = k
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
    """Let items first to last - 1 choose, one by one, until one wants a centre of its own.

    Item i compares, over all centres k, D(x_i, m_k) plus what its answers cost in the cluster of k,
    with `penalty` plus what they cost in a cluster that takes a new centre, or plus `per_cluster`
    for a cluster of its own (TVClust Eq. 19). Ties stay. `tally` counts the items moved, and the
    restless ones: those whose answers would be served better elsewhere. Returns
    the item that opens a centre (it is not moved yet) and the cluster that takes it, or `last`.
    """
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
