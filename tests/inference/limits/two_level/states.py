"""States on two levels: their J by its definition, all of them, random ones."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.inference.limits.reference import Case, partitions

SHARES = (1e-3, 0.3, 1.5, -0.01, -0.3)
"""Prices of a cluster over those of a component, the default first."""


def J(case: Case, price: float, components, clusters, centers=None) -> float:
    """Divergences, answers about clusters, and the two penalties; centres by component, the best ones if left out."""
    c, points = np.asarray(components), case.problem.points
    where = (
        {k: points[c == k].mean(axis=0) for k in set(c.tolist())} if centers is None else centers
    )
    data = sum(case.distance(x, where[k]) for x, k in zip(points, c.tolist(), strict=True))
    penalties = case.problem.penalty * len(set(c.tolist())) + price * len(
        set(np.asarray(clusters).tolist())
    )
    return data + float(case.answers(np.asarray(clusters))) + penalties


@cache
def nested_partitions(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All pairs of components and clusters of n items, components within clusters."""
    return [(c, owner[c]) for c in partitions(n) for owner in partitions(int(c.max()) + 1)]


def random_state(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Components 0 to M - 1 of the items, and their owners 0 to K - 1."""
    c = np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]
    owner = rng.integers(0, int(rng.integers(1, c.max() + 2)), c.max() + 1)
    return c, np.unique(owner, return_inverse=True)[1]


def random_price(rng: np.random.Generator, case: Case) -> float:
    return float(rng.choice(SHARES)) * case.problem.penalty


def same(one, other) -> bool:
    """Whether two pairs of labels are the same partitions."""
    return all(
        (np.equal.outer(a, a) == np.equal.outer(b, b)).all()
        for a, b in zip(one, other, strict=True)
    )
