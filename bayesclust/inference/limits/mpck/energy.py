"""The objective of MPCK-Means (Eq. 6), the centres and the metrics that lower it, and their costs to the items.

    J(z, m, A) = sum_i (|x_i - m_{z_i}|_{A_{z_i}}^2 - log det A_{z_i})
        + sum_{must-links} w f_M [z_i != z_j] + sum_{cannot-links} w f_C [z_i = z_j]
        + n_0 sum_h (tr(A_h C) - log det A_h),

    f_M = |x_i - x_j|_{A_{z_i}}^2 / 2 + |x_i - x_j|_{A_{z_j}}^2 / 2,    f_C = diam^2(A_{z_i}) - |x_i - x_j|_{A_{z_i}}^2,

with one A for all h, or one each; C is the covariance of all items, or its diagonal. The last term,
which the paper does not have, is a Wishart prior worth n_0 items: it keeps a cluster of few items,
or a direction in which a cluster has no scatter, from an infinite log det, so that J has a minimum.
Without metrics A is the identity, f_M = f_C = 1, and J is Eq. 1.

All of it is computed on coordinates in which C is the identity; J as reported is in the units of X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.inference.limits.mpck import passes
from bayesclust.inference.limits.mpck.forms import FORMS, Form
from bayesclust.inference.limits.mpck.links import WeightedLinks
from bayesclust.inference.limits.mpck.metric import FarPairs, Pull, exact_step, paper_step, value
from bayesclust.inference.limits.passes import sum_by_cluster
from bayesclust.typing import FloatArray, IntArray


class Problem(NamedTuple):
    """Items, links and what kind of metric: everything J depends on but labels, centres and metrics."""

    X: FloatArray  # (n, d)
    points: FloatArray  # (n, r) coordinates
    T: FloatArray  # (d, r) points = (X - mean) T
    links: WeightedLinks
    gaps: FloatArray  # (m, r) difference of the items of each link
    n_clusters: int
    form: Form
    learned: bool  # whether there are metrics
    per_cluster: bool
    prior: float  # n_0

    @classmethod
    def of(
        cls,
        X: FloatArray,
        links: WeightedLinks,
        n_clusters: int,
        metric: str | None,
        per_cluster: bool,
        prior: float,
    ) -> Problem:
        """Pose the problem; `metric` is "diagonal", "full" or None."""
        form = FORMS[metric or "diagonal"]
        T = form.coordinates(X) if metric else np.eye(X.shape[1])
        points = np.ascontiguousarray((X - X.mean(axis=0)) @ T)
        gaps = points[links.pairs[:, 0]] - points[links.pairs[:, 1]]
        learned = metric is not None
        return cls(
            X,
            points,
            T,
            links,
            gaps,
            n_clusters,
            form,
            learned,
            per_cluster and learned,
            prior * learned,
        )

    @property
    def n_metrics(self) -> int:
        """One, or one for each cluster."""
        return self.n_clusters if self.per_cluster else 1

    @property
    def shift(self) -> float:
        """What J in the units of X is more than J on the coordinates: the volume of the one in the other."""
        if not self.learned:
            return 0.0
        scale = np.square(self.T).sum(axis=0)
        log_volume = float(np.log(scale[scale > 0]).sum())
        return -(len(self.X) + self.prior * self.n_metrics) * log_volume


class Metrics(NamedTuple):
    """Metrics on the coordinates, each with the farthest pair under it."""

    A: FloatArray  # (H, r) or (H, r, r)
    diameter: FloatArray  # (H,) squared
    pair: FloatArray  # (H, r)


def first_metrics(problem: Problem, far: FarPairs) -> Metrics:
    """Euclidean distance in the units of X, for all clusters."""
    form, H = problem.form, problem.n_metrics
    A = form.unit(problem.T) if problem.learned else form.one(problem.points.shape[1])
    squared, pair = (
        far.search(form, A) if problem.learned else (0.0, np.zeros(problem.points.shape[1]))
    )
    return Metrics(
        np.repeat(A[None], H, axis=0), np.full(H, squared), np.repeat(pair[None], H, axis=0)
    )


def distances(problem: Problem, centers: FloatArray, metrics: Metrics) -> FloatArray:
    """Return |x_i - m_h|^2 - log det of each item and cluster under the cluster's metric, shape (n, K)."""
    form, points, A = problem.form, problem.points, metrics.A
    if not problem.per_cluster:
        rows, middles = (
            (points, centers)
            if not problem.learned
            else (form.stretched(v, A[0]) for v in (points, centers))
        )
        total = (
            np.square(rows).sum(axis=1)[:, None]
            - 2.0 * rows @ middles.T
            + np.square(middles).sum(axis=1)
        )
        return np.asarray(np.maximum(total, 0.0) - (form.log_det(A[0]) if problem.learned else 0.0))
    found = np.empty((len(points), problem.n_clusters))
    for h, center in enumerate(centers):
        found[:, h] = form.lengths(points - center, A[h]) - form.log_det(A[h])
    return found


