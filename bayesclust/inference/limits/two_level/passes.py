"""The compiled pass over the items where answers speak of clusters and centres belong to components."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import device, kernel
from bayesclust.inference.limits.passes import (
    MOVED,
    RESTLESS,
    add_costs,
    first_at,
    item_costs,
    lowest,
    take_lowest,
)
from bayesclust.typing import IntArray, NDArray

NEW = -1


class Above(NamedTuple):
    """The clusters above the components of a pass; empty slots are free."""

    z: NDArray[np.int32]  # (n,) cluster of each item
    owner: IntArray  # (capacity of components,) cluster of each component
    load: IntArray  # (capacity of clusters,) items of each cluster


@device(no_refcount=True)
def cheapest_cluster(answers: Any, load: Any, here: int, price: float) -> tuple[int, float]:
    """Where an item in cluster `here` puts a component of its own: a cluster, or `NEW`, and what that costs beside it.

    The cluster has items besides this one. Ties stay.
    """
    into, least = here, answers[here]
    if load[here] == 1:
        into, least = NEW, price
    for g in range(len(load)):
        if g != here and load[g] > 0 and answers[g] < least:
            into, least = g, answers[g]
    if price < least:
        into, least = NEW, price
    return into, least


@device(no_refcount=True)
def hear_answers(
    graph: Any, xi: Any, above: Any, i: int, used: int, answers: Any, link: Any
) -> None:
    """Set what the answers about item i cost in each cluster, and in that of each component."""
    add_costs(graph, xi, above.z, i, answers)
    for k in range(used):
        link[k] = answers[above.owner[k]]


@device(no_refcount=True)
def forget_answers(answers: Any, link: Any, served: float, slack: float, used: int) -> bool:
    """Set both back to 0; returns whether the answers would be served better elsewhere, by more than the slack."""
    link[:used] = 0.0
    return bool(take_lowest(answers, len(answers)) < served - slack)


@kernel
def scan_components(
    points: Any,
    phi: Any,
    squared: bool,
    within: float,
    price: float,
    graph: Any,
    xi: Any,
    slack: float,
    first: int,
    last: int,
    used: int,
    slots: Any,
    above: Any,
    tally: Any,
) -> tuple[int, int]:
    """Move items first to last - 1 to their best components, one by one, until one wants a component of its own.

    Item i compares, over all components k, D(x_i, m_k) plus what its answers cost in the cluster of
    k, with `within` plus what they cost in a cluster that takes a new component, or plus `price`
    for a cluster of its own. Ties stay where they are. `tally` counts as in
    `bayesclust.inference.limits.passes.scan`. Returns the item that opens a component (it is not
    moved yet) and the cluster that takes it, or `last`.
    """
    c, size, natural, offset = slots
    z, owner, load = above
    cost, link, answers = np.empty(len(size)), np.zeros(len(size)), np.zeros(len(load))
    shut = np.zeros(len(size))
    for k in range(len(size)):
        if size[k] == 0:
            shut[k] = np.inf
    for i in range(first, last):
        answered = graph.start[i] < graph.start[i + 1]
        if answered:
            hear_answers(graph, xi, above, i, used, answers, link)
        least = item_costs(points, phi, squared, i, natural, offset, link, shut, used, cost)
        now, here = c[i], z[i]
        into, opening = cheapest_cluster(answers, load, here, price)
        best, choice = cost[now], now
        if size[now] == 1:
            # alone, an item pays for its component where it stays, and its centre will be itself
            best, cost[now] = within + (price if load[here] == 1 else answers[here]), np.inf
            least = lowest(cost, used)
        if least < best:
            best, choice = least, first_at(cost, least)
        opens = within + opening < best
        if answered:
            served = link[choice]
            if opens:
                served = 0.0 if into == NEW else opening
            tally[RESTLESS] += forget_answers(answers, link, served, slack, used)
        if opens:
            return i, into
        if choice != now:
            tally[MOVED] += 1
            c[i], z[i] = choice, owner[choice]
            size[now] -= 1
            size[choice] += 1
            load[here] -= 1
            load[z[i]] += 1
            if size[now] == 0:
                shut[now] = np.inf
    return last, NEW
