"""Draws as an `xarray.DataTree` in ArviZ's groups, and partitions from whatever holds draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_items, each_is, plain_array
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import StoredConstraints, constraints_from_dataset, to_dataset
from bayesclust.posterior.labels import Labels, as_partitions, canonical
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "canonical",
    "chain_partitions",
    "feature_names",
    "group",
    "is_array",
    "item_names",
    "log_joints",
    "source_names",
    "stacked_partitions",
    "stored_constraints",
    "to_datatree",
    "with_names",
]


def to_datatree(
    posterior: Mapping[str, ArrayLike],
    sample_stats: Mapping[str, ArrayLike] | None = None,
    *,
    X: ArrayLike | None = None,
    constraints: Iterable[Constraints] = (),
    dims: Mapping[str, tuple[str, ...]] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Put draws into ArviZ's groups.

    Parameters
    ----------
    posterior : mapping of arrays of shape (chain, draw, ...)
        With "z" (chain, draw, n), which is made canonical: labels 0, 1, ... in order of first
        appearance. "n_clusters" is counted where it is missing.
    sample_stats : mapping of arrays of shape (chain, draw), optional
        Statistics of the sampler, such as log_joint.
    X : array of shape (n, d), optional
        Data, for the group observed_data.
    constraints : iterable of Constraints
        For the group constant_data.
    dims : mapping, optional
        Names of the dimensions after chain and draw of variables other than z.
    attrs : mapping, optional
        Attributes of the tree; anything but numbers and words is kept as JSON.

    Returns
    -------
    xarray.DataTree
        Groups posterior, sample_stats and, where given, observed_data and constant_data. It
        survives ``to_netcdf(path, engine="h5netcdf")``.

    Raises
    ------
    ValueError, TypeError
        If z is missing or does not hold integers, or shapes do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> draws, stats = {"z": np.zeros((2, 3, 4), int)}, {"log_joint": np.zeros((2, 3))}
    >>> tree = to_datatree(draws, stats, attrs={"seed": 0})
    >>> sorted(tree.children), dict(tree["posterior"].sizes)
    (['posterior', 'sample_stats'], {'chain': 2, 'draw': 3, 'item': 4})
    """
    import xarray as xr

    if "z" not in posterior:
        raise ValueError(
            f"the draws hold no partitions z, only {sorted(posterior)}: pass z (chain, draw, item)."
        )
    z = plain_array(posterior["z"], "z", "pass z (chain, draw, item)")
    if z.ndim != 3 or z.size == 0:
        raise ValueError(
            f"z must have shape (chain, draw, item), all at least 1; got {z.shape}: add the "
            "missing axes."
        )
    z = canonical(z, "z")
    names = {"z": ("item",), **(dims or {})}
    draws = {"n_clusters": z.max(axis=2).astype(np.int64) + 1, **posterior, "z": z}
    groups: dict[str, xr.Dataset] = {
        "posterior": _dataset(draws, names, z.shape),
        "sample_stats": _dataset(sample_stats or {}, names, z.shape),
    }
    if X is not None:
        data = check_items(X, least=1, missing=True)
        if len(data) != z.shape[2]:
            raise ValueError(
                f"X has shape {data.shape}, but z has {z.shape[2]} items: pass the data that was "
                "clustered."
            )
        groups["observed_data"] = xr.Dataset({"X": (("item", "feature"), data)})
    constraints = each_is(constraints, (Constraints, StoredConstraints), "constraints")
    for view in constraints:
        if view.n_items != z.shape[2]:
            raise ValueError(
                f"the constraints {view.name!r} are on {view.n_items} items, but z has "
                f"{z.shape[2]}."
            )
    answers = to_dataset(constraints)
    if answers.data_vars:
        groups["constant_data"] = answers
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update({name: _plain(value) for name, value in (attrs or {}).items()})
    return tree


def _dataset(
    variables: Mapping[str, ArrayLike], dims: Mapping[str, tuple[str, ...]], shape: tuple[int, ...]
) -> xr.Dataset:
    import xarray as xr

    data = {}
    for name, values in variables.items():
        array = np.asarray(values)
        if array.shape[:2] != shape[:2]:
            raise ValueError(
                f"{name} has shape {array.shape}, but z has {shape[0]} chains of {shape[1]} draws: "
                "every variable needs (chain, draw) as its first axes."
            )
        if array.dtype == np.bool_:  # some of ArviZ's plots stumble over bool
            array = array.astype(np.int8)
        own = dims.get(name, [f"{name}_dim_{j}" for j in range(array.ndim - 2)])
        data[name] = (("chain", "draw", *own), array)
    return xr.Dataset(data, coords={"chain": np.arange(shape[0]), "draw": np.arange(shape[1])})


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    plain = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    fits = not isinstance(value, int) or -(2**63) <= value < 2**63  # netCDF has no larger integers
    return value if plain and fits else json.dumps(value, default=str)


