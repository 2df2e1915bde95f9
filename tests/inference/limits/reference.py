"""Slow plain references for the limit's compiled code, and random problems."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.families import as_divergence
from bayesclust.families.multinomial import KullbackLeibler
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import answer_graph, cost_table
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import penalties
from bayesclust.inference.limits.rdp_means import Problem

DIVERGENCES = {"euclidean": SquaredEuclidean(), "kl": KullbackLeibler()}
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
    "poisson with holes": "poisson",
    "categorical with holes": "categorical",
    "product": PRODUCT,
}


def some_data(rng: np.random.Generator, name: str, n: int) -> np.ndarray:
    """Data that a divergence can take, with empty cells where its name says so."""
    if name in ("euclidean", "mahalanobis", "standardized"):
        X = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.8], [0.0, 2.0]])
    elif name == "kl":
        X = rng.poisson(3.0, size=(n, 3)) + np.eye(3)[0]
    elif name.startswith("poisson"):
        X = rng.poisson(rng.uniform(0.2, 8.0, size=2), size=(n, 2)).astype(float)
    elif name == "bernoulli":
        X = (rng.random((n, 4)) < 0.4).astype(float)
    elif name.startswith("categorical"):
        X = rng.integers(0, 3, size=(n, 3)).astype(float)
    else:
        X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.integers(0, 3, n)])
    if name.endswith("holes"):
        X[rng.random(X.shape) < 0.3] = np.nan
        X[0, 0] = np.nan
    return X


def kl_terms(x: np.ndarray, m: np.ndarray) -> float:
    return float(sum(a * np.log(a / b) for a, b in zip(x, m, strict=True) if a > 0))


def distance(name: str, x: np.ndarray, m: np.ndarray) -> float:
    return float(((x - m) ** 2).sum() if name == "euclidean" else (x * np.log(x / m)).sum())


def plain_distance(
    name: str, points: np.ndarray, sizes: np.ndarray | None = None
) -> Callable[[Any, Any], float]:
    """D between rows of points and centres by its definition; `sizes` are the numbers of codes of each column."""
    everything = points.mean(axis=0)

    def holes(x: np.ndarray, m: np.ndarray) -> float:
        (u, w), (U, W), (all_u, all_w) = (np.split(v, 2) for v in (x, m, everything))
        total = 0.0
        for j in np.flatnonzero(w):
            centre = U[j] / W[j] if W[j] > 0 else all_u[j] / all_w[j]
            total += u[j] * np.log(u[j] / centre) - u[j] + centre
        return total

    def codes(x: np.ndarray, m: np.ndarray) -> float:
        total = 0.0
        for block in np.split(np.arange(len(x)), np.cumsum(sizes)[:-1]):
            if x[block].sum() > 0:
                centre = m[block] if m[block].sum() > 0 else everything[block]
                total += kl_terms(x[block], centre / centre.sum())
        return total

    if name in ("euclidean", "mahalanobis", "standardized"):
        return lambda x, m: float(((x - m) ** 2).sum())
    if name == "kl":
        return kl_terms
    if name == "poisson":
        return lambda x, m: float((x * np.log(x / m) - x + m).sum())
    if name == "bernoulli":
        return lambda x, m: float((x * np.log(x / m) + (1 - x) * np.log((1 - x) / (1 - m))).sum())
    if name == "poisson with holes":
        return holes
    if name.startswith("categorical"):
        return codes
    bernoulli = plain_distance("bernoulli", points)
    return lambda x, m: float(
        ((x[:2] - m[:2]) ** 2).sum() + bernoulli(x[2:3], m[2:3]) + kl_terms(x[3:], m[3:])
    )


class Case(NamedTuple):
    """A random problem, and its parts by their definitions."""

    problem: Problem
    xi: Any
    distance: Callable[[Any, Any], float]
    answers: Callable[
        [Any], Any
    ]  # labels (n,), or (n, m) for many partitions at once -> the answers' share of J

    def plain(self, z: Any, centers: Any) -> float:
        """J of labels at given centres, by label."""
        points, penalty = self.problem.points, self.problem.penalty
        data = sum(self.distance(x, centers[k]) for x, k in zip(points, z, strict=True))
        return data + self.answers(z) + penalty * len(set(z))

    def at_means(self, z: Any) -> float:
        """J of labels at the best centres."""
        z = np.asarray(z)
        return self.plain(
            z.tolist(), {k: self.problem.points[z == k].mean(axis=0) for k in set(z.tolist())}
        )


def plain_truth(a: Any, b: Any, c: Any) -> Any:
    """The true answer about triplets: yes 0, no 1, dnk 2 (DCRC, Eq. 1)."""
    ab, ac = np.equal(a, b), np.equal(a, c)
    return np.where(ab & ~ac, 0, np.where(ac & ~ab, 1, 2))


def random_case(rng: np.random.Generator, name: str, n: int, triplets: bool = False) -> Case:
    """Links of one confidence, or links of two sources, triplets of two and triplets with costs of their own."""
    X = some_data(rng, name, n)
    divergence = as_divergence(KINDS[name]).bind(X)
    points = divergence.points(X)
    k = min(n, 4)
    penalty = float(penalties(points, divergence, k)[rng.integers(k)] * rng.uniform(0.5, 2.0))
    distance = plain_distance(name, points, getattr(divergence, "sizes", None))
    pairs, same = random_pairs(rng, n, int(rng.integers(0, n + 3)))
    if not triplets:
        xi = tuple(float(value) for value in rng.exponential(size=2) * penalty)
        links = PairwiseConstraints(pairs, same, n_items=n)
        problem = Problem.of(points, divergence, link_graph([links], n), penalty)

        def cost(z: Any) -> Any:
            weights = [-xi[0] if may else xi[1] for may in same]
            return sum(
                (w * np.equal(z[i], z[j]) for w, (i, j) in zip(weights, pairs, strict=True)), 0.0
            )

        return Case(problem, xi, distance, cost)
    m = int(rng.integers(1, n + 3))
    asked = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    given, source, who = (
        rng.integers(0, 3, m),
        rng.integers(0, 2, m),
        rng.integers(0, 2, len(pairs)),
    )
    source[:1], who[:2] = 1, [0, 1][: len(who)]
    who = who if len(set(who.tolist())) == 2 else np.zeros(len(pairs), dtype=int)
    source = source if len(set(source.tolist())) == 2 else np.zeros(m, dtype=int)
    links = PairwiseConstraints(pairs, same, n_items=n, source=who, name="links")
    views = [links, RelativeConstraints(asked, given, n_items=n, source=source, name="triplets")]
    by_source = rng.exponential(size=(links.n_sources, 2)) * penalty
    costs = rng.exponential(size=(views[1].n_sources, 3, 3)) * penalty
    costs[0] = -rng.exponential() * penalty * np.eye(3)
    table = cost_table(views, {"links": by_source, "triplets": costs})
    problem = Problem.of(points, divergence, answer_graph(views, n), penalty)

    def every(z: Any) -> Any:
        weights = [
            -by_source[s, 0] if may else by_source[s, 1] for may, s in zip(same, who, strict=True)
        ]
        total = sum(
            (w * np.equal(z[i], z[j]) for w, (i, j) in zip(weights, pairs, strict=True)), 0.0
        )
        for (i, j, h), answer, s in zip(asked, given, source, strict=True):
            total = total + costs[s, plain_truth(z[i], z[j], z[h]), answer]
        return total

    return Case(problem, table, distance, every)


def random_pairs(rng: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], dtype=np.int64).reshape(
        -1, 2
    )
    return pairs, rng.random(m) < 0.5


def plain_options(
    case: Case, z: list[int], centers: dict[int, np.ndarray], i: int
) -> dict[int, float]:
    """J for every choice of one item: its cluster, each other one, and one of its own under the next free number."""
    alone, own = z.count(z[i]) == 1, max(z) + 1
    choices = [own if alone else z[i], *(k for k in sorted(set(z)) if k != z[i]), own]
    where = {**centers, own: case.problem.points[i]}
    return {k: case.plain([*z[:i], k, *z[i + 1 :]], where) for k in choices}


def plain_visit(case: Case, z: list[int], centers: dict[int, np.ndarray], i: int) -> list[int]:
    """One item's choice by trying all; ties stay, then take the lowest number."""
    options, own = plain_options(case, z, centers, i), max(z) + 1
    stay = next(iter(options))
    choice = min(options, key=lambda k: (options[k], k))
    if options[stay] <= options[choice] + 1e-9 * (1 + abs(options[choice])):
        choice = stay
    if choice == own and stay == own:
        return z
    if choice == own:
        centers[own] = case.problem.points[i]
    return [*z[:i], choice, *z[i + 1 :]]


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
    return np.array(rows, dtype=np.int8)


def random_problem(rng: np.random.Generator, name: str, n: int, d: int = 2):
    """A problem with random links, contradictory and repeated ones among them, and a random fixed xi."""
    divergence = DIVERGENCES[name]
    X = (
        rng.normal(size=(n, d))
        if name == "euclidean"
        else rng.poisson(3.0, size=(n, d + 1)) + np.eye(d + 1)[0]
    )
    points = divergence.points(X)
    m = int(rng.integers(0, n + 3))
    pairs, same = random_pairs(rng, n, m)
    graph = link_graph([PairwiseConstraints(pairs, same, n_items=n)], n)
    penalty = float(
        penalties(points, divergence, min(n, 4))[rng.integers(min(n, 4))] * rng.uniform(0.5, 2.0)
    )
    xi = tuple(float(value) for value in rng.exponential(size=2) * penalty)
    return Problem.of(points, divergence, graph, penalty), pairs, same, xi
