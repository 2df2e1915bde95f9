"""RDP-means: coordinate descent on the small-variance limit of TVClust (Khashabi et al., section 4; Algorithm 1).

The objective counts each link once,

    J(z, m) = sum_i D(x_i, m_{z_i}) - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside clusters} + lambda K,

where the paper's Eq. 20 counts it from both ends although one update sees it once; only this J falls at every step. Two
more slips of Algorithm 1 are mended: an item that opens a cluster is in it at once, and a cluster that loses its last item
stops counting at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust._jit import kernel
from bayesclust.inference.limits.divergences import Divergence
from bayesclust.inference.limits.links import LinkGraph
from bayesclust.typing import FloatArray, IntArray, NDArray

MOVED, RESTLESS = 0, 1
CEILING = 1e6


class Problem(NamedTuple):
    """Points, their links and the price of a cluster: everything J depends on but xi."""

    points: FloatArray  # (n, d)
    phi: FloatArray  # (n,)
    divergence: Divergence
    graph: LinkGraph
    penalty: float

    @classmethod
    def of(cls, points: FloatArray, divergence: Divergence, graph: LinkGraph, penalty: float) -> Problem:
        """Pose the problem."""
        return cls(points, divergence.phi(points), divergence, graph, penalty)


class Schedule(NamedTuple):
    """Confidence in may-links and may-not-links, in units of the divergence, from pass to pass."""

    xi: tuple[float, float]  # in the first pass
    rate: float = 1.0  # what it is multiplied by after each pass
    most: float = np.inf  # where growth ends


class Solution(NamedTuple):
    """A partition with its centres."""

    labels: IntArray  # (n,)
    centers: FloatArray  # (K, d)
    objective: float  # J at `xi`
    path: FloatArray  # J after each pass over the items and the means that follow it, at the xi of that pass
    xi: tuple[float, float]  # of the last pass
    converged: bool


class Slots(NamedTuple):
    """Clusters during a pass; empty slots are free."""

    z: NDArray[np.int32]  # (n,)
    size: IntArray  # (capacity,)
    natural: FloatArray  # (capacity, d)
    offset: FloatArray  # (capacity,)


@kernel(fastmath={"reassoc", "contract"})
def squared_distances(x: Any, centers: Any, used: int, out: Any) -> None:
    """Write |x - m_k|^2 for the centres k < used."""
    for k in range(used):
        total = 0.0
        for j in range(len(x)):
            gap = x[j] - centers[k, j]
            total += gap * gap
        out[k] = total


@kernel(fastmath={"reassoc", "contract"})
def divergences(x: Any, phi: float, natural: Any, offset: Any, used: int, out: Any) -> None:
    """Write D(x, m_k) for the centres k < used, given by natural parameters and offsets."""
    for k in range(used):
        total = 0.0
        for j in range(len(x)):
            total += x[j] * natural[k, j]
        out[k] = max(phi + offset[k] - total, 0.0)


@kernel
def scan(
    points: Any,
    phi: Any,
    squared: bool,
    penalty: float,
    graph: Any,
    xi: tuple[float, float],
    slack: float,
    first: int,
    last: int,
    used: int,
    slots: Any,
    tally: Any,
) -> int:
    """Move items first to last - 1 to their best clusters, one by one, until one wants a cluster of its own.

    Item i compares D(x_i, m_k) plus the weight of its links into k over all clusters k with the penalty. Ties stay where
    they are. `tally` counts the items moved, and the restless ones: those whose links would be served better elsewhere, by
    more than `slack`. Returns the item that opens a cluster (it is not moved yet), or `last`.
    """
    z, size, natural, offset = slots
    start, neighbour, may = graph
    cost, link = np.empty(len(size)), np.zeros(len(size))
    for i in range(first, last):
        if squared:
            squared_distances(points[i], natural, used, cost)
        else:
            divergences(points[i], phi[i], natural, offset, used, cost)
        for e in range(start[i], start[i + 1]):
            link[z[neighbour[e]]] += -xi[0] if may[e] else xi[1]
        now = z[i]
        # alone, an item pays the penalty where it stays, and its centre will be itself
        best = penalty if size[now] == 1 else cost[now] + link[now]
        choice = now
        for k in range(used):
            if cost[k] + link[k] < best and k != now and size[k] > 0:
                choice, best = k, cost[k] + link[k]
        opens = penalty < best
        here, lowest = 0.0 if opens else link[choice], 0.0
        for e in range(start[i], start[i + 1]):
            k = z[neighbour[e]]
            lowest = min(lowest, link[k])
            link[k] = 0.0
        if lowest < here - slack:
            tally[RESTLESS] += 1
        if opens:
            return i
        if choice != now:
            tally[MOVED] += 1
            z[i] = choice
            size[now] -= 1
            size[choice] += 1
    return last


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
def divergence_to_own(points: Any, phi: Any, squared: bool, z: Any, natural: Any, offset: Any) -> float:
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


def new_slots(problem: Problem, labels: IntArray, centers: FloatArray) -> Slots:
    """Clusters numbered 0 to K - 1 with their centres, in slots with room for more."""
    capacity = 2 * len(centers) + 8
    natural, offset = np.zeros((capacity, centers.shape[1])), np.zeros(capacity)
    natural[: len(centers)] = problem.divergence.natural(centers)
    offset[: len(centers)] = problem.divergence.offset(centers)
    return Slots(labels.astype(np.int32), np.bincount(labels, minlength=capacity), natural, offset)


def visit(
    problem: Problem, slots: Slots, xi: tuple[float, float], slack: float, first: int = 0, last: int | None = None
) -> tuple[Slots, IntArray]:
    """Let items choose their clusters one after the other, centres standing still.

    Parameters
    ----------
    problem : Problem
    slots : Slots
        Changed in place while there is room.
    xi : (float, float)
        Confidence in may-links and may-not-links.
    slack : float
        By how much links must be better served elsewhere for an item to count as restless.
    first, last : int, optional
        Items first to last - 1; all by default.

    Returns
    -------
    slots : Slots
    tally : (2,) array of int
        How many items moved, and how many are restless.
    """
    points, phi, divergence, graph, penalty = problem
    tally, last = np.zeros(2, dtype=np.int64), len(points) if last is None else last
    while True:
        used = int(np.flatnonzero(slots.size)[-1]) + 1
        first = scan(
            points, phi, divergence.squared, penalty, graph[2:], xi, slack, first, last, used, slots, tally
        )  # fmt: skip
        if first == last:
            return slots, tally
        slots = _open(problem, slots, first)
        tally[MOVED] += 1
        first += 1


def _open(problem: Problem, slots: Slots, item: int) -> Slots:
    """Give an item a cluster of its own, with itself as the centre."""
    if slots.size.all():
        z, size, natural, offset = slots
        more = len(size)
        slots = Slots(z, np.pad(size, (0, more)), np.pad(natural, ((0, more), (0, 0))), np.pad(offset, (0, more)))
    slot, point = int(np.argmin(slots.size)), problem.points[item : item + 1]
    slots.natural[slot] = problem.divergence.natural(point)[0]
    slots.offset[slot] = problem.divergence.offset(point)[0]
    slots.size[slots.z[item]] -= 1
    slots.size[slot] = 1
    slots.z[item] = slot
    return slots


def means(points: FloatArray, labels: NDArray[np.integer[Any]]) -> tuple[IntArray, FloatArray]:
    """Return labels without gaps, in the order they had, and the mean of each cluster, shape (K, d)."""
    sums, sizes = sum_by_cluster(points, labels, int(labels.max()) + 1)
    kept = sizes > 0
    return (np.cumsum(kept) - 1)[labels], sums[kept] / sizes[kept, None]


def objective(problem: Problem, labels: IntArray, centers: FloatArray, xi: tuple[float, float]) -> float:
    """Return J at labels 0 to K - 1 and centres (K, d)."""
    points, phi, divergence, graph, penalty = problem
    natural, offset = divergence.natural(centers), divergence.offset(centers)
    data = divergence_to_own(points, phi, divergence.squared, labels, natural, offset)
    return float(data) + graph.inside(labels, xi) + penalty * len(centers)


def descend(problem: Problem, labels: IntArray, schedule: Schedule, max_iter: int = 300) -> Solution:
    """Alternate passes over the items and means until nothing moves and no growth of xi would move anything.

    With fixed xi, J falls at every step and the end is a local minimum. With growing xi, J falls between increases, and
    passes end when nothing moves and no item's links would be served better in another cluster, so that larger xi would
    change nothing. (TVClust waits for 20 passes without a change; where divergences are large that is before xi has come
    to weigh anything.)

    Parameters
    ----------
    problem : Problem
    labels : (n,) array of int
        Where to start.
    schedule : Schedule
    max_iter : int, default 300
        Most passes.

    Returns
    -------
    Solution
    """
    labels, centers = means(problem.points, labels)
    xi, rate, most = schedule
    # far above all divergences and the penalty links decide alone, and more would only round the divergences off
    most = min(most, CEILING * (problem.penalty + spread(problem).max())) if rate > 1 else max(xi)
    path: list[float] = []
    while True:
        slots, tally = visit(problem, new_slots(problem, labels, centers), xi, slack=min(xi) / 2)
        if tally[MOVED]:
            labels, centers = means(problem.points, slots.z)
        path.append(objective(problem, labels, centers, xi))
        grows = max(xi) < most
        converged = not tally[MOVED] and not (grows and tally[RESTLESS])
        if converged or len(path) == max_iter:
            return Solution(labels, centers, path[-1], np.array(path), xi, converged)
        if grows:
            factor = min(rate, most / max(xi))
            xi = (xi[0] * factor, xi[1] * factor)


def spread(problem: Problem) -> FloatArray:
    """Divergence of every item from the mean of all, shape (n,)."""
    middle = problem.points.mean(axis=0, keepdims=True)
    return problem.divergence.between(problem.points, middle)[:, 0]
