"""Likelihood families with their conjugate base measures, one file each."""

from bayesclust.models.families.base import BoundFamily, Family, HyperPrior
from bayesclust.models.families.bernoulli import Bernoulli
from bayesclust.models.families.categorical import Categorical
from bayesclust.models.families.gaussian_diagonal import DiagonalGaussian
from bayesclust.models.families.gaussian_full import FullGaussian
from bayesclust.models.families.gaussian_spherical import SphericalGaussian
from bayesclust.models.families.gaussian_tied import TiedGaussian
from bayesclust.models.families.hurdle import HurdleGaussian
from bayesclust.models.families.mixed import Mixed, mixed_family
from bayesclust.models.families.multinomial import Multinomial
from bayesclust.models.families.named import COMPOSED, FAMILIES, get_family
from bayesclust.models.families.poisson import Poisson
from bayesclust.models.families.product import Product
from bayesclust.models.families.recoded import Recoded

# they are made of named families, whose file they therefore read before it can know them
COMPOSED.update(hurdle=HurdleGaussian, recoded=Recoded, mixed=Mixed)

__all__ = [
    "COMPOSED",
    "FAMILIES",
    "Bernoulli",
    "BoundFamily",
    "Categorical",
    "DiagonalGaussian",
    "Family",
    "FullGaussian",
    "HurdleGaussian",
    "HyperPrior",
    "Mixed",
    "Multinomial",
    "Poisson",
    "Product",
    "Recoded",
    "SphericalGaussian",
    "TiedGaussian",
    "get_family",
    "mixed_family",
]
