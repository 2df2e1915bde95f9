"""Moves of whole groups that answers hold together: Swendsen and Wang's bonds on the links.

Strong links freeze a group, since no member can leave alone. An answer about a pair that favours
"same", with delta = log p(s | same) - log p(s | different) > 0 (a may-link, as long as p + q > 1),
is split as

    p(s | pattern) = p(s | different) (1 + 1[same] (exp(delta) - 1))

and a pair that sits together is bonded with probability 1 - exp(-delta) (for a may-link 1 - (1 - q)
/ p). Given the bonds, connected components move whole, and every such answer drops out of the
conditional. Component c of m > 1 items, taken out:

    log w_k   = log W(n_k + m) / W(n_k) + log m(x_k u x_c) / m(x_k) + the other answers with c in k
    log w_new = log V(n, K + 1) / V(n, K) + log W(m) + log m(x_c)

A pass over the blocks costs several scans. Its rate follows the share of blocks that moved in the
second half of the warm-up, and stays from the first draw on: all come from one transition kernel.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, generic, implements, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_block_logits
from bayesclust.families import base
from bayesclust.inference import assignment as partition
from bayesclust.inference.chain import Move, State
from bayesclust.typing import FloatArray, IntArray

WORTHWHILE = 0.01  # share of blocks moved above which every sweep passes over them
LEAST_RATE = 0.1  # passes per sweep where none has moved: the warm-up may have been too short


@device(fastmath=FAST)
def find_root(parent: IntArray, i: int) -> int:
    """Root of item i, halving the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@device(fastmath=FAST)
def draw_bonds(sites: Sites, table: FloatArray, z: IntArray, rng: Generator) -> IntArray:
    """Root of each item's component under freshly drawn bonds, shape (n,)."""
    parent = np.arange(len(z))
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
def rebuild(state: Any, assignment: partition.Assignment, k: int) -> None:
    """Recompute a cluster from its items."""
    base.set_items(state, partition.members(assignment, k, k), k)
    base.derive(state, k)


@generic
def lift_block(target: Any, items: IntArray, old: int, block: int, alone: bool) -> None:
    """Take the weights of items out of slot `old` into the free slot `block`, the same if alone."""


@generic
def weigh_block(target: Any, k: int, block: int, number: int) -> Any:
    """log prior weight of what slot `block` holds in slot k, or in one more than `number` alone."""


@generic
def put_block(target: Any, k: int, block: int) -> None:
    """Put the weights of slot `block` to those of slot k, or leave them there."""