def link_costs(problem: Problem, metrics: Metrics) -> FloatArray:
    """Return what breaking each link costs under each metric, of must-links half of it, shape (m, H)."""
    may, weight = problem.links.may, problem.links.weight
    if not problem.learned:
        return np.where(may, weight / 2.0, weight)[:, None]
    cost = np.empty((len(may), problem.n_metrics))
    for h, (A, diameter) in enumerate(zip(metrics.A, metrics.diameter, strict=True)):
        lengths = problem.form.lengths(problem.gaps, A)
        cost[:, h] = weight * np.where(may, lengths / 2.0, np.maximum(diameter - lengths, 0.0))
    return cost


def objective(
    problem: Problem, z: IntArray, distance: FloatArray, cost: FloatArray, metrics: Metrics
) -> float:
    """Return J on the coordinates, without the constant `shift`."""
    total = float(passes.objective(distance, problem.links, cost, z))
    for A in metrics.A if problem.prior > 0 else ():
        total += problem.prior * (
            float((A * problem.form.one(len(A))).sum()) - problem.form.log_det(A)
        )
    return total


def means(problem: Problem, z: IntArray, centers: FloatArray) -> FloatArray:
    """Return the mean of each cluster; an empty one keeps its centre."""
    sums, sizes = sum_by_cluster(problem.points, z, problem.n_clusters)
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centers)


def pulls(problem: Problem, z: IntArray, centers: FloatArray) -> list[Pull]:
    """Return what labels and centres ask of each metric."""
    form, links, H = problem.form, problem.links, problem.n_metrics
    residuals, prior = (
        problem.points - centers[z],
        problem.prior * problem.form.one(problem.points.shape[1]),
    )
    ends, broken = z[links.pairs], links.broken(z)
    asked = []
    for h in range(H):
        mine = z == h if problem.per_cluster else np.ones(len(z), dtype=bool)
        # a broken must-link counts once for each of its two ends, by half
        part = (
            ((ends == h).sum(axis=1) if problem.per_cluster else np.full(len(ends), 2))
            / 2.0
            * links.weight
        )
        must, cannot = broken & links.may & (part > 0), broken & ~links.may & (part > 0)
        scatter = form.scatter(residuals[mine], np.ones(int(mine.sum()))) + form.scatter(
            problem.gaps[must], part[must]
        )
        asked.append(
            Pull(
                problem.prior + float(mine.sum()),
                scatter + prior,
                problem.gaps[cannot],
                part[cannot],
            )
        )
    return asked


def refit(
    problem: Problem,
    z: IntArray,
    centers: FloatArray,
    metrics: Metrics,
    far: FarPairs,
    step: str,
    eps: float,
) -> tuple[Metrics, int]:
    """Return the metrics that labels and centres ask for, and how many of them had to be mended.

    By the "exact" step none costs more than before; a metric without items, as there are under no
    prior, stays.
    """
    A, diameter, pair = (values.copy() for values in metrics)
    mended = 0
    for h, pull in enumerate(pulls(problem, z, centers)):
        if pull.n == 0:
            continue
        if step == "exact":
            found = exact_step(problem.form, pull, far)
            if not value(problem.form, pull, found.metric, found.diameter) < value(
                problem.form, pull, A[h], diameter[h]
            ):
                continue
        else:
            found = paper_step(problem.form, pull, pair[h], far, eps)
        A[h], diameter[h], pair[h] = found.metric, found.diameter, found.pair
        mended += found.mended
    return Metrics(A, diameter, pair), mended
