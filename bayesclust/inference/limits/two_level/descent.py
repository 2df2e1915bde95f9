"""RDP-means with several centres per cluster: descent on the small-variance limit of clusters that are mixtures.

The model is TVClust whose clusters are Dirichlet-process mixtures (`bayesclust.partition_priors.nested`):
p(components, clusters) is

    alpha^K Gamma(alpha) / Gamma(alpha + n) prod_g [ Gamma(n_g) beta^m_g Gamma(beta) / Gamma(beta +
    n_g) prod_k Gamma(n_gk) ]
  = alpha^(K - 1) beta^(M - K) prod_{gk} Gamma(n_gk) prod_g prod_{0 < j < n_g} j / (beta + j) /
  prod_{0 < j < n} (alpha + j),

with K clusters and M components in all. Let covariances go as 1 / gamma and the noise of answers
with them, as for plain clusters (TVClust Lemma 3, Eq. 16 to 18;
`bayesclust.inference.limits.bridge`), and tie each concentration to a price,

    log beta  = -gamma lambda_within            - log kappa(gamma),
    log alpha = -gamma (lambda + lambda_within) - log kappa(gamma),

kappa being the factor by which the base measure disfavours a component, against the best centre.
The prior times kappa^M is then kappa exp(-gamma [(K - 1) lambda + (M - 1) lambda_within]) times
factors that neither vanish nor grow with gamma (the last product with alpha to 0; else it adds a
constant). So, up to constants, -(1 / gamma) log p tends to

    J = sum_i D(x_i, m_{c_i}) + sum_answers cost[code, pattern of the clusters] + lambda K +
    lambda_within M.

This has two penalties as the limit of the hierarchical Dirichlet process has (Kulis and Jordan
2012, section 4), there of clusters that groups of data share, here of components that clusters own.
With M = K it is DP-means' objective at the penalty lambda + lambda_within (their section 3), and
with answers RDP-means' (TVClust Eq. 20, each link once).

An item compares (TVClust Eq. 19 on two levels), over components k, clusters g, and one of its own,

    D(x_i, m_k) + answers in the cluster of k,    lambda_within + answers in g,    lambda_within + lambda,

and components change clusters as items without data (`components`). lambda may be negative, above
-lambda_within: the sampler's default prior makes components of which nobody says that they belong
together clusters of their own.

J does not say where a component belongs that answers leave free. Such ties go to the nearest
cluster, at the same J; that is no part of the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesclust.inference.limits import rdp_means, search
from bayesclust.inference.limits.answers import Xi, smallest
from bayesclust.inference.limits.passes import MOVED
from bayesclust.inference.limits.rdp_means import (
    Problem,
    Schedule,
    Solution,
    follow,
    means,
    new_slots,
    open_slot,
    scatter,
)
from bayesclust.inference.limits.search import ROUNDING, Steps
from bayesclust.inference.limits.two_level.components import pose_components
from bayesclust.inference.limits.two_level.moves import free_components, join, merge_within, refine
from bayesclust.inference.limits.two_level.passes import NEW, Above, scan_components
from bayesclust.typing import FloatArray, IntArray

PRICE_SHARE = 1e-3
"""lambda over lambda_within, if nothing is said: as small a share as that of the mean divergence where confidence in answers
starts to grow, so that answers decide which components are one cluster, and where they do not,
fewer are better. Without
any answer it is below zero, and every component a cluster."""


class State(NamedTuple):
    """Clusters during a pass: components in slots, and who owns them."""

    slots: rdp_means.Slots
    above: Above


def steps(price: float | None) -> Steps:
    """Return how a search goes down with several centres per cluster.

    The problem's `penalty` is that of a component, and the labels of starts are components.

    Parameters
    ----------
    price : float or None
        lambda, of a cluster; None is a thousandth of the problem's penalty, and minus that without
        answers.

    Returns
    -------
    Steps
    """
    return Steps(partial(descend, price), partial(improve, price))


def price_of(problem: Problem, price: float | None) -> float:
    """Return lambda: what was given, or a thousandth of lambda_within, and minus that without answers."""
    if price is not None:
        return price
    return PRICE_SHARE * problem.penalty * (1.0 if problem.graph.start[-1] > 0 else -1.0)


def value(
    problem: Problem, price: float, labels: IntArray, centers: FloatArray, owner: IntArray, xi: Xi
) -> float:
    """Return J at components 0 to M - 1 with centres (M, d) and owners (M,) 0 to K - 1."""
    prices = problem.penalty * len(centers) + price * (int(owner.max()) + 1)
    return scatter(problem, labels, centers) + problem.graph.inside(owner[labels], xi) + prices


def new_state(problem: Problem, labels: IntArray, centers: FloatArray, owner: IntArray) -> State:
    """Components and clusters without gaps, in slots with room for more."""
    slots, z = new_slots(problem, labels, centers), owner[labels].astype(np.int32)
    room = np.zeros(len(slots.size), dtype=np.int64)
    room[: len(owner)] = owner
    return State(slots, Above(z, room, np.bincount(z, minlength=len(slots.size))))


def visit(
    problem: Problem,
    price: float,
    state: State,
    xi: Xi,
    slack: float,
    first: int = 0,
    last: int | None = None,
) -> tuple[State, IntArray]:
    """Let items choose their components one after the other, centres and owners standing still.

    As `bayesclust.inference.limits.rdp_means.visit`, with components that open in any cluster or in
    one of their own.

    Parameters
    ----------
    problem : Problem
    price : float
    state : State
        Changed in place while there is room.
    xi : (float, float) or (codes, 5) array
    slack : float
    first, last : int, optional
        Items first to last - 1; all by default.

    Returns
    -------
    state : State
    tally : (2,) array of int
        How many items moved, and how many are restless.
    """
    points, phi, divergence, graph, within = problem
    tally, last = np.zeros(2, dtype=np.int64), len(points) if last is None else last
    while True:
        slots, above = state
        used = int(np.flatnonzero(slots.size)[-1]) + 1
        first, into = scan_components(
            points,
            phi,
            divergence.squared,
            within,
            price,
            graph,
            xi,
            slack,
            first,
            last,
            used,
            slots,
            above,
            tally,
        )
        if first == last:
            return state, tally
        state = _open(problem, state, first, into)
        tally[MOVED] += 1
        first += 1


def _open(problem: Problem, state: State, item: int, into: int) -> State:
    """Give an item a component of its own, in a cluster that there is or in a new one."""
    slots, (z, owner, load) = open_slot(problem, state.slots, item), state.above
    more = len(slots.size) - len(owner)
    owner, load = np.pad(owner, (0, more)), np.pad(load, (0, more))
    load[z[item]] -= 1
    g = int(np.argmin(load)) if into == NEW else into
    owner[slots.z[item]] = z[item] = g
    load[g] += 1
    return State(slots, Above(z, owner, load))


def regroup(problem: Problem, price: float, labels: IntArray, owner: IntArray, xi: Xi) -> IntArray:
    """Move components between clusters and merge clusters until neither lowers J; returns the owners."""
    above, costs = pose_components(problem.graph, xi, labels, len(owner), price)
    return search.improve(above, owner, costs).labels


def descend(
    price: float | None, problem: Problem, labels: IntArray, schedule: Schedule, max_iter: int = 300
) -> Solution:
    """Descend from components whose owners answers decide, as `bayesclust.inference.limits.rdp_means.descend`.

    Parameters
    ----------
    price : float or None
    problem : Problem
    labels : (n,) array of int
        Components to start from.
    schedule : Schedule
    max_iter : int, default 300

    Returns
    -------
    Solution
        With `owner`.
    """
    labels = means(problem.points, labels)[0]
    owner = regroup(
        problem, price_of(problem, price), labels, np.arange(int(labels.max()) + 1), schedule.xi
    )
    return lower(problem, price_of(problem, price), labels, owner, schedule, max_iter)


def lower(
    problem: Problem,
    price: float,
    labels: IntArray,
    owner: IntArray,
    schedule: Schedule,
    max_iter: int = 300,
) -> Solution:
    """Alternate passes over items, means, and passes over components until nothing moves."""
    labels, centers = means(problem.points, labels)

    def turn(xi: Xi) -> tuple[float, IntArray]:
        nonlocal labels, centers, owner
        state, tally = visit(
            problem, price, new_state(problem, labels, centers, owner), xi, smallest(xi) / 2
        )
        if tally[MOVED]:
            owner = np.unique(
                state.above.owner[np.flatnonzero(state.slots.size)], return_inverse=True
            )[1]
            labels, centers = means(problem.points, state.slots.z)
        above, costs = pose_components(problem.graph, xi, labels, len(owner), price)
        before, owner = owner, rdp_means.descend(above, owner, Schedule(costs)).labels
        tally[MOVED] += int((before != owner).sum())
        return value(problem, price, labels, centers, owner, xi), tally

    path, xi, converged = follow(problem, schedule, max_iter, turn)
    return Solution(labels, centers, path[-1], path, xi, converged, owner)


def improve(
    price: float | None,
    problem: Problem,
    end: Solution,
    xi: Xi,
    max_iter: int = 300,
    finely: bool = False,
) -> Solution:
    """Go on from an end, at fixed xi, until no step of any kind lowers J; then free components go to what is nearest.

    The steps are passes over items and components, merges and new groupings of clusters, merges of
    components, and, if told so, single items with all centres at their best.

    Parameters
    ----------
    price : float or None
    problem : Problem
    end : Solution
        Without `owner`, answers group the components.
    xi : (float, float) or (codes, 5) array
    max_iter : int, default 300
    finely : bool, default False
        Whether to move single items with all centres at their best.

    Returns
    -------
    Solution
    """
    price = price_of(problem, price)
    if end.owner is None:
        solution = descend(price, problem, end.labels, Schedule(xi), max_iter)
    else:
        solution = lower(problem, price, end.labels, end.owner, Schedule(xi), max_iter)
    path, least = [end.path, solution.path], ROUNDING * problem.penalty
    settled = False
    while True:
        for labels, owner in _proposals(problem, price, solution, xi, finely):
            if _same(solution, labels, owner):
                continue
            better = lower(problem, price, labels, owner, Schedule(xi), max_iter)
            if better.objective < solution.objective - least:
                break
        else:
            if settled:
                break
            settled, before = True, solution
            owner = free_components(problem, price, solution, xi)
            better = lower(problem, price, solution.labels, owner, Schedule(xi), max_iter)
            if not better.objective <= before.objective + least:
                break
        solution = better
        path.append(solution.path)
    return solution._replace(
        path=np.concatenate(path), converged=end.converged and solution.converged
    )


def _same(solution: Solution, labels: IntArray, owner: IntArray) -> bool:
    return bool((labels == solution.labels).all() and (owner == solution.owner).all())


def _proposals(
    problem: Problem, price: float, solution: Solution, xi: Xi, finely: bool
) -> Iterator[tuple[IntArray, IntArray]]:
    """Components without gaps and their owners, to be gone down from."""
    labels, owner = solution.labels, solution.owner
    assert owner is not None
    yield labels, regroup(problem, price, labels, owner, xi)
    yield labels, regroup(problem, price, labels, np.arange(len(owner)), xi)
    yield merge_within(problem, solution, xi)
    yield join(problem, price, solution, xi)
    if finely:
        yield refine(problem, price, solution, xi)
