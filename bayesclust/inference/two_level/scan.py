"""One sweep of single-site updates on two levels, for any family.

Item i, taken out, joins a component k that exists, opens one in a cluster g that exists, or opens a
cluster. With the prior of `bayesclust.partition_priors.nested` and c(n) = W(n) V'(n, 1),

    log w_k    = log W'(n_k + 1) / W'(n_k) + log c(n_g + 1) / c(n_g) + log p(x_i | component k) + site logits of g
    log w_g    = log A(m_g + 1) / A(m_g)   + log c(n_g + 1) / c(n_g) + log p(x_i)               + site logits of g
    log w_new  = log V(n, K + 1) / V(n, K)                           + log p(x_i)

with all sizes without i; for Dirichlet processes they are log n_k + log n_g / (n_g + beta) and so
on. The site logits are those of `bayesclust.inference.moves.scan`, on the labels of clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.assignment import close_slot, draw_index, open_slot
from bayesclust.inference.two_level.levels import TwoLevelTarget
from bayesclust.typing import IntArray

NEW = -1


@device(fastmath=FAST, no_refcount=True)
def take_label(target: TwoLevelTarget, i: int, alone: bool) -> None:
    """Take item i, `alone` in its component or not, off both levels; the component's state stays."""
    components, levels = target.components, target.levels
    k, g = components.z[i], levels.clusters.z[i]
    components.z[i] = UNPLACED
    levels.clusters.z[i] = UNPLACED
    levels.size[g] -= 1
    if alone:
        close_slot(components, k)
        levels.parts[g] -= 1
    if levels.size[g] == 0:
        close_slot(levels.clusters, g)


@device(fastmath=FAST, no_refcount=True)
def open_slots(target: TwoLevelTarget, k: int, g: int) -> tuple[int, int]:
    """(k, g), each of them opened where it is `NEW`."""
    components, levels = target.components, target.levels
    if g == NEW:
        g = open_slot(levels.clusters)
        levels.size[g] = 0
        levels.parts[g] = 0
    if k == NEW:
        k = open_slot(components)
        levels.owner[k] = g
        levels.parts[g] += 1
    return k, g


@kernel(fastmath=FAST)
def scan_two_level(
    target: TwoLevelTarget, order: IntArray, first: int, moved: IntArray, rng: Generator
) -> int:
    """Update the items order[first:]; returns len(order), or the position at which all slots were in use."""
    state, components, levels, sites, table, prior = target
    clusters, size = levels.clusters, levels.size
    empty = len(state.count) - 1
    site = np.zeros(len(size))
    logits = np.zeros(empty + len(size) + 1)
    component, cluster = np.zeros(len(logits), np.int64), np.zeros(len(logits), np.int64)
    for position in range(first, len(order)):
        if components.number[0] == empty or clusters.number[0] == len(size):
            return position
        i = order[position]
        old = components.z[i]
        remove_item(state, i, old)
        take_label(target, i, state.count[old] == 0)
        add_site_logits(sites, table, clusters.z, i, site)
        alone, options = log_predictive(state, i, empty), 0
        for a in range(components.number[0]):
            k = components.slots[a]
            g = levels.owner[k]
            weight = prior.within.log_join[state.count[k]] + prior.log_grow[size[g]]
            logits[options] = weight + log_predictive(state, i, k) + site[g]
            component[options] = k
            cluster[options] = g
            options += 1
        for a in range(clusters.number[0]):
            g = clusters.slots[a]
            weight = prior.within.log_open[levels.parts[g]] + prior.log_grow[size[g]]
            logits[options] = weight + alone + site[g]
            component[options] = NEW
            cluster[options] = g
            options += 1
            site[g] = 0.0
        logits[options] = prior.among.log_open[clusters.number[0]] + alone
        component[options] = NEW
        cluster[options] = NEW
        choice = draw_index(logits, options + 1, rng)
        k, g = open_slots(target, component[choice], cluster[choice])
        if component[choice] == NEW:
            clear_cluster(state, k)
        components.z[i] = k
        clusters.z[i] = g
        add_item(state, i, k)
        size[g] += 1
        moved[0] += k != old
    return len(order)
