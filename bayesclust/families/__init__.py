"""Likelihood families with their conjugate priors; to add one is a line in FAMILIES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesclust.checks import shown
from bayesclust.families.base import COMPOSED, FAMILIES, BoundFamily, Family, HyperPrior
from bayesclust.families.base import get_family as get_family
from bayesclust.families.columns import CopiedColumnsWarning, TiedColumnsWarning
from bayesclust.families.directional import VonMisesFisher
from bayesclust.families.discrete import Bernoulli, Categorical
from bayesclust.families.divergence import Divergence
from bayesclust.families.gaussian import FullGaussian
from bayesclust.families.gaussian_columns import DiagonalGaussian, SphericalGaussian
from bayesclust.families.gaussian_tied import TiedGaussian
from bayesclust.families.mixed import HurdleGaussian, Mixed, Product
from bayesclust.families.multinomial import Multinomial
from bayesclust.families.poisson import Poisson

FAMILIES |= {
    "gaussian": FullGaussian,
    "gaussian_tied": TiedGaussian,
    "gaussian_diagonal": DiagonalGaussian,
    "gaussian_spherical": SphericalGaussian,
    "multinomial": Multinomial,
    "bernoulli": Bernoulli,
    "poisson": Poisson,
    "categorical": Categorical,
    "von_mises_fisher": VonMisesFisher,
}
COMPOSED |= {"hurdle": HurdleGaussian, "mixed": Mixed}

DIVERGENCES: dict[str, type[Divergence]] = {
    kind.divergence.name: kind.divergence for kind in FAMILIES.values() if kind.divergence
}
"""The divergences of the families, by their own names."""


def as_divergence(divergence: Any) -> Divergence:
    """A divergence by name, as it is, or as the limit of a family, by object or name; not bound."""
    if isinstance(divergence, Divergence):
        return divergence
    if isinstance(divergence, Family):
        return divergence.limit()
    known: dict[str, Callable[[], Divergence]] = {
        **DIVERGENCES,
        **{name: kind().limit for name, kind in FAMILIES.items() if kind.divergence},
    }
    if not isinstance(divergence, str) or divergence not in known:
        names = ", ".join(f'"{name}"' for name in known)
        error = ValueError if isinstance(divergence, str) else TypeError
        raise error(
            f"divergence must be one of {names}, a family or a Divergence; got {shown(divergence)}."
        )
    return known[divergence]()


__all__ = [
    "COMPOSED",
    "DIVERGENCES",
    "FAMILIES",
    "Bernoulli",
    "BoundFamily",
    "Categorical",
    "CopiedColumnsWarning",
    "DiagonalGaussian",
    "Divergence",
    "Family",
    "FullGaussian",
    "HurdleGaussian",
    "HyperPrior",
    "Mixed",
    "Multinomial",
    "Poisson",
    "Product",
    "SphericalGaussian",
    "TiedColumnsWarning",
    "TiedGaussian",
    "VonMisesFisher",
]
