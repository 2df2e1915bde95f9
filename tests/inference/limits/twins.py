"""Slow plain twins of the limit's compiled code, and random problems."""

from __future__ import annotations

import itertools

import numpy as np

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.divergences import KullbackLeibler, SquaredEuclidean
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import penalties
from bayesclust.inference.limits.rdp_means import Problem

DIVERGENCES = {"euclidean": SquaredEuclidean(), "kl": KullbackLeibler()}


def distance(name: str, x: np.ndarray, m: np.ndarray) -> float:
    return float(((x - m) ** 2).sum() if name == "euclidean" else (x * np.log(x / m)).sum())


def plain_objective(name, points, z, centers, pairs, same, xi, penalty) -> float:
    """J by its definition; `centers` maps labels to centres."""
    data = sum(distance(name, x, centers[k]) for x, k in zip(points, z, strict=True))
    inside = [may for (i, j), may in zip(pairs, same, strict=True) if z[i] == z[j]]
    may = sum(inside)
    return data - xi[0] * may + xi[1] * (len(inside) - may) + penalty * len(set(z))


def at_means(name, points, z, pairs, same, xi, penalty) -> float:
    """J at the best centres."""
    centers = {k: points[z == k].mean(axis=0) for k in set(z.tolist())}
    return plain_objective(name, points, z.tolist(), centers, pairs, same, xi, penalty)


def dp_means(points, penalty, n_passes):
    """Kulis and Jordan's DP-means with opened clusters filled and emptied ones dropped at once, labels after each pass."""
    z, centers, history = [0] * len(points), {0: points.mean(axis=0)}, []
    for _ in range(n_passes):
        for i, x in enumerate(points):
            alone = z.count(z[i]) == 1
            costs = {k: distance("euclidean", x, m) for k, m in centers.items()}
            best, cost = z[i], penalty if alone else costs[z[i]]
            for k in sorted(costs):
                if k != z[i] and costs[k] < cost:
                    best, cost = k, costs[k]
            if penalty < cost:
                best = next(k for k in itertools.count() if k not in centers)
                centers[best] = x
            old, z[i] = z[i], best
            if old not in z:
                del centers[old]
        rank = {k: number for number, k in enumerate(sorted(centers))}
        z = [rank[k] for k in z]
        centers = {k: points[np.array(z) == k].mean(axis=0) for k in set(z)}
        history.append(list(z))
    return history


def partitions(n: int) -> np.ndarray:
    """All partitions of n items as labels in order of first appearance."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, k] for row in rows for k in range(max(row) + 2)]
    return np.array(rows)


def random_problem(rng: np.random.Generator, name: str, n: int, d: int = 2):
    """A problem with random links, contradictory and repeated ones among them, and a random fixed xi."""
    divergence = DIVERGENCES[name]
    X = rng.normal(size=(n, d)) if name == "euclidean" else rng.poisson(3.0, size=(n, d + 1)) + np.eye(d + 1)[0]
    points = divergence.points(X)
    m = int(rng.integers(0, n + 3))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], dtype=np.int64).reshape(-1, 2)
    same = rng.random(m) < 0.5
    graph = link_graph([PairwiseConstraints(pairs, same, n_items=n)], n)
    penalty = float(penalties(points, divergence, min(n, 4))[rng.integers(min(n, 4))] * rng.uniform(0.5, 2.0))
    xi = tuple(float(value) for value in rng.exponential(size=2) * penalty)
    return Problem.of(points, divergence, graph, penalty), pairs, same, xi
