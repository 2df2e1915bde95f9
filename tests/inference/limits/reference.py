"""Slow plain references for the limits' compiled code, and random problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.families import as_divergence
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.path_model import PathModel, pose_answers
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.limits.tuning import penalties

SQUARED = SquaredEuclidean()
PRODUCT = bc.families.Product(
    [("gaussian_spherical", [0, 1]), ("bernoulli", [2]), ("categorical", [3])]
)
KINDS = {
    "euclidean": "euclidean",
    "kl": "kl",
    "mahalanobis": "mahalanobis",
    "standardized": "standardized",
    "poisson": "poisson",
    "bernoulli": "bernoulli",
    "categorical": "categorical",
    "product": PRODUCT,
}
kinds = pytest.mark.parametrize("triplets", [False, True], ids=["links", "triplets too"])
levels = pytest.mark.parametrize("several", [False, True], ids=["one centre", "several centres"])


def some_data(rng: np.random.Generator, name: str, n: int) -> np.ndarray:
    """Data that a divergence can take."""
    if name in ("euclidean", "mahalanobis", "standardized"):
        X = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.8], [0.0, 2.0]])
    elif name == "kl":
        X = rng.poisson(3.0, size=(n, 3)) + np.eye(3)[0]
    elif name == "poisson":
        X = rng.poisson(rng.uniform(0.2, 8.0, size=2), size=(n, 2)).astype(float)
    elif name == "bernoulli":
        X = (rng.random((n, 4)) < 0.4).astype(float)
    elif name == "categorical":
        X = rng.integers(0, 3, size=(n, 3)).astype(float)
    else:
        X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.integers(0, 3, n)])
    return X


def kl_terms(x: np.ndarray, m: np.ndarray) -> float:
    return float(sum(a * np.log(a / b) for a, b in zip(x, m, strict=True) if a > 0))


def plain_distance(name: str, sizes: np.ndarray | None = None) -> Callable[[Any, Any], float]:
    """D between rows of points and centres; `sizes` are the numbers of codes of each column."""

    def codes(x: np.ndarray, m: np.ndarray) -> float:
        blocks = np.split(np.arange(len(x)), np.cumsum(sizes)[:-1])
        return sum(kl_terms(x[block], m[block] / m[block].sum()) for block in blocks)

    if name in ("euclidean", "mahalanobis", "standardized"):
        return lambda x, m: float(((x - m) ** 2).sum())
    if name == "kl":
        return kl_terms
    if name == "poisson":
        return lambda x, m: float((x * np.log(x / m) - x + m).sum())
    if name == "bernoulli":
        return lambda x, m: float((x * np.log(x / m) + (1 - x) * np.log((1 - x) / (1 - m))).sum())
    if name == "categorical":
        return codes
    bernoulli = plain_distance("bernoulli")
    return lambda x, m: float(
        ((x[:2] - m[:2]) ** 2).sum() + bernoulli(x[2:3], m[2:3]) + kl_terms(x[3:], m[3:])
    )


SHARES = (1e-3, 0.3, 1.5, -0.01, -0.3)
"""lambda of a cluster over that of a component, the default first."""


class Case(NamedTuple):
    """A random problem, and its parts by their definitions."""

    problem: Problem
    xi: Any
    distance: Callable[[Any, Any], float]
    answers: Callable[[Any], Any]  # labels (n,) or (n, m) -> the answers' share of J
    constraints: list[Any]
    confidence: Any

    def J(self, labels: Any, clusters: Any = None, centers: Any = None) -> float:
        """J of components in clusters (by default themselves), at centres by label or the best."""
        c = np.asarray(labels)
        z = c if clusters is None else np.asarray(clusters)
        points = self.problem.points
        if centers is None:
            centers = {k: points[c == k].mean(axis=0) for k in set(c.tolist())}
        data = sum(self.distance(x, centers[k]) for x, k in zip(points, c.tolist(), strict=True))
        total = data + self.answers(z) + self.problem.penalty * len(set(c.tolist()))
        if self.problem.several:
            total += self.problem.given * len(set(z.tolist()))
        return float(total)

    def model(self, weight: float) -> PathModel:
        """TVClust at the gamma that makes gamma times the penalty what is asked for."""
        gamma = weight / self.problem.penalty
        return PathModel.at(gamma, self.problem, self.confidence, self.constraints)


def random_case(
    rng: np.random.Generator,
    name: str,
    n: int,
    triplets: bool = False,
    *,
    several: bool = False,
    links_only: bool = False,
) -> Case:
    """Links of one confidence, or links and triplets (or `links_only`) of two sources each."""
    X = some_data(rng, name, n)
    divergence = as_divergence(KINDS[name]).bind(X)
    points, k = divergence.points(X), min(n, 4)
    penalty = float(penalties(points, divergence, k)[rng.integers(k)] * rng.uniform(0.5, 2.0))
    mean = float(divergence.between(points, points.mean(axis=0, keepdims=True)).mean())
    penalty = max(penalty, 0.1 * mean, 1e-3)
    m = int(rng.integers(2 if triplets else 0, n + 3))
    source = np.arange(m) % (1 + triplets)
    pairs, same = random_pairs(rng, n, m)
    by_source = rng.exponential(size=(1 + triplets, 2)) * penalty
    views: list[Any] = [PairwiseConstraints(pairs, same, n_items=n, source=source)]
    confidence: Any = (float(by_source[0, 0]), float(by_source[0, 1]))
    asked, given = np.empty((0, 3), dtype=int), np.empty(0, dtype=int)
    costs = rng.exponential(size=(2, 3, 3)) * penalty
    if triplets:
        confidence = {"links": by_source}
    if triplets and not links_only:
        asked = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
        given = rng.integers(0, 3, m)
        views.append(RelativeConstraints(asked, given, n_items=n, source=source))
        costs[0] = -rng.exponential() * penalty * np.eye(3)
        confidence["triplets"] = costs

    def answers(z: Any) -> Any:
        total = 0.0
        for (i, j), may, s in zip(pairs, same, source, strict=True):
            total = total + (-by_source[s, 0] if may else by_source[s, 1]) * np.equal(z[i], z[j])
        for (i, j, h), answer, s in zip(asked, given, source, strict=False):
            total = total + costs[s, plain_truth(z[i], z[j], z[h]), answer]
        return total

    graph, xi = pose_answers(confidence, views, n)
    share = float(rng.choice(SHARES)) if several else 0.0
    problem = Problem.of(points, divergence, graph, penalty, several, share * penalty)
    distance = plain_distance(name, getattr(divergence, "sizes", None))
    return Case(problem, xi, distance, answers, views, confidence)


def plain_truth(a: Any, b: Any, c: Any) -> Any:
    """The true answer about triplets: yes 0, no 1, dnk 2 (DCRC, Eq. 1)."""
    ab, ac = np.equal(a, b), np.equal(a, c)
    return np.where(ab & ~ac, 0, np.where(ac & ~ab, 1, 2))


def random_pairs(rng: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different items, contradictory and repeated ones among them, and answers."""
    pairs = [rng.choice(n, 2, replace=False) for _ in range(m)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), rng.random(m) < 0.5


