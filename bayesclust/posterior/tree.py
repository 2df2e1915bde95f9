"""Draws as an `xarray.DataTree` in ArviZ's groups, and partitions out of anything that holds draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.constraints.dataset import to_dataset, views_from_dataset
from bayesclust.posterior.labels import Labels, as_partitions, canonical
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    import xarray as xr

    from bayesclust.constraints.base import View
    from bayesclust.constraints.dataset import StoredView


def to_datatree(
    posterior: Mapping[str, ArrayLike],
    sample_stats: Mapping[str, ArrayLike],
    *,
    X: ArrayLike | None = None,
    views: Iterable[View] = (),
    dims: Mapping[str, tuple[str, ...]] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Put draws into ArviZ's groups.

    Parameters
    ----------
    posterior : mapping of arrays of shape (chain, draw, ...)
        With "z" (chain, draw, n), which is made canonical: labels 0, 1, ... in order of first appearance.
    sample_stats : mapping of arrays of shape (chain, draw)
    X : array of shape (n, d), optional
        Data, for the group observed_data.
    views : iterable of View
        Answers, for the group constant_data.
    dims : mapping, optional
        Names of the dimensions after chain and draw of variables other than z.
    attrs : mapping, optional
        Attributes of the tree; anything but numbers and words is kept as JSON.

    Returns
    -------
    xarray.DataTree
        Groups posterior, sample_stats and, where given, observed_data and constant_data. It survives
        ``to_netcdf(path, engine="h5netcdf")``.

    Examples
    --------
    >>> import numpy as np
    >>> tree = to_datatree({"z": np.zeros((2, 3, 4), int)}, {"log_joint": np.zeros((2, 3))})
    >>> sorted(tree.children), dict(tree["posterior"].sizes)
    (['posterior', 'sample_stats'], {'chain': 2, 'draw': 3, 'item': 4})
    """
    import xarray as xr

    names = {"z": ("item",), **(dims or {})}
    groups: dict[str, xr.Dataset] = {
        "posterior": _dataset({**posterior, "z": canonical(posterior["z"])}, names),
        "sample_stats": _dataset(sample_stats, names),
    }
    if X is not None:
        groups["observed_data"] = xr.Dataset({"X": (("item", "feature"), np.asarray(X))})
    answers = to_dataset(views)
    if answers.data_vars:
        groups["constant_data"] = answers
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update({name: _plain(value) for name, value in (attrs or {}).items()})
    return tree


def _dataset(variables: Mapping[str, ArrayLike], dims: Mapping[str, tuple[str, ...]]) -> xr.Dataset:
    import xarray as xr

    arrays = {name: np.asarray(values) for name, values in variables.items()}
    data = {
        name: (("chain", "draw", *dims.get(name, [f"{name}_dim_{j}" for j in range(values.ndim - 2)])), values)
        for name, values in arrays.items()
    }
    chains, draws = next(iter(arrays.values())).shape[:2]
    return xr.Dataset(data, coords={"chain": np.arange(chains), "draw": np.arange(draws)})


def _plain(value: Any) -> Any:
    plain = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    return value if plain else json.dumps(value, default=str)


def group(posterior: Any, name: str) -> xr.Dataset:
    """One group of a tree, or of a fitted estimator's ``posterior_``.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the tree has no such group.
    """
    import xarray as xr

    tree = getattr(posterior, "posterior_", posterior)
    if not isinstance(tree, xr.DataTree):
        raise TypeError(
            f"a posterior is an xarray.DataTree or a fitted estimator with posterior_; got {type(posterior).__name__}."
        )
    if name not in tree.children:
        fit = "a fit with constraints" if name == "constant_data" else "a fit"
        there = ", ".join(map(repr, tree.children))
        raise ValueError(f"this posterior has no group {name!r}, only {there}: pass the posterior_ of {fit}.")
    return tree[name].to_dataset()


def chain_partitions(posterior: Any) -> Labels:
    """Partitions by chain, shape (chain, draw, n), canonical labels.

    Raises
    ------
    ValueError
        If the group posterior has no variable z (chain, draw, item).
    """
    draws = group(posterior, "posterior")
    if "z" not in draws or draws["z"].ndim != 3:
        raise ValueError(
            "the group posterior has no variable z (chain, draw, item): pass the posterior_ of a sampler's fit."
        )
    return canonical(draws["z"].transpose("chain", "draw", ...).values)


def stacked_partitions(posterior: Any) -> Labels:
    """Partitions of all chains below each other, shape (draws, n), canonical labels.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of shape (draws, n) or (chain, draw, n)

    Examples
    --------
    >>> stacked_partitions([[5, 5, 1], [2, 3, 2]])
    array([[0, 0, 1],
           [0, 1, 0]], dtype=int16)
    """
    if isinstance(posterior, (np.ndarray, list, tuple)):
        array = np.asarray(posterior)
        return as_partitions(array.reshape(-1, array.shape[-1]) if array.ndim == 3 else array)
    partitions = chain_partitions(posterior)
    return partitions.reshape(-1, partitions.shape[-1])


def stored_views(posterior: Any) -> list[StoredView]:
    """The answers that a fit was given."""
    return views_from_dataset(group(posterior, "constant_data"))


def log_joints(posterior: Any) -> FloatArray | None:
    """log_joint (chain, draw), or None where it was not kept."""
    tree = getattr(posterior, "posterior_", posterior)
    if "sample_stats" not in tree.children or "log_joint" not in tree["sample_stats"]:
        return None
    values: FloatArray = tree["sample_stats"]["log_joint"].transpose("chain", "draw").values
    return values
