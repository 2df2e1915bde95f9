"""Components change clusters: alone, and in the groups that answers hold together.

Component k of s items, taken out of its cluster, joins cluster g or opens one. The items'
likelihood does not change, so that the weights are those of the prior (`levels`) and of the answers
about its items:

    log v_g    = log w(n_g + s) - log w(n_g) + log p(answers | k in g)
    log v_new  = log alpha + log w(s)        + log p(answers | k alone)

Where answers tie several components together, none can leave alone. As in
`bayesclust.inference.link_blocks`, an answer that favours "same" is then split into a bond and what
is left; components with a bond between their items move as one, and every such answer drops out of
the conditional.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_block_logits
from bayesclust.inference.link_blocks import draw_bonds, find_root
from bayesclust.inference.seating import (
    Seating,
    close_slot,
    draw_index,
    shuffle,
    sort_by_group,
    use_slot,
)
from bayesclust.inference.two_level.levels import Levels, log_cluster_weight


@device
def _groups(
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    bonded: bool,
    rng: Generator,
) -> NDArray[np.int64]:
    """Number of the group of each item, in random order; without bonds every component is one."""
    group = components.place[components.z]
    number = components.number[0]
    if bonded:
        parent = np.arange(number)
        root = draw_bonds(sites, table, levels.clusters.z, rng)
        for i in range(len(group)):
            parent[find_root(parent, group[i])] = find_root(parent, group[root[i]])
        for i in range(len(group)):
            group[i] = find_root(parent, group[i])
    order = np.arange(number)
    shuffle(order, rng)
    for i in range(len(group)):
        group[i] = order[group[i]]
    return group


@device(fastmath=FAST)
def _move(
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    items: NDArray[np.int64],
    bonded: bool,
    rng: Generator,
) -> int:
    """Draw a cluster for one group; returns it."""
    clusters, size, s = levels.clusters, levels.size, len(items)
    old = clusters.z[items[0]]
    size[old] -= s
    if size[old] == 0:
        close_slot(clusters, old)
    number = clusters.number[0]
    logits, site = np.zeros(number + 1, np.float64), np.zeros(len(clusters.slots), np.float64)
    clusters.z[items] = UNPLACED
    add_block_logits(sites, table, clusters.z, items, bonded, site)
    for a in range(number):
        g = clusters.slots[a]
        logits[a] = (
            log_cluster_weight(size[g] + s, log_beta)
            - log_cluster_weight(size[g], log_beta)
            + site[g]
        )
    logits[number] = log_alpha + log_cluster_weight(s, log_beta)
    choice = draw_index(logits, number + 1, rng)
    g = clusters.slots[choice]
    if choice == number:
        use_slot(clusters, g)
        size[g] = 0
    clusters.z[items] = g
    size[g] += s
    return int(g)


@kernel(fastmath=FAST)
def move_components(
    components: Seating,
    levels: Levels,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    log_beta: float,
    bonded: bool,
    rng: Generator,
) -> tuple[int, int]:
    """One pass over all components, or over all groups that fresh bonds make; there must be a free cluster slot for each.

    Returns
    -------
    tuple of int
        How many groups changed their company, and how many there were.
    """
    group = _groups(components, levels, sites, table, bonded, rng)
    every, start = sort_by_group(group, components.number[0])
    changed, number = 0, 0
    for first in range(components.number[0]):
        items = every[start[first] : start[first + 1]]
        if len(items) == 0:  # what bonds tie together has one number
            continue
        old = levels.clusters.z[items[0]]
        alone = levels.size[old] == len(items)
        g = _move(levels, sites, table, log_alpha, log_beta, items, bonded, rng)
        for i in items:
            levels.owner[components.z[i]] = g
        if not (g == old or (alone and levels.size[g] == len(items))):
            changed += 1
        number += 1
    return changed, number
