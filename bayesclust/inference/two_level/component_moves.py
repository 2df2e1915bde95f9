"""Components change clusters: alone, and in the groups that constraints hold together.

A group of c components with s items, taken out of its cluster, joins cluster g or opens one. The
items' likelihood does not change, so that the weights are those of the prior
(`bayesclust.partition_priors.nested`) and of the constraints about its items:

    log v_g    = log c(n_g + s) / c(n_g) + log A(m_g + c) / A(m_g) + log p(answers | group in g)
    log v_new  = log V(n, K + 1) / V(n, K) + log c(s) A(c)         + log p(answers | group alone)

Where answers tie several components together, none can leave alone. As in
`bayesclust.inference.moves.link_blocks`, an answer that favours "same" is then split into a bond and
what is left; components with a bond between their items move as one, and every such answer drops
out of the conditional.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_block_logits
from bayesclust.inference.assignment import (
    close_slot,
    draw_index,
    shuffle,
    sort_by_group,
    use_slot,
)
from bayesclust.inference.moves.link_blocks import draw_bonds, find_root
from bayesclust.inference.two_level.levels import TwoLevelTarget
from bayesclust.typing import FloatArray, IntArray


@device(fastmath=FAST)
def _groups(target: TwoLevelTarget, bonded: bool, rng: Generator) -> IntArray:
    """Number of the group of each item, in random order; without bonds every component is one."""
    components = target.components
    group = components.place[components.z]
    number = components.number[0]
    if bonded:
        parent = np.arange(number)
        root = draw_bonds(target.sites, target.table, target.levels.clusters.z, rng)
        for i in range(len(group)):
            parent[find_root(parent, group[i])] = find_root(parent, group[root[i]])
        for i in range(len(group)):
            group[i] = find_root(parent, group[i])
    order = np.arange(number)
    shuffle(order, rng)
    for i in range(len(group)):
        group[i] = order[group[i]]
    return group


@device(fastmath=FAST, no_refcount=True)
def log_openings(log_open: FloatArray, number: int, more: int) -> float:
    """log A(number + more) - log A(number)."""
    value = 0.0
    for m in range(max(number, 1), number + more):
        value += log_open[m]
    return value


@device(fastmath=FAST)
def _move(target: TwoLevelTarget, items: IntArray, c: int, bonded: bool, rng: Generator) -> int:
    """Draw a cluster for one group of c components; returns it."""
    _, _, levels, sites, table, prior = target
    clusters, size, parts, s = levels.clusters, levels.size, levels.parts, len(items)
    old = clusters.z[items[0]]
    size[old] -= s
    parts[old] -= c
    if size[old] == 0:
        close_slot(clusters, old)
    number = clusters.number[0]
    logits, site = np.zeros(number + 1), np.zeros(len(clusters.slots))
    clusters.z[items] = UNPLACED
    add_block_logits(sites, table, clusters.z, items, bonded, site)
    for a in range(number):
        g = clusters.slots[a]
        grown = prior.log_cluster[size[g] + s] - prior.log_cluster[size[g]]
        logits[a] = grown + log_openings(prior.within.log_open, parts[g], c) + site[g]
    opened = prior.among.log_open[number] + prior.log_cluster[s]
    logits[number] = opened + log_openings(prior.within.log_open, 0, c)
    choice = draw_index(logits, number + 1, rng)
    g = clusters.slots[choice]
    if choice == number:
        use_slot(clusters, g)
        size[g] = 0
        parts[g] = 0
    clusters.z[items] = g
    size[g] += s
    parts[g] += c
    return int(g)


@kernel(fastmath=FAST)
def move_components(target: TwoLevelTarget, bonded: bool, rng: Generator) -> tuple[int, int]:
    """One pass over all components, or over all groups that fresh bonds make; needs a free cluster slot for each.

    Returns how many groups changed their clusters, and how many there were.
    """
    components, levels = target.components, target.levels
    group = _groups(target, bonded, rng)
    every, start = sort_by_group(group, components.number[0])
    of_group = np.zeros(components.number[0], np.int64)
    seen = np.zeros(len(components.slots), np.bool_)
    for i in range(len(group)):
        k = components.z[i]
        if not seen[k]:
            seen[k] = True
            of_group[group[i]] += 1
    changed, number = 0, 0
    for first in range(components.number[0]):
        items = every[start[first] : start[first + 1]]
        if len(items) == 0:  # what bonds tie together has one number
            continue
        old = levels.clusters.z[items[0]]
        alone = levels.size[old] == len(items)
        g = _move(target, items, of_group[first], bonded, rng)
        for i in items:
            levels.owner[components.z[i]] = g
        if not (g == old or (alone and levels.size[g] == len(items))):
            changed += 1
        number += 1
    return changed, number
