"""One sweep of single-site updates: Neal's (2000) Algorithm 3 with side information.

TVClust Eq. 13 with the parameters integrated out. For item i, taken out of its cluster, with a
prior p(z) = V(n, K) prod_k W(n_k) over the partitions of all n items,

    log w_k   = log W(n_k + 1) / W(n_k)   + log p(x_i | cluster k without i) + site logits of k
    log w_new = log V(n, K + 1) / V(n, K) + log W(1) + log p(x_i)

(log n_k and log alpha for the Dirichlet process). The site logits are, for links, f log(p / (1-q))
+ s log((1-p) / q) with f and s the numbers of may-links and may-not-links from i into k. An item
alone in its cluster is taken out first, so that staying alone is "new", once.

`scan` serves every family. `scan_full` does the same for full covariances, near the speed of a
matrix product: with the quadratic forms q_ik = d_ik' P_k d_ik, d_ik = x_i - m_k, of a block of
items, the predictive of every cluster is O(1), and the one without item i follows:

    c = kappa_n / (kappa_n - 1):    q -> c^2 q / (1 - c q),    log|Psi| -> log|Psi| + log(1 - c q)

Only when an item moves do m_k and P_k change, along d and by a rank-one term in u = P_k d:

    m' = m - s d,  P' = P + beta u u',  w_j = u'(x_j - m):
    q'_j = q_j + 2 s w_j + s^2 q + beta (w_j + s q)^2

which updates the cached forms of the rest of the block in O(d) each. With a power, the ones in c, s
and beta become it. Exact; `scan` is its reference.

`take_out`, `weigh_options` and `place` are said for one level and for two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, generic, implements, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_set_logits, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.families.gaussian import FullState, write_direction
from bayesclust.inference.assignment import Target, close_slot, draw_index, open_slot
from bayesclust.inference.chain import SPARE_SLOTS, Move, State
from bayesclust.typing import FloatArray, IntArray

BLOCK = 64


@generic
def take_out(target: Any, i: int, alone: bool) -> None:
    """Take the label off item i, `alone` in its slot or not; the cluster's state stays."""


@generic
def weigh_options(
    target: Any, i: int, predictive: FloatArray, site: FloatArray, logits: FloatArray
) -> Any:
    """Write the logits of item i's options, slots in use first; returns how many there are."""
    # `predictive` (C + 1,) is log p(x_i | slot), last of a new one; `site` (C + 1,) stays zero.


@generic
def place(target: Any, i: int, choice: int, old: int, alone: bool) -> Any:
    """Give item i, `alone` in slot `old` or not, the label of an option; returns its slot."""


