"""Who sits where: labels of the items and the slots in use, for compiled samplers.

Clusters live in the slots of a family's cluster state. Slots in use come first in `slots`; opening
and closing a cluster swaps two entries, so that a sweep only ever walks the clusters that exist.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.np.random import random_methods
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.families.base import derive, set_items

random_interval: Any = random_methods.random_interval


class Seating(NamedTuple):
    """Labels and slots."""

    z: NDArray[np.int64]  # (n,) slot of each item
    slots: NDArray[np.int64]  # (C,) permutation of the slots, those in use first
    place: NDArray[np.int64]  # (C,) its inverse
    number: NDArray[np.int64]  # (1,) clusters in use


def new_seating(z: NDArray[np.integer], capacity: int) -> Seating:
    """Seat items by their labels.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Labels 0..K-1 without gaps.
    capacity : int
        Number of slots, at least K.

    Returns
    -------
    Seating
    """
    every = np.arange(capacity, dtype=np.int64)
    number = np.array([z.max() + 1], dtype=np.int64)
    return Seating(z.astype(np.int64), every.copy(), every.copy(), number)


@device(fastmath=FAST, inline="always")
def open_slot(seating: Seating) -> int:
    """Take a free slot into use."""
    k: int = seating.slots[seating.number[0]]
    seating.number[0] += 1
    return k


@device(fastmath=FAST, inline="always")
def swap_slots(seating: Seating, first: int, second: int) -> None:
    """Swap two positions of `slots`."""
    a, b = seating.slots[first], seating.slots[second]
    seating.slots[first], seating.slots[second] = b, a
    seating.place[a], seating.place[b] = second, first


@device(fastmath=FAST, no_refcount=True)
def close_slot(seating: Seating, k: int) -> None:
    """Give an empty slot back."""
    seating.number[0] -= 1
    swap_slots(seating, seating.place[k], seating.number[0])


@device(fastmath=FAST, no_refcount=True)
def use_slot(seating: Seating, k: int) -> None:
    """Take one given free slot into use."""
    swap_slots(seating, seating.place[k], seating.number[0])
    seating.number[0] += 1


@kernel(fastmath=FAST)
def refresh(state: Any, seating: Seating) -> None:
    """Recompute every cluster from its items: hyper-parameters may have changed, rounding may have crept in."""
    n, empty = len(seating.z), len(state.count) - 1
    end = np.zeros(empty + 1, np.int64)
    for i in range(n):
        end[seating.z[i]] += 1
    for k in range(empty):
        end[k + 1] += end[k]
    items = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):  # from the last, so that each cluster has its items in order
        k = seating.z[i]
        end[k] -= 1
        items[end[k]] = i
    for position in range(
        -1, seating.number[0]
    ):  # the prior slot first, which clusters may look at
        k = seating.slots[position] if position >= 0 else empty
        if position >= 0:
            set_items(state, items[end[k] : end[k + 1]], k)
        derive(state, k)


@device(fastmath=FAST, no_refcount=True)
def draw_index(logits: NDArray[np.float64], number: int, rng: Generator) -> int:
    """Draw a position 0..number-1 with probability proportional to exp(logits)."""
    largest = logits[0]
    for position in range(1, number):
        largest = max(largest, logits[position])
    total = 0.0
    for position in range(number):
        total += np.exp(logits[position] - largest)
    left = rng.random() * total
    for position in range(number):
        left -= np.exp(logits[position] - largest)
        if left < 0.0:
            return position
    return number - 1


@kernel(fastmath=FAST)
def members(seating: Seating, first: int, second: int) -> NDArray[np.int64]:
    """Items of one or two slots."""
    n, number = len(seating.z), 0
    items = np.zeros(n, np.int64)
    for i in range(n):
        if seating.z[i] == first or seating.z[i] == second:
            items[number] = i
            number += 1
    return items[:number]


@device(fastmath=FAST, no_refcount=True)
def seat_each(z: NDArray[np.int64], items: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
    """z[items] = labels, which takes numba a second and a half to compile, for what it says where lengths differ."""
    for t in range(len(items)):
        z[items[t]] = labels[t]


@device(fastmath=FAST)
def draw_below(number: int, rng: Generator) -> int:
    """Draw one of 0..number-1, each as likely."""
    return np.int64(random_interval(rng.bit_generator, number - 1))  # type: ignore[return-value]


@device(fastmath=FAST)
def shuffle(items: NDArray[np.int64], rng: Generator) -> None:
    """Put items in random order, that of `rng.shuffle`, which takes ten times as long to compile: it is for any shape."""
    for t in range(len(items) - 1, 0, -1):
        other = draw_below(t + 1, rng)
        items[t], items[other] = items[other], items[t]


@device(fastmath=FAST)
def sort_by_group(
    group: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Items by group 0..number-1, and where each begins: those of group g, in order, are items[start[g] : start[g + 1]]."""
    items, start = np.zeros(len(group), np.int64), np.zeros(number + 1, np.int64)
    for i in range(len(group)):
        start[group[i] + 1] += 1
    for g in range(number):
        start[g + 1] += start[g]
    for i in range(len(group)):
        items[start[group[i]]] = i
        start[group[i]] += 1
    for g in range(number, 0, -1):
        start[g] = start[g - 1]
    start[0] = 0
    return items, start
