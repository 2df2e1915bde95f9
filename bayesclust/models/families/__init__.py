"""Likelihood families with their conjugate base measures, one file each."""

from bayesclust.models.families.base import BoundFamily, Family, HyperPrior
from bayesclust.models.families.bernoulli import Bernoulli
from bayesclust.models.families.categorical import Categorical
from bayesclust.models.families.gaussian_diagonal import DiagonalGaussian
from bayesclust.models.families.gaussian_full import FullGaussian
from bayesclust.models.families.gaussian_spherical import SphericalGaussian
from bayesclust.models.families.multinomial import Multinomial
from bayesclust.models.families.named import FAMILIES, get_family
from bayesclust.models.families.poisson import Poisson
from bayesclust.models.families.product import Product

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "BoundFamily",
    "Categorical",
    "DiagonalGaussian",
    "Family",
    "FullGaussian",
    "HyperPrior",
    "Multinomial",
    "Poisson",
    "Product",
    "SphericalGaussian",
    "get_family",
]
