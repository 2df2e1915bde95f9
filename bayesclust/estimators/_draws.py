"""Draws of chains as a tree in ArviZ's groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bayesclust.constraints.base import View
from bayesclust.constraints.dataset import noise_dims
from bayesclust.estimators._samplers import VARIATIONAL
from bayesclust.inference.runner import Draws
from bayesclust.posterior.tree import to_datatree
from bayesclust.typing import FloatArray

UNRECORDED = ("init", "random_state", "progress", "n_jobs")


def draw_dims(views: Sequence[View]) -> dict[str, tuple[str, ...]]:
    """Names of the dimensions of what is drawn, beyond chain and draw."""
    return {"component": ("item",), **noise_dims(views)}


def draws_tree(draws: Draws, views: Sequence[View], items: FloatArray, settings: Mapping[str, Any]) -> Any:
    """Put draws, data, answers and settings together.

    Parameters
    ----------
    draws : Draws
    views : sequence of View
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
    return to_datatree(draws.posterior, draws.sample_stats, X=items, views=views, dims=draw_dims(views), attrs=attrs)


__all__ = ["draw_dims", "draws_tree"]
