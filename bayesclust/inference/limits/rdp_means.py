"""RDP-means: coordinate descent on the small-variance limit of TVClust (Khashabi et al., section 4; Algorithm 1).

The objective counts each link once,

    J(z, m) = sum_i D(x_i, m_{z_i}) - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside
    clusters} + lambda K,

where the paper's Eq. 20 counts it from both ends although one update sees it once; only this J
falls at every step. Two more slips of Algorithm 1 are mended: an item that opens a cluster is in it
at once, and a cluster that loses its last item stops counting at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesclust.families import Divergence
from bayesclust.inference.limits.answers import Graph, Xi, largest, smallest, times
from bayesclust.inference.limits.passes import (
    MOVED,
    RESTLESS,
    divergence_to_own,
    scan,
    sum_by_cluster,
)
from bayesclust.typing import FloatArray, IntArray, NDArray

CEILING = 1e6


class Problem(NamedTuple):
    """Points, answers about them and the price of a cluster: everything J depends on but xi."""

    points: FloatArray  # (n, d)
    phi: FloatArray  # (n,)
    divergence: Divergence
    graph: Graph
    penalty: float

    @classmethod
    def of(
        cls, points: FloatArray, divergence: Divergence, graph: Graph, penalty: float
    ) -> Problem:
        """Pose the problem."""
        return cls(points, divergence.phi(points), divergence, graph, penalty)


class Schedule(NamedTuple):
    """Confidence in answers, in units of the divergence, from pass to pass."""

    xi: Xi  # in the first pass
    rate: float = 1.0  # what it is multiplied by after each pass
    most: float = np.inf  # where growth of the largest confidence ends


class Solution(NamedTuple):
    """A partition with its centres.

    Where clusters have several centres (`bayesclust.inference.limits.two_level`), `labels` are the
    components, each with one centre, and `owner` says which cluster each belongs to.
    """

    labels: IntArray  # (n,)
    centers: FloatArray  # (K, d)
    objective: float  # J at `xi`
    path: FloatArray  # J after each pass over the items and the means that follow it, at the xi of that pass
    xi: Xi  # of the last pass
    converged: bool
    owner: IntArray | None = None  # (K,), None where every centre is a cluster

    @property
    def clusters(self) -> IntArray:
        """What answers speak of, shape (n,)."""
        return self.labels if self.owner is None else self.owner[self.labels]


class Slots(NamedTuple):
    """Clusters during a pass; empty slots are free."""

    z: NDArray[np.int32]  # (n,)
    size: IntArray  # (capacity,)
    natural: FloatArray  # (capacity, d)
    offset: FloatArray  # (capacity,)


def new_slots(problem: Problem, labels: IntArray, centers: FloatArray) -> Slots:
    """Clusters numbered 0 to K - 1 with their centres, in slots with room for more."""
    capacity = 2 * len(centers) + 8
    natural, offset = np.zeros((capacity, centers.shape[1])), np.zeros(capacity)
    natural[: len(centers)] = problem.divergence.natural(centers)
    offset[: len(centers)] = problem.divergence.offset(centers)
    return Slots(labels.astype(np.int32), np.bincount(labels, minlength=capacity), natural, offset)


def visit(
    problem: Problem, slots: Slots, xi: Xi, slack: float, first: int = 0, last: int | None = None
) -> tuple[Slots, IntArray]:
    """Let items choose their clusters one after the other, centres standing still.

    Parameters
    ----------
    problem : Problem
    slots : Slots
        Changed in place while there is room.
    xi : (float, float) or (codes, 5) array
        Confidence in answers, as the graph of the problem reads it.
    slack : float
        By how much answers must be better served elsewhere for an item to count as restless.
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
            points,
            phi,
            divergence.squared,
            penalty,
            graph,
            xi,
            slack,
            first,
            last,
            used,
            slots,
            tally,
        )
        if first == last:
            return slots, tally
        slots = open_slot(problem, slots, first)
        tally[MOVED] += 1
        first += 1


def open_slot(problem: Problem, slots: Slots, item: int) -> Slots:
    """Give an item a cluster of its own, with itself as the centre."""
    if slots.size.all():
        z, size, natural, offset = slots
        more = len(size)
        slots = Slots(
            z,
            np.pad(size, (0, more)),
            np.pad(natural, ((0, more), (0, 0))),
            np.pad(offset, (0, more)),
        )
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


def objective(problem: Problem, labels: IntArray, centers: FloatArray, xi: Xi) -> float:
    """Return J at labels 0 to K - 1 and centres (K, d)."""
    return (
        scatter(problem, labels, centers)
        + problem.graph.inside(labels, xi)
        + problem.penalty * len(centers)
    )


def scatter(problem: Problem, labels: IntArray, centers: FloatArray) -> float:
    """Return the sum of the items' divergences from their own centres."""
    points, phi, divergence, _, _ = problem
    natural, offset = divergence.natural(centers), divergence.offset(centers)
    return float(divergence_to_own(points, phi, divergence.squared, labels, natural, offset))


def start_at(problem: Problem, labels: IntArray, xi: Xi) -> Solution:
    """Return a partition as it is, with nothing done yet."""
    labels, centers = means(problem.points, labels)
    return Solution(labels, centers, objective(problem, labels, centers, xi), np.empty(0), xi, True)


def descend(
    problem: Problem, labels: IntArray, schedule: Schedule, max_iter: int = 300
) -> Solution:
    """Alternate passes over the items and means until nothing moves and no growth of xi would move anything.

    With fixed xi, J falls at every step and the end is a local minimum. With growing xi, J falls
    between increases, and passes end when nothing moves and no item's answers would be served
    better in another cluster, so that larger xi would change nothing. (TVClust waits for 20 passes
    without a change; where divergences are large that is before xi has come to weigh anything.)

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

    def turn(xi: Xi) -> tuple[float, IntArray]:
        nonlocal labels, centers
        slots, tally = visit(
            problem, new_slots(problem, labels, centers), xi, slack=smallest(xi) / 2
        )
        if tally[MOVED]:
            labels, centers = means(problem.points, slots.z)
        return objective(problem, labels, centers, xi), tally

    path, xi, converged = follow(problem, schedule, max_iter, turn)
    return Solution(labels, centers, path[-1], path, xi, converged)


def follow(
    problem: Problem,
    schedule: Schedule,
    max_iter: int,
    turn: Callable[[Xi], tuple[float, IntArray]],
) -> tuple[FloatArray, Xi, bool]:
    """Take turns until nothing moves and no growth of xi would move anything.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule
    max_iter : int
        Most turns.
    turn : callable
        From xi, a pass; returns J after it and the tally of what moved and of what is restless.

    Returns
    -------
    path : (t,) array of float
    xi : Xi
        Of the last turn.
    converged : bool
    """
    xi, rate, most = schedule
    # far above all divergences and the penalty answers decide alone, and more would only round the
    # divergences off
    most = (
        min(most, CEILING * (problem.penalty + spread(problem).max())) if rate > 1 else largest(xi)
    )
    path: list[float] = []
    while True:
        value, tally = turn(xi)
        path.append(value)
        grows = largest(xi) < most
        converged = not tally[MOVED] and not (grows and tally[RESTLESS])
        if converged or len(path) == max_iter:
            return np.array(path), xi, converged
        if grows:
            xi = times(xi, min(rate, most / largest(xi)))


def spread(problem: Problem) -> FloatArray:
    """Divergence of every item from the mean of all, shape (n,)."""
    middle = problem.points.mean(axis=0, keepdims=True)
    return problem.divergence.between(problem.points, middle)[:, 0]
