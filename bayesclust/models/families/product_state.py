"""The clusters of mixed columns in compiled code: the states of the parts, linked.

Compiled code that walks a tuple of unlike states in a loop counts references to all their arrays at
every step, which costs five times what it does with them. Of a chain of pairs every link is a type
of its own, and nothing is left of the walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust.models.families import base


class Parts(NamedTuple):
    """The states of two parts or more: the first, and what follows it, itself `Parts` or the last one's state."""

    first: Any
    others: Any

    @classmethod
    def of(cls, states: Sequence[Any]) -> Any:
        """Link the states of one part or more."""
        linked = states[-1]
        for state in reversed(states[:-1]):
            linked = cls(state, linked)
        return linked


class ProductState(NamedTuple):
    """Clusters of mixed columns: one state for each part, with the same slots."""

    count: NDArray[np.int64]  # type: ignore[assignment]  # (C + 1,)
    parts: Any  # the state of the only part, or Parts

    def listed(self) -> Iterator[Any]:
        """The states of the parts."""
        parts = self.parts
        while isinstance(parts, Parts):
            yield parts.first
            parts = parts.others
        yield parts


@base.implements(base.clear_cluster, Parts, no_refcount=True)
def _clear_parts(parts, k):  # type: ignore[no-untyped-def]
    base.clear_cluster(parts.first, k)
    base.clear_cluster(parts.others, k)


@base.implements(base.add_item, Parts, no_refcount=True)
def _add_to_parts(parts, i, k):  # type: ignore[no-untyped-def]
    base.add_item(parts.first, i, k)
    base.add_item(parts.others, i, k)


@base.implements(base.remove_item, Parts, no_refcount=True)
def _remove_from_parts(parts, i, k):  # type: ignore[no-untyped-def]
    base.remove_item(parts.first, i, k)
    base.remove_item(parts.others, i, k)


@base.implements(base.log_predictive, Parts, no_refcount=True)
def _log_predictive_of_parts(parts, i, k):  # type: ignore[no-untyped-def]
    return base.log_predictive(parts.first, i, k) + base.log_predictive(parts.others, i, k)


@base.implements(base.log_marginal, Parts, no_refcount=True)
def _log_marginal_of_parts(parts, k):  # type: ignore[no-untyped-def]
    return base.log_marginal(parts.first, k) + base.log_marginal(parts.others, k)


@base.implements(base.log_marginal_union, Parts, no_refcount=True)
def _log_marginal_union_of_parts(parts, a, b):  # type: ignore[no-untyped-def]
    return base.log_marginal_union(parts.first, a, b) + base.log_marginal_union(parts.others, a, b)


@base.implements(base.set_items, Parts, no_refcount=True)
def _set_items_of_parts(parts, items, k):  # type: ignore[no-untyped-def]
    base.set_items(parts.first, items, k)
    base.set_items(parts.others, items, k)


@base.implements(base.derive, Parts, no_refcount=True)
def _derive_parts(parts, k):  # type: ignore[no-untyped-def]
    base.derive(parts.first, k)
    base.derive(parts.others, k)


@base.implements(base.clear_cluster, ProductState, no_refcount=True)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    base.clear_cluster(state.parts, k)


@base.implements(base.add_item, ProductState, no_refcount=True)
def _add_item(state, i, k):  # type: ignore[no-untyped-def]
    state.count[k] += 1
    base.add_item(state.parts, i, k)


@base.implements(base.remove_item, ProductState, no_refcount=True)
def _remove_item(state, i, k):  # type: ignore[no-untyped-def]
    state.count[k] -= 1
    base.remove_item(state.parts, i, k)


@base.implements(base.log_predictive, ProductState, no_refcount=True)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    return base.log_predictive(state.parts, i, k)


@base.implements(base.log_marginal, ProductState, no_refcount=True)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return base.log_marginal(state.parts, k)


@base.implements(base.log_marginal_union, ProductState, no_refcount=True)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    return base.log_marginal_union(state.parts, a, b)


@base.implements(base.set_items, ProductState, no_refcount=True)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    base.set_items(state.parts, items, k)


@base.implements(base.derive, ProductState, no_refcount=True)
def _derive(state, k):  # type: ignore[no-untyped-def]
    base.derive(state.parts, k)


__all__ = ["Parts", "ProductState"]
