"""MPCK-Means: items, centres and metrics in turn, each at its best given the others (Figure 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.inference.limits.mpck import passes
from bayesclust.inference.limits.mpck.energy import (
    Metrics,
    Problem,
    distances,
    first_metrics,
    link_costs,
    means,
    objective,
    refit,
)
from bayesclust.inference.limits.mpck.links import WeightedLinks
from bayesclust.inference.limits.mpck.metric import FarPairs
from bayesclust.inference.limits.mpck.neighbourhoods import paper_centers, starting_centers
from bayesclust.typing import FloatArray, IntArray

SETTLED = 1e-10
# where the costs of links begin to grow, as a share of what they are, and how many rounds each
# stage may take
FIRST_SHARE, ROUNDS = 1e-2, 10


class Settings(NamedTuple):
    """How to go down."""

    step: str = "exact"  # or "paper"
    init: str = "neighbourhoods"  # or "paper", "k-means++"
    eps: float = 1e-3
    max_iter: int = 300
    stages: int = 5


class Solution(NamedTuple):
    """Labels, centres on the coordinates, and metrics."""

    z: IntArray  # (n,)
    centers: FloatArray  # (K, r)
    metrics: Metrics
    objective: float  # in the units of X
    path: FloatArray  # the objective after each round
    mended: int  # metrics that had to be mended, over all rounds
    converged: bool


def descend(
    problem: Problem, start: IntArray | FloatArray, settings: Settings, rng: Generator
) -> Solution:
    """Go down from labels (n,) or centres (K, r) until nothing moves.

    By the exact step J falls at every step of every round, and the end is a point at which neither
    an item nor the centres nor the metrics can lower it alone. By the paper's step it may rise
    where the farthest pair changes or a metric is mended.

    Parameters
    ----------
    problem : Problem
    start : (n,) array of int or (K, r) array of float
        Centres are on the coordinates. Items then have no place before the first round, in which
        links to items not yet placed do not count.
    settings : Settings
    rng : Generator
        Orders the items anew in every round.

    Returns
    -------
    Solution
    """
    far = FarPairs(problem.points)
    metrics = first_metrics(problem, far)
    placed = start.ndim == 1
    z = (
        start.astype(np.int64)
        if placed
        else np.full(len(problem.points), passes.UNPLACED, dtype=np.int64)
    )
    centers = (
        np.zeros((problem.n_clusters, problem.points.shape[1]))
        if placed
        else start.astype(np.float64)
    )
    path: list[float] = []
    all_mended, moved = 0, len(z)
    if placed:
        centers = means(problem, z, centers)
        metrics, all_mended = _refit(problem, z, centers, metrics, far, settings)
    while True:
        distance, cost = distances(problem, centers, metrics), link_costs(problem, metrics)
        moved = _assign(problem, distance, cost, z, centers, metrics, rng)
        centers = means(problem, z, centers)
        metrics, mended = _refit(problem, z, centers, metrics, far, settings)
        all_mended += mended
        distance, cost = distances(problem, centers, metrics), link_costs(problem, metrics)
        path.append(objective(problem, z, distance, cost, metrics) + problem.shift)
        still = len(path) > 1 and abs(path[-2] - path[-1]) <= SETTLED * (1.0 + abs(path[-1]))
        if (moved == 0 and (still or not problem.learned)) or len(path) == settings.max_iter:
            return Solution(z, centers, metrics, path[-1], np.array(path), all_mended, moved == 0)


def _refit(
    problem: Problem,
    z: IntArray,
    centers: FloatArray,
    metrics: Metrics,
    far: FarPairs,
    settings: Settings,
) -> tuple[Metrics, int]:
    if not problem.learned:
        return metrics, 0
    return refit(problem, z, centers, metrics, far, settings.step, settings.eps)


def _assign(
    problem: Problem,
    distance: FloatArray,
    cost: FloatArray,
    z: IntArray,
    centers: FloatArray,
    metrics: Metrics,
    rng: Generator,
) -> int:
    """Place the items, and let each cluster left empty begin anew at an item, if J falls by that; z changes in place."""
    size = np.bincount(z[z >= 0], minlength=problem.n_clusters)
    moved = int(passes.assign(rng.permutation(len(z)), distance, problem.links, cost, z, size))
    for empty in np.flatnonzero(size == 0):
        h = empty if problem.per_cluster else 0
        alone = -problem.form.log_det(metrics.A[h]) if problem.learned else 0.0
        item, gain = passes.best_alone(distance, alone, problem.links, cost, z, size, empty)
        if gain <= SETTLED * (1.0 + float(np.abs(distance[item, z[item]]))):
            break
        size[z[item]] -= 1
        z[item], size[empty] = empty, 1
        distance[:, empty] = np.inf
        distance[item, empty] = alone
        moved += 1
    return moved


def starts(problem: Problem, settings: Settings, n_init: int, rng: Generator) -> list[FloatArray]:
    """Return centres (K, d) in the units of X to begin from, the first as the paper has it, others drawn.

    Of those drawn, every second one leaves the neighbourhoods aside, which wrong must-links may
    have joined.
    """
    none = WeightedLinks.none(len(problem.X))
    found = []
    for number in range(n_init):
        if settings.init == "k-means++" or number % 2:
            found.append(starting_centers(problem.X, none, problem.n_clusters, rng, greedy=False))
        elif settings.init == "paper":
            found.append(paper_centers(problem.X, problem.links, problem.n_clusters, rng))
        else:
            found.append(
                starting_centers(
                    problem.X, problem.links, problem.n_clusters, rng, greedy=number == 0
                )
            )
    return found


def search(
    problem: Problem, settings: Settings, n_init: int, rng: Generator, start: IntArray | None = None
) -> Solution:
    """Go down from `n_init` starts and return the lowest end.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    n_init : int
    rng : Generator
    start : (n,) array of int, optional
        Labels that stand for the first start.

    Returns
    -------
    Solution
    """
    middle = problem.X.mean(axis=0)
    centers = starts(problem, settings, n_init, rng)
    begin: list[IntArray | FloatArray] = [(rows - middle) @ problem.T for rows in centers]
    if start is not None:
        begin[0] = start
    return min((grown(problem, one, settings, rng) for one in begin), key=lambda end: end.objective)


def grown(
    problem: Problem, start: IntArray | FloatArray, settings: Settings, rng: Generator
) -> Solution:
    """Go down in stages, in which the costs of links grow from a hundredth to what they are.

    At full costs the links of the first items placed hold all that follow: places are taken in the
    first round that no single item leaves again. While links cost little, items gather around
    centres that fit them.
    """
    stages = settings.stages if len(problem.links.may) else 1
    for share in np.geomspace(FIRST_SHARE, 1.0, stages)[:-1] if stages > 1 else ():
        links = problem.links._replace(weight=problem.links.weight * share)
        brief = settings._replace(max_iter=min(ROUNDS, settings.max_iter))
        start = descend(problem._replace(links=links), start, brief, rng).z
    return descend(problem, start, settings, rng)