def group(posterior: Any, name: str) -> xr.Dataset:
    """Return one group, such as "sample_stats", of a tree or a fitted estimator."""
    import xarray as xr

    tree = getattr(posterior, "posterior_", posterior)
    if not isinstance(tree, xr.DataTree):
        raise TypeError(
            "a posterior is an xarray.DataTree or a fitted estimator with posterior_; got "
            f"{type(posterior).__name__}."
        )
    if name not in tree.children:
        fit = "a fit with constraints" if name == "constant_data" else "a fit"
        there = ", ".join(map(repr, tree.children))
        raise ValueError(
            f"this posterior has no group {name!r}, only {there}: pass the posterior_ of {fit}."
        )
    return tree[name].to_dataset()


def is_array(posterior: Any) -> bool:
    """Tell whether draws come as an array, as from another package, and not in a tree."""
    return isinstance(posterior, (np.ndarray, list, tuple))


def chain_partitions(posterior: Any) -> Labels:
    """Return canonical draws (chain, draw, n) of a tree, an estimator or an array.

    An array (draws, n) is one chain.
    """
    if is_array(posterior):
        chains = 1
        rows = posterior
        if isinstance(posterior, np.ndarray) and posterior.ndim == 3 and posterior.size:
            chains = len(posterior)
            rows = posterior.reshape(-1, posterior.shape[-1])
        partitions = as_partitions(rows)
        return partitions.reshape(chains, -1, partitions.shape[1])
    return canonical(_drawn(posterior).values, "z")


def _drawn(posterior: Any) -> xr.DataArray:
    """The variable z of a tree with its dimensions in order, chain and draw first."""
    draws = group(posterior, "posterior")
    if (
        "z" not in draws
        or draws["z"].ndim != 3
        or not {"chain", "draw"} <= set(draws["z"].dims)
        or not draws["z"].size
    ):
        raise ValueError(
            "the group posterior has no variable z (chain, draw, item): pass the posterior_ of a "
            "sampler's fit."
        )
    return draws["z"].transpose("chain", "draw", ...)


def stacked_partitions(posterior: Any) -> Labels:
    """Return the draws of the partition, the chains one after another.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of shape (draws, n) or (chain, draw, n)

    Returns
    -------
    (draws, n) array of int16
        Canonical labels.

    Raises
    ------
    ValueError, TypeError
        If there are no partitions in it.

    Examples
    --------
    >>> stacked_partitions([[5, 5, 1], [2, 3, 2]])
    array([[0, 0, 1],
           [0, 1, 0]], dtype=int16)
    """
    partitions = chain_partitions(posterior)
    return partitions.reshape(-1, partitions.shape[-1])


def stored_constraints(posterior: Any) -> list[StoredConstraints]:
    """Return the constraints that a fit was given; refuse a posterior without any."""
    found = constraints_from_dataset(group(posterior, "constant_data"))
    if not found:
        raise ValueError(
            "the group constant_data of this posterior holds no answers: pass a fit with "
            "constraints."
        )
    return found


def log_joints(posterior: Any) -> FloatArray | None:
    """Return log_joint (chain, draw), or None where it was not kept."""
    tree = getattr(posterior, "posterior_", posterior)
    if (
        is_array(tree)
        or "sample_stats" not in tree.children
        or "log_joint" not in tree["sample_stats"]
    ):
        return None
    values: FloatArray = tree["sample_stats"]["log_joint"].transpose("chain", "draw").values
    return values


def with_names(
    posterior: Any,
    *,
    items: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
) -> xr.DataTree:
    """Return a copy of a posterior with names of its items, features and sources as coordinates.

    They are ``item``, ``feature`` and ``<name>_source`` in the groups that have these dimensions:
    ArviZ shows them, and netCDF files keep them. `sources` maps names of constraints to one name a
    source.

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
    """Return the names of the items: their coordinate, or their numbers."""
    return _names(group(posterior, "posterior"), "item")


def feature_names(posterior: Any) -> list[str]:
    """Return the names of the columns of the data: their coordinate, or their numbers."""
    return _names(group(posterior, "observed_data"), "feature")


def source_names(posterior: Any, view: str, number: int) -> list[str]:
    """Return the names of the `number` sources of some constraints, or their numbers."""
    draws = group(posterior, "posterior")
    dim = f"{view}_source"
    return _names(draws, dim) if dim in draws.dims else [str(source) for source in range(number)]


def _names(data: xr.Dataset, dim: str) -> list[str]:
    values = data.coords[dim].values if dim in data.coords else range(data.sizes[dim])
    return [str(value) for value in values]
