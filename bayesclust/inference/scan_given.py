"""Single-site updates where the parameters of the clusters are in hand: the seating step of `bayesclust.inference.gibbs`.

TVClust Eq. 13 (Neal 2000, Algorithm 2). For item i, taken out of its cluster:

    log w_k   = log n_{-i,k} + log p(x_i | theta_k) + site logits of k
    log w_new = log alpha + log p(x_i)

The likelihoods come as a table, so that one kernel serves every family. An item alone in its
cluster is taken out with the cluster: to stay alone is "new", once. Where it does stay, the cluster
keeps its parameters. They have the distribution that new ones would be drawn from, so either way
the posterior stays in place, and no column of the table need be made anew.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits
from bayesclust.families.base import log_predictive
from bayesclust.inference.seating import Seating, close_slot, open_slot

NONE_OPENED = -1
LOST = -100.0
"""Log of a weight, relative to the largest, that is lost in rounding when weights are added up, for any number of items."""


@kernel(fastmath=FAST)
def prior_predictive(state: Any, n_items: int) -> NDArray[np.float64]:
    """log p(x_i) of every item, from the slot that stays empty: (n,)."""
    empty, values = len(state.count) - 1, np.empty(n_items)
    for i in range(n_items):
        values[i] = log_predictive(state, i, empty)
    return values


@kernel(fastmath=FAST)
def scan_given(
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    count: NDArray[np.int64],
    density: NDArray[np.float64],
    log_new: NDArray[np.float64],
    items: NDArray[np.int64],
    first: int,
    moved: NDArray[np.int64],
    rng: Generator,
) -> tuple[int, int]:
    """Update items[first:], one after another, until one of them opens a cluster.

    Needs one free slot. `count` holds the sizes of the slots, (C,). Row t of `density`, one column
    per slot, and of `log_new` = log alpha + log p(x_i) belong to items[t].

    Returns
    -------
    tuple of int
        The position after the last item seated, and the slot that it opened, or `NONE_OPENED`: the
        caller draws the parameters of that slot, fills its column and calls again.
    """
    z = seating.z
    weight, site = np.empty(len(count)), np.zeros(len(count))
    for t in range(first, len(items)):
        i = items[t]
        old = z[i]
        z[i] = UNPLACED
        count[old] -= 1
        alone = count[old] == 0
        add_site_logits(sites, table, z, i, site)
        number, largest = seating.number[0], log_new[t]
        for a in range(number):
            k = seating.slots[a]
            weight[a] = density[t, k] + site[k] if count[k] > 0 else -math.inf
            largest = max(largest, weight[a])
            site[k] = 0.0
        total = 0.0
        for a in range(number):
            relative = weight[a] - largest
            weight[a] = count[seating.slots[a]] * math.exp(relative) if relative > LOST else 0.0
            total += weight[a]
        left, choice = rng.random() * (total + math.exp(log_new[t] - largest)), 0
        while choice < number and left >= weight[choice]:
            left -= weight[choice]
            choice += 1
        if choice < number:
            k = seating.slots[choice]
            if alone:
                close_slot(seating, old)
        else:
            k = old if alone else open_slot(seating)
        moved[0] += k != old
        z[i] = k
        count[k] += 1
        if choice == number and not alone:
            return t + 1, k
    return len(items), NONE_OPENED
