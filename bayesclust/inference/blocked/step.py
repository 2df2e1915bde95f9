"""The devices' part of a sweep: new labels for all items, and the statistics of the new clusters.

Given weights pi_k, slice variables u_i and parameters theta_k, an item's label has

    p(z_i = k) ~ 1[pi_k >= u_i] p(x_i | theta_k) exp(terms of the answers)

(Walker 2007; the answers as in TVClust Eq. 13). Where the number of clusters is known there are no
slices, and pi_k is a factor. Random numbers are a function of the sweep's key
and of the item's number, so they depend neither on where an item is worked on, nor on the chains
and slots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.random import threefry_2x32
from jax.sharding import Mesh

from bayesclust.families.base import BoundFamily
from bayesclust.inference.blocked.layout import AXIS, BY_BLOCK, BY_ITEM, EVERYWHERE, Incidences

SLICE = 0
CHOICE = 1
# of NumPy outside of compiled functions, of JAX inside; JAX's functions are typed in part only
Array = Any
lax: Any = jax.lax


class Placed(NamedTuple):
    """The data on the devices."""

    free: tuple[Array, tuple[Array, ...]]  # item numbers and rows, by block
    answered: tuple[Array, tuple[Array, ...]]
    incidences: Incidences


class Labels(NamedTuple):
    """Labels by place, chains first; those of items with answers are known to all devices."""

    free: Array
    answered: Array


class Given(NamedTuple):
    """All that a chain's labels are drawn from; slots in use come first, others weigh zero."""

    key: Array  # (2,) of uint32
    weight: Array  # (S,) pi_k up to a factor; 1 where there are no slices
    log_weight: Array  # (S,) 0; log pi_k where there are no slices
    level: Array  # () an item whose slice is lower keeps its label
    terms: tuple[Array, ...]  # (S, ...)
    if_same: Array  # (codes, 5) gain of joining two that are together, by the column for apart
    if_apart: Array  # (codes, 5) gain of joining one of two that are apart
    classes: Array  # (S,) class of the cluster in a slot
    evidence: Array  # (places, C) log p(labels of the item | class); (places, 0) without labels


class Totals(NamedTuple):
    """Sums over items."""

    statistics: tuple[Array, ...]  # (S, ...)
    least: Array  # (S,) smallest of the next sweep's slice variables over pi_k
    moved: Array


def uniforms(key: Array, items: Array, purpose: int) -> Array:
    """Numbers in [0, 1), one per item: Threefry (Salmon et al. 2011) of (item, purpose)."""
    items = items.astype(jnp.uint32)
    bits = threefry_2x32(key, jnp.concatenate([items, jnp.full_like(items, purpose)]))
    high, low = jnp.split(bits.astype(jnp.uint64), 2)
    return ((high << 32 | low) >> 11).astype(jnp.float64) * 2.0**-53


def heights(key: Array, items: Array) -> Array:
    """u_i / pi_{z_i}, in (0, 1]."""
    return 1.0 - uniforms(key, items, SLICE)


def draw_labels(
    log_density: Callable[..., Any], given: Given, items: Array, rows: Any, z: Array, extra: Any
) -> Array:
    """Draw new labels of some items by inversion."""
    lowest = heights(given.key, items) * given.weight[z]
    logits = log_density(jnp, rows, given.terms) + extra + given.log_weight
    logits = jnp.where(given.weight >= lowest[:, None], logits, -jnp.inf)
    below = jnp.cumsum(jnp.exp(logits - logits.max(axis=1, keepdims=True)), axis=1)
    total = below[:, -1:]
    # the second condition: rounding must not lead beyond the last label that is possible
    passed = (below <= uniforms(given.key, items, CHOICE)[:, None] * total) & (below < total)
    return jnp.where(lowest >= given.level, passed.sum(axis=1, dtype=jnp.int32), z)


