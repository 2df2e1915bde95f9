"""Divergences by name, and those of the likelihood families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesclust.checks import check_choice
from bayesclust.inference.limits.divergences.base import Divergence
from bayesclust.inference.limits.divergences.categorical import Categorical
from bayesclust.inference.limits.divergences.columns import Bernoulli, Poisson
from bayesclust.inference.limits.divergences.euclidean import SquaredEuclidean
from bayesclust.inference.limits.divergences.kullback_leibler import KullbackLeibler
from bayesclust.inference.limits.divergences.mahalanobis import Mahalanobis, Standardized
from bayesclust.inference.limits.divergences.parts import Parts
from bayesclust.models import families
from bayesclust.models.families import FAMILIES, Family

DIVERGENCES: dict[str, type[Divergence]] = {
    kind.name: kind
    for kind in (
        SquaredEuclidean,
        KullbackLeibler,
        Mahalanobis,
        Standardized,
        Poisson,
        Bernoulli,
        Categorical,
    )
}

OF_FAMILY: dict[type[Family], Callable[[], Divergence]] = {
    families.SphericalGaussian: SquaredEuclidean,
    families.DiagonalGaussian: Standardized,
    families.FullGaussian: Mahalanobis,
    families.TiedGaussian: Mahalanobis,
    families.Multinomial: KullbackLeibler,
    families.Poisson: Poisson,
    families.Bernoulli: Bernoulli,
    families.Categorical: Categorical,
}
"""What each family turns into when its variance goes to zero (Banerjee et al. 2005)."""


def divergence_of(family: Family) -> Divergence:
    """Return the Bregman divergence of a likelihood family; its base measure, a prior, does not matter in the limit.

    Parameters
    ----------
    family : Family
        Of a subclass, the nearest class above it that is known counts.

    Returns
    -------
    Divergence

    Raises
    ------
    TypeError
        If the family's divergence is not known.

    Examples
    --------
    >>> divergence_of(families.Poisson())
    Poisson(smoothing=0.3)
    """
    if isinstance(family, families.Product):
        return Parts(family, _part_of)
    for kind in type(family).__mro__:
        if kind in OF_FAMILY:
            return OF_FAMILY[kind]()
    known = ", ".join(kind.__name__ for kind in OF_FAMILY)
    raise TypeError(
        f"the divergence of {type(family).__name__} is not known, only those of {known} and Product: pass a Divergence."
    )


def _part_of(family: Family) -> Divergence:
    # alone, spherical clusters have the unit of the data; beside other columns they need one of
    # their own
    return (
        Standardized(common_unit=True)
        if isinstance(family, families.SphericalGaussian)
        else divergence_of(family)
    )


def as_divergence(divergence: Any) -> Divergence:
    """Return a divergence given by its name, as an object, or by a likelihood family or its name.

    Parameters
    ----------
    divergence : str, Divergence or Family
        A name of `DIVERGENCES`, or of a family as `TVClust` takes it.

    Returns
    -------
    Divergence
        Before it has seen data: `bind` it to them.

    Raises
    ------
    TypeError, ValueError
        If it is none of these.
    """
    if isinstance(divergence, Divergence):
        return divergence
    if isinstance(divergence, Family):
        return divergence_of(divergence)
    if not isinstance(divergence, str):
        names = " or ".join(f'"{name}"' for name in DIVERGENCES)
        kind = type(divergence).__name__
        raise TypeError(
            f"divergence must be {names}, or a likelihood family or Divergence; got {kind}."
        )
    if divergence in FAMILIES:
        return divergence_of(FAMILIES[divergence]())
    return DIVERGENCES[check_choice(divergence, "divergence", DIVERGENCES)]()


__all__ = ["DIVERGENCES", "as_divergence", "divergence_of"]
