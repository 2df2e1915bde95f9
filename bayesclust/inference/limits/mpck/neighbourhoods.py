"""Where MPCK-Means starts (section 3.1): neighbourhoods joined by must-links, and weighted farthest-first among them."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.constraints import entailment
from bayesclust.inference.limits.mpck.links import WeightedLinks
from bayesclust.inference.limits.passes import sum_by_cluster
from bayesclust.typing import FloatArray, IntArray

# standard deviations by which centres that no neighbourhood gives are moved away from the mean of
# all
PERTURBATION = 0.5


def neighbourhoods(points: FloatArray, links: WeightedLinks) -> tuple[FloatArray, IntArray]:
    """Return centroids (m, d) and sizes (m,) of the sets of two or more items that must-links join, the largest first.

    Examples
    --------
    >>> links = WeightedLinks.of(np.array([[0, 2]]), np.array([True]), np.ones(1), 3)
    >>> neighbourhoods(np.array([[0.0], [1.0], [4.0]]), links)
    (array([[2.]]), array([2]))
    """
    component = entailment.must_link_components(links.pairs[links.may], len(points))
    sums, sizes = sum_by_cluster(points, component, int(component.max()) + 1)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 1]
    return sums[order] / sizes[order, None], sizes[order]


def weighted_farthest_first(centers: FloatArray, sizes: IntArray, k: int) -> IntArray:
    """Return k of the centres: the one of largest size, then k - 1 times that of most size x distance to those chosen.

    Examples
    --------
    >>> weighted_farthest_first(np.array([[0.0], [1.0], [3.0]]), np.array([5, 4, 2]), k=2)
    array([0, 2])
    """
    chosen = [int(np.argmax(sizes))]
    nearest = np.linalg.norm(centers - centers[chosen[0]], axis=1)
    while len(chosen) < k:
        chosen.append(int(np.argmax(sizes * nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(centers - centers[chosen[-1]], axis=1))
    return np.array(chosen)


def drawn(
    points: FloatArray, weights: FloatArray, taken: FloatArray, number: int, rng: Generator
) -> FloatArray:
    """Return `number` of the points, drawn one by one in proportion to weight x squared distance to what is taken.

    k-means++ (Arthur and Vassilvitskii 2007) with weights, going on from the centres `taken`; with
    none taken, the first is drawn by weight alone, and where all distances are zero so are the
    others.
    """
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


def paper_centers(points: FloatArray, links: WeightedLinks, k: int, rng: Generator) -> FloatArray:
    """Return the centres (k, d) of section 3.1: of neighbourhoods, and the mean of all, perturbed, for those missing."""
    centers, sizes = neighbourhoods(points, links)
    if len(centers) >= k:
        return centers[weighted_farthest_first(centers, sizes, k)]
    missing, width = k - len(centers), PERTURBATION * points.std(axis=0)
    return np.concatenate(
        [centers, points.mean(axis=0) + width * rng.normal(size=(missing, points.shape[1]))]
    )


def starting_centers(
    points: FloatArray, links: WeightedLinks, k: int, rng: Generator, *, greedy: bool
) -> FloatArray:
    """Return centres (k, d): neighbourhoods' by weighted farthest-first if `greedy`, else drawn; missing ones are items'."""
    centers, sizes = neighbourhoods(points, links)
    if len(centers) >= k:
        if greedy:
            return centers[weighted_farthest_first(centers, sizes, k)]
        return drawn(centers, sizes.astype(np.float64), np.empty((0, points.shape[1])), k, rng)
    return np.concatenate(
        [centers, drawn(points, np.ones(len(points)), centers, k - len(centers), rng)]
    )
