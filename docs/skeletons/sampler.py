"""A sampler: Metropolis proposals from the Chinese restaurant, whose cost does not grow with the number of clusters.

The collapsed scan asks for the predictive of every item in every cluster. Here an item, taken out
of its cluster, draws one other place as a guest would who has not seen the data, a random other
item's cluster or, with the weight alpha, a new one, and goes there with probability

    min(1, p(x_i | proposed) p(answers | proposed) / (p(x_i | present) p(answers | present)))

(Neal 2000, Algorithm 5, with the parameters integrated out and the answers of TVClust Eq. 13). Two
predictives an item, for any number of clusters; the price is that most proposals are refused where
clusters are far apart.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.seating import Seating, close_slot, open_slot
from bayesclust.typing import FloatArray, IntArray


@kernel(fastmath=FAST)
def metropolis_scan(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: FloatArray,
    log_alpha: float,
    order: IntArray,
    first: int,
    moved: IntArray,
    rng: Generator,
) -> int:
    """One proposal for each of the items order[first:]; returns the position at which all slots were in use, or the end."""
    z, empty, alpha = seating.z, len(state.count) - 1, math.exp(log_alpha)
    site = np.zeros(empty + 1)
    for position in range(first, len(order)):
        if seating.number[0] == empty:
            return position
        i = order[position]
        old = z[i]
        alone = state.count[old] == 1
        guest = rng.random() * (len(z) - 1 + alpha)
        proposed = empty
        if guest < len(z) - 1:
            other = int(guest)
            proposed = z[other + 1 if other >= i else other]
        if proposed == old or (alone and proposed == empty):
            continue
        z[i] = UNPLACED
        remove_item(state, i, old)
        site[:] = 0.0
        add_site_logits(sites, table, z, i, site)
        present = empty if alone else old
        gain = (
            log_predictive(state, i, proposed)
            + site[proposed]
            - log_predictive(state, i, present)
            - site[present]
        )
        k = old
        if math.log(1.0 - rng.random()) < gain:
            moved[0] += 1
            if alone:
                close_slot(seating, old)
            k = proposed
            if proposed == empty:
                k = open_slot(seating)
                clear_cluster(state, k)  # a free slot holds what was last tried there
        elif alone:
            clear_cluster(state, old)
        z[i] = k
        add_item(state, i, k)
    return len(order)


class MetropolisChain(CollapsedChain):
    """One chain: ``bc.TVClust(MetropolisChain)``.

    All but the scan is that of the collapsed sampler: split-merge proposals, link blocks, the base
    measure, concentration and noise. State and random generator being where they were, `snapshot`
    and `restore` serve too.
    """

    def _scan(self) -> None:
        order = self.rng.permutation(self.problem.n_items)
        position, self.moved[0] = 0, 0
        while position < len(order):
            position = metropolis_scan(
                self.state,
                self.seating,
                self.sites,
                self.table,
                self.log_alpha,
                order,
                position,
                self.moved,
                self.rng,
            )
            self._make_room(1)
