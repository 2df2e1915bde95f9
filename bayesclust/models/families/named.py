"""The families that have a name."""

from __future__ import annotations

from bayesclust.models.families.base import Family
from bayesclust.models.families.bernoulli import Bernoulli
from bayesclust.models.families.categorical import Categorical
from bayesclust.models.families.gaussian_diagonal import DiagonalGaussian
from bayesclust.models.families.gaussian_full import FullGaussian
from bayesclust.models.families.gaussian_spherical import SphericalGaussian
from bayesclust.models.families.gaussian_tied import TiedGaussian
from bayesclust.models.families.multinomial import Multinomial
from bayesclust.models.families.poisson import Poisson

FAMILIES: dict[str, type[Family]] = {
    "gaussian": FullGaussian,
    "gaussian_tied": TiedGaussian,
    "gaussian_diagonal": DiagonalGaussian,
    "gaussian_spherical": SphericalGaussian,
    "multinomial": Multinomial,
    "bernoulli": Bernoulli,
    "poisson": Poisson,
    "categorical": Categorical,
}
COMPOSED: dict[str, type[Family]] = {}
"""Families that consist of those above, which they are made of by name; the package fills them in."""


def get_family(family: str | Family) -> Family:
    """The family of that name with its defaults, or the family itself.

    Parameters
    ----------
    family : str or Family

    Returns
    -------
    Family

    Raises
    ------
    ValueError
        If no family has that name.
    TypeError
        If it is neither a name nor a family.

    Examples
    --------
    >>> from bayesclust.models.families import get_family
    >>> get_family("multinomial")
    Multinomial(concentration='learn')
    """
    if isinstance(family, Family):
        return family
    if not isinstance(family, str):
        raise TypeError(
            f"family is a {type(family).__name__}; give a name or an object of bayesclust.families."
        )
    known = FAMILIES | COMPOSED
    if family not in known:
        raise ValueError(
            f"family={family!r} is not known; choose one of {', '.join(map(repr, known))}."
        )
    return known[family]()


__all__ = ["COMPOSED", "FAMILIES", "get_family"]
