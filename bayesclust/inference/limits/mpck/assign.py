"""Items choose their clusters: one by one, or within bounds on sizes, or on the width, of clusters.

The labels of least cost within sizes are a flow from items to clusters (Bradley, Bennett and
Demiriz 2000, Constrained K-Means Clustering, MSR-TR-2000-65): the vertices of its linear program
are whole. Links make costs depend on pairs: items move, or two change places, where J falls and
sizes allow; where none can, all move at once by the flow under links to items as they are, if J
falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.optimize import linprog
from scipy.spatial.distance import pdist, squareform

from bayesclust._numba import device, kernel
from bayesclust.typing import BoolArray, FloatArray, IntArray

UNPLACED = -1
SMALLEST_FALL = 1e-10
"""Of J, as a share of what an item costs: less is rounding."""


class Sizes(NamedTuple):
    """How many items each cluster has."""

    least: int
    most: int

    def hold(self, z: IntArray, n_clusters: int) -> bool:
        """Whether labels z (n,) of items that all have a place keep to them."""
        number = np.bincount(np.maximum(z, 0), minlength=n_clusters)
        return bool(z.min() >= 0 and number.min() >= self.least and number.max() <= self.most)


class Near(NamedTuple):
    """Which items are too far from each other for one cluster, and labels under which none are."""

    far: BoolArray  # (n, n)
    z: IntArray  # (n,)

    @classmethod
    def of(cls, X: FloatArray, diameter: float) -> Near:
        """Of Euclidean distances, with the clusters of complete linkage."""
        between = pdist(X)
        tree = hierarchy.complete(between)
        labels = hierarchy.fcluster(tree, diameter, "distance") - 1
        return cls(squareform(between) > diameter, labels.astype(np.int64))

    @property
    def n_clusters(self) -> int:
        """How many clusters `z` has."""
        return int(self.z.max()) + 1

    def hold(self, z: IntArray) -> bool:
        """Whether labels z (n,) of items that all have a place keep to it."""
        return bool(z.min() >= 0 and not (self.far & (z[:, None] == z)).any())


EVERYWHERE: BoolArray = np.zeros((0, 0), np.bool_)
"""No item is too far from another."""


def cheapest_within(costs: FloatArray, sizes: Sizes) -> IntArray:
    """Labels (n,) of least total cost (n, K) among those within sizes."""
    n, K = costs.shape
    above = costs - costs.min(axis=1, keepdims=True)
    ones = np.ones(n)
    of_item: Any = sparse.kron(sparse.eye_array(n), np.ones((1, K)), format="csr")
    of_cluster: Any = sparse.kron(ones[None], sparse.eye_array(K), format="csr")
    # the dual simplex method ends at a vertex
    below: Any = sparse.vstack([of_cluster, -of_cluster])
    found: Any = linprog(
        above.ravel() / max(float(above.max()), np.finfo(float).tiny),
        A_ub=below,
        b_ub=np.repeat([sizes.most, -sizes.least], K),
        A_eq=of_item,
        b_eq=ones,
        method="highs-ds",
    )
    return np.asarray(found.x.reshape(n, K).argmax(axis=1), dtype=np.int64)


@device
def add_link_costs(links: Any, cost: Any, z: Any, i: int, total: Any) -> None:
    """Add to total[k] what the links of item i to items with a place cost if it is in cluster k."""
    # cost[e, h] is, under the metric h of one of the clusters or the only one, half of what
    # violating must-link e costs, or all that violating cannot-link e does.
    single, shared = cost.shape[1] == 1, 0.0
    for entry in range(links.start[i], links.start[i + 1]):
        there, e = z[links.neighbour[entry]], links.edge[entry]
        if there == UNPLACED:
            continue
        if not links.must[e]:
            total[there] += cost[e, 0 if single else there]
        elif single:
            shared += 2.0 * cost[e, 0]
            total[there] -= 2.0 * cost[e, 0]
        else:
            for k in range(len(total)):
                if k != there:
                    total[k] += cost[e, k] + cost[e, there]
    for k in range(len(total)):
        total[k] += shared


@kernel
def assign(order: Any, distance: Any, links: Any, cost: Any, z: Any, far: Any) -> int:
    """Let items choose their clusters in order (section 3.2); returns how many moved. Ties stay."""
    # Clusters with an item that is `far` (n, n), or (0, 0), are closed to it; where all are, -1.
    moved, n_clusters = 0, distance.shape[1]
    total = np.empty(n_clusters)
    for at in range(len(order)):
        i = order[at]
        for k in range(n_clusters):
            total[k] = distance[i, k]
        add_link_costs(links, cost, z, i, total)
        for j in range(len(far)):
            if far[i, j] and z[j] != UNPLACED:
                total[z[j]] = np.inf
        now = z[i]
        choice = 0 if now == UNPLACED else now
        for k in range(n_clusters):
            if total[k] < total[choice]:
                choice = k
        if total[choice] == np.inf:
            return -1
        if choice != now:
            moved += 1
            z[i] = choice
    return moved


@kernel
def total_cost(distance: Any, links: Any, cost: Any, z: Any) -> float:
    """Sum of the items' distances from their centres and of the costs of the violated links."""
    total, single = 0.0, cost.shape[1] == 1
    for i in range(len(z)):
        total += distance[i, z[i]]
    for e in range(len(links.must)):
        a, b = z[links.pairs[e, 0]], z[links.pairs[e, 1]]
        if links.must[e] and a != b:
            total += cost[e, 0 if single else a] + cost[e, 0 if single else b]
        elif not links.must[e] and a == b:
            total += cost[e, 0 if single else a]
    return total


