"""Columns of few different values, whatever these are, as codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.checks import check_items
from bayesclust.models.families import base
from bayesclust.models.families.categorical import BoundCategorical, Categorical
from bayesclust.models.families.discrete import refuse_cells
from bayesclust.typing import ArrayLike

Levels = tuple[NDArray[np.float64], ...]


def codes(X: NDArray[np.float64], levels: Levels) -> NDArray[np.float64]:
    """Return the place of each value among its column's levels.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Missing cells are NaN, and stay so.
    levels : tuple of ndarray
        The different values of each column, ascending.

    Returns
    -------
    ndarray of shape (n, d)

    Raises
    ------
    ValueError
        If there is a value that is none of them.

    Examples
    --------
    >>> codes(np.array([[0.5, 7.0], [1.0, np.nan]]), (np.array([0.5, 1.0]), np.array([3.0, 7.0])))
    array([[ 0.,  1.],
           [ 1., nan]])
    """
    place = np.column_stack([np.searchsorted(own, x) for own, x in zip(levels, X.T, strict=True)])
    nearest = np.column_stack(
        [own[np.minimum(at, len(own) - 1)] for own, at in zip(levels, place.T, strict=True)]
    )
    unknown = (nearest != X) & ~np.isnan(X)
    refuse_cells(unknown, "values that the first data have not", "leave these items out")
    return np.where(np.isnan(X), np.nan, place)


@dataclass(frozen=True)
class BoundRecoded(BoundCategorical):
    """Dirichlet-categorical columns of codes that stand for values.

    Attributes
    ----------
    levels : tuple of ndarray
        The values of the user's columns, in the order of their codes.
    """

    levels: Levels

    def columns(self, X: NDArray[np.float64]) -> NDArray[Any]:
        return super().columns(codes(X, self.levels))

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        return super().transform(codes(check_items(X, least=1, missing=True), self.levels))


@dataclass(frozen=True)
class Recoded(base.Family):
    """Columns of few different values without order, such as 0.5 and 1, or 1 to 5: `Categorical` on their codes.

    Missing cells (NaN) are left out of the likelihood. A column with a single value is left out.

    Parameters
    ----------
    concentration : float, HyperPrior or "learn", default "learn"
        Prior pseudo-count of every value of every column, as in `Categorical`.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Recoded
    >>> Recoded().bind(np.array([[0.48, 1], [1.0, 5], [0.48, 3]])).X
    array([[0., 0.],
           [1., 2.],
           [0., 1.]])
    """

    concentration: float | str | base.HyperPrior = "learn"

    @property
    def takes_missing(self) -> bool:
        return True

    def bind(self, X: NDArray[np.float64]) -> BoundRecoded:
        """Number the values of each column.

        Raises
        ------
        ValueError
            If a column has 10000 different values or more.
        """
        items = check_items(X, missing=True)
        # a column without any value has a level that nothing shows
        levels = tuple(
            np.unique(x[~np.isnan(x)]) if not np.isnan(x).all() else np.zeros(1) for x in items.T
        )
        bound = Categorical(self.concentration).bind(codes(items, levels))
        return BoundRecoded(
            bound.X,
            bound.log_constant,
            bound.hyper_priors,
            bound.kept,
            bound.sizes,
            bound.shares,
            levels,
        )


__all__ = ["BoundRecoded", "Recoded", "codes"]
