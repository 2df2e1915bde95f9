"""Families for columns of several kinds, chosen by what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.checks import check_choice, check_items
from bayesclust.models.columns import Column, describe_column
from bayesclust.models.families import base
from bayesclust.models.families.bernoulli import Bernoulli
from bayesclust.models.families.gaussian_diagonal import DiagonalGaussian
from bayesclust.models.families.gaussian_full import FullGaussian
from bayesclust.models.families.hurdle import HurdleGaussian, bind_parts
from bayesclust.models.families.parts import columns_of
from bayesclust.models.families.poisson import Poisson
from bayesclust.models.families.product import Product
from bayesclust.models.families.recoded import Recoded
from bayesclust.typing import ArrayLike

COVARIANCES = ("full", "diagonal")
MOST_FULL = 20
"""Columns of one full covariance, at most: above it a cluster has more covariances than most data can tell."""


def mixed_family(X: ArrayLike, *, covariance: str = "full") -> base.Family:
    """Return a family for each kind of column, put together, by what `bayesclust.check_columns` finds.

    Continuous and rounded columns get Gaussian clusters, with a full covariance among them where no
    cell is missing and they are at most 20; inflated, nearly constant and two-valued columns a
    `HurdleGaussian`; zeros and ones `Bernoulli`; counts `Poisson`; few values `Recoded`, which is
    `Categorical` on their codes. Within a cluster the groups are independent. Nothing but the data
    is looked at.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The items. Missing cells (NaN) are let through, and are left out of the likelihood.
    covariance : {"full", "diagonal"}, default "full"
        Whether the Gaussian columns may covary within a cluster.

    Returns
    -------
    Family
        A `Mixed`, all parts written out, or the only family there is need of. Change what you know
        better, and pass it as ``family=...``.

    Raises
    ------
    ValueError, TypeError
        If X is no table of real numbers, or the covariance is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import mixed_family
    >>> rng = np.random.default_rng(0)
    >>> X = np.c_[rng.normal(size=(100, 2)), rng.normal(size=100).clip(min=0), rng.random(100) < 0.2]
    >>> for family, columns in mixed_family(X).parts:
    ...     print(family, columns)
    FullGaussian(scale='learn', strength=15.0, mean_precision=0.05) [0, 1]
    HurdleGaussian(atoms=((0.0,),), scale='learn', strength=15.0, mean_precision=0.05,
    atom_strength='learn') [2] Bernoulli(strength='learn') [3]
    """
    check_choice(covariance, "covariance", COVARIANCES)
    items = check_items(X, missing=True)
    found = [describe_column(x) for x in items.T]
    full = _covarying(items, found, covariance)
    groups: dict[str, list[int]] = {"full": full}
    for j, column in enumerate(found):
        if j not in full:
            groups.setdefault(
                "hurdle" if column.family == "gaussian" else column.family, []
            ).append(j)
    families = {
        "full": FullGaussian(),
        "hurdle": _independent([found[j] for j in groups.get("hurdle", ())]),
        "poisson": Poisson(),
        "bernoulli": Bernoulli(),
        "categorical": Recoded(),
    }
    parts = [(family, groups[name]) for name, family in families.items() if groups.get(name)]
    return parts[0][0] if len(parts) == 1 else Mixed(parts)


def _covarying(X: NDArray[np.float64], found: list[Column], covariance: str) -> list[int]:
    """The columns of one full covariance: at least two, without missing cells."""
    complete = ~np.isnan(X).any(axis=0)
    columns = [j for j, column in enumerate(found) if column.family == "gaussian" and complete[j]]
    several = sum(found[j].kind != "constant" for j in columns) >= 2 and len(columns) <= MOST_FULL
    return columns if covariance == "full" and several else []


def _independent(found: list[Column]) -> base.Family:
    atoms = tuple(column.atoms if column.family == "hurdle" else () for column in found)
    return HurdleGaussian(atoms) if any(atoms) else DiagonalGaussian()


@dataclass(frozen=True)
class Mixed(base.Family):
    """Every column in a family of its kind, all groups of columns independent within a cluster.

    Parameters
    ----------
    parts : "data" or sequence of (family, columns), default "data"
        "data" chooses by what the columns hold, as `mixed_family` does. Pairs are those of a
        `Product`; a part may also be a `HurdleGaussian`.
    covariance : {"full", "diagonal"}, default "full"
        Only "data": whether the Gaussian columns may covary within a cluster.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7: a product of exponential families is one, and its prior
    conjugate.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Mixed
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> type(Mixed().bind(X)).__name__, type(Mixed().bind(X.clip(min=0))).__name__
    ('BoundFullGaussian', 'BoundHurdle')
    """

    parts: str | Sequence[tuple[base.Family | str, Any]] = "data"
    covariance: str = "full"

    @property
    def takes_missing(self) -> bool:
        return True if self._by_data() else Product(self.parts).takes_missing  # type: ignore[arg-type]

    def bind(self, X: NDArray[np.float64]) -> base.BoundFamily:
        """Bind the families, given or chosen, to their columns.

        Raises
        ------
        ValueError
            If the parts leave a column out, take one twice or name one that is not there, or a
            family cannot take its columns.
        TypeError
            If the parts are no pairs of a family and columns.
        """
        if self._by_data():
            return mixed_family(X, covariance=self.covariance).bind(X)
        items = check_items(X, missing=True)
        pairs = Product(self.parts)._pairs()  # type: ignore[arg-type]
        given = columns_of(pairs, items.shape[1])
        return bind_parts(
            [(family, columns) for (family, _), columns in zip(pairs, given, strict=True)], items
        )

    def _by_data(self) -> bool:
        return isinstance(self.parts, str) and self.parts == "data"


__all__ = ["Mixed", "mixed_family"]