@device
def link_cost(links: Any, cost: Any, e: int, k: int, other: int) -> float:
    """What link e costs with one of its items in cluster k and the other in another or the same."""
    single = cost.shape[1] == 1
    own = cost[e, 0 if single else k]
    if links.must[e]:
        return 0.0 if k == other else own + cost[e, 0 if single else other]
    return own if k == other else 0.0


@device
def place(links: Any, cost: Any, z: Any, number: Any, total: Any, i: int, k: int) -> None:
    """Put item i into cluster k; what its neighbours cost in each cluster follows."""
    for entry in range(links.start[i], links.start[i + 1]):
        j, e = links.neighbour[entry], links.edge[entry]
        for c in range(len(number)):
            total[j, c] += link_cost(links, cost, e, c, k) - link_cost(links, cost, e, c, z[i])
    number[z[i]] -= 1
    number[k] += 1
    z[i] = k


@device
def best_change(z: Any, number: Any, total: Any, between: Any, i: int, bounds: Any) -> Any:
    """The cluster to which J falls most by item i moving; the item that takes its place, or -1."""
    # `between` (n,) is what links of i with each item cost more than if each had moved alone.
    now, to, partner = z[i], z[i], -1
    best = -SMALLEST_FALL * (1.0 + abs(total[i, now]))
    for k in range(len(number)):
        free = k != now and number[now] > bounds[0] and number[k] < bounds[1]
        if free and total[i, k] - total[i, now] < best:
            best, to = total[i, k] - total[i, now], k
    for j in range(len(z)):
        there = z[j]
        rise = total[i, there] - total[i, now] + total[j, now] - total[j, there] + between[j]
        if there != now and rise < best:
            best, to, partner = rise, there, j
    return to, partner


@kernel
def exchange(
    order: Any, distance: Any, links: Any, cost: Any, z: Any, bounds: Any, total: Any
) -> int:
    """Let items in order move, or change places with another, where J falls most; how many did."""
    # `total` (n, K) becomes what each item costs in each cluster, all others where they are.
    n, n_clusters = distance.shape
    number, between = np.zeros(n_clusters, np.int64), np.zeros(n)
    for i in range(n):
        number[z[i]] += 1
        for k in range(n_clusters):
            total[i, k] = distance[i, k]
        add_link_costs(links, cost, z, i, total[i])
    moved = 0
    for i in order:
        now = z[i]
        for entry in range(links.start[i], links.start[i + 1]):
            j, e = links.neighbour[entry], links.edge[entry]
            between[j] += 2.0 * link_cost(links, cost, e, now, z[j])
            between[j] -= link_cost(links, cost, e, now, now)
            between[j] -= link_cost(links, cost, e, z[j], z[j])
        to, partner = best_change(z, number, total, between, i, bounds)
        for entry in range(links.start[i], links.start[i + 1]):
            between[links.neighbour[entry]] = 0.0
        if partner >= 0:
            place(links, cost, z, number, total, partner, now)
        if to != now:
            moved += 1
            place(links, cost, z, number, total, i, to)
    return moved


def assign_within(
    order: IntArray, distance: FloatArray, links: Any, cost: FloatArray, z: IntArray, sizes: Sizes
) -> int:
    """Let items within sizes choose their clusters, z in place; returns how many moved."""
    total = np.empty_like(distance)
    moved = int(exchange(order, distance, links, cost, z, sizes, total))
    if moved:
        return moved
    now = float(total_cost(distance, links, cost, z))
    found = cheapest_within(total, sizes)
    if float(total_cost(distance, links, cost, found)) < now - SMALLEST_FALL * (1.0 + abs(now)):
        moved = int((found != z).sum())
        z[:] = found
    return moved
