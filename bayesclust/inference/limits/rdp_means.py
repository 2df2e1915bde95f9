"""RDP-means: descent on the small-variance limit of TVClust (Khashabi et al., section 4).

The objective counts each link once,

    J(z, m) = sum_i D(x_i, m_{z_i}) - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside
    clusters} + lambda K,

where the paper's Eq. 20 counts it from both ends; only this J falls at every step. Two more slips
of Algorithm 1 are mended: an item that opens a cluster is in it at once, and a cluster that loses
its last item stops counting at once.

Clusters of several centres are the limit of TVClust whose clusters are Dirichlet-process mixtures
(`bayesclust.partition_priors.nested`), with K clusters and M components in all:

    p(components, clusters) = alpha^(K - 1) beta^(M - K) prod_{gk} Gamma(n_gk)
        prod_g prod_{0 < j < n_g} j / (beta + j) / prod_{0 < j < n} (alpha + j).

Let covariances go as 1 / gamma and the noise of answers with them (TVClust Lemma 3, Eq. 16 to 18),
and, kappa being the factor by which the base measure disfavours a component (`path_model`),

    log beta  = -gamma lambda_within            - log kappa(gamma),
    log alpha = -gamma (lambda + lambda_within) - log kappa(gamma).

Then, up to constants, -(1 / gamma) log p tends to

    J = sum_i D(x_i, m_{c_i}) + sum_answers cost[code, pattern of the clusters] + lambda K +
    lambda_within M,

the J above where M = K. An item compares (Eq. 19 on two levels), over components k, clusters g, and
a component of its own,

    D(x_i, m_k) + answers in the cluster of k,
    lambda_within + answers in g,
    lambda_within + lambda,

and components change clusters as items without data: an answer whose items lie in two components,
or three, is an answer about those. lambda may be negative, above -lambda_within: components of
which no answer says that they are together are then clusters of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust.constraints.base import N_PATTERNS
from bayesclust.constraints.factor_graph import sites_of
from bayesclust.families import Divergence
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.limits.answers import Graph, LinkGraph, Xi, largest, smallest, times
from bayesclust.inference.limits.passes import (
    MOVED,
    NEW,
    RESTLESS,
    Pass,
    divergence_to_own,
    scan,
    sum_by_cluster,
)
from bayesclust.typing import FloatArray, IntArray, NDArray

CEILING = 1e6
MANY_ITEMS = 50_000
# what is then left of J is less than a part in ten thousand
STILL = 2000
"""Of more items, samples set penalty and xi, and a descent ends at one move in so many items."""
# without answers it is negative, and none are joined
CLUSTER_SHARE = 1e-3
"""lambda over lambda_within by default: so small that answers decide which components join."""
# of a triplet with two items in one component: those two, the third, and the pattern in which it is
# elsewhere
TWO_IN_ONE = ((0, 1, 2, 1), (0, 2, 1, 2), (1, 2, 0, 3))


class Problem(NamedTuple):
    """Points, answers about them and penalties: everything J depends on but xi."""

    points: FloatArray  # (n, d)
    phi: FloatArray  # (n,)
    divergence: Divergence
    graph: Graph
    penalty: float  # of a centre: lambda, or lambda_within of several centres
    several: bool = False  # whether a cluster may have several centres
    given: float | None = None  # lambda of several centres; None follows from `penalty`

    @classmethod
    def of(
        cls, points: FloatArray, divergence: Divergence, graph: Graph, penalty: float, *more: Any
    ) -> Problem:
        """State the problem."""
        return cls(points, divergence.phi(points), divergence, graph, penalty, *more)

    @property
    def per_cluster(self) -> float:
        """The cost of a cluster besides its centres."""
        if not self.several:
            return 0.0
        if self.given is not None:
            return self.given
        return CLUSTER_SHARE * self.penalty * (1.0 if self.graph.start[-1] > 0 else -1.0)


class Schedule(NamedTuple):
    """Confidence in answers, in units of the divergence, from pass to pass."""

    xi: Xi  # in the first pass
    rate: float = 1.0  # what it is multiplied by after each pass
    most: float = np.inf  # where growth of the largest confidence ends


class Solution(NamedTuple):
    """A partition with its centres."""

    labels: IntArray  # (n,) centre of each item
    centers: FloatArray  # (M, d)
    owner: IntArray  # (M,) cluster of each centre: itself, unless there are several
    objective: float  # J at `xi`
    path: FloatArray  # J after each pass and the means that follow it, at the xi of that pass
    xi: Xi  # of the last pass
    converged: bool

    @property
    def clusters(self) -> IntArray:
        """The cluster of each item, (n,)."""
        return self.owner[self.labels]


class State(NamedTuple):
    """Centres and clusters during a pass; empty slots are free."""

    # where every centre is a cluster, `cluster` is `z` and `load` is `size`

    z: NDArray[np.int32]  # (n,) centre of each item
    size: IntArray  # (capacity,) items of each centre
    natural: FloatArray  # (capacity, d)
    offset: FloatArray  # (capacity,)
    cluster: NDArray[np.int32]  # (n,) cluster of each item
    owner: IntArray  # (capacity,) cluster of each centre
    load: IntArray  # (capacity,) items of each cluster


def new_state(
    problem: Problem, labels: IntArray, centers: FloatArray, owner: IntArray | None = None
) -> State:
    """Centres 0 to M - 1 and their clusters, by default themselves, with room for more."""
    count = len(centers)
    capacity = 2 * count + 8
    natural = np.zeros((capacity, centers.shape[1]))
    natural[:count] = problem.divergence.natural(centers)
    offset = np.zeros(capacity)
    offset[:count] = problem.divergence.offset(centers)
    z = labels.astype(np.int32)
    size = np.bincount(labels, minlength=capacity)
    slots = np.arange(capacity)
    if owner is None or not problem.several:
        return State(z, size, natural, offset, z, slots, size)
    slots[:count] = owner
    cluster = owner[labels].astype(np.int32)
    load = np.bincount(cluster, minlength=capacity)
    return State(z, size, natural, offset, cluster, slots, load)


def visit(
    problem: Problem, state: State, xi: Xi, slack: float, first: int = 0, last: int | None = None
) -> tuple[State, IntArray]:
    """Let items choose one after the other, centres standing still; the state changes in place."""
    # Returns it with how many moved and how many are restless: answers would be served better
    # elsewhere, by more than `slack`.
    tally = np.zeros(2, dtype=np.int64)
    last = len(problem.points) if last is None else last
    kind = problem.divergence.squared, problem.several, problem.penalty, problem.per_cluster
    task = Pass(problem.points, problem.phi, *kind, problem.graph, xi, slack)
    while True:
        used = int(np.flatnonzero(state.size)[-1]) + 1
        first, into = scan(task, first, last, used, state, tally)
        if first == last:
            return state, tally
        state = _open(problem, state, first, into)
        tally[MOVED] += 1
        first += 1


def _open(problem: Problem, state: State, item: int, into: int) -> State:
    """Give an item a centre of its own, itself, in an existing cluster or in a new one."""
    if state.size.all():
        state = _with_room(state)
    z, size, natural, offset, cluster, owner, load = state
    slot = int(np.argmin(size))
    point = problem.points[item : item + 1]
    natural[slot] = problem.divergence.natural(point)[0]
    offset[slot] = problem.divergence.offset(point)[0]
    size[z[item]] -= 1
    size[slot] = 1
    if problem.several:
        load[cluster[item]] -= 1
        chosen = int(np.argmin(load)) if into == NEW else into
        load[chosen] += 1
        owner[slot] = cluster[item] = chosen
    z[item] = slot
    return state


def _with_room(state: State) -> State:
    more = len(state.size)
    size = np.pad(state.size, (0, more))
    load = size if state.load is state.size else np.pad(state.load, (0, more))
    owner = np.append(state.owner, np.arange(more, 2 * more))
    natural = np.pad(state.natural, ((0, more), (0, 0)))
    offset = np.pad(state.offset, (0, more))
    return state._replace(size=size, natural=natural, offset=offset, owner=owner, load=load)


def means(points: FloatArray, labels: NDArray[np.integer[Any]]) -> tuple[IntArray, FloatArray]:
    """Labels without gaps, in the order they had, and the mean of each cluster, (K, d)."""
    sums, sizes = sum_by_cluster(points, labels, int(labels.max()) + 1)
    kept = sizes > 0
    return (np.cumsum(kept) - 1)[labels], sums[kept] / sizes[kept, None]


def objective(
    problem: Problem, labels: IntArray, centers: FloatArray, xi: Xi, owner: IntArray | None = None
) -> float:
    """J at labels 0 to M - 1, centres (M, d) and their clusters, by default themselves."""
    points, phi, divergence, *_ = problem
    clusters = labels if owner is None else owner[labels]
    count = len(centers) if owner is None else int(owner.max()) + 1
    penalties = problem.penalty * len(centers) + problem.per_cluster * count
    at = divergence.natural(centers), divergence.offset(centers)
    scatter = float(divergence_to_own(points, phi, divergence.squared, labels, *at))
    return scatter + problem.graph.inside(clusters, xi) + penalties


def descend(
    problem: Problem,
    labels: IntArray,
    schedule: Schedule,
    max_iter: int = 300,
    owner: IntArray | None = None,
) -> Solution:
    """Alternate passes over items, means, and components, until nothing moves (Algorithm 1)."""
    # With fixed xi, J falls to a local minimum; growing xi ends when no answers would fit better
    # elsewhere (TVClust's 20 idle passes may end, at large divergences, before xi counts).
    labels, centers = means(problem.points, labels)
    if not problem.several:
        owner = None
    elif owner is None:
        owner = np.arange(len(centers))
    xi, rate, most = schedule
    if rate > 1:
        # far above all divergences and the penalty answers decide alone, and more would only round
        # the divergences off
        most = min(most, CEILING * (problem.penalty + spread(problem).max()))
    else:
        most = largest(xi)
    path: list[float] = []
    n = len(problem.points)
    while True:
        state = new_state(problem, labels, centers, owner)
        state, tally = visit(problem, state, xi, smallest(xi) / 2)
        if tally[MOVED]:
            labels, centers = means(problem.points, state.z)
            if owner is not None:
                there = np.flatnonzero(state.size)
                owner = np.unique(state.owner[there], return_inverse=True)[1]
        if owner is not None:
            above, costs = pose_components(problem, xi, labels, len(owner))
            before = owner
            owner = descend(above, owner, Schedule(costs)).labels
            tally[MOVED] += int((before != owner).sum())
        path.append(objective(problem, labels, centers, xi, owner))
        grows = largest(xi) < most
        settled = tally[MOVED] <= (n // STILL if n > MANY_ITEMS else 0)
        converged = settled and not (grows and tally[RESTLESS])
        if converged or len(path) == max_iter:
            break
        if grows:
            xi = times(xi, min(rate, most / largest(xi)))
    if owner is None:
        owner = np.arange(len(centers))
    return Solution(labels, centers, owner, path[-1], np.array(path), xi, converged)


def spread(problem: Problem) -> FloatArray:
    """Divergence of every item from the mean of all, (n,)."""
    middle = problem.points.mean(axis=0, keepdims=True)
    return problem.divergence.between(problem.points, middle)[:, 0]


def pose_components(
    problem: Problem, xi: Xi, labels: IntArray, count: int
) -> tuple[Problem, FloatArray]:
    """The problem of grouping components, as items without coordinates, and its table of costs."""
    # Answers about the same two components are one.
    graph: Any = problem.graph
    if isinstance(graph, LinkGraph):
        member = np.full((len(graph.pairs), 3), -1)
        member[:, :2] = graph.pairs
        rows = np.zeros((len(member), N_PATTERNS))
        rows[:, 0] = np.where(graph.same, -xi[0], xi[1])
    else:
        member, rows = graph.member, np.asarray(xi)[graph.code]
    named = np.where(member >= 0, labels[member], -1)
    pair = named[:, 2] < 0
    two = [named[pair, :2]]
    change = [rows[pair, 0] - rows[pair, 1]]
    for first, second, third, apart in () if pair.all() else TWO_IN_ONE:
        chosen = ~pair & (named[:, first] == named[:, second])
        two.append(named[chosen][:, [first, third]])
        change.append(rows[chosen, 0] - rows[chosen, apart])
    ends = np.sort(np.concatenate(two), axis=1)
    weight = np.concatenate(change)
    apart_now = ends[:, 0] != ends[:, 1]
    keys, place = np.unique(ends[apart_now] @ [count, 1], return_inverse=True)
    pairs = np.stack([keys // count, keys % count, np.full(len(keys), -1)], axis=1)
    first, second, third = named.T
    three = ~pair & (first != second) & (first != third) & (second != third)
    costs = np.zeros((len(keys), rows.shape[1]))
    costs[:, 0] = np.bincount(place, weights=weight[apart_now], minlength=len(keys))
    members = np.concatenate([pairs, named[three]]).astype(np.int64)
    # every answer is a source of its own
    graph = sites_of(members, np.arange(len(members)), count)
    above = Problem.of(np.zeros((count, 0)), SquaredEuclidean(), graph, problem.per_cluster)
    return above, np.concatenate([costs, rows[three]])
