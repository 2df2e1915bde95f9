"""Columns in which a few exact values stand out, such as zeros: a hurdle, and Gaussian clusters beyond it.

With atoms a_1, ..., a_R of a column, in every cluster k

    x = a_1 with probability theta_1, else x = a_2 with probability theta_2, ..., else x ~ N(mu_k,
    v_k), theta_kr ~ Beta(s m_r, s (1 - m_r)),    (mu_k, v_k) as in `gaussian_diagonal`

(Cragg 1971, with a Gaussian beyond the hurdle). The density is taken with respect to Lebesgue
measure plus a point mass at every atom, and the likelihood of a cluster factors: zeros and ones
that say whether an item has an atom, not asked of items that have an earlier one, are columns of
`bernoulli`; and values, not asked of items with an atom, are columns of `gaussian_diagonal`. Both
leave out cells that were not asked for, so that nothing is new here but how columns are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.checks import check_items
from bayesclust.models.columns import describe_column
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import MEAN_PRECISION, STRENGTH
from bayesclust.models.families.bernoulli import Bernoulli
from bayesclust.models.families.discrete import refuse_cells
from bayesclust.models.families.gaussian_diagonal import DiagonalGaussian
from bayesclust.models.families.parts import said_of, unique_names
from bayesclust.models.families.product import BoundProduct
from bayesclust.typing import ArrayLike

Atoms = tuple[tuple[float, ...], ...]
ATOM_STRENGTH = "base_atom_strength"


def beyond_hurdles(X: NDArray[np.float64], atoms: Atoms) -> NDArray[np.float64]:
    """Return the values beyond the hurdles, and beside them whether an item has each atom.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN.
    atoms : tuple of tuples of float
        Of each column, any number.

    Returns
    -------
    ndarray of shape (n, d + number of atoms)
        NaN for what was not asked for: values of items with an atom, and atoms of items that have
        an earlier one.

    Examples
    --------
    >>> beyond_hurdles(np.array([[0.0], [1.0], [0.4]]), ((0.0, 1.0),))
    array([[nan, 1. , nan],
           [nan, 0. , 1. ],
           [0.4, 0. , 0. ]])
    """
    values, has = X.copy(), []
    for j, own in enumerate(atoms):
        for atom in own:
            has.append(np.where(np.isnan(values[:, j]), np.nan, X[:, j] == atom))
            values[X[:, j] == atom, j] = np.nan
    return np.column_stack([values, *has])


@dataclass(frozen=True)
class BoundHurdle(BoundProduct):
    """A product of values and atoms, read off the user's columns.

    Attributes
    ----------
    atoms : tuple of tuples of float
        Of each of the user's columns.
    """

    atoms: Atoms

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return super().columns(beyond_hurdles(X, self.atoms))

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return super().transform(beyond_hurdles(check_items(X, least=1, missing=True), self.atoms))


@dataclass(frozen=True)
class HurdleGaussian(base.Family):
    """Independent columns, each of which has certain exact values with a probability, and is Gaussian otherwise.

    For detection limits, zeros that mean "none" or "not measured", and ends of a scale. That many
    items share such a value tells as much about the clusters as a yes or no does, and no more: a
    Gaussian cluster would call it a coincidence to be explained at any price. Missing cells (NaN)
    are left out of the likelihood.

    Parameters
    ----------
    atoms : "data", float or sequence of sequences of float, default "data"
        The exact values: "data" takes those that `bayesclust.check_columns` finds, a number is one
        for every column, and a list has a list for each column, which may be empty. Up to five are
        looked for in a column.
    scale, strength, mean_precision : float, HyperPrior or "learn", default "learn", 15 and 0.05
        The base measure of the values that are none of these, as in `DiagonalGaussian`; units are
        those of these values.
    atom_strength : float, HyperPrior or "learn", default "learn"
        How many items the base measure of the atoms' probabilities is worth, as in `Bernoulli`.

    Notes
    -----
    In a fit the last is "base_atom_strength". Among other families, use `Mixed`, which is a
    `Product` that knows hurdles.

    References
    ----------
    Cragg (1971), Some statistical models for limited dependent variables, Econometrica 39, Eq. 5 to
    7.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import HurdleGaussian
    >>> X = np.array([[0.0], [0.0], [1.3], [0.0], [2.1]])
    >>> bound = HurdleGaussian(atoms=0.0).bind(X)
    >>> [type(part).__name__ for part in bound.parts]
    ['BoundMissingGaussian', 'BoundBernoulli']
    """

    atoms: Any = "data"
    scale: float | str | base.HyperPrior = "learn"
    strength: float | str | base.HyperPrior = STRENGTH
    mean_precision: float | str | base.HyperPrior = MEAN_PRECISION
    atom_strength: float | str | base.HyperPrior = "learn"

    @property
    def takes_missing(self) -> bool:
        return True

    def bind(self, X: NDArray[np.float64]) -> BoundHurdle:
        """Find the atoms, and fill in the base measures of values and atoms.

        Raises
        ------
        ValueError
            If there are not as many lists of atoms as columns.
        TypeError
            If the atoms are no numbers.
        """
        items = check_items(X, missing=True)
        return bind_parts([(self, np.arange(items.shape[1]))], items)

    def found(self, X: NDArray[np.float64]) -> Atoms:
        """The atoms of each column, given or found."""
        return _atoms(self.atoms, X)

    def factors(
        self, wide: NDArray[np.float64], values: NDArray[np.intp], indicators: NDArray[np.intp]
    ) -> Iterator[tuple[base.Family, NDArray[np.intp]]]:
        """The families of values and atoms with their columns of `beyond_hurdles`, but for what does not vary at all."""
        cells = wide[:, values]
        if len(indicators) == 0 or np.nanmax(cells, initial=-np.inf) > np.nanmin(
            cells, initial=np.inf
        ):
            yield DiagonalGaussian(self.scale, self.strength, self.mean_precision), values
        if len(indicators):
            yield Bernoulli(self.atom_strength), indicators


def bind_parts(
    pairs: Sequence[tuple[base.Family, NDArray[np.intp]]], X: NDArray[np.float64]
) -> BoundHurdle:
    """Bind families to their columns side by side, each `HurdleGaussian` as the two families that it consists of.

    Parameters
    ----------
    pairs : sequence of (Family, array of int)
        Every column once.
    X : ndarray of shape (n, d)
        Missing cells are NaN.

    Returns
    -------
    BoundHurdle

    Raises
    ------
    ValueError
        If a family cannot take its columns.
    """
    atoms: list[tuple[float, ...]] = [()] * X.shape[1]
    for family, columns in pairs:
        if isinstance(family, HurdleGaussian):
            for j, found in zip(columns, family.found(X[:, columns]), strict=True):
                atoms[j] = found
    wide = beyond_hurdles(X, tuple(atoms))
    first = X.shape[1] + np.cumsum([0, *map(len, atoms)])
    parts, given, priors = [], [], []
    for family, columns in pairs:
        factors = [(family, columns)]
        if isinstance(family, HurdleGaussian):
            indicators = np.concatenate([np.arange(first[j], first[j + 1]) for j in columns])
            factors = list(family.factors(wide, columns, indicators))
        for factor, own in factors:
            block = np.ascontiguousarray(wide[:, own])
            if not factor.takes_missing:
                remedy = f"{type(factor).__name__} takes none: give these columns another family or fill in values"
                refuse_cells(np.isnan(block), "missing values", remedy, own)
            with said_of(own):
                parts.append(factor.bind(block))
            given.append(own)
            renamed = isinstance(family, HurdleGaussian) and isinstance(factor, Bernoulli)
            priors += [
                replace(prior, name=ATOM_STRENGTH) if renamed else prior
                for prior in parts[-1].hyper_priors
            ]
    whole = np.concatenate([part.X for part in parts], axis=1)
    constant = sum(part.log_constant for part in parts)
    return BoundHurdle(
        whole, constant, unique_names(priors), tuple(parts), tuple(given), tuple(atoms)
    )


def _atoms(given: Any, X: NDArray[np.float64]) -> Atoms:
    d: int = X.shape[1]
    if isinstance(given, str) and given == "data":
        return tuple([describe_column(x).atoms for x in X.T])
    if isinstance(given, Real):
        return ((float(given),),) * d
    nested = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
    if not nested or not all(
        isinstance(own, (Sequence, np.ndarray)) and not isinstance(own, str) for own in given
    ):
        raise TypeError(
            f"atoms={given!r} is no list of lists: give 'data', a number, or a list of values for each column."
        )
    if len(given) != d:
        raise ValueError(
            f"atoms has lists for {len(given)} columns, but there are {d}: give one for each, empty or not."
        )
    try:
        return tuple(tuple(dict.fromkeys(float(value) for value in own)) for own in given)
    except (TypeError, ValueError):
        raise TypeError(
            f"atoms={given!r} holds something else than numbers: give the exact values."
        ) from None


__all__ = ["BoundHurdle", "HurdleGaussian", "beyond_hurdles", "bind_parts"]
