"""Devices side by side: where arrays lie, and how they come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from bayesclust.typing import IntArray, NDArray

AXIS = "item"
P: Any = jax.sharding.PartitionSpec  # it has no types
BY_BLOCK, BY_ITEM, EVERYWHERE = P(AXIS), P(None, AXIS), P()


def make_mesh(devices: Sequence[Any] | None) -> Mesh:
    """All devices there are, or those given, along one axis.

    Parameters
    ----------
    devices : sequence of jax devices or None
        None takes all, those of other processes too where `jax.distributed` runs.

    Returns
    -------
    Mesh
    """
    return Mesh(np.array(jax.devices() if devices is None else list(devices)), (AXIS,))


def place(mesh: Mesh, array: NDArray[Any], spec: Any) -> jax.Array:
    """Lay an array out over the mesh; every process reads its own parts of it.

    Parameters
    ----------
    mesh : Mesh
    array : ndarray
        The same in all processes.
    spec : PartitionSpec

    Returns
    -------
    jax.Array
    """
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh, spec), array.__getitem__)


def place_rows(mesh: Mesh, rows: NDArray[Any], items: IntArray, spec: Any) -> jax.Array:
    """Lay the rows of items out as the items lie; beyond the last item stands the first one's row.

    Parameters
    ----------
    mesh : Mesh
    rows : ndarray of shape (n, ...)
    items : ndarray of shape (a, b)
        Item numbers, n where there is none.
    spec : PartitionSpec
        Of `items`.

    Returns
    -------
    jax.Array of shape (a, b, ...)
    """
    within = np.where(items < len(rows), items, 0)

    def part(index: Any) -> Any:
        return rows[within[index[:2]]]

    return jax.make_array_from_callback(
        (*items.shape, *rows.shape[1:]), NamedSharding(mesh, spec), part
    )


def everywhere(mesh: Mesh) -> Any:
    """Function that gives every process the whole of an array.

    Parameters
    ----------
    mesh : Mesh

    Returns
    -------
    callable
    """
    return jax.jit(lambda array: array, out_shardings=NamedSharding(mesh, EVERYWHERE))


__all__ = [
    "AXIS",
    "BY_BLOCK",
    "BY_ITEM",
    "EVERYWHERE",
    "everywhere",
    "make_mesh",
    "place",
    "place_rows",
]