@implements(lift_block, partition.Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _lift_block(target, items, old, block, alone):  # type: ignore[no-untyped-def]
    pass


@implements(weigh_block, partition.Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _weigh_block(target, k, block, number):  # type: ignore[no-untyped-def]
    prior = target.prior
    m = target.state.count[block]
    if k == block:
        return prior.log_open[number] + prior.log_w[m]
    n = target.state.count[k]
    return prior.log_w[n + m] - prior.log_w[n]


@implements(put_block, partition.Target, fastmath=FAST, forceinline=True, no_refcount=True)
def _put_block(target, k, block):  # type: ignore[no-untyped-def]
    pass


@device(fastmath=FAST)
def _move_block(target: Any, items: IntArray, rng: Generator) -> bool:
    """Draw a cluster for one block; returns whether it moved."""
    state = target.state
    assignment = target.assignment
    z = assignment.z
    m = len(items)
    old = assignment.z[items[0]]
    empty = len(state.count) - 1
    z[items] = UNPLACED
    alone = state.count[old] == m
    if alone:
        partition.close_slot(assignment, old)
    elif state.count[old] > 2 * m:
        for i in items:
            base.remove_item(state, i, old)
    else:
        rebuild(state, assignment, old)
    number = assignment.number[0]
    block = assignment.slots[number]
    base.set_items(state, items, block)
    lift_block(target, items, old, block, alone)
    logits = np.zeros(number + 1)
    site = np.zeros(len(assignment.slots))
    add_block_logits(target.sites, target.table, z, items, True, site)
    site[block] = 0.0
    for a in range(number + 1):  # the last is a cluster of its own
        k = assignment.slots[a]
        logits[a] = weigh_block(target, k, block, number) + site[k]
        if a == number:
            k = empty
        logits[a] += base.log_marginal_joined(state, k, block, items) - base.log_marginal(state, k)
    choice = partition.draw_index(logits, number + 1, rng)
    k = assignment.slots[choice]
    z[items] = k
    put_block(target, k, block)
    if choice < number and state.count[k] > m:
        for i in items:
            base.add_item(state, i, k)
    else:
        rebuild(state, assignment, k)
    if choice == number:
        partition.use_slot(assignment, k)
    return bool(choice < number if alone else k != old)


class Blocks(NamedTuple):
    """Components under bonds; those of two items or more, in random order, have roots `order`."""

    items: IntArray  # (n,) by component
    start: IntArray  # (n + 1,) that of root r is items[start[r] : start[r + 1]]
    order: IntArray  # (B,)


@kernel(fastmath=FAST)
def draw_blocks(sites: Sites, table: FloatArray, z: IntArray, rng: Generator) -> Blocks:
    """Draw bonds and list the blocks they make."""
    items, start = partition.sort_by_group(draw_bonds(sites, table, z, rng), len(z))
    roots = np.zeros(len(z), np.int64)
    number = 0
    for r in range(len(z)):
        if start[r + 1] - start[r] > 1:
            roots[number] = r
            number += 1
    order = roots[:number]
    partition.shuffle(order, rng)
    return Blocks(items, start, order)


@kernel(fastmath=FAST)
def move_blocks(target: Any, blocks: Blocks, first: int, moved: IntArray, rng: Generator) -> int:
    """Draw a cluster for every block from number `first` on; returns where slots ran out."""
    assignment = target.assignment
    for block in range(first, len(blocks.order)):
        if assignment.number[0] == len(assignment.slots):
            return block
        root = blocks.order[block]
        items = blocks.items[blocks.start[root] : blocks.start[root + 1]]
        moved[0] += _move_block(target, items, rng)
    return len(blocks.order)


class LinkBlocks(Move):
    """Passes over the groups that bonds make, as often as the warm-up showed them to move items."""

    learned = ("block_rate", "learning", "blocks", "moved")

    def __init__(self) -> None:
        self.block_rate = 1.0
        self.learning = False
        self.blocks = 0
        self.moved = 0
        self.share_moved = np.nan

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        self.share_moved = np.nan
        if not len(state.sites.code) or not self.due(state.rng, adapt=adapt):
            return
        moved, number = self.run(state)
        self.share_moved = moved / number if number else np.nan
        if adapt and not freeze_noise:  # the part of the warm-up that resembles the draws
            self.learning = True
            self.blocks += number
            self.moved += moved

    def due(self, rng: Generator, *, adapt: bool) -> bool:
        """Whether to make a pass in this sweep."""
        if self.learning and not adapt:
            share = self.moved / self.blocks if self.blocks else 0.0
            self.block_rate = min(1.0, max(LEAST_RATE, share / WORTHWHILE))
            self.learning = False
        return adapt or self.block_rate == 1.0 or rng.random() < self.block_rate

    def run(self, state: State) -> tuple[int, int]:
        """One pass; returns how many blocks moved, and how many there were."""
        blocks = draw_blocks(state.sites, state.table, state.assignment.z, state.uniforms)
        position = 0
        moved = np.zeros(1, np.int64)
        while position < len(blocks.order):
            state.make_room(1)
            position = move_blocks(state.target, blocks, position, moved, state.uniforms)
        return int(moved[0]), len(blocks.order)

    def statistics(self, state: State) -> dict[str, float]:
        return {"blocks_moved": self.share_moved}
