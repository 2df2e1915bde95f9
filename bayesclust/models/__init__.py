"""What is believed: families, priors of partitions, and the models as NumPyro programs.

JAX is told to compute in 64 bits, but not loaded: only running a program does that.
"""

import os
import sys

from bayesclust.models.dcrc import dcrc, dcrc_log_joint
from bayesclust.models.dcrc_objective import PaperObjective
from bayesclust.models.dcrc_weights import WeightPrior
from bayesclust.models.joint import log_joint
from bayesclust.models.mixture import mixture_log_joint, tvclust_mixture
from bayesclust.models.sites import constraint_sites
from bayesclust.models.tvclust import tvclust

# JAX reads the variable when it is loaded; a JAX that is loaded already has to be told.
os.environ.setdefault("JAX_ENABLE_X64", "1")
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)

__all__ = [
    "PaperObjective",
    "WeightPrior",
    "constraint_sites",
    "dcrc",
    "dcrc_log_joint",
    "log_joint",
    "mixture_log_joint",
    "tvclust",
    "tvclust_mixture",
]
