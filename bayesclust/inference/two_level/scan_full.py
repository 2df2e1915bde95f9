"""The same sweep as `scan_two_level`, for full covariances, near the speed of a matrix product.

As `bayesclust.inference.moves.scan_full`, on two levels: quadratic forms of a block of items come
from matrix products, and are updated when an item moves. An item that is a component by itself
takes it along, wherever it goes. Exact; `scan_two_level` is its reference.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import add_site_logits
from bayesclust.families.base import clear_cluster
from bayesclust.inference.assignment import draw_index
from bayesclust.inference.moves.scan_full import (
    BLOCK,
    predictive_by_form,
    quadratic_forms,
    transfer,
)
from bayesclust.inference.two_level.levels import TwoLevelTarget
from bayesclust.inference.two_level.scan import NEW, open_slots, take_label
from bayesclust.typing import FloatArray, IntArray


@device(fastmath=FAST, no_refcount=True)
def _fill(
    target: TwoLevelTarget,
    forms: FloatArray,
    old: int,
    site: FloatArray,
    logits: FloatArray,
    component: IntArray,
    cluster: IntArray,
) -> int:
    """Write the logits of all options of an item that was in slot `old`, and what they are; returns their number."""
    state, components, levels, _, _, prior = target
    clusters, options, empty = levels.clusters, components.number[0], len(state.count) - 1
    alone = predictive_by_form(state, empty, forms[empty], False)
    for a in range(clusters.number[0]):
        g = clusters.slots[a]
        site[g] += prior.log_grow[levels.size[g]]
        logits[options] = prior.within.log_open[levels.parts[g]] + alone + site[g]
        component[options] = NEW
        cluster[options] = g
        options += 1
    for a in range(components.number[0]):
        k = components.slots[a]
        g, own = levels.owner[k], k == old
        weight = prior.within.log_join[state.count[k] - own] + site[g]
        logits[a] = weight + predictive_by_form(state, k, forms[k], own)
        component[a] = k
        cluster[a] = g
    for a in range(clusters.number[0]):
        site[clusters.slots[a]] = 0.0
    logits[options] = prior.among.log_open[clusters.number[0]] + alone
    component[options] = NEW
    cluster[options] = NEW
    return int(options + 1)


@kernel(fastmath=FAST)
def scan_full_two_level(
    target: TwoLevelTarget, order: IntArray, first: int, moved: IntArray, rng: Generator
) -> int:
    """Update the items order[first:], as `bayesclust.inference.two_level.scan.scan_two_level`."""
    state, components, levels, sites, table, _ = target
    z, clusters, size = components.z, levels.clusters, levels.size
    empty, n = len(state.count) - 1, len(order)
    site, logits = np.zeros(len(size)), np.zeros(empty + len(size) + 1)
    forms = np.zeros((empty + 1, BLOCK))
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
            old = z[i]
            take_label(target, i, state.count[old] == 1)
            add_site_logits(sites, table, clusters.z, i, site)
            options = _fill(target, forms[:, j], old, site, logits, component, cluster)
            choice = draw_index(logits, options, rng)
            k, g = open_slots(target, component[choice], cluster[choice])
            if component[choice] == NEW and k != old:
                clear_cluster(state, k)
                for later in range(j + 1, len(rows)):
                    forms[k, later] = forms[empty, later]
            if k != old:
                transfer(state, i, old, k, rows, forms, j + 1)
                moved[0] += 1
            z[i] = k
            clusters.z[i] = g
            size[g] += 1
    return n
