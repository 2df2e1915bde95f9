"""The default base measure of the Gaussian families: learned, equivariant, and never finer than the data.

Every Gaussian family has the same three hyper-parameters, in units of each column's standard
deviation:

- ``base_scale`` (psi): expected within-cluster variance as a share of the column's total variance;
- ``base_strength`` (nu0 - d - 1): how many observations that expectation is worth;
- ``base_mean_precision`` (kappa0): precision of a cluster's mean relative to that of one item of
  the cluster.

The scale of the clusters within the data decides the answer more than anything else, so the first
is learned, under a log-normal prior that is wide enough for tight and for overlapping clusters. The
other two can be learned too, but are held at 15 and at 0.05. Real columns are not Gaussian: values
are recorded to few digits, many share one value (a detection limit), and tails are heavy. A cluster
of items that share a value has no variance there and a likelihood without bound, so a learned
strength runs to its least value and answers drown in spikes; a learned kappa0 grows to welcome
clusters of a few outliers. These choices were compared on generated data, Gaussian and not. Against
spikes, too, the expected variance has a floor, since a column recorded to a resolution r cannot
show a variance under r**2 / 12, that of rounding, and the priors of what is learned are cut off
below.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust.models._numpyro import numpyro_modules, seen_only
from bayesclust.models.families.base import BoundFamily, HyperPrior
from bayesclust.typing import ArrayLike

SCALE_PRIOR = HyperPrior("base_scale", 0.5, 1.0, least=1e-3)
STRENGTH_PRIOR = HyperPrior("base_strength", 15.0, 0.5, least=1.0)
STRENGTH = 15.0
MEAN_PRECISION = 0.05
MEAN_PRECISION_PRIOR = HyperPrior("base_mean_precision", 0.1, 1.0, least=1e-4)


class StandardColumns(NamedTuple):
    """Informative columns, centred and divided by their standard deviation."""

    X: NDArray[np.float64]
    centre: NDArray[np.float64]
    unit: NDArray[np.float64]
    floor: NDArray[np.float64]
    kept: NDArray[np.intp]


def resolution(column: NDArray[np.float64]) -> float:
    """Typical distance between neighbouring distinct values of a column; 0 for a constant one.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Missing cells, NaN, are left out.

    Returns
    -------
    float
        The median gap, in the column's units.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families.base_measure import resolution
    >>> resolution(np.array([1.0, 3.0, 2.0, 2.0]))
    1.0
    """
    values = np.unique(column[~np.isnan(column)])
    return float(np.median(np.diff(values))) if len(values) > 1 else 0.0


def standard_columns(X: NDArray[np.float64], *, common_unit: bool = False) -> StandardColumns:
    """Standardise the columns, leaving out the constant ones, which tell nothing about a partition.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells, NaN, stay so; the rest is standardised by the mean and the standard deviation
        of the cells seen.
    common_unit : bool, default False
        Divide every column by the root mean variance instead of its own standard deviation
        (spherical clusters have no private units).

    Returns
    -------
    StandardColumns
        With at least one column, even when all are constant.
    """
    # a column without any value is constant
    cells = np.where(np.isnan(X).all(axis=0), 0.0, X)
    largest = np.nanmax(np.abs(cells), axis=0)
    shrunk = cells / np.where(largest > 0, largest, 1.0)
    spread = np.nanstd(shrunk, axis=0)
    kept = np.flatnonzero(spread > 1e-12)
    if len(kept) == 0:
        kept = np.array([0])
    scale = np.where(largest > 0, largest, 1.0)[kept]
    shrunk, spread = shrunk[:, kept], np.where(spread[kept] > 1e-12, spread[kept], 1.0)
    if common_unit:
        scale = np.full(len(kept), scale.max())
        shrunk = cells[:, kept] / scale
        spread = np.full(len(kept), max(np.sqrt(np.nanvar(shrunk, axis=0).mean()), 1e-12))
    centre = np.nanmean(shrunk, axis=0)
    Z = np.ascontiguousarray((X[:, kept] / scale - centre) / spread)
    floor = np.array([resolution(column) for column in Z.T]) ** 2 / 12
    return StandardColumns(Z, centre * scale, spread * scale, floor, kept)


@dataclass(frozen=True)
class BoundColumns(BoundFamily, ABC):
    """A family on standardised columns: how the user's columns become ours, as `standard_columns` found it."""

    centre: NDArray[np.float64]
    unit: NDArray[np.float64]
    kept: NDArray[np.intp]

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X[:, self.kept]

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        rows: NDArray[np.float64] = (super().transform(X) - self.centre) / self.unit
        return rows


@dataclass(frozen=True)
class BoundIndependentColumns(BoundColumns, ABC):
    """Normal-inverse-gamma columns in standard units; hyper = (scale, strength, mean precision)."""

    floor: NDArray[np.float64]

    takes_missing = takes_power = True

    def parameters(self, hyper: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
        """(kappa0, a0, b0) in our coordinates; E[v_kj] = b0_j / (a0 - 1)."""
        scale, strength, kappa0 = hyper
        return kappa0, 1.0 + 0.5 * strength, 0.5 * strength * (scale + self.floor)

    def set_hyper(self, state: Any, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters into a state."""
        state.kappa0[0], state.shape0[0], state.rate0[:] = self.parameters(hyper)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Sites "variance" and "mean", by the first formulas of `gaussian_diagonal`."""
        jnp, numpyro, dist = numpyro_modules()
        kappa0, a0, b0 = self.parameters(hyper)
        variance = numpyro.sample("variance", dist.InverseGamma(a0, b0).to_event(1))
        mean = numpyro.sample("mean", dist.Normal(0.0, jnp.sqrt(variance / kappa0)).to_event(1))
        centre, sd = self.centre + self.unit * mean, self.unit * jnp.sqrt(variance)
        return lambda z: seen_only(dist.Normal(centre[z], sd[z]), self.X).to_event(1)

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minus the log units of the cells seen."""
        return -(~np.isnan(rows) * np.log(self.unit)).sum(axis=1)


def hyper_prior(value: object, default: HyperPrior) -> HyperPrior:
    """The default prior for ``"learn"``, a prior of the user's own, or a fixed value.

    Raises
    ------
    ValueError
        If the value is another string than ``"learn"``, or a number that is not positive and
        finite.
    TypeError
        If it is neither a string nor a HyperPrior nor a number.
    """
    if isinstance(value, HyperPrior):
        return replace(value, name=default.name)
    short = default.name.removeprefix("base_")
    kinds = "'learn', a positive number or a HyperPrior"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, Real)):
        raise TypeError(f"{short} is a {type(value).__name__}; give {kinds}.")
    if value == "learn":
        return default
    if isinstance(value, str) or not 0 < float(value) < np.inf:
        raise ValueError(
            f"{short}={value!r} is neither 'learn' nor a positive number; give {kinds}."
        )
    return HyperPrior(default.name, float(value), 0.0)


def gaussian_priors(
    scale: object, strength: object, mean_precision: object
) -> tuple[HyperPrior, HyperPrior, HyperPrior]:
    """The priors of the three hyper-parameters, each as `hyper_prior` reads it."""
    return (
        hyper_prior(scale, SCALE_PRIOR),
        hyper_prior(strength, STRENGTH_PRIOR),
        hyper_prior(mean_precision, MEAN_PRECISION_PRIOR),
    )
