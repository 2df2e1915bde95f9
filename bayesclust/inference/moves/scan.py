"""One sweep of single-site updates, for any family: Neal's (2000) Algorithm 3 with side information.

TVClust Eq. 13 with the parameters integrated out. For item i, taken out of its cluster, with a
prior p(z) = V(n, K) prod_k W(n_k) over the partitions of all n items,

    log w_k   = log W(n_k + 1) - log W(n_k)          + log p(x_i | cluster k without i) + site logits of k
    log w_new = log V(n, K + 1) - log V(n, K) + log W(1) + log p(x_i)

(log n_k and log alpha for the Dirichlet process). The site logits are, for links, f log(p / (1-q)) +
s log((1-p) / q) with f and s the numbers of may-links and may-not-links from i into k. An item alone
in its cluster is taken out first, so that staying alone is "new", once; the emptied slot keeps its
place until the item is assigned, so that `scan_full` meets the clusters in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.families.gaussian import FullState
from bayesclust.inference.assignment import (
    Target,
    close_slot,
    draw_index,
    open_slot,
)
from bayesclust.inference.chain import SPARE_SLOTS, Move, State
from bayesclust.inference.moves.scan_full import scan_full
from bayesclust.typing import IntArray


@kernel(fastmath=FAST)
def scan(target: Target, order: IntArray, first: int, moved: IntArray, rng: Generator) -> int:
    """Update the items order[first:]; returns len(order), or the position at which all slots were in use."""
    state, assignment, sites, table, prior = target
    z = assignment.z
    empty = len(state.count) - 1
    logits, site = np.zeros(empty + 1), np.zeros(empty + 1)
    for position in range(first, len(order)):
        if assignment.number[0] == empty:
            return position
        i = order[position]
        old = z[i]
        alone = state.count[old] == 1
        z[i] = UNPLACED
        remove_item(state, i, old)
        number = assignment.number[0]
        add_site_logits(sites, table, z, i, site)
        for a in range(number):
            k = assignment.slots[a]
            if k == old and alone:
                logits[a] = -math.inf
            else:
                logits[a] = prior.log_join[state.count[k]] + log_predictive(state, i, k) + site[k]
            site[k] = 0.0
        logits[number] = prior.log_open[number - alone] + log_predictive(state, i, empty)
        choice = draw_index(logits, number + 1, rng)
        if choice < number:
            k = assignment.slots[choice]
            if alone:
                close_slot(assignment, old)
        else:
            k = old if alone else open_slot(assignment)
            clear_cluster(state, k)
        moved[0] += k != old
        z[i] = k
        add_item(state, i, k)
    return len(order)


FAST_SCANS: Mapping[type, Any] = {FullState: scan_full}


class Scan(Move):
    """A pass over all items in random order by a kernel, the family's fast one if there is one and `fast` says so."""

    def __init__(
        self,
        *,
        fast: bool = True,
        kernel: Any = scan,
        fast_kernels: Mapping[type, Any] = FAST_SCANS,
    ) -> None:
        self.kernel, self.fast_kernels = kernel, fast_kernels if fast else {}
        self.moved = np.zeros(1, np.int64)

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.make_room(SPARE_SLOTS)
        run = self.fast_kernels.get(type(state.clusters), self.kernel)
        order = state.rng.permutation(state.n_items)
        position, self.moved[0] = 0, 0
        while position < len(order):
            position = run(state.target, order, position, self.moved, state.rng)
            state.make_room(1)

    def statistics(self, state: State) -> dict[str, float]:
        return {"moved": self.moved[0] / state.n_items}


__all__ = ["Scan", "scan"]
