"""Blocks of items, and the answers that touch each block.

Items without answers lie in blocks in their own order, the others in blocks of one colour of the
constraint graph: within a block no label depends on another. Every block is cut across the devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import Sites, compile_sites, greedy_coloring
from bayesclust.typing import BoolArray, IntArray, NDArray

AXIS = "item"
P: Any = jax.sharding.PartitionSpec  # it has no types
BY_BLOCK = P(AXIS)
BY_ITEM = P(None, AXIS)
EVERYWHERE = P()


def place(mesh: Mesh, array: NDArray[Any], spec: Any) -> jax.Array:
    """Lay an array out over the mesh; every process reads its own parts of it."""
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh, spec), array.__getitem__)


def place_rows(mesh: Mesh, rows: NDArray[Any], items: IntArray, spec: Any) -> jax.Array:
    """Put the rows of items in the items' places; empty places get the row of the first item."""
    within = np.where(items < len(rows), items, 0)

    def part(index: Any) -> Any:
        return rows[within[index[:2]]]

    return jax.make_array_from_callback(
        (*items.shape, *rows.shape[1:]), NamedSharding(mesh, spec), part
    )


BLOCKS_PER_COLOUR = 4
LARGEST_SLICE = 16_384

# columns of the table of an answer, if item c of a triplet joins its left, its right, or neither
WITH_LEFT = (1, 1, 2)
WITH_RIGHT = (2, 3, 3)
APART = (3, 2, 1)


class Incidences(NamedTuple):
    """The answers about the items of each block, devices first."""

    # an answer about a pair is one about a triplet whose other two items are one and the same

    start: Any  # (devices, blocks + 1) where a block's incidences begin
    row: Any  # (devices, E) the item, as a row of its block
    left: Any  # (devices, E) the other items, as places among those with answers
    right: Any
    code: Any  # (devices, E) row of the table of answers
    with_left: Any  # (devices, E) its columns
    with_right: Any
    apart: Any


class Layout(NamedTuple):
    """Items by place; an empty place has the number of items."""

    free: IntArray  # (devices * blocks, size)
    answered: IntArray  # (blocks, devices * size)
    incidences: Incidences
    slice: int


def make_layout(
    constraints: Sequence[Constraints], n_items: int, n_devices: int, block_size: int
) -> Layout:
    """Lay the items out."""
    sites = compile_sites(constraints, n_items)
    touched = np.diff(sites.start) > 0
    for one in constraints:
        touched[one.items] = True
    free = _fill(np.flatnonzero(~touched), n_devices, block_size, n_items)
    answered = _by_colour(greedy_coloring(constraints, n_items), touched, n_devices, block_size)
    return Layout(free, answered, *_incidences(sites, answered, n_devices))


def _fill(items: IntArray, multiple: int, size: int, n_items: int) -> IntArray:
    """Items in blocks of at most `size`, in number a multiple, filled up with `n_items`."""
    size = max(min(size, -(-len(items) // multiple)), 1)
    blocks = max(-(-len(items) // (multiple * size)), 1) * multiple
    filled = np.full(blocks * size, n_items, np.int64)
    filled[: len(items)] = items
    return filled.reshape(blocks, size)


def _by_colour(color: IntArray, touched: BoolArray, n_devices: int, block_size: int) -> IntArray:
    n_items = len(color)
    items = np.flatnonzero(touched)
    groups = [items[color[items] == c] for c in range(int(color[items].max(initial=-1)) + 1)]
    groups = [group for group in groups if len(group)]
    share = -(-len(items) // (BLOCKS_PER_COLOUR * max(len(groups), 1) * n_devices))
    width = max(min(share, block_size), 1) * n_devices
    blocks = [np.zeros((0, width), np.int64)]
    for group in groups:
        filled = np.full(-(-len(group) // width) * width, n_items, np.int64)
        filled[: len(group)] = group
        blocks.append(filled.reshape(-1, width))
    return np.concatenate(blocks)


def _incidences(sites: Sites, answered: IntArray, n_devices: int) -> tuple[Incidences, int]:
    number, width = answered.shape
    place = np.full(len(sites.start) - 1, -1, np.int64)
    taken = answered.ravel() < len(place)
    place[answered.ravel()[taken]] = np.flatnonzero(taken)
    at, *columns = _from_each_side(sites, place)
    block, within = np.divmod(at, max(width, 1))
    device, row = np.divmod(within, max(width // n_devices, 1))
    order = np.lexsort((row, block, device))
    # where each block of each device begins, and the end
    bounds = np.searchsorted((device * number + block)[order], np.arange(n_devices * number + 1))
    first = bounds[np.arange(n_devices + 1) * number]
    step = min(int(np.diff(bounds).max(initial=1)), LARGEST_SLICE)
    capacity = int(np.diff(first).max()) + step
    cut = [np.zeros((n_devices, capacity), np.int32) for _ in range(7)]
    for array, column in zip(cut, [row, *columns], strict=True):
        for d in range(n_devices):
            array[d, : first[d + 1] - first[d]] = column[order[first[d] : first[d + 1]]]
    start = np.stack(
        [bounds[d * number : (d + 1) * number + 1] - first[d] for d in range(n_devices)]
    )
    return Incidences(start.astype(np.int32), *cut), step


def _from_each_side(sites: Sites, place: IntArray) -> list[IntArray]:
    """Every answer for each of its items: item, left, right, code, with_left, with_right, apart."""
    sides = []
    for c in range(3):
        f = np.flatnonzero(sites.member[:, c] >= 0)
        members = sites.member[f]
        pair = members[:, 2] < 0
        left, right = np.delete(members, c, axis=1).T
        if c < 2:
            left, right = (np.where(pair, members[:, 1 - c], side) for side in (left, right))
        columns = [np.where(pair, 1, column[c]) for column in (WITH_LEFT, WITH_RIGHT, APART)]
        sides.append([place[members[:, c]], place[left], place[right], sites.code[f], *columns])
    return [np.concatenate(parts) for parts in zip(*sides, strict=True)]
