"""Draws from DCRC's mean field."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesclust.constraints.base import View
from bayesclust.constraints.dataset import noise_names
from bayesclust.inference.variational.draws import draw_labels
from bayesclust.posterior.tree import to_datatree
from bayesclust.typing import Counts, FloatArray

CHAINS, DRAWS = 4, 250


def draw_tree(
    proba: FloatArray,
    views: Sequence[View],
    counts: Sequence[Counts],
    items: FloatArray,
    settings: dict[str, Any],
    seed: int,
) -> Any:
    """Return independent draws of labels and noise as a DataTree.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Distributions of the labels.
    views : sequence of View
    counts : sequence of ndarray
        Expected counts of each view's answers by code and pattern.
    items : ndarray of shape (n, d)
    settings : dict
    seed : int

    Returns
    -------
    xarray.DataTree
    """
    rng, shape = np.random.default_rng(seed), (CHAINS, DRAWS)
    variables: dict[str, Any] = {"z": draw_labels(proba, CHAINS * DRAWS, rng).reshape(*shape, -1)}
    dims: dict[str, tuple[str, ...]] = {}
    for view, names, count in zip(views, noise_names(views), counts, strict=True):
        initial = view.noise.initial(view.n_sources)
        repeated: FloatArray = np.broadcast_to(count, (*shape, *count.shape))
        for name, value in view.noise.draw(repeated, initial, rng).items():
            variables[names[name]] = np.broadcast_to(value, (*shape, *initial[name].shape)).copy()
            kinds = view.noise.parameters[name]
            dims[names[name]] = tuple(f"{view.name}_source" if kind == "source" else kind for kind in kinds)
    attrs = {"created_by": "bayesclust", "version": version("bayesclust"), "settings": settings}
    return to_datatree(variables, X=items, views=views, dims=dims, attrs=attrs)


__all__ = ["draw_tree"]