def random_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Labels 0 to K - 1, K anything from 1 to n."""
    return np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]


def random_state(rng: np.random.Generator, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Centres 0 to M - 1 of the items, and their clusters 0 to K - 1."""
    c = random_labels(rng, len(case.problem.points))
    if not case.problem.several:
        return c, np.arange(c.max() + 1)
    owner = rng.integers(0, int(rng.integers(1, c.max() + 2)), c.max() + 1)
    return c, np.unique(owner, return_inverse=True)[1]


def plain_choices(case: Case, c: list[int], z: list[int], item: int) -> list[tuple[int, int]]:
    """Centre and cluster of every choice of one item, the first as it is."""
    new = max(max(c), max(z)) + 1
    others = {(k, g) for i, (k, g) in enumerate(zip(c, z, strict=True)) if i != item}
    choices = [(c[item], z[item]) if c.count(c[item]) > 1 else (new, z[item])]
    if case.problem.several:
        choices += [(new, g) for g in {z[item], *(g for _, g in others)}]
    elif c.count(c[item]) == 1:
        choices = [(new, new)]
    return list(dict.fromkeys([*choices, *sorted(others), (new, new)]))


def with_choice(
    c: list[int], z: list[int], item: int, choice: tuple[int, int]
) -> tuple[list[int], list[int]]:
    """Labels and clusters where one item is moved."""
    k, g = choice
    return [*c[:item], k, *c[item + 1 :]], [*z[:item], g, *z[item + 1 :]]


def same(one: Any, other: Any) -> bool:
    """Whether labels are the same partitions, one by one."""
    return all(
        (np.equal.outer(a, a) == np.equal.outer(b, b)).all()
        for a, b in zip(one, other, strict=True)
    )
