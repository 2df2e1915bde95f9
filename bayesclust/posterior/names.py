"""What items, features and sources are called: coordinates of a posterior, so that they are kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.posterior.tree import group

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["feature_names", "item_names", "source_names", "with_names"]


def with_names(
    posterior: Any,
    *,
    items: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
) -> xr.DataTree:
    """Return a posterior that knows what its items, features and sources are called.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    items : sequence of str, optional
        One name an item.
    features : sequence of str, optional
        One name a column of the data.
    sources : mapping of sequences of str, optional
        By name of view, one name a source.

    Returns
    -------
    xarray.DataTree
        A copy with the names as coordinates ``item``, ``feature`` and ``<view>_source`` of the
        groups that have these dimensions. ArviZ shows them, and netCDF files keep them.

    Raises
    ------
    ValueError
        If there are more or fewer names than items, features or sources, or some item is named
        twice.

    Examples
    --------
    >>> from bayesclust.posterior.tree import to_datatree
    >>> tree = with_names(to_datatree({"z": [[[0, 0, 1]]]}), items=["ant", "bee", "cat"])
    >>> item_names(tree)
    ['ant', 'bee', 'cat']
    """
    import xarray as xr

    names: dict[str, Sequence[str] | None] = {"item": items, "feature": features}
    names |= {f"{view}_source": own for view, own in (sources or {}).items()}
    if items is not None and len(set(items)) < len(items):
        twice = next(name for at, name in enumerate(items) if name in items[:at])
        raise ValueError(f"two items are called {twice!r}: give each a name of its own.")
    tree: xr.DataTree = getattr(posterior, "posterior_", posterior).copy()
    for name in tree.children:
        data = tree[name].to_dataset()
        here = {dim: own for dim, own in names.items() if own is not None and dim in data.dims}
        for dim, own in here.items():
            if len(own) != data.sizes[dim]:
                raise ValueError(
                    f"there are {len(own)} names for {data.sizes[dim]} {dim}s: pass one for each."
                )
        coords = {dim: np.asarray(own, dtype=object) for dim, own in here.items()}
        tree[name] = xr.DataTree(data.assign_coords(coords))
    return tree


def item_names(posterior: Any) -> list[str]:
    """Return what the items are called: their coordinate, or their numbers.

    Parameters
    ----------
    posterior : DataTree or fitted estimator

    Returns
    -------
    list of str
    """
    return _names(group(posterior, "posterior"), "item")


def feature_names(posterior: Any) -> list[str]:
    """Return what the columns of the data are called: their coordinate, or their numbers.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        With data.

    Returns
    -------
    list of str
    """
    return _names(group(posterior, "observed_data"), "feature")


def source_names(posterior: Any, view: str, number: int) -> list[str]:
    """Return what the sources of a view are called: their coordinate, or their numbers.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    view : str
        Name of the view.
    number : int
        How many sources it has.

    Returns
    -------
    list of str
    """
    draws = group(posterior, "posterior")
    dim = f"{view}_source"
    return _names(draws, dim) if dim in draws.dims else [str(source) for source in range(number)]


def _names(data: xr.Dataset, dim: str) -> list[str]:
    values = data.coords[dim].values if dim in data.coords else range(data.sizes[dim])
    return [str(value) for value in values]
