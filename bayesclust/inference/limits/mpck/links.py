"""Must-links and cannot-links with weights, what they entail, and the centres they suggest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.constraints import entailment
from bayesclust.inference.limits.answers import rows_by_item
from bayesclust.inference.limits.passes import sum_by_cluster
from bayesclust.typing import BoolArray, FloatArray, IntArray, NDArray

MOST_ENTAILED = 20_000_000
PERTURBATION = 0.5
"""Standard deviations by which the paper's start moves missing centres away from the mean."""


class WeightedLinks(NamedTuple):
    """Links, and those of item i as entries start[i] to start[i + 1] of `neighbour` and `edge`."""

    pairs: IntArray  # (m, 2)
    must: BoolArray  # (m,) whether it is a must-link
    weight: FloatArray  # (m,) w of a must-link, w-bar of a cannot-link
    start: IntArray  # (n + 1,)
    neighbour: NDArray[np.int32]  # (2 m,) the other item
    edge: NDArray[np.int32]  # (2 m,) the number of the link

    @classmethod
    def of(
        cls, pairs: IntArray, must: BoolArray, weight: FloatArray, n_items: int
    ) -> WeightedLinks:
        """Index links by item, every link in the rows of both its items."""
        return cls(pairs, must, weight, *rows_by_item(pairs, n_items))

    @classmethod
    def none(cls, n_items: int) -> WeightedLinks:
        """No links on so many items."""
        empty = np.empty((0, 2), dtype=np.int64)
        return cls.of(empty, np.empty(0, dtype=bool), np.empty(0), n_items)

    def violated(self, labels: IntArray) -> BoolArray:
        """Which links the labels violate, (m,)."""
        together = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        return np.asarray(together != self.must)


def contradictions(pairs: IntArray, must: BoolArray, n_items: int) -> BoolArray:
    """Which links are cannot-links between two items that must-links join."""
    component = entailment.must_link_components(pairs[must], n_items)
    return np.asarray((component[pairs[:, 0]] == component[pairs[:, 1]]) & ~must)


def closure(links: WeightedLinks) -> WeightedLinks:
    """Add the links that follow (section 3.1), within and between neighbourhoods, at the end."""
    # Each weighs what the given links of its kind weigh on average (1 under the paper's unit
    # weights). Cannot-links that must-links contradict entail nothing.
    pairs, must, weight, start, _, _ = links
    n = len(start) - 1
    component = entailment.must_link_components(pairs[must], n)
    apart = pairs[~must & ~contradictions(pairs, must, n)]
    size = np.bincount(component).astype(np.float64)
    between = np.unique(np.sort(component[apart], axis=1), axis=0)
    within_count = (size * (size - 1) / 2).sum()
    follow = float(within_count + (size[between[:, 0]] * size[between[:, 1]]).sum())
    if follow > MOST_ENTAILED:
        raise ValueError(
            f"the constraints entail {follow:.3g} pairs, more than the {MOST_ENTAILED:.0e} that "
            "are kept: set closure=False, under which only the answers given count."
        )
    within = entailment.pairs_within(component)
    entailed = np.sort(np.concatenate([within, entailment.pairs_between(component, apart)]), axis=1)
    kind = np.arange(len(entailed)) < len(within)
    one_number = np.array([2 * n, 2])
    known = np.sort(pairs, axis=1) @ one_number + must
    given = np.isin(entailed @ one_number + kind, known)
    entailed = entailed[~given]
    kind = kind[~given]
    mean = [
        float(weight[must == one].mean()) if (must == one).any() else 1.0 for one in (False, True)
    ]
    weights = np.concatenate([weight, np.where(kind, mean[1], mean[0])])
    every = np.concatenate([pairs, entailed])
    return WeightedLinks.of(every, np.concatenate([must, kind]), weights, n)


def neighbourhoods(points: FloatArray, links: WeightedLinks) -> tuple[FloatArray, IntArray]:
    """Centroids (m, d) and sizes (m,) of the sets that must-links join, the largest first."""
    component = entailment.must_link_components(links.pairs[links.must], len(points))
    sums, sizes = sum_by_cluster(points, component, int(component.max()) + 1)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 1]
    return sums[order] / sizes[order, None], sizes[order]


def weighted_farthest_first(centers: FloatArray, sizes: IntArray, k: int) -> IntArray:
    """Choose k centres: the largest, then those of most size x distance to the ones chosen."""
    chosen = [int(np.argmax(sizes))]
    nearest = np.linalg.norm(centers - centers[chosen[0]], axis=1)
    while len(chosen) < k:
        chosen.append(int(np.argmax(sizes * nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(centers - centers[chosen[-1]], axis=1))
    return np.array(chosen)


def drawn(
    points: FloatArray, weights: FloatArray, taken: FloatArray, number: int, rng: Generator
) -> FloatArray:
    """Draw points by weighted k-means++ (Arthur and Vassilvitskii 2007), after centres taken."""
    nearest = np.full(len(points), np.inf)
    for center in taken:
        nearest = np.minimum(nearest, np.square(points - center).sum(axis=1))
    found = np.empty((number, points.shape[1]))
    for step in range(number):
        chances = weights * nearest if np.isfinite(nearest[0]) else weights
        total = chances.sum()
        chances = chances / total if total > 0 else weights / weights.sum()
        found[step] = points[rng.choice(len(points), p=chances)]
        nearest = np.minimum(nearest, np.square(points - found[step]).sum(axis=1))
    return found


def starting_centers(
    points: FloatArray, links: WeightedLinks, k: int, rng: Generator, kind: str
) -> FloatArray:
    """Centres (k, d) of neighbourhoods; where there are too few, others are added."""
    # "greedy" and "paper" choose by weighted farthest-first, "drawn" draws; "paper" adds perturbed
    # means of all items, the others items drawn as in k-means++.
    centers, sizes = neighbourhoods(points, links)
    missing = k - len(centers)
    d = points.shape[1]
    if missing <= 0 and kind == "drawn":
        return drawn(centers, sizes.astype(np.float64), np.empty((0, d)), k, rng)
    if missing <= 0:
        return centers[weighted_farthest_first(centers, sizes, k)]
    if kind == "paper":
        width = PERTURBATION * points.std(axis=0)
        more = points.mean(axis=0) + width * rng.normal(size=(missing, d))
    else:
        more = drawn(points, np.ones(len(points)), centers, missing, rng)
    return np.concatenate([centers, more])
