"""MPCK-Means (Figure 1): items, centres and metrics in turn, each at its best given the others.

The objective (Eq. 6) is

    J(z, m, A) = sum_i (|x_i - m_{z_i}|_{A_{z_i}}^2 - log det A_{z_i})
        + sum_{must-links} w f_M [z_i != z_j] + sum_{cannot-links} w f_C [z_i = z_j]
        + n_0 sum_h (tr(A_h C) - log det A_h),

    f_M = |x_i - x_j|_{A_{z_i}}^2 / 2 + |x_i - x_j|_{A_{z_j}}^2 / 2,
    f_C = diam^2(A_{z_i}) - |x_i - x_j|_{A_{z_i}}^2,

with one A for all h, or one each; C is the covariance of all items, or its diagonal. The last term,
which the paper does not have, is a Wishart prior worth n_0 items: it keeps a cluster of few items,
or a direction in which a cluster has no scatter, from an infinite log det, so that J has a minimum.
With f_M = f_C = 1 it is Eq. 3; without metrics A is the identity too, and J is Eq. 1.

All of it is computed on coordinates in which C is the identity; J as reported is in the units of X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.inference.limits.mpck.assign import (
    EVERYWHERE,
    UNPLACED,
    Near,
    Sizes,
    assign,
    assign_within,
    cheapest_within,
    total_cost,
)
from bayesclust.inference.limits.mpck.links import WeightedLinks, starting_centers
from bayesclust.inference.limits.mpck.metric import (
    FORMS,
    Diagonal,
    FarPairs,
    Terms,
    exact_step,
    paper_step,
)
from bayesclust.inference.limits.passes import sum_by_cluster
from bayesclust.typing import FloatArray, IntArray

SETTLED = 1e-10
FIRST_SHARE = 1e-2
"""Where the weights of links begin to grow, as a share of what they are."""
ROUNDS = 10
"""How many rounds each stage of growing weights may take."""


class Problem(NamedTuple):
    """Items, links and the kind of metric: everything J depends on but labels, centres, metrics."""

    X: FloatArray  # (n, d)
    points: FloatArray  # (n, r) coordinates
    T: FloatArray  # (d, r) points = (X - mean) T
    links: WeightedLinks
    gaps: FloatArray  # (m, r) difference of the items of each link
    n_clusters: int
    form: Diagonal
    learned: bool  # whether there are metrics
    per_cluster: bool
    prior: float  # n_0
    sizes: Sizes | None = None
    constant: bool = False  # f_M = f_C = 1
    near: Near | None = None

    @classmethod
    def of(
        cls,
        X: FloatArray,
        links: WeightedLinks,
        n_clusters: int,
        metric: str,
        per_cluster: bool,
        prior: float,
        sizes: Sizes | None = None,
    ) -> Problem:
        """State the problem; `metric` is "diagonal", "full" or "euclidean"."""
        learned = metric in FORMS
        form = FORMS[metric] if learned else FORMS["diagonal"]
        T = form.coordinates(X) if learned else np.eye(X.shape[1])
        points = np.ascontiguousarray((X - X.mean(axis=0)) @ T)
        gaps = points[links.pairs[:, 0]] - points[links.pairs[:, 1]]
        own = per_cluster and learned
        return cls(
            X, points, T, links, gaps, n_clusters, form, learned, own, prior * learned, sizes
        )

    @property
    def n_metrics(self) -> int:
        """One, or one for each cluster."""
        return self.n_clusters if self.per_cluster else 1

    @property
    def log_volume(self) -> float:
        """log det of a metric in the units of X less that on the coordinates."""
        scale = np.square(self.T).sum(axis=0)
        return float(np.log(scale[scale > 0]).sum()) if self.learned else 0.0

    @property
    def shift(self) -> float:
        """What J in the units of X is more than J on the coordinates."""
        return -(len(self.X) + self.prior * self.n_metrics) * self.log_volume


class Metrics(NamedTuple):
    """Metrics on the coordinates, each with the farthest pair under it."""

    A: FloatArray  # (H, r) or (H, r, r)
    diameter: FloatArray  # (H,) squared
    pair: FloatArray  # (H, r)


class Settings(NamedTuple):
    """How J is lowered."""

    step: str = "exact"  # or "paper"
    init: str = "neighbourhoods"  # or "paper", "k-means++"
    max_iter: int = 300
    stages: int = 5


class Solution(NamedTuple):
    """Labels, centres on the coordinates, and metrics."""

    z: IntArray  # (n,)
    centers: FloatArray  # (K, r)
    metrics: Metrics
    objective: float  # in the units of X
    path: FloatArray  # the objective after each round
    converged: bool


def first_metrics(problem: Problem, far: FarPairs) -> Metrics:
    """Euclidean distance in the units of X, for all clusters."""
    form, H, r = problem.form, problem.n_metrics, problem.points.shape[1]
    A = form.unit(problem.T) if problem.learned else form.one(r)
    squared, pair = far.search(form, A) if problem.learned else (0.0, np.zeros(r))
    return Metrics(np.stack([A] * H), np.full(H, squared), np.stack([pair] * H))


def first_log_det(problem: Problem, metrics: Metrics) -> float:
    """log det of the first metric, which `distances` leave out."""
    return problem.form.log_det(metrics.A[0]) if problem.learned else 0.0


def distances(problem: Problem, centers: FloatArray, metrics: Metrics) -> FloatArray:
    """Return |x_i - m_h|^2 - log det A_h of each item and cluster, (n, K), plus log det A_1."""
    # In small units log det would drown the lengths.
    form, points, A = problem.form, problem.points, metrics.A
    if problem.per_cluster:
        first = first_log_det(problem, metrics)
        each = [
            form.lengths(points - m, own) - (form.log_det(own) - first)
            for m, own in zip(centers, A, strict=True)
        ]
        return np.stack(each, axis=1)
    rows, middles = points, centers
    if problem.learned:
        rows, middles = (form.stretched(v, A[0]) for v in (points, centers))
    squares = np.square(rows).sum(axis=1)[:, None]
    total = squares - 2.0 * rows @ middles.T + np.square(middles).sum(axis=1)
    return np.asarray(np.maximum(total, 0.0))


def link_costs(problem: Problem, metrics: Metrics) -> FloatArray:
    """What violating each link costs under each metric, of must-links half, (m, H)."""
    must, weight = problem.links.must, problem.links.weight
    if problem.constant or not problem.learned:
        return np.tile(np.where(must, weight / 2.0, weight)[:, None], problem.n_metrics)
    lengths = np.stack([problem.form.lengths(problem.gaps, A) for A in metrics.A], axis=1)
    away = np.maximum(metrics.diameter - lengths, 0.0)
    return np.asarray(weight[:, None] * np.where(must[:, None], lengths / 2.0, away))


def objective(
    problem: Problem, z: IntArray, distance: FloatArray, cost: FloatArray, metrics: Metrics
) -> float:
    """Return J on the coordinates, without the constant `shift`."""
    total = float(total_cost(distance, problem.links, cost, z))
    total -= len(z) * first_log_det(problem, metrics)
    form = problem.form
    for A in metrics.A if problem.prior > 0 else ():
        total += problem.prior * (float((A * form.one(len(A))).sum()) - form.log_det(A))
    return total


def means(problem: Problem, z: IntArray, centers: FloatArray) -> FloatArray:
    """The mean of each cluster; an empty one keeps its centre."""
    sums, sizes = sum_by_cluster(problem.points, z, problem.n_clusters)
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centers)


def metric_terms(problem: Problem, z: IntArray, centers: FloatArray) -> list[Terms]:
    """What the objective of each metric depends on, labels and centres given."""
    form, links = problem.form, problem.links
    residuals = problem.points - centers[z]
    prior = problem.prior * form.one(problem.points.shape[1])
    clusters = z[links.pairs]
    # what costs the same under every metric is no matter of metrics
    violated = links.violated(z) & (not problem.constant)
    found = []
    for h in range(problem.n_metrics):
        mine = z == h if problem.per_cluster else np.ones(len(z), dtype=bool)
        # a violated must-link counts once for each of its two ends, by half
        ends = (clusters == h).sum(axis=1) if problem.per_cluster else np.full(len(clusters), 2)
        part = ends / 2.0 * links.weight
        must = violated & links.must & (part > 0)
        cannot = violated & ~links.must & (part > 0)
        scatter = form.scatter(residuals[mine], np.ones(int(mine.sum())))
        scatter = scatter + form.scatter(problem.gaps[must], part[must])
        members = problem.prior + float(mine.sum())
        found.append(Terms(members, scatter + prior, problem.gaps[cannot], part[cannot]))
    return found


def refit(
    problem: Problem,
    z: IntArray,
    centers: FloatArray,
    metrics: Metrics,
    far: FarPairs,
    settings: Settings,
) -> Metrics:
    """The metrics that fit labels and centres; one without items, as under no prior, stays."""
    # By the "exact" step none costs more than before.
    if not problem.learned:
        return metrics
    form = problem.form
    A, diameter, pair = (values.copy() for values in metrics)
    for h, terms in enumerate(metric_terms(problem, z, centers)):
        if terms.n == 0:
            continue
        if settings.step == "exact":
            found = exact_step(form, terms, far)
            if not terms.value(form, *found[:2]) < terms.value(form, A[h], diameter[h]):
                continue
        else:
            found = paper_step(form, terms, pair[h], far)
        A[h], diameter[h], pair[h] = found
    return Metrics(A, diameter, pair)


def descend(
    problem: Problem, start: IntArray | FloatArray, settings: Settings, rng: Generator
) -> Solution:
    """Lower J from labels (n,) or centres (K, r) until nothing moves, items in random orders."""
    # By the exact step J falls at every step; by the paper's it may rise where the farthest pair
    # changes or a metric is conditioned. Links to items not yet placed do not count.
    far = FarPairs(problem.points)
    metrics = first_metrics(problem, far)
    path: list[float] = []
    if start.ndim == 1:
        z = start.astype(np.int64)
        centers = means(problem, z, np.zeros((problem.n_clusters, problem.points.shape[1])))
        metrics = refit(problem, z, centers, metrics, far, settings)
    else:
        z = np.full(len(problem.points), UNPLACED, dtype=np.int64)
        centers = start.astype(np.float64)
    distance, cost = distances(problem, centers, metrics), link_costs(problem, metrics)
    sizes = problem.sizes
    if sizes is not None and not sizes.hold(z, problem.n_clusters):
        z = cheapest_within(distance, sizes)
    near, closed = problem.near, EVERYWHERE
    if near is not None:
        closed = near.far
        z = z if near.hold(z) else place_near(problem, distance, cost, rng)
    while True:
        order = rng.permutation(len(z))
        if sizes is None:
            moved = int(assign(order, distance, problem.links, cost, z, closed))
        else:
            moved = assign_within(order, distance, problem.links, cost, z, sizes)
        centers = means(problem, z, centers)
        metrics = refit(problem, z, centers, metrics, far, settings)
        distance, cost = distances(problem, centers, metrics), link_costs(problem, metrics)
        path.append(objective(problem, z, distance, cost, metrics) + problem.shift)
        still = len(path) > 1 and abs(path[-2] - path[-1]) <= SETTLED * (1.0 + abs(path[-1]))
        if (moved == 0 and (still or not problem.learned)) or len(path) == settings.max_iter:
            return Solution(z, centers, metrics, path[-1], np.array(path), moved == 0)


def place_near(
    problem: Problem, distance: FloatArray, cost: FloatArray, rng: Generator
) -> IntArray:
    """Place items one by one; where one has no cluster left, clusters are those of `Near`."""
    near, z = problem.near, np.full(len(distance), UNPLACED, dtype=np.int64)
    assert near is not None
    order = rng.permutation(len(z))
    placed = assign(order, distance, problem.links, cost, z, near.far) >= 0
    return z if placed else near.z.copy()


def starts(problem: Problem, settings: Settings, n_init: int, rng: Generator) -> list[FloatArray]:
    """Centres (K, r) on the coordinates to begin from, the first as `init` has it."""
    # Of the others, every second one ignores neighbourhoods: wrong must-links may have joined them.
    none, middle = WeightedLinks.none(len(problem.X)), problem.X.mean(axis=0)
    found = []
    for number in range(n_init):
        links, kind = problem.links, "greedy" if number == 0 else "drawn"
        if settings.init == "k-means++" or number % 2:
            links, kind = none, "drawn"
        elif settings.init == "paper":
            kind = "paper"
        centers = starting_centers(problem.X, links, problem.n_clusters, rng, kind)
        found.append((centers - middle) @ problem.T)
    return found


def search(
    problem: Problem, settings: Settings, n_init: int, rng: Generator, start: IntArray | None = None
) -> Solution:
    """The lowest end of `n_init` starts; labels `start` (n,) replace the first of them."""
    begin: list[IntArray | FloatArray] = [*starts(problem, settings, n_init, rng)]
    if start is not None:
        begin[0] = start
    ends = (_in_stages(problem, one, settings, rng) for one in begin)
    return min(ends, key=lambda end: end.objective)


def _in_stages(
    problem: Problem, start: IntArray | FloatArray, settings: Settings, rng: Generator
) -> Solution:
    """Lower J in stages, in which the weights of links grow from a hundredth to what they are."""
    # At full weights the links of the first items placed hold all that follow.
    stages = settings.stages if len(problem.links.must) else 1
    for share in np.geomspace(FIRST_SHARE, 1.0, stages)[:-1] if stages > 1 else ():
        links = problem.links._replace(weight=problem.links.weight * share)
        brief = settings._replace(max_iter=min(ROUNDS, settings.max_iter))
        start = descend(problem._replace(links=links), start, brief, rng).z
    return descend(problem, start, settings, rng)


def place_once(problem: Problem, settings: Settings, rng: Generator) -> Solution:
    """Place every item at the nearest centre to start from (the paper's Supervised-Means)."""
    centers = starts(problem, settings, 1, rng)[0]
    metrics = first_metrics(problem, FarPairs(problem.points))
    distance, cost = distances(problem, centers, metrics), link_costs(problem, metrics)
    sizes = problem.sizes
    z = distance.argmin(axis=1) if sizes is None else cheapest_within(distance, sizes)
    value = objective(problem, z, distance, cost, metrics) + problem.shift
    return Solution(z, centers, metrics, value, np.array([value]), True)
