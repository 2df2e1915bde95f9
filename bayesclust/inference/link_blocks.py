"""Moves of whole groups that answers hold together: Swendsen and Wang's bonds on the links.

Strong links freeze a group, since no member can leave alone. An answer about a pair that favours
"same", with delta = log p(s | same) - log p(s | different) > 0 (a may-link, as long as p + q > 1),
is split as

    p(s | pattern) = p(s | different) (1 + 1[same] (exp(delta) - 1))

and a pair that sits together is bonded with probability 1 - exp(-delta) (for a may-link 1 - (1 - q)
/ p). Given the bonds, connected components move whole, and every such answer drops out of the
conditional. Component c of m items, taken out:

    log w_k   = log Gamma(n_k + m) / Gamma(n_k) + log m(x_k u x_c) / m(x_k) + the other answers with c in k
    log w_new = log alpha + log Gamma(m) + log m(x_c)

Components of one item are left to the scan, which is a valid update of its own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_block_logits
from bayesclust.families.base import (
    add_item,
    derive,
    log_marginal,
    log_marginal_joined,
    remove_item,
    set_items,
)
from bayesclust.inference.seating import (
    Seating,
    close_slot,
    draw_index,
    members,
    shuffle,
    sort_by_group,
    use_slot,
)


@device(fastmath=FAST)
def find_root(parent: NDArray[np.int64], i: int) -> int:
    """Root of item i, halving the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@device(fastmath=FAST)
def draw_bonds(
    sites: Sites, table: NDArray[np.float64], z: NDArray[np.int64], rng: Generator
) -> NDArray[np.int64]:
    """Root of each item's component under freshly drawn bonds, shape (n,)."""
    parent = np.zeros(len(z), np.int64)
    for i in range(len(z)):
        parent[i] = i
    for f in range(len(sites.code)):
        if sites.member[f, 2] >= 0:
            continue
        i, j = sites.member[f, 0], sites.member[f, 1]
        delta = table[sites.code[f], 0] - table[sites.code[f], 1]
        if delta > 0 and z[i] == z[j] and rng.random() < -math.expm1(-delta):
            parent[find_root(parent, i)] = find_root(parent, j)
    for i in range(len(z)):
        parent[i] = find_root(parent, i)
    return parent


@device(fastmath=FAST)
def rebuild(state: Any, seating: Seating, k: int) -> None:
    """Recompute a cluster from its items."""
    set_items(state, members(seating, k, k), k)
    derive(state, k)


@device(fastmath=FAST, inline="always")
def _move_block(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    items: NDArray[np.int64],
    rng: Generator,
) -> bool:
    """Draw a cluster for one block; returns whether it moved."""
    z, m, old = seating.z, len(items), seating.z[items[0]]
    empty = len(state.count) - 1
    z[items] = UNPLACED
    alone = state.count[old] == m
    if alone:
        close_slot(seating, old)
    elif state.count[old] > 2 * m:
        for i in items:
            remove_item(state, i, old)
    else:
        rebuild(state, seating, old)
    number = seating.number[0]
    block = seating.slots[number]
    set_items(state, items, block)
    logits, site = np.zeros(number + 1, np.float64), np.zeros(len(seating.slots), np.float64)
    add_block_logits(sites, table, z, items, True, site)
    for a in range(number + 1):  # the last is a cluster of its own
        k = seating.slots[a] if a < number else empty
        n, grown = (
            state.count[k],
            log_marginal_joined(state, k, block, items) - log_marginal(state, k),
        )
        logits[a] = math.lgamma(n + m) + grown
        logits[a] += site[k] - math.lgamma(n) if a < number else log_alpha
    choice = draw_index(logits, number + 1, rng)
    k = seating.slots[choice]
    z[items] = k
    if choice < number and state.count[k] > m:
        for i in items:
            add_item(state, i, k)
    else:
        rebuild(state, seating, k)
    if choice == number:
        use_slot(seating, k)
    return bool(choice < number if alone else k != old)


class Blocks(NamedTuple):
    """Components of two items or more, in random order: block b is items[begin[b] : end[b]]."""

    items: NDArray[np.int64]  # (n,)
    begin: NDArray[np.int64]  # (B,)
    end: NDArray[np.int64]  # (B,)


@device(fastmath=FAST)
def draw_blocks(
    sites: Sites, table: NDArray[np.float64], z: NDArray[np.int64], rng: Generator
) -> Blocks:
    """Draw bonds and list the blocks they make."""
    items, start = sort_by_group(draw_bonds(sites, table, z, rng), len(z))
    blocks, number = np.zeros(len(z), np.int64), 0
    for r in range(len(z)):
        if start[r + 1] - start[r] > 1:
            blocks[number] = r
            number += 1
    shuffle(blocks[:number], rng)
    begin, end = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for b in range(number):
        begin[b], end[b] = start[blocks[b]], start[blocks[b] + 1]
    return Blocks(items, begin, end)


NOT_DRAWN = Blocks(*(np.zeros(0, np.int64) for _ in range(3)))
"""What `move_blocks` takes to draw them itself."""


@kernel(fastmath=FAST)
def move_blocks(
    state: Any,
    seating: Seating,
    sites: Sites,
    table: NDArray[np.float64],
    log_alpha: float,
    blocks: Blocks,
    first: int,
    moved: NDArray[np.int64],
    rng: Generator,
) -> tuple[int, Blocks]:
    """Draw a cluster for every block from number `first` on, one after another.

    Returns
    -------
    position : int
        The number of blocks, or the one at which all slots were in use: the caller makes room and
        calls again from there.
    blocks : Blocks
        Those given, or if there were no items in them, freshly drawn.
    """
    if len(blocks.items) == 0:
        blocks = draw_blocks(sites, table, seating.z, rng)
    for block in range(first, len(blocks.begin)):
        if seating.number[0] == len(seating.slots):
            return block, blocks
        items = blocks.items[blocks.begin[block] : blocks.end[block]]
        moved[0] += _move_block(state, seating, sites, table, log_alpha, items, rng)
    return len(blocks.begin), blocks
