"""The same sweep as `scan`, for full covariances, near the speed of a matrix product.

A collapsed scan need not touch a cluster's matrices when an item stays where it is. With d_ik =
x_i - m_k and the quadratic forms q_ik = d_ik' P_k d_ik of a block of items computed by matrix
products, the predictive of every cluster is O(1), and the one without item i follows from the one
with it:

    c = kappa_n / (kappa_n - 1):    q -> c^2 q / (1 - c q),    log|Psi| -> log|Psi| + log(1 - c q)

Only when an item moves do m_k and P_k change, by a shift of the mean along d and a rank-one term in
u = P_k d:

    m' = m - s d,  P' = P + beta u u',  w_j = u'(x_j - m):    q'_j = q_j + 2 s w_j + s^2 q + beta (w_j + s q)^2

which updates the cached forms of the rest of the block in O(d) each. With a power, the ones in c, s
and beta become it. Exact; `scan` is its reference.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, add_site_logits
from bayesclust.families.base import add_item, clear_cluster, remove_item
from bayesclust.families.gaussian import FullState, write_direction
from bayesclust.inference.assignment import (
    Assignment,
    Target,
    close_slot,
    draw_index,
    open_slot,
)

BLOCK = 64


@device(fastmath=FAST)
def quadratic_forms(
    state: FullState, k: int, rows: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write (x - m_k)' P_k (x - m_k) of every row."""
    difference, mean = np.zeros(rows.shape), state.mean[k]
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
    state: FullState,
    i: int,
    k: int,
    sign: float,
    rows: NDArray[np.float64],
    forms: NDArray[np.float64],
) -> None:
    """Update the forms of `rows` for item i joining (sign = 1) or leaving (-1) slot k, before it does so."""
    d, power, u = state.X.shape[1], state.power[0], state.work
    kappa = state.kappa0[0] + power * state.count[k]
    q, offset = write_direction(state, i, k), 0.0
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
    """log p(x | cluster k without x) of an item with this form; `own`: it is one of k's several items."""
    kappa0, nu0, power = state.kappa0[0], state.nu0[0], state.power[0]
    n, q, logdet = state.count[k], form, state.logdet[k]
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
def _block_logits(
    state: FullState,
    assignment: Assignment,
    forms: NDArray[np.float64],
    log_join: NDArray[np.float64],
    site: NDArray[np.float64],
    old: int,
    logits: NDArray[np.float64],
) -> int:
    """Fill the logits of the clusters in use for an item of slot `old`; returns the position of `old`."""
    own = 0
    for a in range(assignment.number[0]):
        k = assignment.slots[a]
        if k == old:
            own = a
            if state.count[k] == 1:
                site[k] = 0.0
                logits[a] = -np.inf
                continue
        predictive = predictive_by_form(state, k, forms[k], k == old)
        logits[a] = log_join[state.count[k] - (k == old)] + predictive + site[k]
        site[k] = 0.0
    return own


@device(fastmath=FAST, no_refcount=True)
def transfer(
    state: FullState,
    i: int,
    old: int,
    k: int,
    rows: NDArray[np.float64],
    forms: NDArray[np.float64],
    done: int,
) -> None:
    """Move item i from slot `old` to slot k, and update the forms of the rows of the block that are not done."""
    later, end = rows[done:], len(rows)
    if state.count[old] == 1:
        state.count[old] = 0
    else:
        update_forms(state, i, old, -1.0, later, forms[old, done:end])
        remove_item(state, i, old)
    update_forms(state, i, k, 1.0, later, forms[k, done:end])
    add_item(state, i, k)


@kernel(fastmath=FAST)
def scan_full(
    target: Target, order: NDArray[np.int64], first: int, moved: NDArray[np.int64], rng: Generator
) -> int:
    """Update the items order[first:], as `bayesclust.inference.moves.scan.scan`."""
    state, assignment, sites, table, prior = target
    z, empty, n, nu0 = assignment.z, len(state.count) - 1, len(order), state.nu0[0]
    logits, site = np.zeros(empty + 1), np.zeros(empty + 1)
    forms = np.zeros((empty + 1, BLOCK))
    power = state.power[0]
    prior_kappa = power * state.kappa0[0] / (state.kappa0[0] + power)
    prior_constant = state.constant[0] - 0.5 * power * state.logdet[empty]
    for begin in range(first, n, BLOCK):
        rows = state.X[order[begin : min(begin + BLOCK, n)]]
        for a in range(assignment.number[0] + 1):
            k = assignment.slots[a] if a < assignment.number[0] else empty
            quadratic_forms(state, k, rows, forms[k])
        for j in range(len(rows)):
            number = assignment.number[0]
            if number == empty:
                return begin + j
            i = order[begin + j]
            old = z[i]
            alone = state.count[old] == 1
            z[i] = UNPLACED
            add_site_logits(sites, table, z, i, site)
            own = _block_logits(state, assignment, forms[:, j], prior.log_join, site, old, logits)
            tail = math.log1p(forms[empty, j] * prior_kappa)
            logits[number] = (
                prior.log_open[number - alone] + prior_constant - 0.5 * (nu0 + power) * tail
            )
            choice = draw_index(logits, number + 1, rng)
            if (alone and choice == number) or (not alone and choice == own):
                z[i] = old
                continue
            moved[0] += 1
            if choice == number:
                k = open_slot(assignment)
                clear_cluster(state, k)
                for later in range(j + 1, len(rows)):
                    forms[k, later] = forms[empty, later]
            else:
                k = assignment.slots[choice]
            if alone:
                close_slot(assignment, old)
            transfer(state, i, old, k, rows, forms, j + 1)
            z[i] = k
    return n
