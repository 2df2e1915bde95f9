"""A sampler: Metropolis proposals from the prior, at a cost that does not grow with K.

The collapsed scan asks for the predictive of every item in every cluster. Here an item, taken out
of its cluster, draws one other place from the prior over partitions, as if there were no data: a
cluster of m items with the weight W(m + 1) / W(m), or a new one. It goes there with probability

    min(1, p(x_i | proposed) p(answers | proposed) / (p(x_i | present) p(answers | present)))

(Neal 2000, Algorithm 5, with the parameters integrated out and the answers of TVClust Eq. 13). Two
predictives an item, for any number of clusters; many proposals are refused where clusters are far
apart. A sampler is a function that makes a chain: a state and a list of moves.
"""

import math

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.assignment import Target, close_slot, draw_index, open_slot
from bayesclust.inference.chain import Chain, Moves, Refresh, State, TVClustProblem
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.samplers import group_moves, parameter_moves
from bayesclust.typing import IntArray


@kernel(fastmath=FAST)
def metropolis_scan(
    target: Target, order: IntArray, first: int, moved: IntArray, rng: Generator
) -> int:
    """One proposal for each of order[first:]; returns where all slots were in use, or the end."""
    state, assignment, sites, table, prior = target
    z, empty = assignment.z, len(state.count) - 1
    site, weights = np.zeros(empty + 1), np.zeros(empty + 1)
    for position in range(first, len(order)):
        number = assignment.number[0]
        if number == empty:
            return position
        i = order[position]
        old = z[i]
        alone = state.count[old] == 1
        for a in range(number):
            k = assignment.slots[a]
            weights[a] = prior.log_join[state.count[k] - (k == old)]
            if k == old and alone:
                weights[a] = -math.inf
        weights[number] = prior.log_open[number - alone]
        choice = draw_index(weights, number + 1, rng)
        proposed = empty if choice == number else assignment.slots[choice]
        if proposed == old or (alone and proposed == empty):
            continue
        z[i] = UNPLACED
        remove_item(state, i, old)
        site[:] = 0.0
        add_site_logits(sites, table, z, i, site)
        present = empty if alone else old
        gain = log_predictive(state, i, proposed) - log_predictive(state, i, present)
        gain += site[proposed] - site[present]
        k = old
        if math.log(1.0 - rng.random()) < gain:
            moved[0] += 1
            if alone:
                close_slot(assignment, old)
            k = proposed
            if proposed == empty:
                k = open_slot(assignment)
                clear_cluster(state, k)  # a free slot holds what was last tried there
        elif alone:
            clear_cluster(state, old)
        z[i] = k
        add_item(state, i, k)
    return len(order)


def metropolis_chain(problem: TVClustProblem, z: IntArray, rng: Generator, moves: Moves) -> Chain:
    """One chain: ``bc.TVClust(metropolis_chain)``, collapsed but for the scan."""
    scan = Scan(kernel=metropolis_scan, fast=False)
    groups, others = group_moves(moves), parameter_moves(problem)
    return Chain(State(problem, z, rng), [Refresh(), scan, *groups, *others])
