"""Random problems of RDP-means with the model at gamma, and log joints of partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.families import as_divergence
from bayesclust.inference.limits.bridge import PathModel, pose_answers
from bayesclust.inference.limits.penalty import penalties
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.models.joint import log_joint
from tests.inference.limits.reference import (
    KINDS,
    plain_distance,
    plain_truth,
    random_pairs,
    some_data,
)


class Case(NamedTuple):
    """A problem, its answers and their confidence, J by its definition, and the model at gamma."""

    problem: Problem
    xi: Any
    constraints: list[Any]
    confidence: Any
    J: Callable[[Any], float]
    model: PathModel


def random_case(
    rng: np.random.Generator, name: str, n: int, weight: float, *, triplets: bool = False
) -> Case:
    """A random problem at the gamma that makes gamma lambda what is asked for; with triplets, all by two sources."""
    X = some_data(rng, name, n)
    divergence = as_divergence(KINDS[name]).bind(X)
    points, k = divergence.points(X), min(n, 4)
    penalty = float(penalties(points, divergence, k)[rng.integers(k)] * rng.uniform(0.5, 2.0))
    # few items may be alike but for their holes
    penalty = max(
        penalty,
        0.1 * float(divergence.between(points, points.mean(axis=0, keepdims=True)).mean()),
        1e-3,
    )
    m = int(rng.integers(2, n + 3))
    pairs, same = random_pairs(rng, n, m)
    source = np.arange(m) % (1 + triplets)
    views: list[Any] = [PairwiseConstraints(pairs, same, n_items=n, source=source)]
    by_source = rng.exponential(size=(1 + triplets, 2)) * penalty
    confidence: Any = (float(by_source[0, 0]), float(by_source[0, 1]))
    asked, given, costs = np.empty((0, 3), dtype=int), np.empty(0, dtype=int), np.empty(0)
    if triplets:
        asked, given = (
            np.array([rng.choice(n, 3, replace=False) for _ in range(m)]),
            rng.integers(0, 3, m),
        )
        views.append(RelativeConstraints(asked, given, n_items=n, source=source))
        costs = rng.exponential(size=(2, 3, 3)) * penalty * (1 - np.eye(3))
        costs[0] = -rng.exponential() * penalty * np.eye(3)
        confidence = {"links": by_source, "triplets": costs}
    distance = plain_distance(name, points, getattr(divergence, "sizes", None))

    def J(z: Any) -> float:
        z = np.asarray(z)
        centers = {k: points[z == k].mean(axis=0) for k in set(z.tolist())}
        total = sum(
            distance(x, centers[k]) for x, k in zip(points, z.tolist(), strict=True)
        ) + penalty * len(centers)
        for (i, j), may, s in zip(pairs, same, source, strict=True):
            total += (-by_source[s, 0] if may else by_source[s, 1]) * (z[i] == z[j])
        for (i, j, h), answer, s in zip(asked, given, source, strict=False):
            total += costs[s, plain_truth(z[i], z[j], z[h]), answer]
        return float(total)

    graph, xi = pose_answers(confidence, views, n)
    model = PathModel.at(weight / penalty, points, divergence, penalty, confidence, views)
    return Case(Problem.of(points, divergence, graph, penalty), xi, views, confidence, J, model)


def at_weight(case: Case, weight: float) -> PathModel:
    """The same problem at the gamma that makes gamma lambda something else."""
    points, _, divergence, _, penalty = case.problem
    return PathModel.at(
        weight / penalty, points, divergence, penalty, case.confidence, case.constraints
    )


def joint(model: PathModel, z: np.ndarray) -> float:
    """The plain log joint of a partition at gamma."""
    case = model.problem
    noise: list[Any] = [view.noise.initial(view.n_sources) for view in case.constraints]
    return log_joint(
        z,
        case.family,
        constraints=case.constraints,
        partition_prior=case.partition_prior,
        noise=noise,
    )


def random_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Labels 0 to K - 1, K anything from 1 to n."""
    return np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]
