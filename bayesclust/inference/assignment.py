"""The assignment of items to clusters: labels and slots, and the partitions that chains start from.

Clusters live in the slots of a family's cluster state. Slots in use come first in `slots`, so that
a sweep only ever walks the clusters that exist.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.factor_graph import Sites
from bayesclust.families.base import derive, log_marginal, log_marginal_union, set_items
from bayesclust.partition_priors import Tables
from bayesclust.typing import FloatArray, IntArray, NDArray

SEEDED_FROM = 50_000  # items among which seeds are drawn at most, a random subset
CHUNK = 8192  # items that are assigned to seeds at a time
LOST = -50.0  # of a logarithm: so much less than the largest term, a term is lost in their sum
OUT_OF_RANGE = "a snapshot has labels out of range: remove the checkpoint that it is from."


class Assignment(NamedTuple):
    """Labels and slots."""

    z: IntArray  # (n,) slot of each item
    slots: IntArray  # (C,) permutation of the slots, those in use first
    place: IntArray  # (C,) its inverse
    number: IntArray  # (1,) clusters in use


class Target(NamedTuple):
    """What a chain samples, as kernels read it."""

    state: Any  # cluster state of a family
    assignment: Assignment
    sites: Sites
    table: FloatArray  # (codes, 5) log p(answer | pattern)
    prior: Tables


def new_assignment(z: NDArray[np.integer], capacity: int) -> Assignment:
    """Assign items by labels 0..K-1 without gaps, of at most `capacity` clusters."""
    every = np.arange(capacity, dtype=np.int64)
    number = np.array([z.max() + 1], dtype=np.int64)
    return Assignment(z.astype(np.int64), every.copy(), every.copy(), number)


def restored_assignment(kept: Mapping[str, Any], n: int) -> Assignment:
    """An assignment of n items out of a snapshot, refused where kernels would leave its arrays."""
    slots = kept["slots"]
    every = np.arange(len(slots))
    own = Assignment(
        check_labels(kept["z"], (n,), len(every)),
        check_labels(slots, every.shape, len(every)),
        check_labels(kept["place"], every.shape, len(every)),
        check_labels(kept["number"], (1,), len(every) + 1),
    )
    if not np.array_equal(own.slots[own.place], every) or own.place[own.z].max() >= own.number[0]:
        raise ValueError(OUT_OF_RANGE)
    return own


def check_labels(labels: NDArray[Any], shape: tuple[int, ...], number: int) -> NDArray[Any]:
    """Labels out of a snapshot, refused if they are not whole numbers from 0 to below `number`."""
    whole = labels.dtype.kind == "i" and labels.shape == shape
    if not whole or labels.min() < 0 or labels.max() >= number:
        raise ValueError(OUT_OF_RANGE)
    return labels


@device(fastmath=FAST, no_refcount=True)
def open_slot(assignment: Assignment) -> int:
    """Take a free slot into use."""
    k: int = assignment.slots[assignment.number[0]]
    assignment.number[0] += 1
    return k


@device(fastmath=FAST, no_refcount=True)
def swap_slots(assignment: Assignment, first: int, second: int) -> None:
    """Swap two positions of `slots`."""
    a = assignment.slots[first]
    b = assignment.slots[second]
    assignment.slots[first] = b
    assignment.slots[second] = a
    assignment.place[a] = second
    assignment.place[b] = first


@device(fastmath=FAST, no_refcount=True)
def close_slot(assignment: Assignment, k: int) -> None:
    """Give an empty slot back."""
    assignment.number[0] -= 1
    swap_slots(assignment, assignment.place[k], assignment.number[0])


@device(fastmath=FAST, no_refcount=True)
def use_slot(assignment: Assignment, k: int) -> None:
    """Take one given free slot into use."""
    swap_slots(assignment, assignment.place[k], assignment.number[0])
    assignment.number[0] += 1


@device(fastmath=FAST)
def sort_by_group(group: IntArray, number: int) -> tuple[IntArray, IntArray]:
    """(items, start): those of group g, in order, are items[start[g] : start[g + 1]]."""
    items = np.zeros(len(group), np.int64)
    start = np.zeros(number + 1, np.int64)
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


@kernel(fastmath=FAST)
def refresh(state: Any, assignment: Assignment) -> None:
    """Recompute every cluster from its items: hyper-parameters change, and rounding creeps in."""
    empty = len(state.count) - 1
    items, start = sort_by_group(assignment.z, empty + 1)
    # the prior slot first, which clusters may read
    for position in range(-1, assignment.number[0]):
        k = assignment.slots[position] if position >= 0 else empty
        if position >= 0:
            set_items(state, items[start[k] : start[k + 1]], k)
        derive(state, k)


@device(fastmath=FAST, no_refcount=True)
def draw_index(logits: FloatArray, number: int, rng: Generator) -> int:
    """Draw a position 0..number-1 with probability proportional to exp(logits); these are lost."""
    largest = logits[0]
    for position in range(1, number):
        largest = max(largest, logits[position])
    total = 0.0
    for position in range(number):
        relative = logits[position] - largest
        if relative < LOST:  # written as a branch, since the exponential takes long to underflow
            logits[position] = 0.0
            continue
        logits[position] = math.exp(relative)
        total += logits[position]
    left = rng.random() * total
    for position in range(number):
        left -= logits[position]
        if left < 0.0:
            return position
    # rounding left nothing to choose: the likeliest, never one that is impossible
    position = 0
    while logits[position] < 1.0:
        position += 1
    return position


@kernel(fastmath=FAST)
def members(assignment: Assignment, first: int, second: int) -> IntArray:
    """Items of one or two slots."""
    n = len(assignment.z)
    number = 0
    items = np.zeros(n, np.int64)
    for i in range(n):
        if assignment.z[i] == first or assignment.z[i] == second:
            items[number] = i
            number += 1
    return items[:number]


@device(fastmath=FAST, no_refcount=True)
def set_labels(z: IntArray, items: IntArray, labels: IntArray) -> None:
    """z[items] = labels, in a form that compiles fast."""
    for t in range(len(items)):
        z[items[t]] = labels[t]


@device(fastmath=FAST)
def draw_below(number: int, rng: Generator) -> int:
    """Draw one of 0..number-1, each as likely."""
    return int(rng.random() * number)


@device(fastmath=FAST)
def shuffle(items: IntArray, rng: Generator) -> None:
    """Put items in random order; `rng.shuffle` takes ten times as long to compile."""
    for t in range(len(items) - 1, 0, -1):
        other = draw_below(t + 1, rng)
        items[t], items[other] = items[other], items[t]


# --- where chains start: dispersed, and not from one cluster, where single-site samplers stay


def dispersed_number(chain: int, n_items: int, *, finer: bool = False) -> int:
    """Clusters that chain number `chain` starts from: 3, 6, 12, 24, 3, ..., but n / 4 at most."""
    # of many items up to 12, 24, 48, 96, if these are joined sooner than split
    fewest = max(3, min(12, n_items // 150)) if finer else 3
    return int(min(fewest * 2 ** (chain % 4), max(n_items // 4, 1)))


def seeded_partition(X: FloatArray, number: int, rng: Generator) -> IntArray:
    """Labels 0..K-1, fewer where points coincide, by the nearest k-means++ seed (Arthur 2007)."""
    n = len(X)
    if n <= SEEDED_FROM:
        labels, _ = _nearest_seeds(X, number, rng)
    else:
        subset = X[rng.choice(n, SEEDED_FROM, replace=False)]
        seeds = subset[_nearest_seeds(subset, number, rng)[1]]
        squares = (seeds**2).sum(axis=1)
        parts = (X[begin : begin + CHUNK] for begin in range(0, n, CHUNK))
        labels = np.concatenate([(squares - 2 * part @ seeds.T).argmin(axis=1) for part in parts])
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _nearest_seeds(X: FloatArray, number: int, rng: Generator) -> tuple[IntArray, list[int]]:
    """(the nearest seed of each item, the items that are seeds)."""
    n = len(X)
    labels = np.zeros(n, dtype=np.int64)
    seeds = [int(rng.integers(n))]
    nearest = ((X - X[seeds[0]]) ** 2).sum(axis=1)
    for k in range(1, number):
        total = nearest.sum()
        if not total > 0:
            break
        seeds.append(int(np.searchsorted(np.cumsum(nearest), rng.random() * total).clip(0, n - 1)))
        distance = ((X - X[seeds[-1]]) ** 2).sum(axis=1)
        closer = distance < nearest
        labels[closer] = k
        nearest = np.where(closer, distance, nearest)
    return labels, seeds


TOTAL, PROPOSED, DERIVE = range(3)


# One kernel for all, to compile once what they share; it holds the lock, which costs more to regain
@kernel(nogil=False, fastmath=FAST, no_refcount=True)
def walk_clusters(state: Any, assignment: Assignment, task: int) -> float:
    """Do a task at the prior slot and clusters in use; returns log p(X | z, hyper-parameters)."""
    # `TOTAL` adds up what clusters have been derived for; `PROPOSED` what follows from sufficient
    # statistics alone, the prior slot being derived again; `DERIVE` derives all.
    value = 0.0
    empty = len(state.count) - 1
    for position in range(-1, assignment.number[0]):
        k = assignment.slots[position] if position >= 0 else empty
        if task == DERIVE or (task == PROPOSED and position < 0):
            derive(state, k)
        elif task == PROPOSED:
            value += log_marginal_union(state, k, empty)
        elif position >= 0:
            value += log_marginal(state, k)
    return value
