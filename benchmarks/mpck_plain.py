"""MPCK-Means with one diagonal metric as one would write it first: loops over items, links and all pairs, by Eq. 6 to 8."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def squared(x: Any, y: Any, weights: Any) -> float:
    """Squared distance of two items."""
    gap = x - y
    return float(gap @ (weights * gap))


def farthest(X: Any, weights: Any) -> tuple[int, int]:
    """The farthest pair, all pairs looked at."""
    best, found = -1.0, (0, 1)
    for i, j in itertools.combinations(range(len(X)), 2):
        length = squared(X[i], X[j], weights)
        if length > best:
            best, found = length, (i, j)
    return found


def assign(
    X: Any, centers: Any, weights: Any, far: Any, links: Any, rng: np.random.Generator
) -> Any:
    """Items in random order choose clusters; those not placed yet are left out."""
    z, diameter = np.full(len(X), -1), squared(X[far[0]], X[far[1]], weights)
    for i in rng.permutation(len(X)):
        costs = [squared(X[i], center, weights) for center in centers]
        for j, same in links[i]:
            length = squared(X[i], X[j], weights)
            for k in range(len(centers)):
                if z[j] >= 0 and (z[j] == k) != same:
                    costs[k] += length if same else diameter - length
        z[i] = int(np.argmin(costs))
    return z


def metric(X: Any, z: Any, centers: Any, far: Any, pairs: Any, same: Any) -> Any:
    """Eq. 8 summed over all items, clipped from below."""
    total = sum((x - centers[k]) ** 2 for x, k in zip(X, z, strict=True))
    widest = (X[far[0]] - X[far[1]]) ** 2
    for (i, j), answer in zip(pairs, same, strict=True):
        if answer and z[i] != z[j]:
            total = total + (X[i] - X[j]) ** 2
        elif not answer and z[i] == z[j]:
            total = total + widest - (X[i] - X[j]) ** 2
    return len(X) / np.maximum(total, 1e-9)


def fit(
    X: Any, pairs: Any, same: Any, centers: Any, rng: np.random.Generator, max_iter: int = 10
) -> Any:
    """Labels after at most `max_iter` rounds, from given centres."""
    links: list[list[Any]] = [[] for _ in X]
    for (i, j), answer in zip(pairs, same, strict=True):
        links[i].append((j, answer))
        links[j].append((i, answer))
    weights, z = np.ones(X.shape[1]), np.zeros(len(X), dtype=int)
    for _ in range(max_iter):
        far, before = farthest(X, weights), centers
        z = assign(X, centers, weights, far, links, rng)
        centers = np.stack(
            [X[z == k].mean(axis=0) if (z == k).any() else before[k] for k in range(len(before))]
        )
        weights = metric(X, z, centers, far, pairs, same)
        if np.allclose(centers, before, rtol=0, atol=1e-6):
            break
    return z
