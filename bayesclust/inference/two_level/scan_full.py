"""The same sweep as `scan_two_level`, for full covariances, near the speed of a matrix product.

As `bayesclust.inference.scan_full`, on two levels: quadratic forms of a block of items come from
matrix products, and are mended when an item moves. An item that is a component by itself takes it
along, wherever it goes. Exact; `scan_two_level` is the plain twin.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, remove_item
from bayesclust.families.gaussian import FullState
from bayesclust.inference.scan_full import BLOCK, mend, predictive_by_form, quadratic_forms
from bayesclust.inference.seating import Seating, close_slot, draw_index, open_slot
from bayesclust.inference.two_level.levels import Levels
from bayesclust.inference.two_level.scan import NEW


@device(fastmath=FAST, no_refcount=True)
def _fill(
    state: FullState,
    components: Seating,
    levels: Levels,
    forms: NDArray[np.float64],
    old: int,
    log_alpha: float,
    log_beta: float,
    prior: float,
    site: NDArray[np.float64],
    logits: NDArray[np.float64],
    component: NDArray[np.int64],
    cluster: NDArray[np.int64],
) -> int:
    """Write the logits of all options of an item that was in slot `old`, and what they are; returns their number."""
    clusters, size, beta, options = (
        levels.clusters,
        levels.size,
        math.exp(log_beta),
        components.number[0],
    )
    for a in range(clusters.number[0]):
        g = clusters.slots[a]
        site[g] += math.log(size[g] / (size[g] + beta))
        logits[options], component[options], cluster[options] = log_beta + prior + site[g], NEW, g
        options += 1
    for a in range(components.number[0]):
        k = components.slots[a]
        g, own = levels.owner[k], k == old
        logits[a] = (
            math.log(state.count[k] - own) + predictive_by_form(state, k, forms[k], own) + site[g]
        )
        component[a], cluster[a] = k, g
    for a in range(clusters.number[0]):
        site[clusters.slots[a]] = 0.0
    logits[options], component[options], cluster[options] = log_alpha + prior, NEW, NEW
    return int(options + 1)


@device(fastmath=FAST, inline="always")
def _transfer(
    state: FullState,
    i: int,
    old: int,
    k: int,
    alone: bool,
    rows: NDArray[np.float64],
    forms: NDArray[np.float64],
    done: int,
) -> None:
    """Let item i go from slot `old` to slot k, and mend the forms of the rows of the block that are not done."""
    later, end = rows[done:], len(rows)
    if alone:
        state.count[old] = 0
    else:
        mend(state, i, old, -1.0, later, forms[old, done:end])
        remove_item(state, i, old)
    mend(state, i, k, 1.0, later, forms[k, done:end])
    add_item(state, i, k)


@kernel(fastmath=FAST)
def scan_full_two_level(
    state: FullState,
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
    """Update the items order[first:], one after another; see `bayesclust.inference.two_level.scan.scan_two_level`."""
    z, clusters, size = components.z, levels.clusters, levels.size
    empty, n = len(state.count) - 1, len(order)
    site, logits = np.zeros(len(size), np.float64), np.zeros(empty + len(size) + 1, np.float64)
    forms = np.zeros((empty + 1, BLOCK), np.float64)
    component, cluster = np.zeros(len(logits), np.int64), np.zeros(len(logits), np.int64)
    for begin in range(first, n, BLOCK):
        rows = state.X[order[begin : min(begin + BLOCK, n)]]
        for a in range(components.number[0] + 1):
            k = components.slots[a] if a < components.number[0] else empty
            quadratic_forms(state, k, rows, forms[k])
        for j in range(len(rows)):
            if components.number[0] == empty or clusters.number[0] == len(size):
                return begin + j
            i = order[begin + j]
            old, g = z[i], clusters.z[i]
            alone = state.count[old] == 1
            z[i], clusters.z[i] = UNPLACED, UNPLACED
            size[g] -= 1
            if alone:
                close_slot(components, old)
            if size[g] == 0:
                close_slot(clusters, g)
            add_site_logits(sites, table, clusters.z, i, site)
            prior = predictive_by_form(state, empty, forms[empty, j], False)
            options = _fill(
                state,
                components,
                levels,
                forms[:, j],
                old,
                log_alpha,
                log_beta,
                prior,
                site,
                logits,
                component,
                cluster,
            )
            choice = draw_index(logits, options, rng)
            k, g = component[choice], cluster[choice]
            if g == NEW:
                g = open_slot(clusters)
                size[g] = 0
            if k == NEW:
                k = open_slot(components)
                levels.owner[k] = g
                if k != old:
                    clear_cluster(state, k)
                    for later in range(j + 1, len(rows)):
                        forms[k, later] = forms[empty, later]
            if k != old:
                _transfer(state, i, old, k, alone, rows, forms, j + 1)
                moved[0] += 1
            z[i], clusters.z[i] = k, g
            size[g] += 1
    return n