@implements(take_out, Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _take_out(target, i, alone):  # type: ignore[no-untyped-def]
    target.assignment.z[i] = UNPLACED


@implements(weigh_options, Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _weigh_options(target, i, predictive, site, logits):  # type: ignore[no-untyped-def]
    state, assignment, sites, table, prior = target
    number = assignment.number[0]
    emptied = 0
    add_site_logits(sites, table, assignment.z, i, site)
    add_set_logits(sites, table, assignment.z, i, site)
    for a in range(number):
        k = assignment.slots[a]
        if state.count[k] == 0:
            emptied = 1
            logits[a] = -math.inf
        else:
            logits[a] = prior.log_join[state.count[k]] + predictive[k] + site[k]
        site[k] = 0.0
    logits[number] = prior.log_open[number - emptied] + predictive[len(predictive) - 1]
    return number + 1


@implements(place, Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _place(target, i, choice, old, alone):  # type: ignore[no-untyped-def]
    assignment = target.assignment
    if choice < assignment.number[0]:
        k = assignment.slots[choice]
        if alone:
            close_slot(assignment, old)
    else:
        k = old if alone else open_slot(assignment)
    assignment.z[i] = k
    return k


@kernel(fastmath=FAST)
def scan(target: Any, order: IntArray, first: int, moved: IntArray, rng: Generator) -> int:
    """Update the items order[first:]; returns where all slots were in use, or len(order)."""
    state = target.state
    assignment = target.assignment
    empty = len(state.count) - 1
    site = np.zeros(empty + 1)
    predictive = np.zeros(empty + 1)
    logits = np.zeros(2 * empty + 1)
    for position in range(first, len(order)):
        if assignment.number[0] == empty:
            return position
        i = order[position]
        old = assignment.z[i]
        alone = state.count[old] == 1
        take_out(target, i, alone)
        remove_item(state, i, old)
        number = assignment.number[0]
        for a in range(number):
            k = assignment.slots[a]
            if state.count[k] > 0:
                predictive[k] = log_predictive(state, i, k)
        predictive[empty] = log_predictive(state, i, empty)
        options = weigh_options(target, i, predictive, site, logits)
        choice = draw_index(logits, options, rng)
        k = place(target, i, choice, old, alone)
        if choice >= number:
            clear_cluster(state, k)
        add_item(state, i, k)
        moved[0] += k != old
    return len(order)


@device(fastmath=FAST)
def quadratic_forms(state: FullState, k: int, rows: FloatArray, out: FloatArray) -> None:
    """Write (x - m_k)' P_k (x - m_k) of every row."""
    difference = np.zeros(rows.shape)
    mean = state.mean[k]
    for j in range(len(rows)):
        for a in range(len(mean)):
            difference[j, a] = rows[j, a] - mean[a]
    product = np.dot(difference, state.precision[k])
    for j in range(len(rows)):
        form = 0.0
        for a in range(len(mean)):
            form += product[j, a] * difference[j, a]
        out[j] = form


@device(fastmath=FAST, no_refcount=True)
def update_forms(
    state: FullState, i: int, k: int, sign: float, rows: FloatArray, forms: FloatArray
) -> None:
    """Update the forms of `rows` before item i joins (sign = 1) or leaves (-1) slot k."""
    d = state.X.shape[1]
    power = state.power[0]
    u = state.work
    kappa = state.kappa0[0] + power * state.count[k]
    q = write_direction(state, i, k)
    offset = 0.0
    for a in range(d):
        offset += u[a] * state.mean[k, a]
    shift = -sign * power / (kappa + sign * power)
    g = power * kappa / (kappa + sign * power)
    beta = -sign * g / (1.0 + sign * g * q)
    for j in range(len(rows)):
        w = -offset
        for a in range(d):
            w += rows[j, a] * u[a]
        forms[j] += 2.0 * shift * w + shift * shift * q + beta * (w + shift * q) ** 2


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def predictive_by_form(state: FullState, k: int, form: float, own: bool) -> float:
    """log p(x | cluster k without x) of an item with this form; `own`: one of several in k."""
    kappa0 = state.kappa0[0]
    nu0 = state.nu0[0]
    power = state.power[0]
    n = state.count[k]
    q = form
    logdet = state.logdet[k]
    if own:
        kappa = kappa0 + power * n
        c = kappa / (kappa - power)
        left = 1.0 - power * c * q
        logdet += math.log(left)
        q = c * c * q / left
        n -= 1
    mass = power * n
    kappa = kappa0 + mass
    tail = math.log1p(q * power * kappa / (kappa + power))
    return float(state.constant[n] - 0.5 * power * logdet - 0.5 * (nu0 + mass + power) * tail)


@device(fastmath=FAST, no_refcount=True)
def _transfer(
    state: FullState, i: int, old: int, k: int, rows: FloatArray, forms: FloatArray, done: int
) -> None:
    """Move item i from slot `old` to slot k, and update the forms of the rows from `done` on."""
    later = rows[done:]
    end = len(rows)
    if state.count[old] == 1:
        state.count[old] = 0
    else:
        update_forms(state, i, old, -1.0, later, forms[old, done:end])
        remove_item(state, i, old)
    update_forms(state, i, k, 1.0, later, forms[k, done:end])
    add_item(state, i, k)


@kernel(fastmath=FAST)
def scan_full(target: Any, order: IntArray, first: int, moved: IntArray, rng: Generator) -> int:
    """Update the items order[first:], as `scan`."""
    state = target.state
    assignment = target.assignment
    empty = len(state.count) - 1
    n = len(order)
    site = np.zeros(empty + 1)
    predictive = np.zeros(empty + 1)
    logits = np.zeros(2 * empty + 1)
    forms = np.zeros((empty + 1, BLOCK))
    for begin in range(first, n, BLOCK):
        rows = state.X[order[begin : min(begin + BLOCK, n)]]
        for a in range(assignment.number[0] + 1):
            k = assignment.slots[a] if a < assignment.number[0] else empty
            quadratic_forms(state, k, rows, forms[k])
        for j in range(len(rows)):
            if assignment.number[0] == empty:
                return begin + j
            i = order[begin + j]
            old = assignment.z[i]
            alone = state.count[old] == 1
            take_out(target, i, alone)
            number = assignment.number[0]
            for a in range(number):
                k = assignment.slots[a]
                if k != old or not alone:
                    predictive[k] = predictive_by_form(state, k, forms[k, j], k == old)
            predictive[empty] = predictive_by_form(state, empty, forms[empty, j], False)
            state.count[old] -= 1
            options = weigh_options(target, i, predictive, site, logits)
            state.count[old] += 1
            choice = draw_index(logits, options, rng)
            k = place(target, i, choice, old, alone)
            if k == old:
                continue
            moved[0] += 1
            if choice >= number:
                clear_cluster(state, k)
                for later in range(j + 1, len(rows)):
                    forms[k, later] = forms[empty, later]
            _transfer(state, i, old, k, rows, forms, j + 1)
    return n


class Scan(Move):
    """A pass over all items in random order, by the family's fast kernel if `fast`."""

    def __init__(self, *, fast: bool = True, kernel: Any = scan) -> None:
        self.kernel = kernel
        self.fast = fast
        self.moved = np.zeros(1, np.int64)

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.make_room(SPARE_SLOTS)
        run = scan_full if self.fast and isinstance(state.clusters, FullState) else self.kernel
        order = state.rng.permutation(state.n_items)
        position = 0
        self.moved[0] = 0
        while position < len(order):
            position = run(state.target, order, position, self.moved, state.uniforms)
            state.make_room(1)

    def statistics(self, state: State) -> dict[str, float]:
        return {"moved": self.moved[0] / state.n_items}
