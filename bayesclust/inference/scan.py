"""One sweep of single-site updates, for any family: Neal's (2000) Algorithm 3 with side information.

TVClust Eq. 13 with the parameters integrated out. For item i, taken out of its cluster:

    log w_k   = log n_{-i,k} + log p(x_i | cluster k without i) + site logits of k
    log w_new = log alpha + log p(x_i)

The site logits are, for links, f log(p / (1-q)) + s log((1-p) / q) with f and s the numbers of
may-links and may-not-links from i into k. An item alone in its cluster is taken out first, so that
staying alone is "new", once; the emptied slot keeps its place until the item is seated, so that
`scan_full` meets the clusters in the same order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.seating import Seating, close_slot, draw_index, open_slot


@kernel(fastmath=FAST)
def scan(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
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
    z = seating.z
    empty = len(state.count) - 1
    logits, site = np.zeros(empty + 1, np.float64), np.zeros(empty + 1, np.float64)
    for position in range(first, len(order)):
        if seating.number[0] == empty:
            return position
        i = order[position]
        old = z[i]
        alone = state.count[old] == 1
        z[i] = UNPLACED
        remove_item(state, i, old)
        number = seating.number[0]
        add_site_logits(sites, table, z, i, site)
        for a in range(number):
            k = seating.slots[a]
            if k == old and alone:
                logits[a] = -math.inf
            else:
                logits[a] = math.log(state.count[k]) + log_predictive(state, i, k) + site[k]
            site[k] = 0.0
        logits[number] = log_alpha + log_predictive(state, i, empty)
        choice = draw_index(logits, number + 1, rng)
        if choice < number:
            k = seating.slots[choice]
            if alone:
                close_slot(seating, old)
        else:
            k = old if alone else open_slot(seating)
            clear_cluster(state, k)
        moved[0] += k != old
        z[i] = k
        add_item(state, i, k)
    return len(order)
