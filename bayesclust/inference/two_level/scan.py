"""One sweep of single-site updates on two levels, for any family.

Item i, taken out, joins a component k that exists, opens one in a cluster g that exists, or opens a
cluster:

    log w_k    = log n_k    - log(n_g + beta) + log n_g + log p(x_i | component k) + site logits of its cluster g
    log w_g    = log beta   - log(n_g + beta) + log n_g + log p(x_i)               + site logits of g
    log w_new  = log alpha                              + log p(x_i)

with all sizes without i. The site logits are those of `bayesclust.inference.scan`, on the labels of
clusters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.seating import Seating, close_slot, draw_index, open_slot
from bayesclust.inference.two_level.levels import Levels

NEW = -1


@device(fastmath=FAST, no_refcount=True)
def _take_out(state: Any, components: Seating, levels: Levels, i: int) -> int:
    """Take item i out of component and cluster; returns the component."""
    k, g = components.z[i], levels.clusters.z[i]
    components.z[i], levels.clusters.z[i] = UNPLACED, UNPLACED
    remove_item(state, i, k)
    levels.size[g] -= 1
    if state.count[k] == 0:
        close_slot(components, k)
    if levels.size[g] == 0:
        close_slot(levels.clusters, g)
    return int(k)


@device(fastmath=FAST, no_refcount=True)
def _put_in(state: Any, components: Seating, levels: Levels, i: int, k: int, g: int) -> int:
    """Seat item i in component k of cluster g, either of them new where it is -1; returns the component."""
    if g == NEW:
        g = open_slot(levels.clusters)
        levels.size[g] = 0
    if k == NEW:
        k = open_slot(components)
        clear_cluster(state, k)
        levels.owner[k] = g
    components.z[i], levels.clusters.z[i] = k, g
    add_item(state, i, k)
    levels.size[g] += 1
    return int(k)


@kernel(fastmath=FAST)
def scan_two_level(
    state: Any,
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    order: NDArray[np.int64],
    first: int,
    moved: NDArray[np.int64],
    rng: Generator,
) -> int:
    """Update the items order[first:], one after another.

    Returns
    -------
    int
        len(order), or the position at which all slots were in use: the caller makes room and calls
        again from there.
    """
    clusters, size = levels.clusters, levels.size
    empty, beta = len(state.count) - 1, math.exp(log_beta)
    site = np.zeros(len(size), np.float64)
    logits = np.zeros(empty + len(size) + 1, np.float64)
    component, cluster = np.zeros(len(logits), np.int64), np.zeros(len(logits), np.int64)
    for position in range(first, len(order)):
        if components.number[0] == empty or clusters.number[0] == len(size):
            return position
        i = order[position]
        old = _take_out(state, components, levels, i)
        add_site_logits(sites, table, clusters.z, i, site)
        prior, options = log_predictive(state, i, empty), 0
        for a in range(components.number[0]):
            k = components.slots[a]
            g = levels.owner[k]
            seats = math.log(state.count[k] * size[g] / (size[g] + beta))
            logits[options] = seats + log_predictive(state, i, k) + site[g]
            component[options], cluster[options] = k, g
            options += 1
        for a in range(clusters.number[0]):
            g = clusters.slots[a]
            logits[options] = log_beta + math.log(size[g] / (size[g] + beta)) + prior + site[g]
            component[options], cluster[options] = NEW, g
            options += 1
            site[g] = 0.0
        logits[options] = log_alpha + prior
        component[options], cluster[options] = NEW, NEW
        choice = draw_index(logits, options + 1, rng)
        k = _put_in(state, components, levels, i, component[choice], cluster[choice])
        moved[0] += k != old
    return len(order)