def site_logits(
    inc: Incidences, step: int, given: Given, z: Array, block: Array, size: int
) -> Array:
    """Terms of the answers for each item of a block in each slot, relative to a new cluster."""
    begin = inc.start[block]
    end = inc.start[block + 1]
    slots = len(given.weight)

    def add(s: Array, logits: Array) -> Array:
        at = begin + s * step
        part = Incidences(
            inc.start, *(lax.dynamic_slice(array, (at,), (step,)) for array in inc[1:])
        )
        counts = at + jnp.arange(step) < end
        left = z[part.left]
        right = z[part.right]
        together = left == right
        joined = jnp.where(
            together,
            given.if_same[part.code, part.apart],
            given.if_apart[part.code, part.with_left],
        )
        logits = logits.at[part.row, left].add(jnp.where(counts, joined, 0.0))
        other = jnp.where(counts & ~together, given.if_apart[part.code, part.with_right], 0.0)
        return logits.at[part.row, right].add(other)

    return lax.fori_loop(0, (end - begin + step - 1) // step, add, jnp.zeros((size, slots)))


class Step:
    """The compiled functions."""

    def __init__(self, family: BoundFamily, mesh: Mesh, n_items: int, slice_size: int) -> None:
        self.family = family
        self.n_items = n_items
        self.slice_size = slice_size
        data = Placed((BY_BLOCK, BY_BLOCK), (BY_ITEM, BY_ITEM), Incidences(*[BY_BLOCK] * 8))
        labels = Labels(BY_ITEM, EVERYWHERE)
        small = EVERYWHERE
        given = data, labels, small, small
        place = partial(jax.shard_map, mesh=mesh, in_specs=given, check_vma=False)
        advance = jax.vmap(self._advance, in_axes=(None, 0, 0, 0))
        count = jax.vmap(self._count, in_axes=(None, 0, None, 0))
        self.advance = jax.jit(place(advance, out_specs=(labels, small)))
        self.count = jax.jit(place(count, out_specs=small))

    def _advance(
        self, data: Placed, labels: Labels, given: Given, next_key: Array
    ) -> tuple[Labels, Totals]:
        slots = len(given.weight)
        density = self.family.log_likelihood

        def free_block(totals: Totals, block: Any) -> tuple[Totals, Array]:
            (items, rows), z = block
            new = draw_labels(density, given, items, rows, z, 0.0)
            return self._add(totals, items, rows, z, new, next_key), new

        totals, free = lax.scan(free_block, self._nothing(data, slots), (data.free, labels.free))
        answered = labels.answered
        inc = jax.tree.map(lambda array: array[0], data.incidences)
        blocks, size = data.answered[0].shape
        width = answered.shape[0] // max(blocks, 1)

        def answered_block(
            carry: tuple[Totals, Array], block: Any
        ) -> tuple[tuple[Totals, Array], None]:
            totals, answered = carry
            number, (items, rows) = block
            first = number * width + lax.axis_index(AXIS) * size
            z = lax.dynamic_slice(answered, (first,), (size,))
            extra = site_logits(inc, self.slice_size, given, answered, number, size)
            if given.evidence.shape[1]:
                extra += lax.dynamic_slice_in_dim(given.evidence, first, size)[:, given.classes]
            new = draw_labels(density, given, items, rows, z, extra)
            everywhere = lax.all_gather(new, AXIS, tiled=True)
            answered = lax.dynamic_update_slice(answered, everywhere, (number * width,))
            return (self._add(totals, items, rows, z, new, next_key), answered), None

        if blocks:
            (totals, answered), _ = lax.scan(
                answered_block, (totals, answered), (jnp.arange(blocks), data.answered)
            )
        totals = _over_devices(totals)
        rank = (jnp.cumsum(totals.statistics[0] > 0) - 1).astype(jnp.int32)
        return Labels(rank[free], rank[answered]), totals

    def _count(self, data: Placed, labels: Labels, slots: Array, next_key: Array) -> Totals:
        def block(totals: Totals, block: Any) -> tuple[Totals, None]:
            (items, rows), z = block
            return self._add(totals, items, rows, z, z, next_key), None

        totals, _ = lax.scan(block, self._nothing(data, len(slots)), (data.free, labels.free))
        blocks, size = data.answered[0].shape
        if blocks:
            z = labels.answered.reshape(blocks, -1, size)[:, lax.axis_index(AXIS)]
            totals, _ = lax.scan(block, totals, (data.answered, z))
        return _over_devices(totals)

    def _add(
        self, totals: Totals, items: Array, rows: Any, old: Array, new: Array, next_key: Array
    ) -> Totals:
        """Totals with the items of a block added."""
        there = items < self.n_items
        weight = (new[:, None] == jnp.arange(len(totals.least))) & there[:, None]
        statistics = self.family.statistics(jnp, rows, weight.astype(jnp.float64))
        least = jnp.where(weight, heights(next_key, items)[:, None], 1.0).min(axis=0)
        return Totals(
            tuple(total + part for total, part in zip(totals.statistics, statistics, strict=True)),
            jnp.minimum(totals.least, least),
            totals.moved + (there & (old != new)).sum(),
        )

    def _nothing(self, data: Placed, slots: int) -> Totals:
        """Totals over no items."""
        rows = tuple(row[0, :0] for row in data.free[1])
        statistics = self.family.statistics(jnp, rows, jnp.zeros((0, slots)))
        return Totals(statistics, jnp.ones(slots), jnp.zeros((), jnp.int64))


def _over_devices(totals: Totals) -> Totals:
    statistics = tuple(lax.psum(part, AXIS) for part in totals.statistics)
    return Totals(statistics, lax.pmin(totals.least, AXIS), lax.psum(totals.moved, AXIS))
