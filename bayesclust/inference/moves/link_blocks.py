"""Moves of whole groups that answers hold together: Swendsen and Wang's bonds on the links.

Strong links freeze a group, since no member can leave alone. An answer about a pair that favours
"same", with delta = log p(s | same) - log p(s | different) > 0 (a may-link, as long as p + q > 1),
is split as

    p(s | pattern) = p(s | different) (1 + 1[same] (exp(delta) - 1))

and a pair that sits together is bonded with probability 1 - exp(-delta) (for a may-link 1 - (1 - q)
/ p). Given the bonds, connected components move whole, and every such answer drops out of the
conditional. Component c of m items, taken out:

    log w_k   = log W(n_k + m) / W(n_k) + log m(x_k u x_c) / m(x_k) + the other answers with c in k
    log w_new = log V(n, K + 1) / V(n, K) + log W(m) + log m(x_c)

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
from bayesclust.inference.assignment import (
    Assignment,
    Target,
    close_slot,
    draw_index,
    members,
    shuffle,
    sort_by_group,
    use_slot,
)
from bayesclust.inference.chain import Move, MoveSchedule, State


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
        i = sites.member[f, 0]
        j = sites.member[f, 1]
        delta = table[sites.code[f], 0] - table[sites.code[f], 1]
        if delta > 0 and z[i] == z[j] and rng.random() < -math.expm1(-delta):
            parent[find_root(parent, i)] = find_root(parent, j)
    for i in range(len(z)):
        parent[i] = find_root(parent, i)
    return parent


@device(fastmath=FAST)
def rebuild(state: Any, assignment: Assignment, k: int) -> None:
    """Recompute a cluster from its items."""
    set_items(state, members(assignment, k, k), k)
    derive(state, k)


@device(fastmath=FAST)
def _move_block(target: Target, items: NDArray[np.int64], rng: Generator) -> bool:
    """Draw a cluster for one block; returns whether it moved."""
    state, assignment, sites, table, prior = target
    z = assignment.z
    m = len(items)
    old = assignment.z[items[0]]
    empty = len(state.count) - 1
    z[items] = UNPLACED
    alone = state.count[old] == m
    if alone:
        close_slot(assignment, old)
    elif state.count[old] > 2 * m:
        for i in items:
            remove_item(state, i, old)
    else:
        rebuild(state, assignment, old)
    number = assignment.number[0]
    block = assignment.slots[number]
    set_items(state, items, block)
    logits = np.zeros(number + 1)
    site = np.zeros(len(assignment.slots))
    add_block_logits(sites, table, z, items, True, site)
    for a in range(number + 1):  # the last is a cluster of its own
        k = assignment.slots[a] if a < number else empty
        logits[a] = log_marginal_joined(state, k, block, items) - log_marginal(state, k)
        if a < number:
            n = state.count[k]
            logits[a] += prior.log_w[n + m] - prior.log_w[n] + site[k]
        else:
            logits[a] += prior.log_open[number] + prior.log_w[m]
    choice = draw_index(logits, number + 1, rng)
    k = assignment.slots[choice]
    z[items] = k
    if choice < number and state.count[k] > m:
        for i in items:
            add_item(state, i, k)
    else:
        rebuild(state, assignment, k)
    if choice == number:
        use_slot(assignment, k)
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
    blocks = np.zeros(len(z), np.int64)
    number = 0
    for r in range(len(z)):
        if start[r + 1] - start[r] > 1:
            blocks[number] = r
            number += 1
    shuffle(blocks[:number], rng)
    begin = np.zeros(number, np.int64)
    end = np.zeros(number, np.int64)
    for b in range(number):
        begin[b] = start[blocks[b]]
        end[b] = start[blocks[b] + 1]
    return Blocks(items, begin, end)


NOT_DRAWN = Blocks(*(np.zeros(0, np.int64) for _ in range(3)))
"""What `move_blocks` takes to draw them itself."""


@kernel(fastmath=FAST)
def move_blocks(
    target: Target,
    blocks: Blocks,
    first: int,
    moved: NDArray[np.int64],
    rng: Generator,
) -> tuple[int, Blocks]:
    """Draw a cluster for every block from number `first` on; blocks without items are drawn first.

    Returns where it stopped, the number of blocks unless all slots were in use, and the blocks.
    """
    _, assignment, sites, table, _ = target
    if len(blocks.items) == 0:
        blocks = draw_blocks(sites, table, assignment.z, rng)
    for block in range(first, len(blocks.begin)):
        if assignment.number[0] == len(assignment.slots):
            return block, blocks
        items = blocks.items[blocks.begin[block] : blocks.end[block]]
        moved[0] += _move_block(target, items, rng)
    return len(blocks.begin), blocks


class LinkBlocks(Move):
    """Passes over the groups that bonds make, as often as the schedule says."""

    def __init__(self, schedule: MoveSchedule) -> None:
        self.schedule = schedule
        self.share_moved = np.nan

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        self.share_moved = np.nan
        passes = self.schedule.block_passes(state.rng, adapt=adapt) if len(state.sites.code) else 0
        for _ in range(passes):
            moved, number = self.run(state)
            if adapt and not freeze_noise:
                self.schedule.record_blocks(moved, number)

    def run(self, state: State) -> tuple[int, int]:
        """One pass; returns how many blocks moved, and how many there were."""
        blocks = NOT_DRAWN
        position = 0
        moved = np.zeros(1, np.int64)
        while blocks is NOT_DRAWN or position < len(blocks.begin):
            state.make_room(1)
            position, blocks = move_blocks(state.target, blocks, position, moved, state.rng)
        number = len(blocks.begin)
        self.share_moved = moved[0] / number if number else np.nan
        return int(moved[0]), number

    def statistics(self, state: State) -> dict[str, float]:
        return {"blocks_moved": self.share_moved}

    def snapshot(self) -> dict[str, Any]:
        return self.schedule.snapshot()

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.schedule.restore(snapshot)
