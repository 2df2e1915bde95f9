"""The models as NumPyro programs, and the exact log joint density of TVClust.

JAX is loaded only where a program runs. Programs run in the precision that the user has chosen;
``numpyro.enable_x64()`` chooses 64 bits.
"""

from bayesclust.models.dcrc import dcrc
from bayesclust.models.joint import log_joint
from bayesclust.models.sites import constraint_sites
from bayesclust.models.tvclust import tvclust, tvclust_marginal, tvclust_mixture

__all__ = [
    "constraint_sites",
    "dcrc",
    "log_joint",
    "tvclust",
    "tvclust_marginal",
    "tvclust_mixture",
]
