"""Partitions as arrays of labels, draws as an `xarray.DataTree`, and draws from what holds them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesclust._numba import kernel
from bayesclust.checks import check_array, check_items, each_is, shown
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import StoredConstraints, constraints_from_dataset, to_dataset
from bayesclust.names import plain_name
from bayesclust.partition_priors import DirichletProcess, PitmanYor
from bayesclust.typing import PARTITIONS, ArrayLike, FloatArray, IntArray

Labels = np.ndarray[Any, np.dtype[Any]]
ONE_EACH = "pass one label per item"
PROCESSES = ("DirichletProcess(", "PitmanYor(", "dirichlet_process", "pitman_yor")
"""How the settings of a fit begin the name of a prior with a concentration."""
MOVED_BY = "moved_by"
"""Attribute of draws that says what else, besides the factors of answers, constraints moved."""
WEIGHTS = "the weights were fitted to all of them"
MEAN_FIELD = "a mean field has the items independent"
PARAMETER = re.compile(r"(discount|concentration)=(\([^)]*\)|[^,)]+)")
LEVELS = 500


def canonical(z: ArrayLike, what: str = "labels") -> Labels:
    """Return partitions (..., n) with labels 0, 1, ... in order of first appearance."""
    array = check_array(z, what, (..., "n"), "iub", "number the clusters from 0 on")
    n = array.shape[-1]
    out = np.empty(array.shape, dtype=np.int16 if n <= np.iinfo(np.int16).max else np.int32)
    if array.size == 0:
        return out
    low = int(array.min())
    high = int(array.max())
    if low < 0 or high >= 4 * n + 1024:
        array = np.unique(array, return_inverse=True)[1].reshape(array.shape)
        high = int(array.max())
    rows = np.ascontiguousarray(array, dtype=np.int64).reshape(-1, n)
    _renumber(rows, out.reshape(-1, n), high + 1)
    return out


@kernel
def _renumber(z: Labels, out: Labels, n_labels: int) -> None:
    seen = np.full(n_labels, -1, np.int64)
    for row in range(z.shape[0]):
        count = 0
        for i in range(z.shape[1]):
            label = z[row, i]
            if seen[label] < 0:
                seen[label] = count
                count += 1
            out[row, i] = seen[label]
        for i in range(z.shape[1]):
            seen[z[row, i]] = -1


def by_size(labels: Labels) -> tuple[IntArray, IntArray]:
    """Return the labels of clusters, the largest first, and items numbered so: ties by first item.

    >>> import numpy as np
    >>> by_size(np.array([7, 2, 2, 0]))
    (array([2, 7, 0]), array([1, 0, 0, 2]))
    """
    there, first, number, size = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -size))
    return there[order], np.argsort(order)[number]


def as_labels(z: ArrayLike, what: str, n_items: int | None = None) -> Labels:
    """Return one partition (n,), of so many items, in canonical form."""
    array = check_array(z, what, ("n" if n_items is None else n_items,), "", ONE_EACH)
    if not array.size:
        raise ValueError(f"{what} is empty: {ONE_EACH}.")
    return canonical(array, what)


def as_partitions(draws: ArrayLike, what: str = "draws") -> Labels:
    """Return partitions (draws, n) in canonical form."""
    row_each = "pass one row of labels per draw, a fitted estimator or its posterior_"
    array = check_array(draws, what, ("draws", "n"), "iub", row_each)
    if not array.size:
        raise ValueError(f"{what} are empty, of shape {array.shape}: {row_each}.")
    return canonical(array, what)


def partition_sizes(z: Labels) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return cluster sizes (..., K) of partitions (..., n); zeros where one has fewer clusters."""
    rows = z.reshape(-1, z.shape[-1]).astype(np.int64)
    width = int(rows.max()) + 1
    flat = rows + np.arange(len(rows))[:, None] * width
    return np.bincount(flat.ravel(), minlength=len(rows) * width).reshape(*z.shape[:-1], width)


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
        With "z" (chain, draw, n), which is made canonical; "n_clusters" is counted where missing.
    sample_stats : mapping of arrays of shape (chain, draw), optional
        Such as log_joint.
    X : array or DataFrame of shape (n, d), optional
        For the group observed_data; the index and columns of a DataFrame name items and features.
    constraints : iterable of Constraints
        For the group constant_data.
    dims : mapping, optional
        Names of the dimensions after chain and draw of variables other than z.
    attrs : mapping, optional
        Attributes of the tree; anything but numbers and words is kept as JSON.

    Returns
    -------
    xarray.DataTree
        It survives ``to_netcdf(path, engine="h5netcdf")``.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> dict(bc.posterior.to_datatree({"z": np.zeros((2, 3, 4), int)})["posterior"].sizes)
    {'chain': 2, 'draw': 3, 'item': 4}
    """
    axes = ("chain", "draw", "item")
    z = canonical(check_array(posterior.get("z", ()), "z", axes, "", "pass all three axes"), "z")
    if not z.size:
        raise ValueError(f"z has no draws: its shape is {z.shape}.")
    names = {"z": ("item",), **(dims or {})}
    draws = {"n_clusters": z.max(axis=2).astype(np.int64) + 1, **posterior, "z": z}
    groups = {
        "posterior": _dataset(draws, names, z.shape),
        "sample_stats": _dataset(sample_stats or {}, names, z.shape),
    }
    if X is not None:
        data = check_items(X, least=1, missing=True)
        check_array(data, "X", (z.shape[2], "d"), "", "pass the data that was clustered")
        groups["observed_data"] = numbered(xr.Dataset({"X": (("item", "feature"), data)}))
    constraints = each_is(constraints, (Constraints, StoredConstraints), "constraints")
    for view in constraints:
        if view.n_items != z.shape[2]:
            raise ValueError(
                f"the constraints {view.name!r} are on {view.n_items} items, but z has "
                f"{z.shape[2]}."
            )
    answers = to_dataset(constraints)
    if answers.data_vars:
        groups["constant_data"] = numbered(answers)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update({name: _plain(value) for name, value in (attrs or {}).items()})
    sources = {one.name: one.source_names for one in constraints if one.source_names}
    items, features = names_in(X)
    return with_names(tree, items=items, features=features, sources=sources)


def _dataset(
    variables: Mapping[str, ArrayLike], dims: Mapping[str, tuple[str, ...]], shape: tuple[int, ...]
) -> xr.Dataset:
    data: dict[str, Any] = {}
    held = []
    for name, values in variables.items():
        array = np.asarray(values)
        if array.shape[:2] != shape[:2]:
            raise ValueError(
                f"{name} has shape {array.shape}, but z has {shape[0]} chains of {shape[1]} draws."
            )
        if array.dtype == np.bool_:  # some of ArviZ's plots stumble over bool
            array = array.astype(np.int8)
        own = dims.get(name, [f"{name}_dim_{j}" for j in range(array.ndim - 2)])
        data[name] = (("chain", "draw", *own), array)
        # coordinates, which ArviZ passes over: numbers of clusters mean nothing by themselves, and
        # it makes no histogram of real numbers that were never drawn
        real = array.dtype.kind == "f" and array.shape[:2] != (1, 1) and array.size > 0
        if name in (*PARTITIONS, "weight") or (real and (array == array[0, 0]).all()):
            held.append(name)
    return numbered(xr.Dataset(data)).set_coords(held)


def numbered(data: xr.Dataset) -> xr.Dataset:
    """Return the data with a coordinate of each dimension, by number where it has none."""
    bare = {dim: size for dim, size in data.sizes.items() if dim not in data.coords}
    return data.assign_coords({dim: np.arange(size) for dim, size in bare.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    plain = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    fits = not isinstance(value, int) or -(2**63) <= value < 2**63  # netCDF has no larger integers
    return value if plain and fits else json.dumps(value, default=str)


def tree_of(posterior: Any) -> Any:
    """Return the tree of a fitted estimator, and anything else unchanged."""
    return getattr(posterior, "posterior_", posterior)


def group(posterior: Any, name: str) -> xr.Dataset:
    """Return one group, such as "sample_stats", of a tree or a fitted estimator."""
    tree = tree_of(posterior)
    if not isinstance(tree, xr.DataTree):
        fit = ", which is not fitted or has no draws" if hasattr(posterior, "fit") else ""
        fit += "; labels alone are an array (draws, n)" if hasattr(posterior, "columns") else ""
        raise TypeError(
            "a posterior is an xarray.DataTree or a fitted estimator with posterior_; got "
            f"{type(posterior).__name__}{fit}."
        )
    if name not in tree.children:
        if name == "constant_data":
            raise ValueError("this fit had no constraints: pass a fit with constraints.")
        raise ValueError(f"this posterior has no group {name!r}: pass the posterior_ of a fit.")
    return tree[name].to_dataset()


def is_array(posterior: Any) -> bool:
    """Tell whether draws come as an array, as from another package, and not in a tree."""
    if isinstance(posterior, (list, tuple)):
        return True
    tables = hasattr(posterior, "data_vars") or hasattr(posterior, "columns")
    return hasattr(posterior, "__array__") and not tables


def chain_partitions(posterior: Any) -> Labels:
    """Return canonical draws (chain, draw, n) of a tree, an estimator or an array, maybe 2-d."""
    if is_array(posterior):
        chains = 1
        rows = np.asarray(posterior) if hasattr(posterior, "__array__") else posterior
        if isinstance(rows, np.ndarray) and rows.ndim == 3 and rows.size:
            chains = len(rows)
            rows = rows.reshape(-1, rows.shape[-1])
        partitions = as_partitions(rows)
        return partitions.reshape(chains, -1, partitions.shape[1])
    draws = group(posterior, "posterior")
    z = draws.get("z")
    if z is None or z.ndim != 3 or not {"chain", "draw"} <= set(z.dims) or not z.size:
        raise ValueError(
            "the group posterior has no variable z (chain, draw, item): pass the posterior_ of a "
            "sampler's fit."
        )
    return canonical(z.transpose("chain", "draw", ...).values, "z")


def evenly_spread(number: int, available: int) -> IntArray:
    """Return the positions of `number` draws at even distances; of all, where there are fewer."""
    at = np.linspace(0, available - 1, min(number, available)).round()
    return at.astype(np.int64)


def stacked_partitions(posterior: Any) -> Labels:
    """Return the draws (draws, n) of `chain_partitions`, the chains one after another."""
    partitions = chain_partitions(posterior)
    return partitions.reshape(-1, partitions.shape[-1])


def constraints_if_any(posterior: Any) -> list[StoredConstraints]:
    """Return the constraints that a fit was given, none of a posterior without them."""
    tree = tree_of(posterior)
    if "constant_data" not in getattr(tree, "children", ()):
        return []
    return constraints_from_dataset(tree["constant_data"].to_dataset())


def stored_constraints(posterior: Any) -> list[StoredConstraints]:
    """Return the constraints that a fit was given; refuse a posterior without any."""
    found = constraints_from_dataset(group(posterior, "constant_data"))
    if not found:
        raise ValueError(
            "the group constant_data of this posterior holds no answers: pass a fit with "
            "constraints."
        )
    return found


def data_if_any(posterior: Any) -> FloatArray | None:
    """Return the data (n, d) that were clustered, or None where they were not kept."""
    data = getattr(tree_of(posterior), "children", {}).get("observed_data", {})
    return data["X"].values if "X" in data else None


def log_joints(posterior: Any) -> FloatArray | None:
    """Return log_joint (chain, draw), or None where it was not kept."""
    statistics = getattr(tree_of(posterior), "children", {}).get("sample_stats")
    if statistics is None or "log_joint" not in statistics:
        return None
    return statistics["log_joint"].transpose("chain", "draw").values


def settings_of(posterior: Any) -> dict[str, Any]:
    """Return the settings of the fit, empty where they were not kept."""
    settings = json_attribute(posterior, "settings", "{}")
    return settings if isinstance(settings, dict) else {}


def json_attribute(posterior: Any, name: str, otherwise: str) -> Any:
    """Read an attribute that holds JSON, or refuse what it holds instead."""
    text = tree_of(posterior).attrs.get(name, otherwise)
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise ValueError(
            f"the attribute {name!r} of the posterior is {shown(text)}, which cannot be read: take "
            "the posterior as it was saved, or fit again."
        ) from None


def check_leaves_out(posterior: Any) -> None:
    """Refuse draws that constraints moved otherwise than by the factors of their answers, too."""
    how = getattr(tree_of(posterior), "attrs", {}).get(MOVED_BY)
    if how:
        raise ValueError(
            f"constraints cannot be left out of these draws by weights, since {how}: fit again "
            "without some of them, as bc.leave_view_out does."
        )


def process_draws(posterior: Any) -> tuple[FloatArray, FloatArray] | None:
    """Return draws of discount and concentration of a Dirichlet or Pitman-Yor process, or None."""
    draws = group(posterior, "posterior")
    prior = str(settings_of(posterior).get("partition_prior") or PROCESSES[0])
    of_process = prior.removeprefix("Nested(among=").startswith(PROCESSES)
    if "concentration" not in draws or not of_process:
        return None
    concentration = draws["concentration"].values.ravel()
    discount = draws["discount"].values.ravel() if "discount" in draws else 0 * concentration
    return discount, concentration


def process_prior(posterior: Any) -> tuple[FloatArray, FloatArray] | None:
    """Return even quantiles of discount and concentration under their prior, where it is known."""
    if process_draws(posterior) is None or "settings" not in tree_of(posterior).attrs:
        return None
    text = str(settings_of(posterior).get("partition_prior") or PROCESSES[0])
    among = text.removeprefix("Nested(among=").partition(", within=")[0]
    name, _, rest = among.partition("(")
    try:
        asked = {found[1]: ast.literal_eval(found[2]) for found in PARAMETER.finditer(rest)}
        prior = (PitmanYor if name.lower().startswith("pitman") else DirichletProcess)(**asked)
    except (SyntaxError, TypeError, ValueError):  # of another version
        return None
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    even = {
        name: [one.quantile(level) for level in (levels if one.fixed is None else levels[:1])]
        for name, one in prior.parameters.items()
    }
    discount, concentration = np.meshgrid(even.get("discount", 0.0), even["concentration"])
    return discount.ravel(), concentration.ravel()


Names = tuple[Sequence[str] | None, Sequence[str] | None]
"""Those of items and features."""


def names_in(X: Any) -> Names:
    """Return the index and the columns of a data frame, each where it holds names, none twice."""

    def names(own: Any) -> list[str] | None:
        found = [str(name) for name in ([] if own is None else own)]
        distinct = len(set(found)) == len(found) > 0
        return found if distinct and found != [str(at) for at in range(len(found))] else None

    columns = getattr(X, "column_names", getattr(X, "columns", None))  # the first of pyarrow
    index = None if columns is None else getattr(X, "index", None)
    return names(None if index is None else map(plain_name, index)), names(columns)


def with_names(
    posterior: Any,
    *,
    items: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
) -> xr.DataTree:
    """Return a copy with coordinates item, feature and, by names of constraints, <name>_source."""
    given = {"item": items, "feature": features}
    names = {dim: own for dim, own in given.items() if own is not None}
    names |= {f"{view}_source": own for view, own in (sources or {}).items()}
    if items is not None and len(set(items)) < len(items):
        twice = next(name for at, name in enumerate(items) if name in items[:at])
        raise ValueError(f"two items are called {twice!r}: give each a name of its own.")
    tree: xr.DataTree = tree_of(posterior).copy()
    for name in tree.children:
        data = tree[name].to_dataset()
        here = {dim: own for dim, own in names.items() if dim in data.dims}
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


def names_of(fit: Any) -> Sequence[str] | None:
    """The names of the items of an estimator or a posterior, where they have some."""
    own: Names = getattr(fit, "_names", (None, None))
    found = item_names(fit) if hasattr(fit, "children") else own[0]
    return None if found == list(map(str, range(len(found or ())))) else found


def feature_names(posterior: Any) -> list[str]:
    """Return the names of the columns of the data: their coordinate, or their numbers."""
    return _names(group(posterior, "observed_data"), "feature")


def source_names(posterior: Any, view: str, number: int) -> list[str]:
    """Return the names of the `number` sources of some constraints, or their numbers."""
    draws = group(posterior, "posterior")
    dim = f"{view}_source"
    if dim in draws.dims:
        return _names(draws, dim)
    # of fits that kept no noise
    names = {one.name: one.source_names for one in constraints_if_any(posterior)}
    return list(names.get(view) or map(str, range(number)))


def _names(data: xr.Dataset, dim: str) -> list[str]:
    values = data.coords[dim].values if dim in data.coords else range(data.sizes[dim])
    return [str(value) for value in values]
