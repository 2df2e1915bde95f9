"""Draws of chains as a tree in ArviZ's groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesclust._memory import check_memory
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.dataset import noise_dims
from bayesclust.estimators._samplers import VARIATIONAL
from bayesclust.inference.runner import Draws
from bayesclust.posterior.tree import to_datatree
from bayesclust.typing import FloatArray

UNRECORDED = ("init", "random_state", "progress", "n_jobs")


def draw_dims(constraints: Sequence[Constraints]) -> dict[str, tuple[str, ...]]:
    """Names of the dimensions of what is drawn, beyond chain and draw."""
    return {"component": ("item",), **noise_dims(constraints)}


def check_room(n_items: int, num_chains: int, num_samples: int) -> None:
    """Refuse runs whose draws of the partition would not fit into memory, before the first sweep.

    Parameters
    ----------
    n_items, num_chains, num_samples : int

    Raises
    ------
    MemoryError
        If there is too little: while the chains are put together and made canonical, a label takes
        three times what it takes in a draw, and eight bytes.
    """
    label = np.dtype(np.int16 if n_items <= np.iinfo(np.int16).max else np.int32).itemsize
    check_memory(
        num_chains * num_samples * n_items * (3 * label + 8),
        f"keeping {num_chains} x {num_samples:,} draws of {n_items:,} labels",
        "ask for fewer draws (num_samples), or fewer chains",
    )


def draws_tree(
    draws: Draws, constraints: Sequence[Constraints], items: FloatArray, settings: Mapping[str, Any]
) -> Any:
    """Put draws, data, answers and settings together.

    Parameters
    ----------
    draws : Draws
    constraints : sequence of Constraints
    items : ndarray of shape (n, d)
        As the user gave them.
    settings : mapping
        Parameters of the estimator.

    Returns
    -------
    xarray.DataTree
    """
    attrs = {
        "created_by": "bayesclust",
        "version": version("bayesclust"),
        "seed": settings["random_state"],
        "interrupted": int(draws.interrupted),
        "settings": {name: value for name, value in settings.items() if name not in UNRECORDED},
    }
    if settings.get("sampler") == VARIATIONAL:
        attrs["approximation"] = "mean field"
    return to_datatree(
        draws.posterior,
        draws.sample_stats,
        X=items,
        constraints=constraints,
        dims=draw_dims(constraints),
        attrs=attrs,
    )


__all__ = ["check_room", "draw_dims", "draws_tree"]
