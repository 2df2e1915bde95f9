"""What a broken link costs on average, by which its weight is set so that the whole says what an answer is worth."""

from __future__ import annotations

import numpy as np

from bayesclust.inference.limits.mpck.energy import Problem, first_metrics, means, refit
from bayesclust.inference.limits.mpck.metric import FarPairs
from bayesclust.typing import IntArray


def average_penalties(problem: Problem, z: IntArray) -> tuple[float, float]:
    """Return mean f_M over pairs of items apart, and mean f_C over pairs together, under the metric of labels alone.

    Parameters
    ----------
    problem : Problem
        With a single metric or none, and no links.
    z : (n,) array of int

    Returns
    -------
    apart, together : float
        1 and 1 without a metric. Where there are no such pairs, as under one cluster, the mean over
        all pairs stands in.
    """
    if not problem.learned:
        return 1.0, 1.0
    far = FarPairs(problem.points)
    centers = means(problem, z, np.zeros((problem.n_clusters, problem.points.shape[1])))
    metrics, _ = refit(problem, z, centers, first_metrics(problem, far), far, "exact", 0.0)
    rows, n = problem.form.stretched(problem.points, metrics.A[0]), len(z)
    sizes = np.bincount(z, minlength=problem.n_clusters).astype(np.float64)
    # the squared gaps of all pairs of a set are its size times its squared distances from its mean
    middles = problem.form.stretched(centers, metrics.A[0])
    inside = float(sizes[z] @ np.square(rows - middles[z]).sum(axis=1))
    everything = float(n * np.square(rows - rows.mean(axis=0)).sum())
    pairs, pairs_inside = n * (n - 1) / 2, float((sizes * (sizes - 1) / 2).sum())
    mean = everything / pairs
    apart = (everything - inside) / (pairs - pairs_inside) if pairs > pairs_inside else mean
    near = inside / pairs_inside if pairs_inside else mean
    return apart, float(metrics.diameter[0]) - near


__all__ = ["average_penalties"]
