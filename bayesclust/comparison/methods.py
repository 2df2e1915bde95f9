"""What can be compared: anything that holds draws of a partition, or one partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesclust.posterior.labels import Labels, as_labels
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import IntArray

__all__ = ["Method", "read_methods"]

KINDS = "a fitted estimator, a DataTree of draws, an array (draws, n) or labels (n,)"


class Method(NamedTuple):
    """One of the things compared.

    Attributes
    ----------
    labels : (n,) array of int
        Its partition, labels 0 to K - 1.
    draws : (draws, n) array of int or None
        Its posterior, where it has one.
    seconds : float
        How long the fit took, nan where nothing says so.
    source : object
        What was passed.
    """

    labels: IntArray
    draws: Labels | None
    seconds: float
    source: Any


def read_methods(methods: Any, loss: Loss) -> dict[str, Method]:
    """Return partitions and draws of what is to be compared.

    Parameters
    ----------
    methods : mapping of str to estimator, DataTree or array
    loss : Loss
        Of the point estimates of draws that come without one.

    Returns
    -------
    dict of str to Method

    Raises
    ------
    TypeError, ValueError
        If there is nothing to compare, one of them is none of these, or they are of different
        items.
    """
    if not isinstance(methods, Mapping):
        raise TypeError(
            f'methods is a {type(methods).__name__}: pass a dict of names, {{"sampler": est, ...}}.'
        )
    if not methods:
        raise ValueError("methods is empty: pass at least one fit under a name of its own.")
    found = {str(name): _read(str(name), value, loss) for name, value in methods.items()}
    first = next(iter(found))
    for name, method in found.items():
        if len(method.labels) != len(found[first].labels):
            raise ValueError(
                f"methods[{first!r}] is about {len(found[first].labels)} items and methods[{name!r}] about "
                f"{len(method.labels)}: compare partitions of the same items."
            )
    return found


def _read(name: str, value: Any, loss: Loss) -> Method:
    if hasattr(value, "labels_"):
        # an estimator that is no sampler has no draws
        draws = stacked_partitions(value) if hasattr(value, "posterior_") else None
        return Method(
            _labels(value.labels_, name),
            draws,
            float(getattr(value, "fit_seconds_", np.nan)),
            value,
        )
    if hasattr(value, "children"):
        seconds = float(value.attrs.get("fit_seconds", np.nan))
        draws = stacked_partitions(value)
        return Method(point_estimate(draws, loss), draws, seconds, value)
    if hasattr(value, "fit"):
        raise TypeError(
            f"methods[{name!r}] is a {type(value).__name__} without labels_: fit it first."
        )
    array = _array(value, name)
    if array.ndim == 1:
        return Method(_labels(array, name), None, np.nan, value)
    draws = stacked_partitions(array)
    return Method(point_estimate(draws, loss), draws, np.nan, value)


def _array(value: Any, name: str) -> Labels:
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(
            f"methods[{name!r}] has rows of different lengths: pass one label per item."
        ) from None
    if array.dtype == object and array.ndim == 0:
        raise TypeError(f"methods[{name!r}] is a {type(value).__name__}: pass {KINDS}.")
    if array.ndim not in (1, 2, 3) or array.size == 0:
        raise ValueError(f"methods[{name!r}] has shape {array.shape}: pass {KINDS}.")
    return array


def _labels(values: Any, name: str) -> IntArray:
    """Labels of any sortable kind; those of other packages may be words."""
    array = np.asarray(values)
    if array.dtype.kind in "fc":
        raise TypeError(
            f"methods[{name!r}] holds numbers of dtype {array.dtype}: number the clusters 0, 1, 2, ..."
        )
    numbers = np.unique(array, return_inverse=True)[1].reshape(array.shape)
    labels: IntArray = as_labels(numbers, f"methods[{name!r}]").astype(np.int64)
    return labels
